package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// Lines of a session. parent "" is null.

func event(kind, uuid, parent, message string) string {
	up := "null"
	if parent != "" {
		up = fmt.Sprintf("%q", parent)
	}
	return fmt.Sprintf(`{"type":%q,"uuid":%q,"parentUuid":%s,"sessionId":"s","message":%s}`, kind, uuid, up, message)
}

func personLine(uuid, parent, text string) string {
	return event("user", uuid, parent, fmt.Sprintf(`{"role":"user","content":%q}`, text))
}

func textLine(uuid, parent, id, text string) string {
	return event("assistant", uuid, parent, fmt.Sprintf(`{"id":%q,"role":"assistant","content":[{"type":"text","text":%q}]}`, id, text))
}

func callLine(uuid, parent, id, call, command string) string {
	return event("assistant", uuid, parent, fmt.Sprintf(
		`{"id":%q,"role":"assistant","content":[{"type":"tool_use","id":%q,"name":"Bash","input":{"command":%q}}]}`, id, call, command))
}

func resultLine(uuid, parent, call, text string) string {
	return event("user", uuid, parent, fmt.Sprintf(
		`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, call, text))
}

func linkLine(uuid, parent string) string {
	return fmt.Sprintf(`{"type":"progress","uuid":%q,"parentUuid":%q,"sessionId":"s"}`, uuid, parent)
}

// decodeLog decodes a log and returns each trajectory as its id, task and turns.
func decodeLog(lines ...string) (*Decoded, []string, error) {
	var out Decoded
	if err := claudeCodeFormat().New(Options{}).Decode([]byte(strings.Join(lines, "\n")), &out); err != nil {
		return nil, nil, err
	}
	var paths []string
	for i := range out.Trajectories {
		run := &out.Trajectories[i]
		var b strings.Builder
		fmt.Fprintf(&b, "%s (%s)", run.ID, run.System.TaskDescription)
		for _, turn := range run.Turns {
			command := turn.Action
			command = strings.ReplaceAll(command, `{"name":"Bash","arguments":{"command":"`, "")
			command = strings.ReplaceAll(command, `"}}`, "")
			fmt.Fprintf(&b, " %d:%s=%s", turn.Index, strings.ReplaceAll(command, "\n", "+"), strings.ReplaceAll(turn.Observation, "\n", "+"))
		}
		paths = append(paths, b.String())
	}
	return &out, paths, nil
}

func decodeSession(t *testing.T, lines ...string) (*Decoded, []string) {
	t.Helper()
	out, paths, err := decodeLog(lines...)
	if err != nil {
		t.Fatal(err)
	}
	return out, paths
}

func TestSessionTree(t *testing.T) {
	question := personLine("u1", "", "go")
	one := []string{question, callLine("a1", "u1", "m1", "t1", "one"), resultLine("r1", "a1", "t1", "1")}
	with := func(more ...string) []string { return append(one[:len(one):len(one)], more...) }
	tests := []struct {
		name  string
		lines []string
		want  []string
	}{
		{"a line", with(callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")),
			[]string{"s (go) 0:one=1 1:two=2"}},
		{"parallel calls hang from one another, their results from each", with(
			callLine("a2", "r1", "m2", "t2", "two"), callLine("a3", "a2", "m2", "t3", "three"),
			resultLine("r2", "a2", "t2", "2"), resultLine("r3", "a3", "t3", "3"),
			callLine("a4", "r3", "m3", "t4", "four"), resultLine("r4", "a4", "t4", "4")),
			[]string{"s (go) 0:one=1 1:two+three=2+3 2:four=4"}},
		{"results come in another order, after lines that link", with(
			callLine("a2", "r1", "m2", "t2", "two"), linkLine("p1", "a2"), callLine("a3", "p1", "m2", "t3", "three"), linkLine("p2", "a3"),
			resultLine("r3", "p2", "t3", "3"), resultLine("r2", "p1", "t2", "2"), callLine("a4", "r2", "m3", "t4", "four"), resultLine("r4", "a4", "t4", "4")),
			[]string{"s (go) 0:one=1 1:two+three=2+3 2:four=4"}},
		{"a child is written before its parent",
			[]string{question, resultLine("r1", "a1", "t0", "0"), callLine("a2", "r2", "m2", "t2", "two"), resultLine("r3", "a2", "t2", "2"),
				callLine("a1", "u1", "m1", "t1", "one"), resultLine("r2", "a1", "t1", "1")},
			[]string{"s (go) 0:one=1 1:two=2"}},
		{"the person goes back: the later branch goes on, the other keeps its own turns", with(
			textLine("a2", "r1", "m2", "which?"),
			personLine("u2", "a2", "left"), callLine("a3", "u2", "m3", "t3", "three"), resultLine("r3", "a3", "t3", "3"),
			personLine("u3", "a2", "right"), callLine("a4", "u3", "m4", "t4", "four"), resultLine("r4", "a4", "t4", "4")),
			[]string{"s (go) 0:one=1 1:which?=right 2:four=4", "s#2 (go\n\nleft) 1:three=3"}},
		{"the log goes on with the first of two branches", with(
			callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2"), callLine("a3", "r1", "m3", "t3", "three"),
			resultLine("r3", "a3", "t3", "3"), callLine("a4", "r2", "m4", "t4", "four"), resultLine("r4", "a4", "t4", "4")),
			[]string{"s (go) 0:one=1 1:two=2 2:four=4", "s#2 (go) 1:three=3"}},
		{"a branch in a branch", with(
			callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2"),
			callLine("a3", "r2", "m3", "t3", "three"), resultLine("r3", "a3", "t3", "3"),
			callLine("a4", "r2", "m4", "t4", "four"), resultLine("r4", "a4", "t4", "4"),
			callLine("a5", "r1", "m5", "t5", "five"), resultLine("r5", "a5", "t5", "5")),
			[]string{"s (go) 0:one=1 1:five=5", "s#2 (go) 1:two=2 2:four=4", "s#3 (go) 2:three=3"}},
		{"a branch without turns is no trajectory", with(personLine("u2", "r1", "stop"), callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")),
			[]string{"s (go) 0:one=1 1:two=2"}},
		{"a later root", with(personLine("u2", "", "again"), callLine("a2", "u2", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")),
			[]string{"s (go) 0:one=1", "s#2 (again) 0:two=2"}},
		{"a line between is lost", with(`{"type":"assistant","uuid":"a2`, callLine("a3", "a2", "m3", "t3", "three"), resultLine("r3", "a3", "t3", "3")),
			[]string{"s (go) 0:one=1 1:three=3"}},
		{"no parents at all", []string{question, callLine("a1", "", "m1", "t1", "one"), resultLine("r1", "", "t1", "1"),
			callLine("a2", "", "m2", "t2", "two"), resultLine("r2", "", "t2", "2")},
			[]string{"s (go) 0:one=1 1:two=2"}},
		{"a ring", []string{personLine("u1", "r2", "go"), callLine("a1", "u1", "m1", "t1", "one"), resultLine("r1", "a1", "t1", "1"),
			callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")},
			[]string{"s (go) 0:one=1 1:two=2"}},
		{"links that are a ring", with(linkLine("p1", "p2"), linkLine("p2", "p1"), callLine("a2", "p2", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")),
			[]string{"s (go) 0:one=1 1:two=2"}},
		{"copies of lines, of a message under another uuid, and of a block in a longer message", with(
			one[1], one[2], strings.Replace(one[1], `"a1"`, `"a9"`, 1),
			strings.Replace(strings.Replace(one[1], `"a1"`, `"a8"`, 1), `}]}`, `},{"type":"tool_use","id":"t9","name":"Bash","input":{"command":"nine"}}]}`, 1),
			resultLine("r9", "a8", "t9", "9")),
			[]string{"s (go) 0:one+nine=1+9"}},
		{"a line is lost where a resumed session begins", with(strings.Replace(callLine("a3", "a2", "m3", "t3", "three"), `"sessionId":"s"`, `"sessionId":"s9"`, 1),
			strings.Replace(resultLine("r3", "a3", "t3", "3"), `"sessionId":"s"`, `"sessionId":"s9"`, 1)),
			[]string{"s9 (go) 0:one=1 1:three=3"}},
		{"a compaction of a branch that was left", with(callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2"),
			`{"type":"system","uuid":"b","parentUuid":null,"logicalParentUuid":"r1","sessionId":"s"}`,
			callLine("a3", "b", "m3", "t3", "three"), resultLine("r3", "a3", "t3", "3")),
			[]string{"s (go) 0:one=1 1:three=3", "s#2 (go) 1:two=2"}},
		{"one uuid, two contents", with(personLine("r1", "r1", "thanks"), callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")),
			[]string{"s (go) 0:one=1 1:two=2"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			if _, got := decodeSession(t, tt.lines...); !cmp.Equal(got, tt.want) {
				t.Errorf("(-want +got)\n%s", cmp.Diff(tt.want, got))
			}
		})
	}
}

// TestSessionEachOnce builds random logs: every result that is whole, and whose call is, stands in one turn
// of one trajectory, however the lines are linked, copied and damaged.
func TestSessionEachOnce(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		lines, answers, damaged := randomLog(t)
		out, _, err := decodeLog(lines...)
		if err != nil {
			t.Fatal(err)
		}
		seen := map[string]int{}
		for i := range out.Trajectories {
			last := -1
			for _, turn := range out.Trajectories[i].Turns {
				if turn.Index <= last {
					t.Fatalf("index %d after %d", turn.Index, last)
				}
				last = turn.Index
				if turn.Dialogue {
					continue
				}
				for answer := range strings.SplitSeq(turn.Observation, "\n") {
					seen[answer]++
				}
			}
		}
		for answer := range answers {
			if seen[answer] != 1 {
				t.Fatalf("%s stands in %d turns\n%s", answer, seen[answer], strings.Join(lines, "\n"))
			}
		}
		if len(seen) != len(answers) {
			t.Fatalf("%d answers, want %d\n%s", len(seen), len(answers), strings.Join(lines, "\n"))
		}
		if len(out.Lost) != damaged {
			t.Fatalf("%d lines lost, want %d: %v\n%s", len(out.Lost), damaged, out.Lost, strings.Join(lines, "\n"))
		}
	})
}

// randomLog returns a log, the results that must stand in turns, and the number of damaged lines.
func randomLog(t *rapid.T) (lines []string, answers map[string]bool, damaged int) {
	pick := func(name string, n int) bool { return rapid.IntRange(0, n).Draw(t, name) == 0 }
	answers = map[string]bool{}
	uuids := []string{""}
	parent := func() string {
		if pick("branch", 5) {
			return rapid.SampledFrom(uuids).Draw(t, "parent")
		}
		return uuids[len(uuids)-1]
	}
	whole := func(line string) bool { // appends it, sometimes damaged or twice
		if pick("damage", 12) {
			lines, damaged = append(lines, line[:len(line)-1-rapid.IntRange(0, 20).Draw(t, "cut")]), damaged+1
			return false
		}
		if lines = append(lines, line); pick("copy", 8) {
			lines = append(lines, line)
		}
		return true
	}
	uuid := func() string {
		uuids = append(uuids, fmt.Sprintf("x%d", len(uuids)))
		return uuids[len(uuids)-1]
	}
	lines = append(lines, personLine("x0", "", "go"))
	uuids[0] = "x0"
	for m := range rapid.IntRange(1, 8).Draw(t, "messages") {
		id, up := fmt.Sprintf("m%d", m), parent()
		if pick("text", 3) {
			u := uuid()
			whole(textLine(u, up, id, "text "+id))
			up = u
		}
		var asked []bool
		var at []string
		for c := range rapid.IntRange(0, 3).Draw(t, "calls") {
			u := uuid()
			asked = append(asked, whole(callLine(u, up, id, fmt.Sprintf("t%d.%d", m, c), "do")))
			at, up = append(at, u), u
			if pick("link", 3) {
				up = uuid()
				whole(linkLine(up, u))
			}
		}
		for c := range asked {
			answer := fmt.Sprintf("answer %d.%d", m, c)
			if whole(resultLine(uuid(), at[c], fmt.Sprintf("t%d.%d", m, c), answer)) && asked[c] {
				answers[answer] = true
			}
		}
		if pick("person", 3) {
			u := parent()
			whole(personLine(uuid(), u, "words"))
		}
	}
	return lines, answers, damaged
}

// TestReport04Resumed: a session and its continuation in a second file, which repeats it. Each file by
// itself has each turn once; that they share turns is for the plan to find.
func TestReport04Resumed(t *testing.T) {
	first := []string{personLine("u1", "", "go"), callLine("a1", "u1", "m1", "t1", "one"), resultLine("r1", "a1", "t1", "1"),
		callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")}
	resumed := strings.ReplaceAll(strings.Join(first, "\n"), `"sessionId":"s"`, `"sessionId":"s-two"`) + "\n" +
		strings.ReplaceAll(personLine("u3", "r2", "more")+"\n"+callLine("a3", "u3", "m3", "t3", "three")+"\n"+resultLine("r3", "a3", "t3", "3"),
			`"sessionId":"s"`, `"sessionId":"s-two"`)
	if _, got := decodeSession(t, first...); !cmp.Equal(got, []string{"s (go) 0:one=1 1:two=2"}) {
		t.Error(got)
	}
	if _, got := decodeSession(t, resumed); !cmp.Equal(got, []string{"s-two (go) 0:one=1 1:two=2 2:three=3"}) {
		t.Error(got)
	}
	// Both in one file, as a resumed log that kept the old lines: one trajectory, the copies counted.
	out, got := decodeSession(t, strings.Join(first, "\n"), resumed)
	if !cmp.Equal(got, []string{"s-two (go) 0:one=1 1:two=2 2:three=3"}) || out.Copied != 5 {
		t.Errorf("%v, %d copies; want one trajectory and 5 copies", got, out.Copied)
	}
}

// TestReport07SplicedEvents: two events on one line, a cut one that runs into the next, NUL bytes.
func TestReport07SplicedEvents(t *testing.T) {
	u1, a1, r1 := personLine("u1", "", "go"), callLine("a1", "u1", "m1", "t1", "one"), resultLine("r1", "a1", "t1", "1")
	a2, r2 := callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")
	cut := a1[:70]
	file := u1 + cut + a1 + "\n\x00\x00\x00" + r1 + "\n" + a2 + r2 + "\n"
	out, got := decodeSession(t, file)
	if !cmp.Equal(got, []string{"s (go) 0:one=1 1:two=2"}) {
		t.Error(got)
	}
	if len(out.Lost) != 1 || out.Lost[0].Reason != turnmill.ReasonBadJSON || file[out.Lost[0].Offset:][:out.Lost[0].Bytes] != cut {
		t.Errorf("lost %+v, want the cut event", out.Lost)
	}
	if n := out.Notes; n[turnmill.NoteSplicedLine] != 2 || n[turnmill.NoteNULPadding] != 1 {
		t.Errorf("%s, want two spliced lines and a run of NUL bytes", noteLine(&n))
	}
}

// TestReport09Wiped: contents that a failed compaction emptied make no turns; a silent answer does.
func TestReport09Wiped(t *testing.T) {
	var lines []string
	up := ""
	for i := range 8 {
		uuid := fmt.Sprintf("e%d", i)
		if i%2 == 0 {
			lines = append(lines, personLine(uuid, up, ""))
		} else {
			lines = append(lines, event("assistant", uuid, up, fmt.Sprintf(`{"id":"m%d","role":"assistant","content":""}`, i)))
		}
		up = uuid
	}
	lines = append(lines, callLine("a9", up, "m9", "t9", "true"), resultLine("r9", "a9", "t9", ""))
	out, got := decodeSession(t, lines...)
	if !cmp.Equal(got, []string{"s () 0:true="}) {
		t.Error(got)
	}
	if n := out.Notes[turnmill.NoteEmptiedMessage]; n != 8 {
		t.Errorf("%d emptied messages, want 8", n)
	}
}

// TestReport19AgentTraceRows: the log in traces, and the log as text in trace beside its rendering.
func TestReport19AgentTraceRows(t *testing.T) {
	events := "[" + strings.Join([]string{personLine("u1", "", "go"), callLine("a1", "u1", "m1", "t1", "one"), resultLine("r1", "a1", "t1", "1"),
		callLine("a2", "r1", "m2", "t2", "two"), resultLine("r2", "a2", "t2", "2")}, ",") + "]"
	messages := `[{"role":"user","content":"go"},{"role":"assistant","tool_calls":[{"id":"t1","name":"Bash","arguments":{"command":"one"}}]},` +
		`{"role":"tool","tool_call_id":"t1","content":"1"},{"role":"assistant","tool_calls":[{"id":"t2","name":"Bash","arguments":{"command":"two"}}]},` +
		`{"role":"tool","tool_call_id":"t2","content":"2"}]`
	file := `{"harness":"claude_code","session_id":"a","traces":` + events + `,"file_name":"a.jsonl"}` + "\n" +
		fmt.Sprintf(`{"harness":"claude_code","session_id":"b","messages":%s,"trace":%q,"file_path":"b.jsonl"}`, messages, events) + "\n" +
		fmt.Sprintf(`{"harness":"codex","session_id":"c","messages":%s,"trace":[{"type":"session_meta","payload":{}}]}`, messages) + "\n"
	found, err := Detect([]byte(file), true)
	if err != nil || found.Format.Name != "agent-trace" || found.Recognised != 3 {
		t.Fatalf("%+v, %v", found, err)
	}
	d := found.Format.New(Options{})
	var ids []string
	for _, raw := range records(t, found.Layout, []byte(file)) {
		var out Decoded
		if err := d.Decode(raw, &out); err != nil {
			t.Fatal(err)
		}
		if len(out.Trajectories) != 1 || len(out.Trajectories[0].Turns) != 2 || out.Trajectories[0].Turns[1].Observation != "2" {
			t.Errorf("not one trajectory of two turns: %+v", out.Trajectories)
		}
		ids = append(ids, out.Trajectories[0].ID)
	}
	if !cmp.Equal(ids, []string{"a", "b", "c"}) {
		t.Error(ids)
	}
}

// TestSessionsInTurn decodes logs that share ids, with one decoder: none knows of the one before.
func TestSessionsInTurn(t *testing.T) {
	d := claudeCodeFormat().New(Options{})
	long := string(longSession(5))
	orphan := personLine("u", "", "go") + "\n" + resultLine("r9", "u", "t4", "of none") + "\n" + personLine("r4", "u", "a1")
	want := decoded(claudeCodeFormat().New(Options{}), []byte(orphan))
	if !strings.Contains(want, "orphan_observations=1") {
		t.Fatal(want)
	}
	for range 2 {
		if err := d.Decode([]byte(long), new(Decoded)); err != nil {
			t.Fatal(err)
		}
		if got := decoded(d, []byte(orphan)); got != want {
			t.Errorf("got\n%s\nwant\n%s", got, want)
		}
	}
}

// TestCopiesCounted: the same line again is a copy, another line under its uuid is not.
func TestCopiesCounted(t *testing.T) {
	u1 := personLine("u1", "", "go")
	out, _ := decodeSession(t, u1, u1, personLine("u1", "", "wait"), textLine("a1", "u1", "m1", "Hm?"), personLine("a1", "a1", "Well."))
	if out.Copied != 1 {
		t.Errorf("%d copies, want 1", out.Copied)
	}
	if got := out.Trajectories[0].Turns; len(got) != 1 || got[0].Observation != "Well." {
		t.Errorf("%+v", got)
	}
}

// TestManyEvents decodes a log above what is kept of one, then a short one, with the same decoders.
func TestManyEvents(t *testing.T) {
	var lines []string
	for i := range keepEntries + 1 {
		lines = append(lines, linkLine(fmt.Sprintf("p%d", i), fmt.Sprintf("p%d", i+1)))
	}
	file := strings.Join(lines, "\n") + "\n" + string(longSession(1))
	row := fmt.Sprintf(`{"harness":"claude_code","session_id":"c","trace":%q}`, "["+strings.ReplaceAll(strings.TrimSpace(file), "\n", ",")+"]")
	for name, raw := range map[string]string{"claude-code": file, "agent-trace": row} {
		d := mustFormat(t, name).New(Options{})
		for _, raw := range []string{raw, string(long(name, 2)), raw} {
			var out Decoded
			if err := d.Decode([]byte(raw), &out); err != nil {
				t.Fatal(err)
			}
			if len(out.Trajectories) != 1 || len(out.Trajectories[0].Turns) == 0 {
				t.Errorf("%s: %d bytes gave %+v", name, len(raw), out.Trajectories)
			}
		}
	}
}

// TestSubagents: inline sidechains, and the file of a sub-agent.
func TestSubagents(t *testing.T) {
	side := func(line, agent string) string {
		return strings.Replace(line, `"sessionId"`, `"isSidechain":true,`+agent+`"sessionId"`, 1)
	}
	_, got := decodeSession(t,
		personLine("u1", "", "go"), callLine("a1", "u1", "m1", "t1", "delegate"),
		side(personLine("s1", "", "sub one"), ""), side(callLine("s2", "s1", "m2", "t2", "two"), ""),
		side(personLine("s3", "a1", "sub two"), ""), side(resultLine("s4", "s2", "t2", "2"), ""),
		side(callLine("s5", "s3", "m3", "t3", "three"), ""), side(resultLine("s6", "s5", "t3", "3"), ""),
		resultLine("r1", "a1", "t1", "done"), side(personLine("s9", "s6", "more"), `"agentId":"ab1",`))
	if want := []string{"s (go) 0:delegate=done", "s#2 (sub one) 0:two=2", "s#3 (sub two) 0:three=3"}; !cmp.Equal(got, want) {
		t.Errorf("(-want +got)\n%s", cmp.Diff(want, got))
	}
	out, got := decodeSession(t, side(personLine("s1", "", "sub"), `"agentId":"ab1",`), side(callLine("s2", "s1", "m2", "t2", "two"), `"agentId":"ab1",`),
		side(resultLine("s4", "s2", "t2", "2"), `"agentId":"ab1",`))
	if want := []string{"s/ab1 (sub) 0:two=2"}; !cmp.Equal(got, want) || out.Trajectories[0].Meta != `{"agent_id":"ab1"}` {
		t.Errorf("%v, meta %s", got, out.Trajectories[0].Meta)
	}
}
