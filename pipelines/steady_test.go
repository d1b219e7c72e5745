package pipelines

import (
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"
	"time"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
)

// steadyTurns are the JSON parts of the turns of a run: words that recur, numbers that do not, escapes, JSON
// in JSON, text that is not ASCII.
type steadyTurns struct {
	head, tail   string
	action       string // %[1]d is the turn, %[2]s what separates it from the one before
	observations []string
}

var steadyFormats = map[string]steadyTurns{
	"turnmill": {
		head: `{"id":"steady","domain":"terminal","source":"test","agent":"a","task_id":"t","system":{"task_description":"Mend the gauge."},"turns":[`, tail: "]}",
		action: `%[2]s{"index":%[1]d,"tool":"bash,read","action":"{\"name\":\"bash\",\"arguments\":{\"command\":\"cat \\\"gauge-%[1]d\\\"\\n\"}}",` +
			`"observation":`,
		observations: []string{
			`"line %d of the lock keeper's log\n\tрябь na\u00efve 桥 {\"a\":[1,2,%[1]d]}\n"}`,
			`"{\"tide\":[%d,2.5],\"keeper\":\"M\\u00fcller\",\"note\":\"a\\nb\"}"}`,
			`"{\"name\":\"bash\",\"arguments\":{\"command\":\"cat \\\"gauge-%d\\\"\\n\"}}"}`,
		},
	},
	"openai-chat": {
		head: `{"id":"steady","messages":[{"role":"system","content":"Mend the gauge."},{"role":"user","content":"Begin."}`, tail: "]}",
		action: `,{"role":"assistant","content":"I look at %[1]d.","tool_calls":[{"id":"c%[1]d","type":"function","function":{"name":"bash","arguments":"{\"command\":\"cat \\\"gauge-%[1]d\\\"\\n\"}"}}]},` +
			`{"role":"tool","tool_call_id":"c%[1]d","content":`,
		observations: []string{
			`"line %d of the lock keeper's log\n\tрябь na\u00efve 桥 {\"a\":[1,2,%[1]d]}\n"}`,
			`"{\"tide\":[%d,2.5],\"keeper\":\"M\\u00fcller\",\"note\":\"a\\nb\"}"}`,
		},
	},
}

// record returns one record with n turns.
func (s steadyTurns) record(n int) []byte {
	var b strings.Builder
	b.WriteString(s.head)
	for i := range n {
		comma := ","
		if i == 0 {
			comma = ""
		}
		fmt.Fprintf(&b, strings.ReplaceAll(s.action, "%[2]s", comma), i)
		fmt.Fprintf(&b, s.observations[i%len(s.observations)], i)
	}
	b.WriteString(s.tail)
	return []byte(b.String())
}

// worker returns a worker for records of one format, and where they come from.
func (s steadyTurns) worker(t testing.TB, format string) (*worker, source) {
	t.Helper()
	path := filepath.Join(t.TempDir(), "runs.jsonl")
	write(t, path, append(s.record(3), '\n'))
	o := options(t, path)
	o.SeqLen = 262_144
	o.Format = format
	setup, _, err := plan(context.Background(), &o)
	if err != nil {
		t.Fatal(err)
	}
	return setup.newWorker(), source{path: path, frame: -1, format: format, layout: frame.Lines}
}

// TestSteadyStateAllocates: once a worker has seen records of their size, records and turns cost no memory.
func TestSteadyStateAllocates(t *testing.T) {
	for format, turns := range steadyFormats {
		t.Run(format, func(t *testing.T) {
			w, from := turns.worker(t, format)
			out := newOutcome(mask.ModeTurn, true)
			raw := frame.Record{Data: turns.record(220), Line: 1}
			run := func() {
				out.rows.Reset()
				out.splits, out.turns, out.rejects = out.splits[:0], out.turns[:0], out.rejects[:0]
				out.arena.Reset()
				w.record(from, raw, out)
			}
			for range 3 { // the first rounds grow the buffers
				run()
			}
			if n := testing.AllocsPerRun(20, run); n != 0 {
				t.Errorf("%v allocations a record of 220 turns, want none", n)
			}
			if len(out.turns) != 220 || len(out.rows.Rows) != 1 {
				t.Fatalf("%d turns in %d rows, rejects: %s", len(out.turns), len(out.rows.Rows), out.rejects)
			}
		})
	}
}

// TestTurnsCostTheSame: a record of twice as many turns takes twice as long, and a little for what falls out of
// the caches. The least of many rounds counts, so that a busy machine does not.
func TestTurnsCostTheSame(t *testing.T) {
	for format, turns := range steadyFormats {
		t.Run(format, func(t *testing.T) {
			w, from := turns.worker(t, format)
			out := newOutcome(mask.ModeTurn, true)
			records := [2][]byte{turns.record(200), turns.record(400)}
			least := [2]time.Duration{1 << 62, 1 << 62}
			for range 60 {
				for i, data := range records {
					out.reset()
					began := time.Now()
					w.record(from, frame.Record{Data: data, Line: 1}, out)
					least[i] = min(least[i], time.Since(began))
				}
			}
			ratio := float64(least[1]) / float64(least[0])
			t.Logf("200 turns: %v, 400 turns: %v, %.2f times", least[0], least[1], ratio)
			if ratio >= 2.2 {
				t.Errorf("400 turns take %.2f times what 200 take, want less than 2.2", ratio)
			}
		})
	}
}
