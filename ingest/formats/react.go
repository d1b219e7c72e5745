package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// react makes turns of texts that follow the ReAct protocol:
//
//	Thought: I look for it.            Thought 1: ...      reasoning
//	Action: search[seats]              Action 1: ...       the action, as it stands after the label
//	Observation: Seat 4A is free.      Observation 1: ...  what answered it, over any number of lines
//
// A label stands at the start of a line.
type react struct {
	chat
	other  bool   // a tool was called that neither searches nor finishes
	reward string // JSON, from the grader's words
}

type reactPart uint8

const (
	reactNone reactPart = iota
	reactThought
	reactAction
	reactObservation
)

// reactLabel reads the label that a line begins with. A number after it is allowed, or asked for.
func reactLabel(line string, numbered bool) (kind reactPart, rest string) {
	switch {
	case strings.HasPrefix(line, "Thought"):
		kind, rest = reactThought, line[len("Thought"):]
	case strings.HasPrefix(line, "Action"):
		kind, rest = reactAction, line[len("Action"):]
	case strings.HasPrefix(line, "Observation"):
		kind, rest = reactObservation, line[len("Observation"):]
	default:
		return reactNone, ""
	}
	if number, ok := strings.CutPrefix(rest, " "); ok {
		bare := strings.TrimLeft(number, "0123456789")
		if len(bare) == len(number) {
			return reactNone, ""
		}
		rest, numbered = bare, false
	}
	rest, ok := strings.CutPrefix(rest, ":")
	if !ok || numbered {
		return reactNone, ""
	}
	return kind, strings.TrimPrefix(rest, " ")
}

// play takes the parts of a text in their order and returns what stands before the first of them. Line
// breaks at the end of a part belong to the log. In a text of the agent's own (alone) an observation, and
// what follows it, is of its invention: counted and left out.
func (r *react) play(text string, numbered, alone bool) (before string) {
	kind, from := reactNone, 0
	for at := 0; at < len(text); {
		end := strings.IndexByte(text[at:], '\n')
		if end < 0 {
			end = len(text)
		} else {
			end += at + 1
		}
		if next, rest := reactLabel(text[at:end], numbered); next != reactNone {
			if kind == reactNone {
				before = text[:at]
			}
			r.part(kind, strings.TrimRight(text[from:at], "\r\n"))
			if kind, from = next, end-len(rest); alone && kind == reactObservation {
				r.out.note(turnmill.NoteUnsolicited)
				return before
			}
		}
		at = end
	}
	r.part(kind, strings.TrimRight(text[from:], "\r\n"))
	if kind == reactNone {
		return text
	}
	return before
}

// part takes one part.
func (r *react) part(kind reactPart, text string) {
	switch kind {
	case reactThought:
		r.fresh()
		r.think.add(text)
	case reactAction:
		r.fresh()
		text = strings.Trim(text, blanks)
		if text == "" {
			r.out.note(turnmill.NoteEmptiedMessage)
			return
		}
		name, _, _ := strings.Cut(text, "[")
		name = strings.Trim(name, blanks)
		if len(name) > longestTool || strings.ContainsAny(name, blanks) {
			name = ""
		}
		if !strings.EqualFold(name, "search") && !strings.EqualFold(name, "lookup") && !strings.EqualFold(name, "finish") {
			r.other = true
		}
		r.call(call{name: name, text: text, answer: -1})
	case reactObservation:
		reward := gradersWords(text)
		if reward == "" {
			r.answer(result{text: text})
			return
		}
		r.reward = reward
		r.out.note(turnmill.NoteUnsolicited)
	}
}

// fresh ends an act that holds more than thoughts.
func (r *react) fresh() {
	if len(r.calls)+len(r.results)+len(r.says) > 0 {
		r.end()
	}
	r.started = true
}

// gradersWords tells what the grader says when the agent has finished; it is not the environment. The result
// is the reward as JSON, or "".
func gradersWords(text string) string {
	reward, ok := strings.CutPrefix(text, "Episode finished, reward = ")
	if !ok {
		reward, ok = strings.CutPrefix(text, "Answer is ")
	}
	switch reward = strings.Trim(reward, blanks); {
	case !ok:
	case reward == "True", reward == "CORRECT":
		return "true"
	case reward == "False", reward == "INCORRECT":
		return "false"
	case reward == "1", reward == "0":
		return reward
	}
	return ""
}

// start begins a run.
func (r *react) start() { r.other, r.reward = false, "" }

// close ends a run whose domain the tools decide.
func (r *react) close() {
	r.finish()
	r.t.Observed = turnmill.ObservedTrue
	r.t.Domain = turnmill.DomainSearch
	if r.other {
		r.t.Domain = domainOf(r.kinds, 0)
	}
}

// messages takes a chat whose texts follow the protocol.
func (r *react) messages(list jsonscan.Value) error {
	i := 0
	for m := range list.Elems() {
		if err := r.message(m, i); err != nil {
			return err
		}
		i++
	}
	return nil
}

func (r *react) message(m jsonscan.Value, i int) error {
	who := chatRole(m.Get("role"))
	if who != roleAgent && who != roleUser {
		return r.chat.message(m, i)
	}
	think := &r.think
	if who == roleUser {
		think = &r.aside
	}
	w, ok := r.out.content(m.Get("content"), think)
	if !ok {
		return r.badMessage(i, "content is neither a text nor a list of parts")
	}
	switch kind, rest := reactLabel(w.text, false); {
	case who == roleUser && kind == reactObservation && r.started:
		r.part(kind, rest)
	case who == roleUser:
		r.person(w)
	default:
		r.fromAgent(w.text)
	}
	return nil
}

// fromAgent takes a text of the agent. What stands before its first label is a thought, and all of it a
// word to the user where there is no label.
func (r *react) fromAgent(text string) {
	r.fresh()
	n := r.think.n
	text = r.out.withoutThinking(text, &r.think)
	before := r.play(text, false, true)
	switch {
	case len(before) < len(text):
		if strings.Trim(before, blanks) != "" {
			r.think.add(before)
		}
	case !r.say(text) && r.think.n == n:
		r.out.note(turnmill.NoteEmptiedMessage)
	}
}
