package main

import (
	"bytes"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// few is the size in bytes below which a format's published files say little of its decoder.
const few = 100_000

// rowsOf writes trajectories as records of a format, a line each: for formats of which few files are published.
// ok is false for formats that nothing is written in.
func rowsOf(format string, all []turnmill.Trajectory) (t text, ok bool) {
	write := map[string]func([]byte, *turnmill.Trajectory) []byte{
		"turnmill":         formats.AppendUnified,
		"openai-chat":      chatRow(`"messages":[`, `{"role":"user","content":`, `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"act","arguments":`, `}}]}`, `{"role":"tool","tool_call_id":"c","content":`, `}`, true),
		"hf-rows":          chatRow(`"conversations":[`, `{"role":"user","content":`, `{"role":"assistant","content":null,"tool_calls":[{"id":"c","type":"function","function":{"name":"act","arguments":`, `}}]}`, `{"role":"tool","tool_call_id":"c","content":`, `}`, true),
		"anthropic":        chatRow(`"messages":[`, `{"role":"user","content":`, `{"role":"assistant","content":[{"type":"tool_use","id":"c","name":"act","input":`, `}]}`, `{"role":"user","content":[{"type":"tool_result","tool_use_id":"c","content":`, `}]}`, false),
		"openai-responses": chatRow(`"input":[`, `{"type":"message","role":"user","content":`, `{"type":"function_call","call_id":"c","name":"act","arguments":`, `}`, `{"type":"function_call_output","call_id":"c","output":`, `}`, true),
		"gemini":           chatRow(`"contents":[`, `{"role":"user","parts":[{"text":`, `{"role":"model","parts":[{"functionCall":{"name":"act","args":`, `}}]}`, `{"role":"user","parts":[{"functionResponse":{"name":"act","response":{"output":`, `}}}]}`, false),
	}[format]
	if write == nil {
		return text{}, false
	}
	t.layout = frame.Lines
	for i := range all {
		t.data = append(write(t.data, &all[i]), '\n')
	}
	return t, true
}

// chatRow returns a writer of chats: members open the list, the task opens the chat, each turn is a call and its
// answer. The action stands in the call's arguments, as JSON in a string where quoted is true.
func chatRow(members, user, call, callEnd, answer, answerEnd string, quoted bool) func([]byte, *turnmill.Trajectory) []byte {
	return func(dst []byte, t *turnmill.Trajectory) []byte {
		dst = append(append(dst, '{'), members...)
		dst = append(jsonscan.AppendQuoted(append(dst, user...), t.System.TaskDescription), '}')
		if bytes.HasSuffix([]byte(user), []byte(`{"text":`)) {
			dst = append(dst, `]}`...)
		}
		var inner []byte
		for i := range t.Turns {
			turn := &t.Turns[i]
			inner = append(jsonscan.AppendQuoted(append(inner[:0], `{"text":`...), turn.Action), '}')
			dst = append(append(dst, ','), call...)
			if quoted {
				dst = jsonscan.AppendQuoted(dst, string(inner))
			} else {
				dst = append(dst, inner...)
			}
			dst = append(append(append(dst, callEnd...), ','), answer...)
			dst = append(jsonscan.AppendQuoted(dst, turn.Observation), answerEnd...)
		}
		return append(dst, `]}`...)
	}
}

// trajectoriesOf decodes files into trajectories that keep their texts.
func trajectoriesOf(files map[string][]text) ([]turnmill.Trajectory, error) {
	var all []turnmill.Trajectory
	own, err := formats.ByName("turnmill")
	if err != nil {
		return nil, err
	}
	unified := own.New(formats.Options{})
	for _, f := range formats.All() {
		for _, t := range files[f.Name] {
			p := path{decoder: f.New(formats.Options{})}
			err := p.each(t, func() {
				for i := range p.scratch.Trajectories { // a copy: their texts lie in memory that is used again
					line := formats.AppendUnified(nil, &p.scratch.Trajectories[i])
					var d formats.Decoded
					if unified.Decode(line, &d) == nil {
						all = append(all, d.Trajectories...)
					}
				}
			})
			if err != nil {
				return nil, err
			}
		}
	}
	return slices.DeleteFunc(all, func(t turnmill.Trajectory) bool { return len(t.Turns) == 0 }), nil
}
