package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// longRun is a run of n turns with texts of the usual size.
func longRun(n int) *turnmill.Trajectory {
	t := &turnmill.Trajectory{
		ID: "run-17", Domain: turnmill.DomainTerminal, Source: "bench", TaskID: "task-4",
		System: turnmill.SystemPrompt{TaskDescription: strings.Repeat("Find the \"slow\" query in the log.\n", 40)},
	}
	for i := range n {
		t.Turns = append(t.Turns, turnmill.Turn{
			Index: i, HasAction: true, Tool: "bash",
			Action:      fmt.Sprintf(`{"name":"bash","arguments":{"command":"grep -n \"query %d\" app.log | tail -20"}}`, i),
			Observation: strings.Repeat(fmt.Sprintf("%d: 2026-01-05 10:00:00 INFO query took 12 ms, user \"ada\", rows 14\n", i), 20),
		})
	}
	return t
}

// longChat is the same run as an OpenAI chat.
func longChat(n int) []byte {
	t := longRun(n)
	var b []byte
	b = fmt.Appendf(b, `{"id":"c","messages":[{"role":"system","content":%q},{"role":"user","content":"go"}`, t.System.TaskDescription)
	for i := range t.Turns {
		b = fmt.Appendf(b, `,{"role":"assistant","content":null,"tool_calls":[{"id":"call_%d","type":"function","function":{"name":"bash","arguments":%q}}]}`,
			i, fmt.Sprintf(`{"command":"grep -n \"query %d\" app.log | tail -20"}`, i))
		b = fmt.Appendf(b, `,{"role":"tool","tool_call_id":"call_%d","content":%q}`, i, t.Turns[i].Observation)
	}
	return append(b, `],"tools":[{"type":"function","function":{"name":"bash","parameters":{"type":"object"}}}]}`...)
}

func benchmarkDecode(b *testing.B, format string, record []byte) {
	d := mustFormat(b, format).New(Options{})
	var out Decoded
	b.ReportAllocs()
	b.SetBytes(int64(len(record)))
	for b.Loop() {
		if err := d.Decode(record, &out); err != nil {
			b.Fatal(err)
		}
	}
}

func BenchmarkDecodeTurnmill(b *testing.B) {
	benchmarkDecode(b, "turnmill", AppendUnified(nil, longRun(30)))
}

func BenchmarkDecodeOpenAIChat(b *testing.B) { benchmarkDecode(b, "openai-chat", longChat(30)) }

func BenchmarkAppendUnified(b *testing.B) {
	t := longRun(30)
	dst := AppendUnified(nil, t)
	b.ReportAllocs()
	b.SetBytes(int64(len(dst)))
	for b.Loop() {
		dst = AppendUnified(dst[:0], t)
	}
}

func BenchmarkContentID(b *testing.B) {
	t := longRun(30)
	scratch := AppendCanonical(nil, t)
	b.ReportAllocs()
	b.SetBytes(int64(len(scratch)))
	for b.Loop() {
		_, scratch = ContentID(t, scratch)
	}
}

func BenchmarkDetect(b *testing.B) {
	head := AppendUnified(nil, longRun(30))
	for len(head) < HeadBytes {
		head = append(append(head, '\n'), head...)
	}
	head = head[:HeadBytes]
	b.ReportAllocs()
	b.SetBytes(int64(len(head)))
	for b.Loop() {
		if _, err := Detect(head, false); err != nil {
			b.Fatal(err)
		}
	}
}
