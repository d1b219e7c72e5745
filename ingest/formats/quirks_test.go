package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

// TestGUIQuirks has a record for each known quirk of the formats that record screens and pages. A turn is shown
// as STATE > ACTION > OBSERVATION.
func TestGUIQuirks(t *testing.T) {
	web := func(tree string) string {
		return `{"class_":"web_observation","axtree":"` + tree + `","html":null,"url":null}`
	}
	click := `{"class_":"api_action","function":"click","kwargs":{"bid":"1"}}`
	said := func(content string) string { return `{"class_":"message_action","content":"` + content + `"}` }
	task := `{"class_":"text_observation","content":"Task.","source":"user"}`
	adp := func(items ...string) string { return `{"id":"0","content":[` + strings.Join(items, ",") + `]}` }
	nnet := func(id, tree, history, reply string) string {
		return `{"id":"` + id + `","task_name":"t","prompt":"p","output":"<|start_header_id|>assistant<|end_header_id|>\nother<|eot_id|>","messages":[` +
			`{"role":"system","content":"Rules."},{"role":"user","content":"OBSERVATION:\n` + tree + `\nURL: http://a\nOBJECTIVE: Go.\nPREVIOUS ACTIONS:\n` + history + `"},` +
			`{"role":"assistant","content":"I go. ` + "```" + reply + "```" + `"}]}`
	}
	screen := func(class, text, about string) string {
		return `[{"class_name":"` + class + `","text":"` + text + `","content_description":"` + about + `","is_visible":true,"bbox_pixels":{"x_min":0,"x_max":8,"y_min":1,"y_max":9,"center":[4,5],"width":8,"height":8}}]`
	}
	atif := func(agent, steps string) string {
		return `{"schema_version":"ATIF-v1.5","session_id":"NORMALIZED_SESSION_ID","agent":{"name":"` + agent + `","version":"1"},"steps":[` + steps + `]}`
	}
	cl := `{"name":"click","arguments":{"bid":"1"}}`
	for _, c := range []struct {
		name, format, record string
		want                 []string
		note                 turnmill.Note // seen at least once; the zero value asks for none
	}{
		{"adp/kwargs in a second pair of quotes, at both ends only", adpName,
			adp(web("a"), `{"class_":"api_action","function":"fill","kwargs":{"bid":"\"89\"","value":"\"x","other":"y\""}}`, web("b")),
			[]string{`a > {"name":"fill","arguments":{"bid":"89","value":"\"x","other":"y\""}} > b`}, turnmill.NoteExtraQuotes},
		{"adp/goal under the role of a message", adpName, adp(said("Goal."), web("a"), click, web("b")), []string{"task Goal.", `a > ` + cl + ` > b`}, 0},
		{"adp/observation under the user's role", adpName,
			adp(task, click, `{"class_":"text_observation","content":"out","source":"user"}`), []string{"task Task.", ` > ` + cl + ` > out`}, 0},
		{"adp/finish in the middle, and pages after it", adpName,
			adp(task, web("a"), said("<finish> x </finish>"), web("b"), click, web("c")), []string{"task Task.", `b > ` + cl + ` > c`}, turnmill.NoteUnansweredAction},
		{"adp/tree in html where axtree is null", adpName,
			adp(task, `{"class_":"web_observation","html":"a","axtree":null,"url":""}`, click, `{"class_":"web_observation","html":"b","url":null}`), []string{"task Task.", `a > ` + cl + ` > b`}, 0},
		{"adp/ends in an action", adpName, adp(task, web("a"), click, web("b"), click), []string{"task Task.", `a > ` + cl + ` > b`}, turnmill.NoteUnansweredAction},
		{"adp/action first, no initial state", adpName, adp(task, click, web("a"), click, web("b")),
			[]string{"task Task.", ` > ` + cl + ` > a`, `a > ` + cl + ` > b`}, 0},
		{"adp/data URLs, no blank after a role, private icons stay as they are", adpName,
			adp(web(`StaticText'research' url='data:image/gif;base64,R0lGOD'`), click, web(`[3] button '\ue611'`)),
			[]string{`StaticText'research' url='data:image/gif;base64,R0lGOD' > ` + cl + " > [3] button '\ue611'"}, 0},
		{"adp/ids repeat: content decides", adpName, adp(web("a"), click, web("b")), []string{`a > ` + cl + ` > b`, "no id"}, 0},
		{"adp/the same page after a click", adpName,
			adp(task, `{"class_":"text_observation","content":"x [SEP] y","source":"user"}`, click, `{"class_":"text_observation","content":"x [SEP] y","source":"user"}`),
			[]string{"task Task.\n\nx [SEP] y", `x [SEP] y > ` + cl + ` > x [SEP] y`}, 0},
		{"adp/null kwargs and unknown members", adpName, adp(web("a"), `{"class_":"api_action","function":"back","kwargs":{},"reward":1,"new":2}`, web("b")),
			[]string{`a > {"name":"back","arguments":{}} > b`}, 0},

		{"nnetnav/what ran stands in the next record", nnetnavName, nnet("w", "a", "1: None", "click [1]") + "\n" + nnet("w", "b", "1: None\\n2: goto [http://b]", "stop []"),
			[]string{"task Rules.\n\nGo.", `a > goto [http://b] > b`}, turnmill.NoteUnansweredAction},
		{"nnetnav/no element matched: what was proposed is what was tried", nnetnavName, nnet("w", "a", "1: None", "click [9]") + "\n" +
			nnet("w", "a", `1: None\n2: Attempt to perfom \"click\" on element \"[9]\" but no matching element found. Please check the observation more carefully.`, "stop []"),
			[]string{"task Rules.\n\nGo.", `a > click [9] > a`}, 0},
		{"nnetnav/a reply that could not be read, over several lines", nnetnavName, nnet("w", "a", "1: None", "?") + "\n" +
			nnet("w", "a", `1: None\n2: The previous prediction you issued was \"x\ny\". However, the format was incorrect.`, "click [1]") + "\n" +
			nnet("w", "b", `1: None\n2: The previous prediction you issued was \"x\ny\". However, the format was incorrect.\n3: click [1] where [1] is link 'L'`, "stop []"),
			[]string{"task Rules.\n\nGo.", `a > click [1] > b`}, turnmill.NoteUnansweredAction},
		{"nnetnav/steps dropped: the run breaks", nnetnavName, nnet("w", "a", "1: None", "x") + "\n" + nnet("w", "c", "1: None\\n2: x\\n3: y", "z") + "\n" + nnet("w", "d", "1: None\\n2: x\\n3: y\\n4: z", "stop []"),
			[]string{"task Rules.\n\nGo.", "task Rules.\n\nGo.", `c > z > d`}, turnmill.NoteUnansweredAction},
		{"nnetnav/a blank page, and both dialects of trees", nnetnavName, nnet("w", "Tab 0 (current): x\\n\\n[1] RootWebArea '' focused: True", "1: None", "x") + "\n" + nnet("w", "RootWebArea 'x', focused, url='http://a'", "1: None\\n2: x", "stop []"),
			[]string{"task Rules.\n\nGo.", "Tab 0 (current): x\n\n[1] RootWebArea '' focused: True > x > RootWebArea 'x', focused, url='http://a'"}, 0},

		{"androidcontrol/tree i before, tree i+1 after; text and description", androidControlName,
			`{"episode_id":1,"goal":"G","accessibility_trees":[` + screen("android.widget.TextView", "T", "D") + `,` + screen("android.view.View", "", "D") + `],"actions":[{"action_type":"click","x":4,"y":5}],"step_instructions":["s"]}`,
			[]string{"task G", `TextView "T" [D] (0,1,8,9) > {"name":"click","arguments":{"x":4,"y":5}} > View [D] (0,1,8,9)`}, turnmill.NoteThoughtStripped},
		{"androidcontrol/as many trees as actions", androidControlName, `{"episode_id":1,"goal":"G","accessibility_trees":[` + screen("a.B", "T", "") + `],"actions":[{"action_type":"wait"}]}`,
			[]string{"rejected bad_field"}, 0},

		{"m3a/clock and signal settle", m3aName, m3aStep(`\"10:04\"`, `\"10:04\"`) + "\n" + m3aStep(`\"10:05\"`, `\"x\"`),
			[]string{"task g", `UI element 0: {"text": "10:04"} > {"name":"wait","arguments":{}} > UI element 0: {"text": "10:05"}`, `UI element 0: {"text": "10:05"} > {"name":"wait","arguments":{}} > UI element 0: {"text": "x"}`}, 0},
		{"m3a/a late dump differs in a flag: both are kept", m3aName, m3aStep(`\"a\"`, `\"b\"`) + "\n" + m3aStep(`\"b\", \"is_scrollable\": True`, `\"c\"`),
			[]string{"task g", `UI element 0: {"text": "a"} > {"name":"wait","arguments":{}} > UI element 0: {"text": "b"}`, `UI element 0: {"text": "b", "is_scrollable": True} > {"name":"wait","arguments":{}} > UI element 0: {"text": "c"}`}, 0},
		{"m3a/a null summary_prompt ran nothing", m3aName, `[{"task_goal":"g","action_prompt":"p","action_output":"Thought: t\nAction: open_app()","summary_prompt":null,"summary":"Can not parse the output to a valid action.","ui_description":[]}]`,
			[]string{"task g"}, turnmill.NoteUnansweredAction},
		{"m3a/a text over several lines", m3aName, m3aStep(`\"a\nb\"`, `\"c\n\nd\"`), []string{"task g", "UI element 0: {\"text\": \"a\nb\"} > {\"name\":\"wait\",\"arguments\":{}} > UI element 0: {\"text\": \"c\n\nd\"}"}, 0},

		{"autodroid/null as a word, a list of hashes, the go-back button", autoDroidName,
			"records:\n- Choice: 1\n  Input: 'null'\n  State: <button id=1>go back</button>\n  state_str:\n  - h\n  - i\n- Choice: -1\n  Input: 'null'\n  State: x\n  state_str: h\ntask_name: t\n",
			[]string{"task t", `<button id=1>go back</button> > {"name":"back","arguments":{"id":1,"element":"<button id=1>go back</button>"}} > x`}, 0},
		{"autodroid/the same State again, ids out of order, no new_state_str", autoDroidName,
			"records:\n- Choice: 2\n  Input: 'null'\n  State: <p id=12>a</p> <p id=2>b</p>\n  state_str: h\n- Choice: -1\n  Input: 'null'\n  State: <p id=12>a</p> <p id=2>b</p>\n  state_str: h\nstep_num: 9\n",
			[]string{`<p id=12>a</p> <p id=2>b</p> > {"name":"tap","arguments":{"id":2,"element":"<p id=2>b</p>"}} > <p id=12>a</p> <p id=2>b</p>`}, 0},

		{"atif/results without source_call_id go by place", atifName,
			atif("terminus-2", `{"step_id":1,"source":"user","message":"U"},{"step_id":2,"source":"agent","message":"m","tool_calls":[{"tool_call_id":"c","function_name":"bash_command","arguments":{"keystrokes":"ls\n","duration":1}}],"observation":{"results":[{"content":"New Terminal Output:\nx"}]}}`),
			[]string{"task U", ` > {"name":"bash_command","arguments":{"keystrokes":"ls\n","duration":1}} > New Terminal Output:` + "\nx"}, 0},
		{"atif/a harness's parse error is no environment", atifName,
			atif("terminus-2", `{"step_id":1,"source":"user","message":"U"},{"step_id":2,"source":"agent","message":"not json","observation":{"results":[{"content":"Previous response had parsing errors: x"}]}}`),
			[]string{"task U"}, turnmill.NoteUnsolicited},
		{"atif/copied steps stand elsewhere", atifName,
			atif("a", `{"step_id":1,"source":"user","message":"U"},{"step_id":2,"source":"agent","message":"","is_copied_context":true,"tool_calls":[{"tool_call_id":"c","function_name":"f","arguments":{}}],"observation":{"results":[{"source_call_id":"c","content":"x"}]}}`),
			[]string{"task U"}, 0},
		{"atif/a page beside an empty content", atifName,
			atif("adp", `{"step_id":1,"source":"user","message":"U"},{"step_id":2,"source":"agent","message":"","llm_call_count":0,"observation":{"results":[{"content":"","extra":{"web":{"axtree":"a"}}}]}},{"step_id":3,"source":"agent","message":"m","tool_calls":[{"tool_call_id":"c","function_name":"click","arguments":{"bid":"1"}}],"observation":{"results":[{"source_call_id":"c","content":"","extra":{"web":{"axtree":"b"}}}]}}`),
			[]string{"task U", `a > ` + cl + ` > b`}, 0},
		{"atif/one call id in every step", atifName,
			atif("x", `{"step_id":1,"source":"user","message":"U"},{"step_id":2,"source":"agent","message":"","tool_calls":[{"tool_call_id":"call_1","function_name":"click","arguments":{"bid":"1"}}],"observation":{"results":[{"source_call_id":"call_1","content":"a"}]}},{"step_id":3,"source":"agent","message":"","tool_calls":[{"tool_call_id":"call_1","function_name":"click","arguments":{"bid":"1"}}],"observation":{"results":[{"source_call_id":"call_1","content":"b"}]}},{"step_id":4,"source":"agent","message":"","tool_calls":[{"tool_call_id":"call_1","function_name":"click","arguments":{"bid":"1"}}]}`),
			[]string{"task U", ` > ` + cl + ` > a`, ` > ` + cl + ` > b`}, turnmill.NoteUnansweredAction},
	} {
		t.Run(c.name, func(t *testing.T) {
			var out Decoded
			err := mustFormat(t, c.format).New(Options{}).Decode([]byte(c.record), &out)
			var got []string
			if err != nil {
				got = append(got, "rejected "+string(reasonOf(err)))
			}
			for i := range out.Trajectories {
				run := &out.Trajectories[i]
				if run.System.TaskDescription != "" {
					got = append(got, "task "+run.System.TaskDescription)
				}
				for _, turn := range run.Turns {
					got = append(got, fmt.Sprintf("%s > %s > %s", turn.State, turn.Action, turn.Observation))
				}
			}
			want := c.want
			if n := len(want) - 1; want[n] == "no id" {
				want = want[:n]
				if id := out.Trajectories[0].ID; id != "" {
					t.Errorf("id %q, want none", id)
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
			if c.note != 0 && out.Notes[c.note] == 0 {
				t.Errorf("no %s in%s", c.note, noteLine(&out.Notes))
			}
		})
	}
}

// m3aStep returns a step that waits: the JSON text of an element before and after.
func m3aStep(before, after string) string {
	return `{"task_goal":"g","action_prompt":"p","action_output":"Action: {\"action_type\": \"wait\"}","summary_prompt":"the after screenshot:\nUI element 0: {\"text\": ` + after +
		`}\n\nThis is the action you picked: x","ui_description":["UI element 0: {\"text\": ` + before + `}"]}`
}

// TestM3ASettles counts the pairs of turns of published runs in which the observation is the next state: all but
// the one in which a late dump changed a flag.
func TestM3ASettles(t *testing.T) {
	pairs, equal := 0, 0
	for name, raw := range realFiles(t, "androidworld-m3a") {
		if !strings.HasSuffix(name, "history.json") {
			continue
		}
		var out Decoded
		if err := mustFormat(t, m3aName).New(Options{}).Decode(raw, &out); err != nil {
			t.Fatal(err)
		}
		for _, run := range out.Trajectories {
			for i := range run.Turns[:max(0, len(run.Turns)-1)] {
				if pairs++; run.Turns[i].Observation == run.Turns[i+1].State {
					equal++
				}
			}
		}
	}
	if pairs != 39 || equal != 38 {
		t.Errorf("%d of %d observations are the next state, want 38 of 39", equal, pairs)
	}
}

// TestInventedAnswers: ADP's converters close a run with words that no environment said.
func TestInventedAnswers(t *testing.T) {
	for _, words := range []string{"Congratulations! You have successfully solved the task.", "Your solution has been verified as correct. ",
		"Well done on successfully completing the task!", "Your implementation satisfies the task requirements.", "Task completed successfully."} {
		record := `{"id":"1","content":[{"class_":"text_observation","content":"t","source":"user"},{"class_":"api_action","function":"click","kwargs":{"element":"Buy Now"}},` +
			`{"class_":"text_observation","content":"` + words + `","source":"user"},{"class_":"message_action","content":"<finish> </finish>"}]}`
		var out Decoded
		if err := mustFormat(t, adpName).New(Options{}).Decode([]byte(record), &out); err != nil {
			t.Fatal(err)
		}
		if n := len(out.Trajectories[0].Turns); n != 0 || out.Notes[turnmill.NoteUnsolicited] != 1 {
			t.Errorf("%q: %d turns,%s", words, n, noteLine(&out.Notes))
		}
	}
}

// TestLiveRunsAreRefused: what stands beside an action of nnetnav-live is often not what ran.
func TestLiveRunsAreRefused(t *testing.T) {
	var out Decoded
	err := mustFormat(t, adpName).New(Options{}).Decode([]byte(`{"id":"1","details":{"source":"nnetnav-live"},"content":[{"class_":"text_observation","content":"t","source":"user"}]}`), &out)
	if reasonOf(err) != turnmill.ReasonWrongFormat {
		t.Errorf("got %v, want wrong_format", err)
	}
}
