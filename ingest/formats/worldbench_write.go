package formats

import (
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// AppendWorldBench appends the row of AgentWorldBench that asks for turn t.Turns[target]: one JSON object
// without a line feed at its end, with the keys task, id, prompt, response, current_prompt, system_str,
// turn_idx (from 1) and total_turns. prompt and response hold the turns up to the target, so that the
// evaluator of QwenLM/Qwen-AgentWorld finds the history and the answer to compare with. The decoder of the
// format "agentworldbench" reads back equal states, actions and observations.
func AppendWorldBench(dst []byte, t *turnmill.Trajectory, target int) []byte {
	w := objectWriter{dst: append(dst, '{')}
	w.key("task")
	w.quote(string(t.Domain))
	w.key("id")
	w.quote(t.ID)
	w.key("prompt")
	var text []byte
	open := byte('[')
	for i := range t.Turns[:target+1] {
		text = appendPrompt(text[:0], &t.Turns[i])
		w.dst = jsonscan.AppendQuotedLine(append(w.dst, open), string(text))
		open = ','
	}
	w.dst = append(w.dst, ']')
	w.key("response")
	open = '['
	for i := range t.Turns[:target+1] {
		text = append(append(append(text[:0], markAnswer...), '\n'), t.Turns[i].Observation...)
		w.dst = jsonscan.AppendQuotedLine(append(w.dst, open), string(text))
		open = ','
	}
	w.dst = append(w.dst, ']')
	w.key("current_prompt")
	w.quote(string(appendPrompt(text[:0], &t.Turns[target])))
	w.key("system_str")
	w.quote(systemText(&t.System))
	w.key("turn_idx")
	w.dst = strconv.AppendInt(w.dst, int64(target)+1, 10)
	w.key("total_turns")
	w.dst = strconv.AppendInt(w.dst, int64(len(t.Turns)), 10)
	return append(w.dst, '}')
}

// systemText joins the parts of a system prompt as rows for training do.
func systemText(p *turnmill.SystemPrompt) string {
	var parts []string
	for _, part := range p.Parts() {
		if part != "" {
			parts = append(parts, part)
		}
	}
	return strings.Join(parts, "\n\n")
}
