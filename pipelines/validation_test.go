package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// validationRun has records with ids of their own, numbered ones, documents, and records named by content.
func validationRun(t *testing.T) Options {
	t.Helper()
	g := &generator{rng: rand.New(rand.NewPCG(4, 4))}
	records := append(g.copyOf(demoRecords(), 0), g.copyOf(demoRecords(), 1)...)
	for i, r := range demoRecords()[:24] {
		r.ID = fmt.Sprintf("run-%d#%d", i/3, 2+i%3)
		if i%3 == 0 {
			r.ID = fmt.Sprintf("run-%d", i/3)
		}
		records = append(records, r)
	}
	o := options(t, writeFiles(t, []testFile{{"a.jsonl", lines(records)}, {"b.jsonl", lines(g.documents())}, {"c.json", array(g.copyOf(demoRecords()[:9], 2))}}))
	o.Partitions, o.Seed = 3, "a seed"
	return o
}

// drawn tells whether an id belongs to the validation split, by a computation of its own.
func drawn(seed, id, share string) bool {
	if i := strings.LastIndex(id, "#"); i >= 0 {
		id = id[:i]
	}
	sum := sha256.Sum256([]byte("validation\x00" + seed + "\x00" + id))
	draw := new(big.Rat).SetFrac(new(big.Int).SetUint64(binary.BigEndian.Uint64(sum[:8])), new(big.Int).Lsh(big.NewInt(1), 64))
	bound, ok := new(big.Rat).SetString(share)
	return ok && draw.Cmp(bound) < 0
}

// TestValidation: each trajectory and document is where its id is drawn to, with all its rows; what a smaller
// share draws a larger one draws too; and no row is lost by it.
func TestValidation(t *testing.T) {
	base := validationRun(t)
	m := mustRun(t, base)
	whole := contentOf(t, base.Output, m)
	if m.Config.Validation != "0" || len(whole.Rows["validation"]) > 0 {
		t.Fatalf("a validation split that nobody asked for: %q", m.Config.Validation)
	}
	slices.Sort(whole.Rows["train"])
	var smaller map[string]bool
	for _, share := range []string{"0.05", "0.1", "0.25", "0.5", "0.95"} {
		o := with(t, base, func(o *Options) { o.Validation = share })
		m := mustRun(t, o)
		in := map[string]bool{}
		for _, turn := range allTurns(t, o.Output, 3) {
			if turn.Shard == "" {
				continue
			}
			is := strings.HasPrefix(turn.Shard, "validation/")
			if is != drawn("a seed", turn.ID, share) {
				t.Errorf("share %s: %s is in %s", share, turn.ID, turn.Shard)
			}
			if is {
				in[turn.ID] = true
			}
		}
		for id := range smaller {
			if !in[id] {
				t.Errorf("share %s: %s left the split when the share grew", share, id)
			}
		}
		if len(in) <= len(smaller) {
			t.Errorf("share %s: %d ids, %d of the share before", share, len(in), len(smaller))
		}
		smaller = in
		c := contentOf(t, o.Output, m)
		if rows := slices.Sorted(slices.Values(slices.Concat(c.Rows["train"], c.Rows["validation"]))); !slices.Equal(rows, whole.Rows["train"]) {
			t.Errorf("share %s: %d rows in the splits, %d without them, or others", share, len(rows), len(whole.Rows["train"]))
		}
		if diff := cmp.Diff(whole.Turns, c.Turns); diff != "" {
			t.Errorf("share %s: turns (-without +with):\n%.2000s", share, diff)
		}
		mustCheck(t, o)
	}
	kinds := map[string]int{}
	for id := range smaller {
		kinds[fmt.Sprint(strings.Contains(id, "#"), strings.HasPrefix(id, "sha256:"), strings.HasPrefix(id, "doc-"))]++
	}
	if len(kinds) < 4 {
		t.Errorf("not every kind of id is drawn: %v", kinds)
	}
}

// TestValidationOfRecord: the suffix that numbers a record's trajectories, and only that, has no part in the
// draw.
func TestValidationOfRecord(t *testing.T) {
	for id, want := range map[string]string{
		"a": "a", "a#2": "a", "a#17": "a", "a#2#3": "a#2", "a#": "a#", "a#x": "a#x", "a#2x": "a#2x", "#2": "", "a#-2": "a#-2", "a #2": "a ",
	} {
		if got := recordID(id); got != want {
			t.Errorf("%q draws as %q, want %q", id, got, want)
		}
	}
}

// TestValidationShare: shares are exact decimals, in one spelling.
func TestValidationShare(t *testing.T) {
	for text, want := range map[string]string{"0": "0", "0.0": "0", "0.1": "0.1", "0.10": "0.1", "0.05": "0.05", ".5": "0.5", "0.999999999999999999": "0.999999999999999999", "0.000000000000000001": "0.000000000000000001"} {
		s, err := parseShare(text)
		exact, _ := new(big.Rat).SetString(text)
		got := new(big.Rat).SetFrac(new(big.Int).SetUint64(s.ratio.Num), new(big.Int).SetUint64(max(s.ratio.Den, 1)))
		if err != nil || s.text != want || got.Cmp(exact) != 0 {
			t.Errorf("%s: %q, %v, %v; want %q", text, s.text, got, err, want)
		}
	}
	for _, text := range []string{"", ".", "1", "1.0", "2", "1e-1", "-0.1", "+0.1", "1/3", "0x0.1", "nan", "inf", "0,5", " 0.5", "0.1 ", "0.0000000000000000001", "0.5000000000000000000000"} {
		o := options(t, "in.jsonl")
		o.Validation = text
		wantUsage(t, o.Validate(), fmt.Sprintf("--validation %q", text), "as in 0.05")
	}
	a := options(t, demoCorpus(t))
	a.Validation = "0.50"
	mustRun(t, a)
	b := with(t, a, func(o *Options) { o.Validation = "0.5" })
	mustRun(t, b)
	sameFiles(t, "another spelling", digest(t, a.Output), digest(t, b.Output))
}

// TestValidationDirectory: OUT lists both splits, and one that nothing was drawn into loads as well.
func TestValidationDirectory(t *testing.T) {
	for _, share := range []string{"0.000000001", "0.5", "0.999999999"} {
		o := options(t, demoCorpus(t))
		o.Validation = share
		m := mustRun(t, o)
		var dict struct{ Splits []string }
		readJSON(t, filepath.Join(o.Output, "dataset_dict.json"), &dict)
		if diff := cmp.Diff([]string{"train", "validation"}, dict.Splits); diff != "" {
			t.Errorf("share %s: splits (-want +got):\n%s", share, diff)
		}
		rows := map[string]int{}
		for _, split := range dict.Splits {
			var state struct {
				Files []struct{ Filename string } `json:"_data_files"`
				Split string                      `json:"_split"`
			}
			readJSON(t, filepath.Join(o.Output, split, "state.json"), &state)
			if state.Split != split || len(state.Files) == 0 {
				t.Errorf("share %s: state of %s is %+v", share, split, state)
			}
			for _, f := range state.Files {
				rows[split] += len(readShard(t, o.Output, split+"/"+f.Filename, 0))
			}
			if _, err := os.Stat(filepath.Join(o.Output, split, "dataset_info.json")); err != nil {
				t.Error(err)
			}
		}
		if rows["train"]+rows["validation"] != int(m.Counts.Tokens.Rows) || share != "0.5" && min(rows["train"], rows["validation"]) != 0 ||
			share == "0.5" && min(rows["train"], rows["validation"]) == 0 {
			t.Errorf("share %s: rows %v of %d", share, rows, m.Counts.Tokens.Rows)
		}
		mustCheck(t, o)
	}
}

func readJSON(t testing.TB, name string, v any) {
	t.Helper()
	data, err := os.ReadFile(name)
	if err == nil {
		err = json.Unmarshal(data, v)
	}
	if err != nil {
		t.Fatal(err)
	}
}

// TestValidationBytes: workers and breaks change no byte, and a run without the split does not keep its files.
func TestValidationBytes(t *testing.T) {
	base := validationRun(t)
	base.Validation, base.ShardBytes, base.Workers = "0.3", 120_000, 1
	mustRun(t, base)
	want := digest(t, base.Output)
	o := with(t, base, func(o *Options) { o.Workers = 7 })
	for k := 1; !interrupt(t, o, k); k++ {
	}
	sameFiles(t, "seven workers, with breaks", want, digest(t, o.Output))

	o.Validation, o.Restart = "0", true
	mustRun(t, o)
	for name := range digest(t, o.Output) {
		if strings.HasPrefix(name, "validation") {
			t.Errorf("%s is left of the run before", name)
		}
	}
	mustCheck(t, o)
}

// TestForgedValidation: a row in the other split is found, as is another share.
func TestForgedValidation(t *testing.T) {
	o := options(t, writeFiles(t, []testFile{{"a.jsonl", lines(demoRecords())}}))
	o.Validation = "0.4"
	a, b := shardPath(train, 0, 0), shardPath(validation, 0, 0)
	testForgeries(t, o, []forgery{
		{name: "the splits are exchanged", forge: func(f *forger) {
			na, nb := int64(len(f.rows(a))), int64(len(f.rows(b)))
			f.swap(a, b)
			f.setRows(a, nb)
			f.setRows(b, na)
			f.turns(0, func(rows []stats.TurnRow) []stats.TurnRow {
				other := map[string]string{a: b, b: a}
				for i := range rows {
					rows[i].Shard = other[rows[i].Shard]
				}
				return rows
			})
		}, file: turnsPath(0)},
		{name: "the last row is moved", forge: func(f *forger) { moveLast(f, a, b) }, file: turnsPath(0)},
		{name: "a smaller share", forge: func(f *forger) { f.plan.Config.Validation = "0.2" }, file: turnsPath(0)},
		{name: "no share", forge: func(f *forger) { f.plan.Config.Validation = "0" }, file: "validation"},
		{name: "another seed", forge: func(f *forger) { f.plan.Mask.Seed = "1" }, file: turnsPath(0)},
		{name: "another spelling", forge: func(f *forger) { f.plan.Config.Validation = "0.40" }, file: "plan.json"},
	})
}

// moveLast moves the last row of a shard to the end of another, with its turns.
func moveLast(f *forger, from, to string) {
	f.t.Helper()
	rows, others := f.rows(from), f.rows(to)
	last := int64(len(rows) - 1)
	f.writeRows(to, append(others, rows[last]), arrow.Limits{})
	f.writeRows(from, rows[:last], arrow.Limits{})
	moved := 0
	f.turns(0, func(turns []stats.TurnRow) []stats.TurnRow {
		for i := range turns {
			if turns[i].Shard == from && turns[i].Row == last {
				turns[i].Shard, turns[i].Row = to, int64(len(others))
				moved++
			}
		}
		return turns
	})
	if moved == 0 {
		f.t.Fatal("no turn stands in the last row")
	}
}

// TestValidationStray: check passes what was not forged, and names the split that a run did not ask for.
func TestValidationStray(t *testing.T) {
	o := options(t, demoCorpus(t))
	mustRun(t, o)
	for name, data := range map[string][]byte{"data-p00000-00000.arrow": nil, "state.json": []byte("{}")} {
		stray := filepath.Join(o.Output, "validation", name)
		write(t, stray, data)
		_, err := Check(context.Background(), checkOptions(&o, false))
		foundIn(t, err, "validation")
		if err := os.RemoveAll(filepath.Dir(stray)); err != nil {
			t.Fatal(err)
		}
	}
	mustCheck(t, o)
}
