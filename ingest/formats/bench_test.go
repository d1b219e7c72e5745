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

// longATIF is the same run as an ATIF document.
func longATIF(n int) []byte {
	t := longRun(n)
	b := fmt.Appendf(nil, `{"schema_version":"ATIF-v1.7","session_id":"c","agent":{"name":"demo","version":"1"},"steps":[{"step_id":1,"source":"user","message":%q}`,
		t.System.TaskDescription)
	for i := range t.Turns {
		b = fmt.Appendf(b, `,{"step_id":%d,"source":"agent","message":"","tool_calls":[{"tool_call_id":"call_%d","function_name":"bash","arguments":{"command":"grep -n \"query %d\" app.log | tail -20"}}]`, i+2, i, i)
		b = fmt.Appendf(b, `,"observation":{"results":[{"source_call_id":"call_%d","content":%q}]}}`, i, t.Turns[i].Observation)
	}
	return append(b, "]}"...)
}

// longTau is the same run as a result of tau-bench.
func longTau(n int) []byte {
	chat := longChat(n)
	from, to := strings.Index(string(chat), "["), strings.LastIndex(string(chat), `,"tools"`)
	return fmt.Appendf(nil, `{"task_id":4,"reward":1.0,"traj":%s,"trial":0}`, chat[from:to])
}

// longSession is the same run as a session log.
func longSession(n int) []byte {
	t := longRun(n)
	lines := []string{personLine("u", "", t.System.TaskDescription)}
	up := "u"
	for i := range t.Turns {
		lines = append(lines, callLine(fmt.Sprintf("a%d", i), up, fmt.Sprintf("m%d", i), fmt.Sprintf("t%d", i), fmt.Sprintf("grep -n \"query %d\" app.log | tail -20", i)))
		up = fmt.Sprintf("r%d", i)
		lines = append(lines, resultLine(up, fmt.Sprintf("a%d", i), fmt.Sprintf("t%d", i), t.Turns[i].Observation))
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

// longTrace is that session as a row whose log is text.
func longTrace(n int) []byte {
	events := strings.ReplaceAll(strings.TrimSpace(string(longSession(n))), "\n", ",")
	return fmt.Appendf(nil, `{"harness":"claude_code","session_id":"c","trace":%q}`, "["+events+"]")
}

// longLangfuse is the same run as a trace, each request of which repeats the conversation.
func longLangfuse(n int) []byte {
	t := longRun(n)
	history := fmt.Sprintf(`{"role":"user","content":%q}`, t.System.TaskDescription)
	b := fmt.Appendf(nil, `{"trace":{"id":"c"},"observations":[`)
	for i := range t.Turns {
		call := fmt.Sprintf(`{"role":"assistant","tool_calls":[{"id":"call_%06d","function":{"name":"bash","arguments":{"command":"grep -n \"query %d\" app.log | tail -20"}}}]}`, i, i)
		b = fmt.Appendf(b, `{"id":"g%d","type":"GENERATION","name":"chat","startTime":"2026-01-01T00:00:%02d.000Z","parentObservationId":"r","input":[%s],"output":%s},`, i, i, history, call)
		b = fmt.Appendf(b, `{"id":"s%d","type":"TOOL","name":"bash","startTime":"2026-01-01T00:00:%02d.500Z","parentObservationId":"r","input":{},"output":%q}`, i, i, t.Turns[i].Observation)
		if i < n-1 {
			b = append(b, ',')
		}
		history += "," + call + fmt.Sprintf(`,{"role":"tool","tool_call_id":"call_%06d","content":%q}`, i, t.Turns[i].Observation)
	}
	return append(b, "]}"...)
}

// long returns a long record of the format, or nil where there is none.
func long(format string, n int) []byte {
	switch format {
	case unifiedName:
		return AppendUnified(nil, longRun(n))
	case chatName:
		return longChat(n)
	case atifName:
		return longATIF(n)
	case tauBenchName:
		return longTau(n)
	case claudeCodeName:
		return longSession(n)
	case codexName:
		return longCodex(n)
	case agentTraceName:
		return longTrace(n)
	case langfuseName:
		return longLangfuse(n)
	}
	return nil
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
func BenchmarkDecodeATIF(b *testing.B)       { benchmarkDecode(b, "atif", longATIF(30)) }
func BenchmarkDecodeTauBench(b *testing.B)   { benchmarkDecode(b, "tau-bench", longTau(30)) }
func BenchmarkDecodeClaudeCode(b *testing.B) { benchmarkDecode(b, "claude-code", longSession(30)) }
func BenchmarkDecodeCodex(b *testing.B)      { benchmarkDecode(b, "codex", longCodex(30)) }
func BenchmarkDecodeAgentTrace(b *testing.B) { benchmarkDecode(b, "agent-trace", longTrace(30)) }

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
