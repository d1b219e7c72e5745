package formats

import (
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// step is a call of the agent, or a result, as the logs of every format can say it.
type step struct{ call, result, text string } // of call, result: the id; of text: the name or what was answered

// logs writes the same steps in the form of each format whose results go by id. response says which steps of
// the agent are of one response: each run of calls.
func logs(steps []step) map[string]string {
	chat := []string{`{"role":"user","content":"go"}`}
	sample := []string{`{"role":"user","content":"go"}`}
	rollout := []string{rolloutLine("session_meta", `{"id":"s"}`), itemLine("user", "go")}
	items := []string{`{"type":"message","role":"user","content":"go"}`}
	blocks := []string{`{"role":"user","content":"go"}`}
	events := []string{`{"kind":"MessageEvent","id":"u","source":"user","llm_message":{"role":"user","content":"go"}}`}
	for i := 0; i < len(steps); i++ {
		s := steps[i]
		if s.result != "" {
			chat = append(chat, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"content":%q}`, s.result, s.text))
			sample = append(sample, fmt.Sprintf(`{"role":"tool","tool_call_id":%q,"function":"f","content":%q}`, s.result, s.text))
			rollout = append(rollout, outputLine(s.result, s.text))
			items = append(items, fmt.Sprintf(`{"type":"function_call_output","call_id":%q,"output":%q}`, s.result, s.text))
			blocks = append(blocks, fmt.Sprintf(`{"role":"user","content":[{"type":"tool_result","tool_use_id":%q,"content":%q}]}`, s.result, s.text))
			events = append(events, ohFail(s.result, s.text))
			continue
		}
		var calls, functions, uses []string
		for ; i < len(steps) && steps[i].call != ""; i++ {
			s := steps[i]
			calls = append(calls, fmt.Sprintf(`{"id":%q,"type":"function","function":{"name":%q,"arguments":"{}"}}`, s.call, s.text))
			functions = append(functions, fmt.Sprintf(`{"id":%q,"function":%q,"arguments":{}}`, s.call, s.text))
			uses = append(uses, fmt.Sprintf(`{"type":"tool_use","id":%q,"name":%q,"input":{}}`, s.call, s.text))
			item := fmt.Sprintf(`{"type":"function_call","name":%q,"arguments":"{}","call_id":%q}`, s.text, s.call)
			rollout, items = append(rollout, rolloutLine("response_item", item)), append(items, item)
			events = append(events, fmt.Sprintf(`{"kind":"ActionEvent","id":"e%d","tool_name":%q,"tool_call_id":%q,"llm_response_id":"r%d","action":{}}`,
				i, s.text, s.call, i-len(calls)))
		}
		i--
		chat = append(chat, `{"role":"assistant","content":null,"tool_calls":[`+strings.Join(calls, ",")+`]}`)
		sample = append(sample, `{"role":"assistant","content":"","tool_calls":[`+strings.Join(functions, ",")+`]}`)
		blocks = append(blocks, `{"role":"assistant","content":[`+strings.Join(uses, ",")+`]}`)
	}
	return map[string]string{
		chatName:        "[" + strings.Join(chat, ",") + "]",
		"anthropic":     "[" + strings.Join(blocks, ",") + "]",
		responsesName:   "[" + strings.Join(items, ",") + "]",
		inspectName:     `{"id":1,"epoch":1,"input":"","target":"","scores":{},"messages":[` + strings.Join(sample, ",") + `]}`,
		codexName:       strings.Join(rollout, "\n"),
		openHandsV1Name: strings.Join(events, "\n"),
	}
}

// TestPairing holds the cases of the table in docs/formats.md: what the turns are, and what is counted.
func TestPairing(t *testing.T) {
	call := func(id, name string) step { return step{call: id, text: name} }
	result := func(id, text string) step { return step{result: id, text: text} }
	whole := []string{codexName, openHandsV1Name} // logs that are looked through before they are paired
	for name, tt := range map[string]struct {
		steps []step
		want  string
		notes string
		only  []string // the formats that it holds for; all when empty
	}{
		"parallel calls":             {[]step{call("1", "a"), call("2", "b"), result("1", "A"), result("2", "B")}, "a+b=A+B", "", nil},
		"results out of order":       {[]step{call("1", "a"), call("2", "b"), result("2", "B"), result("1", "A")}, "a+b=A+B", "", nil},
		"repeated ids":               {[]step{call("1", "a"), result("1", "A"), call("1", "b"), result("1", "B")}, "a=A b=B", "repeated_call_ids=1", nil},
		"repeated ids side by side":  {[]step{call("1", "a"), call("1", "b"), result("1", "A"), result("1", "B")}, "a+b=A+B", "repeated_call_ids=1", nil},
		"result without a call":      {[]step{call("1", "a"), result("1", "A"), result("9", "X")}, "a=A", "orphan_observations=1", nil},
		"call without a result":      {[]step{call("1", "a"), call("2", "b"), result("2", "B"), call("3", "c"), result("3", "C")}, "b=B c=C", "unanswered_actions=1", nil},
		"last call without a result": {[]step{call("1", "a"), result("1", "A"), call("2", "b")}, "a=A", "unanswered_actions=1", nil},
		"silent result":              {[]step{call("1", "a"), result("1", "")}, "a=", "", nil},
		"late result":                {[]step{call("1", "a"), call("2", "b"), result("2", "B"), call("3", "c"), result("1", "A"), result("3", "C")}, "a+b=A+B c=C", "", whole},
		"result before its call":     {[]step{result("1", "A"), call("1", "a")}, "a=A", "", whole},
	} {
		for format, log := range logs(tt.steps) {
			if len(tt.only) > 0 && format != tt.only[0] && format != tt.only[1] {
				continue
			}
			t.Run(name+"/"+format, func(t *testing.T) {
				var out Decoded
				if err := mustFormat(t, format).New(Options{}).Decode([]byte(log), &out); err != nil {
					t.Fatal(err)
				}
				var turns []string
				for _, turn := range out.Trajectories[0].Turns {
					turns = append(turns, strings.ReplaceAll(turn.Tool, ",", "+")+"="+strings.ReplaceAll(turn.Observation, "\n", "+"))
				}
				notes := strings.TrimSpace(strings.TrimPrefix(noteLine(&out.Notes), "notes"))
				notes = strings.TrimSpace(strings.ReplaceAll(notes, "no_tools_declared=1", ""))
				if diff := cmp.Diff([]string{tt.want, tt.notes}, []string{strings.Join(turns, " "), notes}); diff != "" {
					t.Errorf("(-want +got)\n%s\n%s", diff, log)
				}
			})
		}
	}
}
