package pipelines

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// eventRun is a conversation of OpenHands 1 as its folder: three actions with their answers, the newest event
// first by name. linked says whether each event names the one before it.
func eventRun(folder string, linked bool) []testFile {
	type object = map[string]any
	id := func(i int) string { return fmt.Sprintf("%s-0000-4000-8000-%012d", folder[:1], i) }
	files := []testFile{{folder + "/base_state.json", jsonLine(object{"id": "conversation-of-" + folder, "agent": object{"llm": object{"model": "m"}}, "max_iterations": 9}, "  ")}}
	add := func(e object) {
		i := len(files) - 1
		e["id"], e["timestamp"] = id(i), fmt.Sprintf("2026-01-02T03:04:%02d.5", i)
		if linked && i > 0 {
			e["parent_id"] = id(i - 1)
		}
		files = append(files, testFile{fmt.Sprintf("%s/events/event-%05d-%s.json", folder, 90-i, id(i)), jsonLine(e, "")})
	}
	add(object{"kind": "SystemPromptEvent", "source": "agent", "system_prompt": object{"text": "You help " + folder + "."}, "tools": []object{}})
	add(object{"kind": "MessageEvent", "source": "user", "llm_message": object{"role": "user", "content": "Count to three."}})
	for k := range 3 {
		call := fmt.Sprintf("call_%d", k)
		add(object{"kind": "ActionEvent", "source": "agent", "tool_name": "terminal", "tool_call_id": call, "llm_response_id": fmt.Sprint("r", k),
			"tool_call": object{"id": call, "name": "terminal", "arguments": fmt.Sprintf(`{"command":"echo %s %d"}`, folder, k)}})
		add(object{"kind": "ObservationEvent", "source": "environment", "tool_name": "terminal", "tool_call_id": call, "action_id": id(len(files) - 2),
			"observation": object{"kind": "TerminalObservation", "content": []object{{"type": "text", "text": fmt.Sprintf("%s %d", folder, k)}}}})
	}
	return files
}

// TestEventFiles: the events of a folder are one conversation, in the order of their times; parents join them
// across folders and keep two in one folder apart; what nothing tells apart is rejected; a file that holds a
// conversation whole stays one.
func TestEventFiles(t *testing.T) {
	one, two := eventRun("one", false), eventRun("two", false)
	named := func(name string, files []testFile) []testFile {
		files = slices.Clone(files)
		for i := range files {
			files[i].name = fmt.Sprintf(name, (i*37)%101)
		}
		return files
	}
	whole := func(name string, files []testFile) testFile {
		var all []byte
		for _, f := range files[1:] {
			all = append(all, f.data...)
		}
		return testFile{name, all}
	}
	linked := slices.Concat(eventRun("one", true)[1:], eventRun("two", true)[1:])
	for _, c := range []struct {
		name                  string
		files                 []testFile
		records, turns, alone int64
	}{
		{"a folder", one, 1, 3, 0},
		{"two folders", slices.Concat(one, two), 2, 6, 0},
		{"the state beside the events, under other names", named("%03d", one), 1, 3, 0},
		{"events alone", one[1:], 1, 3, 0},
		{"one event", one[3:4], 0, 0, 1},
		{"a state", one[:1], 0, 0, 1},
		{"actions and their answers alone", one[3:7], 1, 2, 0},
		{"actions alone", slices.Concat(one[3:4], one[5:6]), 0, 0, 2},
		{"one without an answer", slices.Concat(one[:6], one[7:]), 1, 2, 0},
		{"two in one folder", named("%03d", slices.Concat(one[1:], two[1:])), 0, 0, 16},
		{"two in one folder, with parents", named("%03d", linked), 2, 6, 0},
		{"two of a folder an event, with parents", named("%03d/x", linked), 2, 6, 0},
		{"two whole files in one folder", []testFile{whole("1.jsonl", one), whole("2.jsonl", two)}, 2, 6, 0},
		{"a whole file beside the events of another", append(named("%03d", one), whole("2.jsonl", two)), 2, 6, 0},
	} {
		t.Run(c.name, func(t *testing.T) {
			base := options(t, writeFiles(t, c.files))
			base.Partitions, base.Workers = 2, 1
			m := mustRun(t, base)
			mustCheck(t, base)
			l := m.Ledger.Total
			alone := l.Records.Rejected[turnmill.ReasonMissingPart]
			if got, want := [...]int64{l.Records.In - alone, l.Turns.In, alone}, [...]int64{c.records, c.turns, c.alone}; got != want {
				t.Errorf("records, turns, parts alone: %v; want %v", got, want)
			}
			for _, workers := range []int{2, 7} {
				o := with(t, base, func(o *Options) { o.Workers = workers })
				mustRun(t, o)
				sameFiles(t, fmt.Sprintf("%d workers", workers), digest(t, base.Output), digest(t, o.Output))
			}
		})
	}
}

// TestEventFilesAsOne: a conversation in a file an event gives what its events in one file give.
func TestEventFilesAsOne(t *testing.T) {
	files := eventRun("one", false)
	var all []byte
	for _, f := range files {
		all = append(all, strings.TrimSpace(strings.ReplaceAll(string(f.data), "\n", ""))+"\n"...)
	}
	apart, _ := unify(t, writeFiles(t, files))
	one, _ := unify(t, writeFiles(t, []testFile{{"one.jsonl", all}}))
	if string(apart) != string(one) || strings.Count(string(one), "\n") != 1 {
		t.Errorf("apart\n%s\nin one file\n%s", apart, one)
	}
}
