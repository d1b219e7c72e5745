package prompt

import (
	"encoding/json"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
)

// Options say what of a trajectory is shown. The zero value shows everything.
type Options struct {
	Verdicts []turnmill.Verdict  // one a turn: dropped turns are not shown and not numbered; nil: none is dropped
	State    func(turn int) bool // whether the state of the turn at this position is shown; nil: always
}

// values are what fills the slots of one message.
type values [numSlots]string

// Render returns t as the template writes it: the system message in System.TaskDescription, a turn's user
// message in Action, the observation as the template wraps it, and no State, so that what makes rows of a
// trajectory makes rows of this one. Dropped turns are left as they are; t is not changed.
func (tmpl *Template) Render(t *turnmill.Trajectory, o Options) *turnmill.Trajectory {
	out := *t
	m := metaOf(tmpl, t)
	out.System = turnmill.SystemPrompt{TaskDescription: tmpl.systemText(t, m)}
	out.Turns = make([]turnmill.Turn, len(t.Turns))
	number := 0
	for i := range t.Turns {
		out.Turns[i] = t.Turns[i]
		if o.dropped(i) {
			continue
		}
		number++
		turn := &out.Turns[i]
		turn.Action = tmpl.userText(t, i, number, o, m)
		turn.State, turn.Observation = "", tmpl.Wrap(t.Turns[i].Observation)
	}
	return &out
}

// Messages returns the question that ends with the action of the turn at position target: the system message,
// then a user's and an assistant's message for each turn before it, and a user's. Dropped turns are left out.
func (tmpl *Template) Messages(t *turnmill.Trajectory, target int, o Options) []turnmill.Message {
	m := metaOf(tmpl, t)
	out := []turnmill.Message{{Role: "system", Content: tmpl.systemText(t, m)}}
	number := 0
	for i := range t.Turns[:target+1] {
		if o.dropped(i) {
			continue
		}
		number++
		out = append(out, turnmill.Message{Role: "user", Content: tmpl.userText(t, i, number, o, m)})
		if i < target {
			out = append(out, turnmill.Message{Role: "assistant", Content: tmpl.Wrap(t.Turns[i].Observation)})
		}
	}
	return out
}

// Query returns the question about the turn at position target, named by the trajectory's id and the turn's
// index.
func (tmpl *Template) Query(t *turnmill.Trajectory, target int, o Options) turnmill.Query {
	return turnmill.Query{
		ID: t.ID + "@" + strconv.Itoa(t.Turns[target].Index), Trajectory: t, Target: target,
		Template: tmpl.ID(), Messages: tmpl.Messages(t, target, o),
	}
}

// Wrap returns an observation as an assistant of this template says it: with its marker, in its tags, or as
// it is.
func (tmpl *Template) Wrap(text string) string {
	var v values
	v[observation] = text
	return write(tmpl.assistant, &v)
}

// Lead returns how many bytes Wrap writes before a text that is not empty.
func (tmpl *Template) Lead() (n int) {
	for a, b := tmpl.Wrap("a"), tmpl.Wrap("b"); a[n] == b[n]; {
		n++
	}
	return n
}

func (o *Options) dropped(i int) bool {
	return o.Verdicts != nil && o.Verdicts[i].Status == turnmill.StatusDropped
}

func (tmpl *Template) systemText(t *turnmill.Trajectory, m meta) string {
	p := &t.System
	return write(tmpl.system, &values{
		taskDescription: p.TaskDescription, actionSpace: p.ActionSpace, initialState: p.InitialState,
		demonstrations: p.Demonstrations, simulationInstruction: p.SimulationInstruction,
		targetQuery: m.text("target_query"), referenceAnswer: m.text("reference_answer"), environmentSummary: m.text("environment_summary"),
	})
}

func (tmpl *Template) userText(t *turnmill.Trajectory, i, number int, o Options, m meta) string {
	v := values{turnNumber: strconv.Itoa(number), action: t.Turns[i].Action, turnInstruction: m.ofTurn(t.Turns[i].Index)}
	if o.State == nil || o.State(i) {
		v[state] = t.Turns[i].State
	}
	return write(tmpl.user, &v)
}

// meta are the members of a trajectory's meta, where a template has slots for them.
type meta map[string]json.RawMessage

// metaOf reads t.Meta. One that is no object has no members.
func metaOf(tmpl *Template, t *turnmill.Trajectory) (m meta) {
	if t.Meta != "" && (tmpl.Domain == turnmill.DomainSearch || tmpl.Domain == turnmill.DomainMCP) {
		if json.Unmarshal([]byte(t.Meta), &m) != nil {
			return nil
		}
	}
	return m
}

// text returns a member: the text of a string, any other value as JSON, nothing for null.
func (m meta) text(name string) string { return textOf(m[name]) }

func textOf(raw json.RawMessage) (text string) {
	if json.Unmarshal(raw, &text) != nil {
		return string(raw)
	}
	return text
}

// ofTurn returns what turn_instructions, a list, says of the turn with this index.
func (m meta) ofTurn(index int) string {
	var list []json.RawMessage
	if m["turn_instructions"] == nil || json.Unmarshal(m["turn_instructions"], &list) != nil || index < 0 || index >= len(list) {
		return ""
	}
	return textOf(list[index])
}

// write puts the lines together. Lines are joined, not ended, by line feeds.
func write(nodes []node, v *values) string {
	var b strings.Builder
	w := writer{b: &b, v: v}
	w.nodes(nodes)
	return b.String()
}

type writer struct {
	b       *strings.Builder
	v       *values
	started bool
}

func (w *writer) nodes(nodes []node) {
	for i := range nodes {
		n := &nodes[i]
		if !n.isLine {
			if w.any(n.ifAny) {
				w.nodes(n.lines)
			}
			continue
		}
		if w.started {
			w.b.WriteByte('\n')
		}
		w.started = true
		for _, p := range n.line {
			w.b.WriteString(p.text)
			switch value := w.v[p.slot]; {
			case p.fence && isJSON(value):
				w.fenced(value)
			case p.slot != none:
				w.b.WriteString(value)
			}
		}
	}
}

func (w *writer) any(slots []slot) bool {
	for _, s := range slots {
		if w.v[s] != "" {
			return true
		}
	}
	return false
}

// fenced writes text in a code fence with more backticks than any run of them in it.
func (w *writer) fenced(text string) {
	longest, run := 0, 0
	for i := range len(text) {
		if run++; text[i] != '`' {
			run = 0
		}
		longest = max(longest, run)
	}
	fence := strings.Repeat("`", max(3, longest+1))
	w.b.WriteString(fence + "json\n")
	w.b.WriteString(text)
	w.b.WriteString("\n" + fence)
}

// isJSON tells whether text is a JSON object or array, or one on each line: several calls.
func isJSON(text string) bool {
	if oneJSON(text) {
		return true
	}
	for line := range strings.Lines(text) {
		if !oneJSON(line) {
			return false
		}
	}
	return text != ""
}

func oneJSON(text string) bool {
	trimmed := strings.TrimLeft(text, " \t\r\n")
	return (strings.HasPrefix(trimmed, "{") || strings.HasPrefix(trimmed, "[")) && json.Valid([]byte(text))
}
