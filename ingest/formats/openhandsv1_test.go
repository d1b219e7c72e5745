package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

func ohAct(event, call, response, command string) string {
	return fmt.Sprintf(`{"kind":"ActionEvent","id":%q,"source":"agent","thought":[],"tool_name":"shell","tool_call_id":%q,"llm_response_id":%q,`+
		`"tool_call":{"id":%q,"name":"shell","arguments":%q,"origin":"completion"}}`, event, call, response, call, fmt.Sprintf(`{"command":%q}`, command))
}

func ohSee(action, call, text string) string {
	return fmt.Sprintf(`{"kind":"ObservationEvent","id":"o","source":"environment","tool_name":"shell","tool_call_id":%q,"action_id":%q,`+
		`"observation":{"kind":"TerminalObservation","content":[{"type":"text","text":%q}],"is_error":false}}`, call, action, text)
}

func ohFail(call, text string) string {
	return fmt.Sprintf(`{"kind":"AgentErrorEvent","id":"f","source":"agent","tool_name":"shell","tool_call_id":%q,"error":%q}`, call, text)
}

// TestReport10Answers: a rejection is no answer, an error is one, silence is one; of an error and a later
// result the result counts; a second answer and an answer to nobody are counted.
func TestReport10Answers(t *testing.T) {
	log := strings.Join([]string{
		`{"kind":"MessageEvent","id":"e0","source":"user","llm_message":{"role":"user","content":[{"type":"text","text":"Clean."}]}}`,
		ohAct("e1", "k1", "L1", "ls"), ohSee("e1", "k1", "old"),
		ohAct("e2", "k2", "L2", "rm -rf /"),
		`{"kind":"UserRejectObservation","id":"o2","tool_name":"shell","tool_call_id":"k2","action_id":"e2","rejection_reason":"too broad"}`,
		ohAct("e3", "k3", "L3", "rmm"), ohFail("k3", "unknown"),
		ohAct("e4", "k4", "L4", "rm old"), ohSee("e4", "k4", ""), ohSee("e1", "k1", "old"),
		ohAct("e5", "k5", "L5", "make"), ohFail("k5", "interrupted"), ohSee("e5", "k5", "done"), ohFail("k9", "interrupted"),
	}, "\n")
	out, got := runsOf(t, openHandsV1Name, log)
	if want := []string{` (Clean.) ls -> old rmm -> unknown rm old ->  make -> done`}; !cmp.Equal(got, want) {
		t.Errorf("%q", got)
	}
	n := out.Notes
	if n[turnmill.NoteUnansweredAction] != 1 || n[turnmill.NoteOrphanObservation] != 1 || n[turnmill.NoteRepeatedAnswer] != 2 {
		t.Errorf("%s", noteLine(&n))
	}
}

// TestConversationPairing draws conversations whose answers stand anywhere: the actions of one response are
// one turn, each with its own answer.
func TestConversationPairing(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		type run struct{ action, answer string }
		var lines []string
		var want []run
		unanswered := 0
		for r := range rapid.IntRange(1, 5).Draw(t, "responses") {
			var actions, answers []string
			for c := range rapid.IntRange(1, 4).Draw(t, "calls") {
				event, call := fmt.Sprintf("e%d.%d", r, c), fmt.Sprintf("k%d", rapid.IntRange(0, 3).Draw(t, "id"))
				lines = append(lines, ohAct(event, call, fmt.Sprint("L", r), "do "+event))
				if rapid.IntRange(0, 4).Draw(t, "silent") == 0 {
					unanswered++
					continue
				}
				lines = append(lines, ohSee(event, call, "out "+event))
				actions, answers = append(actions, "do "+event), append(answers, "out "+event)
			}
			if len(actions) > 0 {
				want = append(want, run{strings.Join(actions, "+"), strings.Join(answers, "\n")})
			}
		}
		var acts, others []string
		for _, line := range lines {
			if strings.Contains(line, "ActionEvent") {
				acts = append(acts, line)
			} else {
				others = append(others, line)
			}
		}
		log := lines
		if rapid.Bool().Draw(t, "answers last") {
			log = append(acts, rapid.Permutation(others).Draw(t, "order")...)
		}
		if len(log) < 2 {
			return
		}
		out, _ := runsOf(t, openHandsV1Name, strings.Join(log, "\n"))
		var got []run
		for _, turn := range out.Trajectories[0].Turns {
			var actions []string
			for line := range strings.SplitSeq(turn.Action, "\n") {
				actions = append(actions, strings.TrimSuffix(strings.TrimPrefix(line, `{"name":"shell","arguments":{"command":"`), `"}}`))
			}
			got = append(got, run{strings.Join(actions, "+"), turn.Observation})
		}
		if diff := cmp.Diff(want, got, cmp.AllowUnexported(run{})); diff != "" || int(out.Notes[turnmill.NoteUnansweredAction]) != unanswered {
			t.Fatalf("%s, want %d unanswered (-want +got)\n%s\n%s", noteLine(&out.Notes), unanswered, diff, strings.Join(log, "\n"))
		}
	})
}

// TestLoneEvent: a file that holds one event is a part of a conversation, in lines as in any other shape.
func TestLoneEvent(t *testing.T) {
	event := ohAct("e1", "k1", "L1", "ls")
	for name, file := range map[string]string{"line": event + "\n", "pretty": pretty(event), "list": "[" + event + "]"} {
		found, err := Detect([]byte(file), true)
		if err != nil || found.Format.Name != openHandsV1Name {
			t.Fatalf("%s: %q, %v", name, found.Format.Name, err)
		}
		var out Decoded
		if err := found.Format.New(Options{}).Decode([]byte(file), &out); reasonOf(err) != turnmill.ReasonMissingPart {
			t.Errorf("%s: %v, want missing_companion", name, err)
		}
	}
}

// TestEventFiles: events in a file each go by their times, and behind their parents; links hold whatever the
// order; a copy is counted, damage costs its file.
func TestEventFiles(t *testing.T) {
	with := func(event, members string) Part {
		return Part{Data: []byte(strings.Replace(event, "{", "{"+members+",", 1))}
	}
	at := func(second string) string { return fmt.Sprintf(`"timestamp":"2026-01-02T03:04:%s"`, second) }
	say := `{"kind":"MessageEvent","id":"e0","source":"user","llm_message":{"role":"user","content":"Tidy."}}`
	state := Part{Data: []byte(`{"id":"conv-7","agent":{"llm":{"model":"m-7"}},"max_iterations":9}`)}
	parts := []Part{
		with(ohAct("b", "k", "L2", "rm"), at("30")+`,"parent_id":"p"`),
		with(ohAct("a", "k", "L1", "ls"), at("20.5")+`,"parent_id":"e0"`),
		with(ohSee("b", "k", "gone"), at("10")), // before its action, by a clock put back
		with(strings.Replace(ohSee("a", "k", "old"), `"id":"o"`, `"id":"p"`, 1), at("21")+`,"parent_id":"a"`),
		with(say, at("19")), state, {Data: []byte("{\"kind\":\"Acti")},
		with(ohAct("c", "k", "L3", "pwd"), at("05")+`,"parent_id":"b"`), // after b, whatever its clock says
		with(ohSee("c", "k", "here"), at("31")),
	}
	for i := range parts {
		parts[i].Data = append(parts[i].Data, '\n')
	}
	parts = append(parts, parts[1])
	join := mustFormat(t, openHandsV1Name)
	rapid.Check(t, func(t *rapid.T) {
		var out Decoded
		err := join.New(Options{}).(PartsDecoder).DecodeParts(rapid.Permutation(parts).Draw(t, "parts"), &out)
		if err != nil || len(out.Trajectories) != 1 || len(out.Lost) != 1 || out.Copied != 1 {
			t.Fatalf("%v, %d trajectories, %d stretches lost, %d copies", err, len(out.Trajectories), len(out.Lost), out.Copied)
		}
		tr := &out.Trajectories[0]
		var got []string
		for _, turn := range tr.Turns {
			got = append(got, turn.Action+" "+turn.Observation)
		}
		want := []string{`{"name":"shell","arguments":{"command":"ls"}} old`, `{"name":"shell","arguments":{"command":"rm"}} gone`, `{"name":"shell","arguments":{"command":"pwd"}} here`}
		if diff := cmp.Diff(want, got); diff != "" || tr.ID != "conv-7" || tr.Agent != "m-7" || tr.System.TaskDescription != "Tidy." {
			t.Fatalf("%q %q %q\n%s", tr.ID, tr.Agent, tr.System.TaskDescription, diff)
		}
	})
}

// TestEventCircle: events that name one another as parents are all there, once.
func TestEventCircle(t *testing.T) {
	stamps := []ohStamp{{id: "a", parent: "b"}, {id: "b", parent: "c"}, {id: "c", parent: "a"}, {id: "d", parent: "d"}, {}}
	if diff := cmp.Diff([]int{2, 1, 0, 3, 4}, inOrder(stamps)); diff != "" {
		t.Error(diff)
	}
}
