package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// longCodex is longRun as a rollout, with the events that repeat its items.
func longCodex(n int) []byte {
	t := longRun(n)
	lines := []string{rolloutLine("session_meta", `{"id":"c"}`), itemLine("user", t.System.TaskDescription)}
	for i := range t.Turns {
		id := fmt.Sprintf("c%d", i)
		lines = append(lines, askLine(id, fmt.Sprintf("grep -n \"query %d\" app.log | tail -20", i)),
			rolloutLine("event_msg", fmt.Sprintf(`{"type":"exec_command_end","call_id":%q,"aggregated_output":%q,"exit_code":0}`, id, t.Turns[i].Observation)),
			outputLine(id, t.Turns[i].Observation))
	}
	return []byte(strings.Join(lines, "\n") + "\n")
}

func rolloutLine(kind, payload string) string {
	return fmt.Sprintf(`{"timestamp":"2026-01-01T00:00:00Z","type":%q,"payload":%s}`, kind, payload)
}

func itemLine(role, text string) string {
	part := "input_text"
	if role == "assistant" {
		part = "output_text"
	}
	return rolloutLine("response_item", fmt.Sprintf(`{"type":"message","role":%q,"content":[{"type":%q,"text":%q}]}`, role, part, text))
}

func askLine(id, command string) string {
	return rolloutLine("response_item", fmt.Sprintf(`{"type":"function_call","name":"shell","call_id":%q,"arguments":%q}`, id, fmt.Sprintf(`{"command":%q}`, command)))
}

func outputLine(id, text string) string {
	return rolloutLine("response_item", fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, id, text))
}

// runsOf decodes a log and shows its runs: id, task, and each turn as action -> observation.
func runsOf(t interface{ Fatal(...any) }, format, log string) (*Decoded, []string) {
	var out Decoded
	f, err := ByName(format)
	if err == nil {
		err = f.New(Options{}).Decode([]byte(log), &out)
	}
	if err != nil {
		t.Fatal(err)
	}
	var runs []string
	for i := range out.Trajectories {
		run := &out.Trajectories[i]
		var b strings.Builder
		fmt.Fprintf(&b, "%s (%s)", run.ID, run.System.TaskDescription)
		for _, turn := range run.Turns {
			action := strings.TrimSuffix(strings.ReplaceAll(turn.Action, `{"name":"shell","arguments":{"command":`, ""), "}}")
			fmt.Fprintf(&b, " %s -> %s", strings.Trim(action, `"`), turn.Observation)
		}
		runs = append(runs, b.String())
	}
	return &out, runs
}

// TestReport01BothChannels: a log that says everything twice, and one that says it once, give the same turns.
// What the host says of itself is not the task.
func TestReport01BothChannels(t *testing.T) {
	place := "<environment_context><cwd>/w</cwd></environment_context>"
	once := []string{rolloutLine("session_meta", `{"id":"s"}`), itemLine("user", place), itemLine("user", "Count."),
		askLine("c1", "ls"), outputLine("c1", "a\n"), askLine("c2", "wc"), outputLine("c2", "7\n"), itemLine("assistant", "Seven.")}
	event := func(kind, text string) string {
		return rolloutLine("event_msg", fmt.Sprintf(`{"type":%q,"message":%q}`, kind, text))
	}
	twice := strings.Join(append(append([]string{once[0], once[1], once[2], event("user_message", "Count.")}, once[3:7]...), event("agent_message", "Seven."), once[7]), "\n")
	want := []string{"s (Count.) ls -> a\n wc -> 7\n"}
	for name, tt := range map[string]struct {
		log    string
		copied int64
	}{"once": {strings.Join(once, "\n"), 0}, "twice": {twice, 2}} {
		out, got := runsOf(t, codexName, tt.log)
		if diff := cmp.Diff(want, got); diff != "" || out.Copied != tt.copied {
			t.Errorf("%s: %d copies, want %d (-want +got)\n%s", name, out.Copied, tt.copied, diff)
		}
		if got := out.Trajectories[0].System.InitialState; got != place {
			t.Errorf("%s: initial state %q", name, got)
		}
		if n := out.Notes[turnmill.NoteUnansweredAction]; n != 1 {
			t.Errorf("%s: %d unanswered, want the closing words", name, n)
		}
	}
}

// TestReport07SplicedRollout: two lines in one, a cut one that runs into the next, NUL bytes.
func TestReport07SplicedRollout(t *testing.T) {
	cut := askLine("c9", "cut")[:60]
	log := rolloutLine("session_meta", `{"id":"s"}`) + askLine("c1", "one") + "\n" + cut + outputLine("c1", "1") + "\n\x00\x00" +
		askLine("c2", "two") + "\n" + outputLine("c2", "2")
	out, got := runsOf(t, codexName, log)
	if want := []string{"s () one -> 1 two -> 2"}; !cmp.Equal(got, want) {
		t.Errorf("%q", got)
	}
	if len(out.Lost) != 1 || log[out.Lost[0].Offset:][:out.Lost[0].Bytes] != cut {
		t.Errorf("lost %+v, want the cut line", out.Lost)
	}
}

// TestReport16GluedArguments: arguments that are two objects, or no JSON, stay as JSON strings, counted.
func TestReport16GluedArguments(t *testing.T) {
	var lines []string
	for i, args := range []string{`{"a":1}{"b":2}`, `undefined{"a":1}`, `{"a":1}`} {
		id := fmt.Sprint("c", i)
		lines = append(lines, rolloutLine("response_item", fmt.Sprintf(`{"type":"function_call","name":"f","call_id":%q,"arguments":%q}`, id, args)), outputLine(id, "x"))
	}
	out, _ := runsOf(t, codexName, strings.Join(lines, "\n"))
	want := []string{`{"name":"f","arguments":"{\"a\":1}{\"b\":2}"}`, `{"name":"f","arguments":"undefined{\"a\":1}"}`, `{"name":"f","arguments":{"a":1}}`}
	for i, turn := range out.Trajectories[0].Turns {
		if turn.Action != want[i] {
			t.Errorf("turn %d: %s, want %s", i, turn.Action, want[i])
		}
	}
	if n := out.Notes[turnmill.NoteBadArguments]; n != 2 {
		t.Errorf("%d arguments that are not JSON, want 2", n)
	}
}

// TestRolloutPairing draws rollouts whose outputs stand in any order behind their calls, with damage: each
// call that is there with its output is in one turn, once, and nothing else is.
func TestRolloutPairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines := []string{rolloutLine("session_meta", `{"id":"s"}`), itemLine("user", "go")}
		var open []string
		want, unanswered, orphans, damaged := map[string]bool{}, 0, 0, 0
		whole := func(line string) bool {
			if rapid.IntRange(0, 12).Draw(t, "damage") == 0 {
				lines, damaged = append(lines, line[:len(line)-1-rapid.IntRange(0, 20).Draw(t, "cut")]), damaged+1
				return false
			}
			lines = append(lines, line)
			return true
		}
		asked := map[string]bool{}
		answer := func(i int) {
			id := open[i]
			open = append(open[:i], open[i+1:]...)
			switch ok := whole(outputLine(id, "out of "+id)); {
			case ok && asked[id]:
				want["out of "+id] = true
			case ok:
				orphans++
			case asked[id]:
				unanswered++
			}
		}
		for n := range rapid.IntRange(1, 12).Draw(t, "calls") {
			id := fmt.Sprintf("c%d", n)
			asked[id] = whole(askLine(id, "do "+id))
			open = append(open, id)
			for len(open) > 0 && rapid.Bool().Draw(t, "answer") {
				answer(rapid.IntRange(0, len(open)-1).Draw(t, "which"))
			}
		}
		for _, id := range open {
			if asked[id] {
				unanswered++
			}
		}
		out, _ := runsOf(t, codexName, strings.Join(lines, "\n"))
		got := 0
		for _, turn := range out.Trajectories[0].Turns {
			for text := range strings.SplitSeq(turn.Observation, "\n") {
				if got++; !want[text] || strings.Count(turn.Action, `"do `+strings.TrimPrefix(text, "out of ")+`"`) != 1 {
					t.Fatalf("turn %q -> %q", turn.Action, text)
				}
			}
		}
		n := out.Notes
		if got != len(want) || int(n[turnmill.NoteUnansweredAction]) != unanswered || int(n[turnmill.NoteOrphanObservation]) != orphans || len(out.Lost) != damaged {
			t.Fatalf("%d answers of %d, notes %s, want %d unanswered, %d orphans; %d lost of %d\n%s", got, len(want), noteLine(&n), unanswered, orphans,
				len(out.Lost), damaged, strings.Join(lines, "\n"))
		}
	})
}

// TestAgentTraceOfCodex: a row that has the events of a rollout and no rendering.
func TestAgentTraceOfCodex(t *testing.T) {
	events := strings.Join([]string{rolloutLine("session_meta", `{"id":"s"}`), itemLine("user", "go"), askLine("c1", "ls"), outputLine("c1", "a")}, ",")
	for _, trace := range []string{"[" + events + "]", fmt.Sprintf("%q", "["+events+"]")} {
		_, got := runsOf(t, agentTraceName, `{"harness":"codex","session_id":"row","trace":`+trace+`}`)
		if want := []string{"row (go) ls -> a"}; !cmp.Equal(got, want) {
			t.Errorf("%.20s: %q", trace, got)
		}
	}
}

// TestCodexManySessions: a file of many sessions, the first of which is large, takes time by its lines; counting
// or emptying anew for each would take minutes.
func TestCodexManySessions(t *testing.T) {
	const large, small = 1 << 17, 1 << 16
	var b strings.Builder
	begin := func(id int) { fmt.Fprintf(&b, "{\"type\":\"thread.started\",\"thread_id\":\"t%d\"}\n", id) }
	call := func(id int) {
		fmt.Fprintf(&b, "{\"type\":\"item.started\",\"item\":{\"id\":\"i%d\",\"type\":\"command_execution\",\"command\":\"ls\"}}\n", id)
	}
	begin(-1)
	for i := range large {
		call(i)
	}
	for i := range small {
		begin(i % (small - 1)) // the last has the id of an earlier one
		call(0)
	}
	out, _ := runsOf(t, codexName, b.String())
	if len(out.Trajectories) != small+1 {
		t.Fatalf("%d trajectories, want %d", len(out.Trajectories), small+1)
	}
	if first, last := out.Trajectories[1].ID, out.Trajectories[small].ID; first != "t0" || last != "t0#2" {
		t.Errorf("ids %q and %q", first, last)
	}
}
