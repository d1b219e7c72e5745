package pipelines

import (
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

func TestThresholds(t *testing.T) {
	counts := func(out, dropped, rejected int64) *stats.Counts {
		c := stats.NewCounts()
		a := &c.Ledger.Total.Records
		a.In, a.Out = out+dropped+rejected, out
		a.Drop(turnmill.ReasonTooFewTurns, dropped)
		a.Reject(turnmill.ReasonBadJSON, rejected)
		return c
	}
	for _, c := range []struct {
		name                string
		counts              *stats.Counts
		maxReject, maxDrop  float64
		wantReject, wantAny bool
	}{
		{"nothing came in", counts(0, 0, 0), 0, 0, false, false},
		{"nothing was lost", counts(10, 0, 0), 0, 0, false, false},
		{"at the limit", counts(98, 1, 1), 0.01, 0.01, false, false},
		{"one above it", counts(97, 1, 2), 0.01, 0.01, true, true},
		{"drops above theirs", counts(8, 2, 0), 0.01, 0.1, false, true},
		{"both", counts(0, 2, 2), 0.01, 0.1, true, true},
		{"all rejected, and allowed", counts(0, 0, 4), 1, 0, false, false},
		{"one of very many", counts(999_999_999, 0, 1), 0, 0, true, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			err := Thresholds(c.counts, c.maxReject, c.maxDrop)
			var passed *ThresholdError
			if any := errors.As(err, &passed); any != c.wantAny || (err != nil) != c.wantAny {
				t.Fatalf("got %v", err)
			}
			if c.wantAny {
				if (passed.What == "rejected") != c.wantReject {
					t.Errorf("the first is %q", passed.What)
				}
				wantError(t, err, "done, but", "--"+passed.Flag, "OUT/rejects")
			}
		})
	}
}

// TestThresholdPassed: a run above a rate is whole, says so, and says so again when it is run again.
func TestThresholdPassed(t *testing.T) {
	o := options(t, mixedCorpus(t))
	o.MaxRejectRate = 0.01
	for range 2 {
		m, err := CPT(context.Background(), o)
		var passed *ThresholdError
		if !errors.As(err, &passed) || m == nil {
			t.Fatalf("manifest %v, error %v", m, err)
		}
		a := m.Ledger.Total.Records
		if passed.Records != a.AllRejected() || passed.Of != a.In || passed.Limit != 0.01 || passed.Rate <= 0.01 {
			t.Errorf("%+v; the ledger has %d of %d", passed, a.AllRejected(), a.In)
		}
	}
	mustCheck(t, o)
	o.MaxRejectRate = 1 // no byte depends on a rate
	mustRun(t, o)
}

// TestNoRows: where no row comes out, OUT is a dataset without rows, whole and proven.
func TestNoRows(t *testing.T) {
	lonely := []byte(`{"id":"a","domain":"terminal","turns":[{"action":"x","observation":"y"}]}` + "\n")
	for _, c := range []struct {
		name    string
		files   []testFile
		profile string
		want    map[string]int64 // of the ledger, records of the whole
		exit3   bool             // with the rates as they are by default
	}{
		{"one empty file", []testFile{{"a.jsonl", nil}}, "hf", map[string]int64{"in": 1, "rejected.no_records": 1}, true},
		{"blanks only", []testFile{{"a.jsonl", []byte("\n\n  \r\n")}}, "hf", map[string]int64{"in": 1, "rejected.no_records": 1}, true},
		{"nothing that is known", []testFile{{"a.txt", []byte("hello\n")}, {"b.bin", []byte{0, 1, 2, 255}}}, "weighted",
			map[string]int64{"in": 2, "rejected.no_records": 0, "rejected.unknown_format": 2}, true},
		{"everything is dropped", []testFile{{"a.jsonl", lonely}}, "hf", map[string]int64{"in": 1, "dropped.too_few_turns": 1}, false},
		{"every line is bad", []testFile{{"a.jsonl", append(lonely[:len(lonely):len(lonely)], "{\"id\":\n{\"turns\":7}\n"...)}}, "hf",
			map[string]int64{"in": 3, "dropped.too_few_turns": 1, "rejected.bad_json": 1, "rejected.bad_field": 1}, true},
		{"a damaged archive", []testFile{{"a.jsonl.gz", cutEnd(gzipped([]byte(strings.Repeat(string(lonely), 9))), 20)}}, "hf",
			map[string]int64{"in": 2, "dropped.too_few_turns": 1, "rejected.bad_compression": 1}, true},
		{"the first bytes of an archive", []testFile{{"a.jsonl.gz", gzipped(lonely)[:12]}}, "hf", map[string]int64{"in": 1, "rejected.bad_compression": 1}, true},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, writeFiles(t, c.files))
			o.Partitions, o.Profile = 3, c.profile
			if c.profile == "weighted" {
				o.Mask = "weight"
			}
			o.MaxRejectRate = DefaultOptions().MaxRejectRate
			m, err := CPT(context.Background(), o)
			var passed *ThresholdError
			if errors.As(err, &passed) != c.exit3 || err != nil && !c.exit3 {
				t.Errorf("got %v", err)
			}
			for name, want := range c.want {
				if got := flat(&m.Ledger)["total records "+name]; got != want {
					t.Errorf("records %s: %d, want %d in %v", name, got, want, flat(&m.Ledger))
				}
			}
			if m.Counts.Tokens != (stats.Tokens{}) {
				t.Errorf("tokens %+v", m.Counts.Tokens)
			}
			profile, _ := arrow.ParseProfile(c.profile)
			if rows := readShard(t, o.Output, shardPath(train, 0, 0), profile); len(rows) != 0 {
				t.Errorf("%d rows", len(rows))
			}
			if got := stateFiles(t, o.Output); !cmp.Equal(got, []string{"data-p00000-00000.arrow"}) {
				t.Errorf("state.json lists %q", got)
			}
			mustCheck(t, o)
			want := digest(t, o.Output)
			o.MaxRejectRate = 1
			mustRun(t, o)
			sameFiles(t, "again", want, digest(t, o.Output))
			mustCheck(t, o)
		})
	}
}

// stateFiles returns the shards that state.json lists.
func stateFiles(t *testing.T, root string) []string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(root, "train", "state.json"))
	if err != nil {
		t.Fatal(err)
	}
	var state struct {
		Files []struct{ Filename string } `json:"_data_files"`
	}
	if err := json.Unmarshal(data, &state); err != nil {
		t.Fatal(err)
	}
	var names []string
	for _, f := range state.Files {
		names = append(names, f.Filename)
	}
	return names
}

// TestDuplicateIDs: trajectories and documents whose id came before are kept, counted and named.
func TestDuplicateIDs(t *testing.T) {
	record := func(id, text string) string {
		return fmt.Sprintf(`{"id":%q,"domain":"terminal","turns":[{"action":"x","observation":%q},{"action":"y","observation":"z"}]}`+"\n", id, text)
	}
	document := func(id string) string {
		return fmt.Sprintf(`{"id":%q,"kind":"document","text":"water is wet"}`+"\n", id)
	}
	for _, c := range []struct {
		name  string
		files []testFile
		want  int64
		first string
	}{
		{"none", []testFile{{"a.jsonl", []byte(record("a", "1") + record("b", "2"))}}, 0, ""},
		{"twice in a file", []testFile{{"a.jsonl", []byte(record("a", "1") + record("b", "2") + record("a", "3"))}}, 1, "a"},
		{"in three files", []testFile{{"a.jsonl", []byte(record("a", "1"))}, {"b.jsonl", []byte(record("a", "2"))}, {"c.jsonl", []byte(record("a", "3"))}}, 2, "a"},
		{"a document and a trajectory", []testFile{{"a.jsonl", []byte(record("a", "1") + document("a"))}}, 1, "a"},
		{"equal contents without an id", []testFile{{"a.jsonl", []byte(record("", "same") + record("", "same") + record("", "other"))}}, 1, "sha256:"},
		{"turns of one trajectory are none", []testFile{{"a.jsonl", []byte(record("a", "1"))}}, 0, ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, writeFiles(t, c.files))
			o.Partitions = len(c.files)
			m := mustRun(t, o)
			if m.DuplicateIDs != c.want {
				t.Errorf("%d duplicate ids, want %d", m.DuplicateIDs, c.want)
			}
			if r := m.Ledger.Total.Records; r.Out != r.In {
				t.Errorf("%d of %d records are out: duplicates are kept", r.Out, r.In)
			}
			report := mustCheck(t, o)
			if notes := strings.Join(report.Notes, " "); (notes != "") != (c.want > 0) || !strings.Contains(notes, c.first) {
				t.Errorf("check notes %q", notes)
			}
		})
	}
}

// TestValidate: each option that makes no sense is refused by its flag's name, all of them at once.
func TestValidate(t *testing.T) {
	for _, c := range []struct {
		name string
		set  func(*Options)
		want []string
	}{
		{"good", func(o *Options) {}, nil},
		{"engine", func(o *Options) { o.Engine = "sentencepiece" }, []string{"--engine", "auto, bpe, hf"}},
		{"objective", func(o *Options) { o.Objective = "both" }, []string{"--objective", "world-model"}},
		{"state", func(o *Options) { o.State = "" }, []string{"--state", "changed"}},
		{"mask", func(o *Options) { o.Mask = "words" }, []string{"--mask", "token"}},
		{"profile", func(o *Options) { o.Profile = "mlx" }, []string{"--profile", "weighted"}},
		{"seq-len", func(o *Options) { o.SeqLen = 1 }, []string{"--seq-len 1", "2 or more"}},
		{"weights without a column", func(o *Options) { o.Mask = "weight" }, []string{"--profile weighted"}},
		{"a column without weights", func(o *Options) { o.Profile = "weighted" }, []string{"--mask weight"}},
		{"policy with weights", func(o *Options) { o.Objective, o.Mask, o.Profile = "policy", "weight", "weighted" }, []string{"--objective policy"}},
		{"no tokenizer", func(o *Options) { o.Tokenizer = "" }, []string{"--tokenizer", "demo"}},
		{"a rate", func(o *Options) { o.MaxDropRate = 1.5 }, []string{"--max-drop-rate 1.5"}},
		{"many at once", func(o *Options) { o.SeqLen, o.Workers, o.Partitions, o.ShardBytes, o.MinTurns = 0, -1, -2, 0, 0 },
			[]string{"--seq-len", "--workers", "--partitions", "--shard-bytes", "--min-turns"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, "runs")
			c.set(&o)
			err := o.Validate()
			if c.want == nil {
				if err != nil {
					t.Error(err)
				}
				return
			}
			wantUsage(t, err, c.want...)
			if _, again := CPT(context.Background(), o); again == nil || again.Error() != err.Error() {
				t.Errorf("cpt says %v", again)
			}
		})
	}
}

// TestUnknownNames: what only a table knows is refused with what the table holds.
func TestUnknownNames(t *testing.T) {
	corpus := demoCorpus(t)
	damaged := filepath.Join(t.TempDir(), "tokenizer.json")
	write(t, damaged, []byte(`{"model":{"type":"Unigram"}}`))
	for _, c := range []struct {
		name string
		set  func(*Options)
		want []string
	}{
		{"filter", func(o *Options) { o.Filters = []string{"min_turns"} }, []string{"--filters", "min_turns", "min-turns"}},
		{"chat", func(o *Options) { o.Chat = "llama9" }, []string{"--chat", "llama9", "built in are chatml, qwen3, llama3, llama3.1, deepseek, gemma"}},
		{"chat of another family", func(o *Options) { o.Chat = "llama3.1" }, []string{"--chat llama3.1", "no token \"<|begin_of_text|>\"", "--chat auto"}},
		{"chat date", func(o *Options) { o.ChatDate = "" }, []string{"--chat-date", "26 Jul 2024"}},
		{"format", func(o *Options) { o.Format = "unified" }, []string{"unified", "turnmill", "swe-agent"}},
		{"tokenizer is absent", func(o *Options) { o.Tokenizer = filepath.Join(corpus, "none.json") }, []string{"--tokenizer", "none.json"}},
		{"tokenizer in a directory without one", func(o *Options) { o.Tokenizer = corpus }, []string{"--tokenizer", "tokenizer.json"}},
		{"tokenizer of another kind", func(o *Options) { o.Tokenizer = damaged }, []string{"--tokenizer", damaged}},
		{"memory", func(o *Options) { o.Memory, o.Workers = 64<<20, 4 }, []string{"--memory", "one worker", "try --memory"}},
	} {
		t.Run(c.name, func(t *testing.T) {
			o := options(t, corpus)
			c.set(&o)
			_, err := CPT(context.Background(), o)
			wantUsage(t, err, c.want...)
		})
	}
}

// TestLeastMemory: what the error of --memory asks for is enough.
func TestLeastMemory(t *testing.T) {
	for _, workers := range []int{1, 4} {
		o := options(t, demoCorpus(t))
		o.Workers, o.Memory = workers, 1
		_, err := CPT(context.Background(), o)
		wantUsage(t, err, "--memory")
		var mib int64
		if _, err := fmt.Sscanf(err.Error()[strings.Index(err.Error(), "try --memory "):], "try --memory %dMiB", &mib); err != nil {
			t.Fatal(err)
		}
		o.Memory = mib << 20
		mustRun(t, o)
	}
}
