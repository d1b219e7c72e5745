//go:build hf && cgo

package pipelines

import (
	"encoding/json"
	"maps"
	"os"
	"strings"
	"testing"
)

// TestHFSameRows: the engine changes no row, turn or reject, for any number of workers.
func TestHFSameRows(t *testing.T) {
	o := options(t, writeFiles(t, demoFiles()))
	o.Partitions, o.Workers = 2, 2
	m := mustRun(t, o)
	if m.Tokenizer.Engine != "bpe" {
		t.Fatalf("auto took %s", m.Tokenizer.Engine)
	}
	want := engineFiles(digest(t, o.Output))
	if len(want) < 5 {
		t.Fatalf("files %v", want)
	}
	for _, workers := range []int{1, 3} {
		other := with(t, o, func(o *Options) { o.Engine, o.Workers = "hf", workers })
		m := mustRun(t, other)
		if m.Tokenizer.Engine != "hf" || m.Counts.Tokens.Trained == 0 {
			t.Errorf("engine %s, %d trained tokens", m.Tokenizer.Engine, m.Counts.Tokens.Trained)
		}
		sameFiles(t, "engine hf", want, engineFiles(digest(t, other.Output)))
		mustCheck(t, other)
		other.Engine = "bpe"
		_, err := CPT(t.Context(), other)
		wantUsage(t, err, "tokenizer", "engine hf", "engine bpe", "--restart")
	}
}

// engineFiles leaves out the files that name the engine, or the plan by its hash.
func engineFiles(sums map[string]string) map[string]string {
	maps.DeleteFunc(sums, func(name, _ string) bool {
		return strings.HasSuffix(name, ".json") || strings.HasPrefix(name, "commits/")
	})
	return sums
}

// TestHFTextWithoutTokens: a text that the library gives up on costs its trajectory, with its reason.
func TestHFTextWithoutTokens(t *testing.T) {
	turn := func(observation string) testTurn {
		action := "ls"
		return testTurn{Action: &action, Observation: &observation}
	}
	var lines []byte
	for _, r := range []testRecord{
		{ID: "before", Domain: "terminal", Turns: []testTurn{turn("a b"), turn("c d")}},
		{ID: "blanks", Domain: "terminal", Turns: []testTurn{turn("a b"), turn(strings.Repeat(" ", 10_100_000) + "x")}},
		{ID: "after", Domain: "terminal", Turns: []testTurn{turn("a b"), turn("c d")}},
	} {
		for i := range r.Turns {
			r.Turns[i].Index = i
		}
		line, err := json.Marshal(r)
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	dir := t.TempDir()
	write(t, dir+"/a.jsonl", lines)
	o := options(t, dir)
	o.Engine, o.Mask, o.Workers = "hf", "off", 1
	m := mustRun(t, o)
	if l := m.Counts.Ledger.Total.Trajectories; l.In != 3 || l.Out != 2 || l.Rejected["unencodable"] != 1 {
		t.Errorf("trajectories %+v, want 3 in, 2 out, 1 rejected as unencodable", l)
	}
	if _, err := os.Stat(o.Output + "/manifest.json"); err != nil {
		t.Error(err)
	}
	mustCheck(t, o)
}
