package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// m3a decodes histories of AndroidWorld's M3A agent:
//
//	step i     ui_description   the screen before the action        -> state
//	           action_output    Reason, Action                      -> action
//	           summary_prompt   the screen after it                 -> observation, unless
//	step i+1   ui_description   shows the same screen, settled      -> observation, and the next state
type m3a struct {
	acts
	wholeFile
	steps int
	goal  string // of the run at hand
	ran   bool   // the last step's action waits for its observation
	after string // the screen that the last step saw after its action, "" where it lists none
}

func (m *m3a) Decode(raw []byte, out *Decoded) error {
	out.reset()
	m.out, m.steps, m.goal, m.ran, m.after, m.wholeFile.doc.NonFinite = out, 0, "", false, "", true
	m.readFile(raw, out, m)
	if m.steps == 0 {
		return out.refuseWhole(m3aName, "no step of a run in it")
	}
	m.close()
	return nil
}

// value takes a step, or a list of them.
func (m *m3a) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array {
		for e := range v.Elems() {
			m.value(e, base)
		}
		return
	}
	if err := m.step(v); err != nil {
		m.settle("")
		m.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), err)
	}
}

func (m *m3a) step(v jsonscan.Value) error {
	if why, _ := recogniseM3A(v); why != "" {
		return wrongFormat(m3aName, why)
	}
	list, prompt := v.Get("ui_description"), v.Get("summary_prompt")
	switch {
	case list.Present() && list.Kind() != jsonscan.Array:
		return badField("ui_description", "an array", list)
	case prompt.Present() && prompt.Kind() != jsonscan.String:
		return badField("summary_prompt", "a string", prompt)
	}
	before, err := m.screen(list)
	if err != nil {
		return err
	}
	goal := v.Get("task_goal").Str(&m.out.arena)
	if m.steps++; m.steps == 1 || goal != m.goal {
		m.open(goal)
	}
	m.settle(before)
	m.state = before
	m.act(v)
	if m.ran = prompt.Present(); m.ran {
		m.after = afterList(prompt.Str(&m.out.arena))
	} else {
		m.end()
	}
	return nil
}

// open begins a trajectory.
func (m *m3a) open(goal string) {
	if m.steps > 1 {
		m.close()
	}
	m.goal = goal
	m.begin(m.out.trajectory(m3aName, ""), m.out)
	m.t.Observed = turnmill.ObservedTrue
	m.person(words{text: goal})
	m.started = true
}

func (m *m3a) close() {
	m.settle("")
	m.acts.finish()
	m.t.Domain = turnmill.DomainAndroid
	m.out.finish(m.t, m.opts)
}

// settle ends the last step, whose action next, the screen that the step after it begins with, may answer.
func (m *m3a) settle(next string) {
	if !m.ran {
		return
	}
	text := m.after
	if text == "" || next != "" && sameScreen(text, next) {
		text = next
	}
	if text != "" {
		m.answer(result{text: text})
	}
	m.end()
	m.ran, m.after = false, ""
}

// screen joins the lines of a screen: [{"ui_description":LINE,"ui_bbox":[]}], or [LINE].
func (m *m3a) screen(list jsonscan.Value) (string, error) {
	b, i := m.out.arena.Open(), 0
	for e := range list.Elems() {
		line := e
		if e.Kind() == jsonscan.Object {
			line = e.Get("ui_description")
		}
		if line.Kind() != jsonscan.String {
			return "", inside("ui_description", i, badField("ui_description", "a string", line))
		}
		if i++; i > 1 {
			b = append(b, '\n')
		}
		b = line.AppendString(b)
	}
	return strings.TrimRight(m.out.arena.Close(b), "\n"), nil
}

// afterList returns the screen that a prompt for a summary lists after the action, or "". Texts on the screen
// stand before its end, and the agent's words behind it, so the last of each heading counts.
func afterList(prompt string) string {
	const from, to, none = "the after screenshot:", "\nThis is the action you picked:", "Not available"
	i := strings.LastIndex(prompt, from)
	if i < 0 {
		return ""
	}
	list := prompt[i+len(from):]
	if i = strings.LastIndex(list, to); i < 0 {
		return ""
	}
	if list = strings.Trim(list[:i], "\n"); list == none {
		return ""
	}
	return list
}

// sameScreen tells whether two screens differ in nothing but what moves by itself. Pieces between quotes are
// compared one by one.
func sameScreen(a, b string) bool {
	for more := true; more; {
		x, restA, moreA := strings.Cut(a, `"`)
		y, restB, moreB := strings.Cut(b, `"`)
		if moreA != moreB || x != y && (volatile(x) == steady || volatile(x) != volatile(y)) {
			return false
		}
		a, b, more = restA, restB, moreA
	}
	return true
}

// moving says why a text on a screen may change by itself.
type moving uint8

const (
	steady moving = iota
	clock
	signal
	battery
)

func volatile(text string) moving {
	switch {
	case isClock(text):
		return clock
	case strings.HasPrefix(text, "Phone "), strings.HasPrefix(text, "Wifi "), strings.HasPrefix(text, "Mobile "):
		if strings.HasSuffix(text, " bars.") || strings.HasSuffix(text, " bar.") || strings.HasSuffix(text, "signal full.") {
			return signal
		}
	case strings.HasPrefix(text, "Battery ") && strings.HasSuffix(text, " percent."):
		return battery
	}
	return steady
}

// isClock tells a time of day: 9:05, 15:37, 3:07 PM.
func isClock(text string) bool {
	text = strings.TrimSuffix(strings.TrimSuffix(text, " AM"), " PM")
	hour, minute, ok := strings.Cut(text, ":")
	return ok && digits(hour) && digits(minute) && len(hour) <= 2 && len(minute) == 2
}

func digits(s string) bool { return s != "" && strings.Trim(s, "0123456789") == "" }
