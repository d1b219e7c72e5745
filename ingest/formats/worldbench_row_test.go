package formats

import (
	"fmt"
	"reflect"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// TestBenchRows: where the turn to predict, what was shown and what was answered stand in the shapes of rows.
func TestBenchRows(t *testing.T) {
	const tail = `,"task":"b/web","system_str":"sys","total_turns":9}`
	for _, c := range []struct{ name, row, want string }{
		{"turns up to the target", `{"id":7,"prompt":["a","b say"],"response":["A","B"],"current_prompt":"b","turn_idx":2`, "7/2 system:sys user:a assistant:A user:b say = B"},
		{"the whole run", `{"id":"r","prompt":["a","b","c"],"response":["A","B","C"],"current_prompt":"b","turn_idx":2`, "r/2 system:sys user:a assistant:A user:b = B"},
		{"the prompt apart from its history", `{"id":7,"prompt":["a"],"response":["A","B"],"current_prompt":"b","turn_idx":2`, "7/2 system:sys user:a assistant:A user:b = B"},
		{"the first, apart", `{"id":7,"prompt":[],"response":["A"],"current_prompt":"a","turn_idx":1`, "7/1 system:sys user:a = A"},
		{"a history that was cut", `{"id":7,"prompt":["c","d"],"response":["C","D"],"current_prompt":"d","turn_idx":4`, "7/4 system:sys user:c assistant:C user:d = D"},
		{"no number", `{"id":7,"prompt":["a","b"],"response":["A","B"]`, "7/2 system:sys user:a assistant:A user:b = B"},
		{"texts", `{"id":7,"prompt":"a","response":"A","turn_idx":1`, "7/1 system:sys user:a = A"},
		{"messages", `{"id":7,"prompt":[{"role":"system","content":"more"},{"role":"user","content":"a"},{"role":"assistant","content":"A"},{"role":"user","content":"b"}],"response":["B"],"turn_idx":2`,
			"7/2 system:sys\n\nmore user:a assistant:A user:b = B"},
		{"no answer", `{"id":7,"prompt":["a","b"],"response":["A"],"turn_idx":2`, "decode: response has no answer to prompt[1], so there is nothing to compare with"},
		{"no id", `{"prompt":["a"],"response":["A"],"turn_idx":1`, "decode: id is missing: no prediction can name the row"},
		{"turn 0", `{"id":7,"prompt":["a"],"response":["A"],"turn_idx":0`, "decode: turn_idx is 0, want 1 or more"},
		{"nothing", `{"id":7,"prompt":[],"response":[],"turn_idx":1`, "decode: turn_idx is 1, and there is no prompt"},
		{"another format", `{"id":7,"messages":[]`, "decode: not agentworldbench: no prompt; try --format with another name if the whole file is of another format (turnmill formats lists them)"},
	} {
		var b BenchReader
		row, err := b.Read([]byte(c.row + tail))
		got := fmt.Sprint(err)
		if err == nil {
			var said []string
			for _, m := range row.Messages {
				said = append(said, m.Role+":"+m.Content)
			}
			got = fmt.Sprintf("%s %s = %s", BenchID("", row.ID, row.Turn), strings.Join(said, " "), row.Answer)
			if row.Domain != turnmill.DomainWeb || row.Task != "b/web" {
				t.Errorf("%s: domain %s of task %s", c.name, row.Domain, row.Task)
			}
		}
		if got != c.want {
			t.Errorf("%s:\n got %s\nwant %s", c.name, got, c.want)
		}
	}
}

// TestPropertyBenchRow: what AppendWorldBench writes has the name under which the decoder reads it, and the observation
// as its answer.
func TestPropertyBenchRow(t *testing.T) {
	var b BenchReader
	rapid.Check(t, func(r *rapid.T) {
		tr := turnmill.Trajectory{ID: rapid.StringN(1, 9, -1).Draw(r, "id"), Domain: turnmill.DomainOS}
		for i := range rapid.IntRange(1, 4).Draw(r, "turns") {
			tr.Turns = append(tr.Turns, turnmill.Turn{Index: i, HasAction: true, Action: rapid.String().Draw(r, "action"), Observation: rapid.String().Draw(r, "observation")})
		}
		target := rapid.IntRange(0, len(tr.Turns)-1).Draw(r, "target")
		line := AppendWorldBench(nil, &tr, target)
		row, err := b.Read(line)
		if err != nil {
			r.Fatal(err)
		}
		if row.Answer != markAnswer+"\n"+tr.Turns[target].Observation || len(row.Messages) != 2*target+1 {
			r.Fatalf("%d messages, answer %q", len(row.Messages), row.Answer)
		}
		f, _ := ByName(worldBenchName)
		var d Decoded
		if err := f.New(Options{}).Decode(line, &d); err != nil || d.Trajectories[0].ID != BenchID("", row.ID, row.Turn) {
			r.Fatalf("decoded as %q: %v", d.Trajectories[0].ID, err)
		}
	})
}

// FuzzBenchRow: any bytes are read twice alike, or refused; what is read ends in a user's message.
func FuzzBenchRow(f *testing.F) {
	f.Add([]byte(`{"task":"a/os","id":1,"prompt":["a","b"],"response":["A","B"],"current_prompt":"b","system_str":"s","turn_idx":2,"total_turns":2}`))
	f.Add([]byte(`{"task":"a","id":"x","prompt":[{"role":"user","content":"a"}],"response":[{"content":"A"}],"turn_idx":1}`))
	f.Fuzz(func(t *testing.T, raw []byte) {
		var a, b BenchReader
		one, err := a.Read(raw)
		two, again := b.Read(raw)
		if (err == nil) != (again == nil) || !reflect.DeepEqual(one, two) {
			t.Fatalf("%v %v; %v %v", one, err, two, again)
		}
		if err == nil && (len(one.Messages) == 0 || one.Messages[len(one.Messages)-1].Role != "user") {
			t.Fatalf("messages %v", one.Messages)
		}
	})
}
