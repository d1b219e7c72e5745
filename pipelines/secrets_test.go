package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/internal/planted"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/stats"
)

// plantedCorpus is unified lines with every made-up secret: as an observation, in arguments, in meta data, in the
// prompt, and as the text of a document. The last line is cut, and quotes one.
func plantedCorpus(t testing.TB) (dir string, all []planted.Secret) {
	t.Helper()
	var out bytes.Buffer
	all = planted.Corpus()
	for i, p := range all {
		arguments := string(jsonLine(map[string]string{"command": "run", "input": p.Text}, ""))
		line := map[string]any{"id": fmt.Sprintf("t%d", i), "domain": "terminal", "source": "made", "task_id": "task\n" + p.Text,
			"system": map[string]string{"task_description": "Do it.\n" + p.Text},
			"turns": []map[string]any{
				{"index": 0, "action": strings.TrimSpace(arguments), "observation": "plain words of an answer\n" + p.Text},
				{"index": 1, "state": p.Text, "action": "ls", "observation": "a.txt"},
			},
			"meta": map[string]any{"note": p.Text, p.Text: 1}}
		if i%9 == 0 {
			line = map[string]any{"id": fmt.Sprintf("d%d", i), "kind": "document", "domain": "knowledge", "source": "made", "text": p.Text}
		}
		out.Write(bytes.TrimSpace(jsonLine(line, "")))
		out.WriteByte('\n')
	}
	fmt.Fprintf(&out, `{"id":"cut","turns":[{"action":%s,`, jsonLine(all[0].Value, ""))
	dir = t.TempDir()
	write(t, filepath.Join(dir, "planted.jsonl"), out.Bytes())
	return dir, all
}

// everything is all that a run has written, decompressed, with the texts of its rows.
func everything(t testing.TB, o *Options, m *Manifest) string {
	t.Helper()
	var all bytes.Buffer
	err := filepath.WalkDir(o.Output, func(path string, d os.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		data, err := os.ReadFile(path)
		if err != nil {
			return err
		}
		if strings.HasSuffix(path, ".zst") {
			z, err := zstdio.NewReader(bytes.NewReader(data))
			if err != nil {
				return err
			}
			defer z.Close()
			if data, err = io.ReadAll(z); err != nil {
				return err
			}
		}
		all.Write(data)
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	for _, row := range allTurns(t, o.Output, partitionsOf(t, o.Output)) {
		fmt.Fprintf(&all, "%+v\n", row)
	}
	if m == nil {
		return all.String()
	}
	model, _, err := loadTokenizer(context.Background(), "demo", "auto", o.Hub)
	if err != nil {
		t.Fatal(err)
	}
	for _, shard := range shardsOf(m) {
		for _, row := range readShard(t, o.Output, shard, 0) {
			var text []byte
			for _, id := range row.IDs {
				text = model.AppendText(text, id)
			}
			all.Write(append(text, '\n'))
		}
	}
	return all.String()
}

// parts of a value that no text may hold any more: its end, which no mark and no made-up text has.
func endOf(value string) string { return value[len(value)-8:] }

// TestSecretsGone: of two thousand places no secret is left in rows, turns, rejects, examples and report; a check from
// the inputs makes the same again; any number of workers gives the same bytes.
func TestSecretsGone(t *testing.T) {
	dir, made := plantedCorpus(t)
	for _, pipeline := range []string{"cpt", "audit"} {
		o := options(t, dir)
		o.Pipeline, o.Filters, o.Workers = pipeline, []string{"none"}, 1
		m := mustRun(t, o)
		rows := m
		if pipeline == "audit" {
			rows = nil
		}
		all := everything(t, &o, rows)
		left := 0
		for _, p := range made {
			if strings.Contains(all, endOf(p.Value)) && !strings.Contains(p.Value, "\n") {
				if left++; left < 5 {
					at := strings.Index(all, endOf(p.Value))
					t.Errorf("%s: %s, %s is left: %q", pipeline, p.Kind, p.Form, all[max(0, at-80):at+20])
				}
			}
		}
		if left > 0 {
			t.Errorf("%s: %d of %d secrets are left", pipeline, left, len(made))
		}
		if !strings.Contains(all, "REDACTED.github-pat.1") || m.Counts.Secrets["terminal"]["github-pat"] < 100 || m.Counts.Secrets["knowledge"] == nil {
			t.Errorf("%s: counts %v", pipeline, m.Counts.Secrets)
		}
		if got, want := m.Counts.Repairs["terminal"]["secrets_scrubbed"], allOf(m.Counts.Secrets["terminal"]); got != want {
			t.Errorf("%s: %d repairs, %d secrets", pipeline, got, want)
		}
		mustCheck(t, o)
		again := with(t, o, func(o *Options) { o.Workers = 4 })
		mustRun(t, again)
		sameFiles(t, pipeline+" with four workers", digest(t, o.Output), digest(t, again.Output))
	}
}

func allOf(counts map[string]int64) (n int64) {
	for _, k := range counts {
		n += k
	}
	return n
}

// TestSecretModes: report counts what scrub does and leaves rows as off has them, which counts nothing; another mode
// is another plan.
func TestSecretModes(t *testing.T) {
	dir, made := plantedCorpus(t)
	o := options(t, dir)
	o.Filters = []string{"none"}
	runs := map[string]*Manifest{}
	sums := map[string]string{}
	for _, mode := range []string{"scrub", "report", "off"} {
		x := with(t, o, func(o *Options) { o.Secrets = mode })
		runs[mode] = mustRun(t, x)
		sums[mode] = trainFiles(digest(t, x.Output))
		if mode != "scrub" && !strings.Contains(everything(t, &x, runs[mode]), endOf(made[0].Value)) {
			t.Errorf("%s: the text of %s is gone", mode, made[0].Kind)
		}
		mustCheck(t, x)
		if other := "off"; mode != other {
			_, err := CPT(context.Background(), with(t, x, func(y *Options) { y.Output, y.Secrets = x.Output, other }))
			wantUsage(t, err, "--secrets: was "+mode+", now off")
		}
	}
	if sums["report"] != sums["off"] || sums["scrub"] == sums["off"] {
		t.Error("report has other rows than off, or scrub has not")
	}
	if len(runs["off"].Counts.Secrets) > 0 || runs["off"].Config.SecretRules != "" || runs["report"].Counts.Repairs["terminal"]["secrets_scrubbed"] > 0 {
		t.Errorf("off counts %v, report repairs %v", runs["off"].Counts.Secrets, runs["report"].Counts.Repairs)
	}
	if a, b := len(runs["scrub"].Counts.Secrets["terminal"]), len(runs["report"].Counts.Secrets["terminal"]); a != b || a < 25 {
		t.Errorf("scrub has %d kinds, report %d", a, b)
	}
}

// TestSecretsIngest: what ingest writes, a later run takes as it is: nothing is found any more, and ids of content are
// those of the scrubbed texts.
func TestSecretsIngest(t *testing.T) {
	p := planted.Corpus()[0]
	dir := t.TempDir()
	turn := map[string]any{"index": 0, "action": "cat key", "observation": p.Text}
	write(t, filepath.Join(dir, "a.jsonl"), append(bytes.TrimSpace(jsonLine(map[string]any{"domain": "terminal", "source": "made", "turns": []any{turn, map[string]any{"index": 1, "action": "cat key again", "observation": p.Text}}}, "")), '\n'))
	ingest := func(path, mode string) (string, *stats.Counts) {
		var out bytes.Buffer
		d := DefaultOptions()
		counts, err := Ingest(context.Background(), IngestOptions{Inputs: []string{path}, Format: "auto", Domain: "auto", Secrets: mode, MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow}, &out)
		if err != nil {
			t.Fatal(err)
		}
		return out.String(), counts
	}
	once, counts := ingest(dir, "scrub")
	if strings.Contains(once, p.Value) || counts.Secrets["terminal"][p.Kind] != 2 {
		t.Fatalf("%v: %s", counts.Secrets, once)
	}
	next := filepath.Join(t.TempDir(), "b.jsonl")
	write(t, next, []byte(once))
	twice, counts := ingest(next, "scrub")
	if twice != once || len(counts.Secrets) > 0 {
		t.Errorf("%v\n%s\n%s", counts.Secrets, once, twice)
	}
	off, _ := ingest(dir, "off")
	var a, b struct{ ID string }
	if json.Unmarshal([]byte(once), &a) != nil || json.Unmarshal([]byte(off), &b) != nil || a.ID == b.ID || !strings.Contains(off, p.Value) {
		t.Errorf("ids %q and %q: want two", a.ID, b.ID)
	}
}

// answered is an answerSource that gives the same replies to every question.
type answered []turnmill.Reply

func (a answered) rollouts(*question) ([]turnmill.Reply, int, error) {
	return slices.Clone(a), len(a), nil
}

func (a answered) judgements(*question, judge.ID, ...*turnmill.Reply) ([]turnmill.Reply, int, error) {
	return slices.Clone(a), len(a), nil
}

// TestSecretsOfAnswers: what models and judges have answered is scrubbed in text, reasoning and error, and not in the
// modes that leave texts.
func TestSecretsOfAnswers(t *testing.T) {
	p := planted.Corpus()[0]
	given := answered{{Text: p.Text, Reasoning: "it is " + p.Value, Error: "401 for " + p.Value}}
	for mode, gone := range map[secrets.Mode]bool{secrets.Scrub: true, secrets.Report: false, secrets.Off: false} {
		s := scrubbed{given, secrets.New(mode)}
		rolled, _, _ := s.rollouts(nil)
		judged, _, _ := s.judgements(nil, judge.ID{})
		for _, r := range []turnmill.Reply{rolled[0], judged[0]} {
			for _, text := range []string{r.Text, r.Reasoning, r.Error} {
				if strings.Contains(text, p.Value) == gone {
					t.Errorf("%s: %q", mode, text)
				}
			}
		}
	}
}
