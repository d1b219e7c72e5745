package formats

import (
	"testing"

	"github.com/turnmill/turnmill"
)

// TestNoteTexts: U+0000 counts where it stands in a text that comes out, and a benchmark is one that says so itself.
func TestNoteTexts(t *testing.T) {
	for _, c := range []struct {
		name, format, raw string
		nul, benchmark    int64
	}{
		{"every text of a turn", "turnmill", `{"id":"a","system":{"task_description":"\u0000"},"turns":[{"state":"\u0000","action":"\u0000\u0000","observation":"\u0000"}]}`, 5, 0},
		{"a member that is not read", "turnmill", `{"id":"a","other\u0000":"\u0000","turns":[{"action":"a","observation":"o"}]}`, 0, 0},
		{"a document", "turnmill", `{"kind":"document","id":"d","text":"a\u0000","meta":{"benchmark":true}}`, 1, 1},
		{"an escape of arguments stays one", "turnmill", `{"id":"a","turns":[{"action":"{\"a\":\"\\u0000\"}","observation":"o"}]}`, 0, 0},
		{"a benchmark", "turnmill", `{"id":"a","meta":{"x":1,"benchmark": true},"turns":[{"action":"a","observation":"o"}]}`, 0, 1},
		{"a benchmark's name", "turnmill", `{"id":"a","meta":{"benchmark":"webarena"},"turns":[{"action":"a","observation":"o"}]}`, 0, 0},
		{"a benchmark inside", "turnmill", `{"id":"a","meta":{"x":{"benchmark":true}},"turns":[{"action":"a","observation":"o"}]}`, 0, 0},
		{"a row of AgentWorldBench", worldBenchName, `{"task":"terminal","id":"a","prompt":["ls"],"response":["a"],"turn_idx":1,"total_turns":1}`, 0, 1},
	} {
		t.Run(c.name, func(t *testing.T) {
			f, err := ByName(c.format)
			if err != nil {
				t.Fatal(err)
			}
			var d Decoded
			if err := f.New(Options{}).Decode([]byte(c.raw), &d); err != nil {
				t.Fatal(err)
			}
			for range 2 { // it sets, and does not add
				d.NoteTexts()
			}
			if nul, benchmark := d.Notes[turnmill.NoteNUL], d.Notes[turnmill.NoteBenchmark]; nul != c.nul || benchmark != c.benchmark {
				t.Errorf("%d nul, %d of a benchmark; want %d, %d", nul, benchmark, c.nul, c.benchmark)
			}
		})
	}
}
