package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// atifStep holds the members of one step.
type atifStep struct {
	source, message, reasoning, calls, observation jsonscan.Value
	copied                                         bool
}

func (a *atif) readStep(v jsonscan.Value) atifStep {
	var s atifStep
	for k, m := range v.Members() {
		switch a.out.key(k) {
		case "source":
			s.source = m
		case "message":
			s.message = m
		case "reasoning_content":
			s.reasoning = m
		case "tool_calls":
			s.calls = m
		case "observation":
			s.observation = m
		case "is_copied_context":
			s.copied = m.Kind() == jsonscan.True
		}
	}
	return s
}

// step takes steps[i].
func (a *atif) step(v jsonscan.Value, i int) error {
	if v.Kind() != jsonscan.Object {
		return badField("", "an object", v)
	}
	s := a.readStep(v)
	if s.copied {
		a.out.Copied++
	}
	source, think := stepSource(s.source), &a.aside
	switch source {
	case roleNone:
		return reject(turnmill.ReasonBadMessage, "steps[%d]: no source (system, user, agent)", i)
	case roleAgent:
		a.end() // a step is an act of its own
		a.started, a.copied, a.state = true, s.copied, a.page
		think = &a.think
	}
	thinking := think.n
	w, ok := a.out.content(s.message, think)
	if !ok {
		return reject(turnmill.ReasonBadMessage, "steps[%d]: message is neither a text nor a list of parts", i)
	}
	switch source {
	case roleSystem:
		return a.fromSystem(&s, w)
	case roleUser:
		return a.fromUser(&s, w)
	}
	return a.fromAgent(&s, w, thinking)
}

// fromSystem takes instructions, which come before what the user asks; later ones are notes of the harness.
func (a *atif) fromSystem(s *atifStep, w words) error {
	switch {
	case w.text == "" && s.observation.Present():
	case a.asked && w.text != "":
		a.out.note(turnmill.NoteUnsolicited)
	default:
		a.instruct(w.text)
	}
	return a.unasked(s)
}

func (a *atif) fromUser(s *atifStep, w words) error {
	a.asked = true
	if pageText(w.text) {
		a.page = w.text
	}
	if a.dialect == dialectADP && a.started && converterWrote(w.text) {
		a.out.note(turnmill.NoteUnsolicited)
	} else {
		if a.talking() {
			a.copied = a.copied && s.copied
		}
		a.person(w)
	}
	return a.unasked(s)
}

// unasked counts the results of a step in which nothing was done. A page among them is what the next action
// sees.
func (a *atif) unasked(s *atifStep) error {
	return a.eachResult(s.observation, func(r result, page bool) {
		if !page && !r.mute {
			a.out.note(turnmill.NoteOrphanObservation)
		}
	})
}

// fromAgent takes a step of the agent. thinking is the number of thoughts before it.
func (a *atif) fromAgent(s *atifStep, w words, thinking int) error {
	a.think.add(s.reasoning.Str(&a.out.arena))
	text := a.out.withoutThinking(w.text, &a.think)
	if err := a.toolCalls(s.calls); err != nil {
		return err
	}
	if len(a.calls) == 0 && text == "" && a.dialect != dialectTerminus {
		if !s.observation.Present() && a.think.n == thinking && !w.mute {
			a.out.note(turnmill.NoteEmptiedMessage)
		}
		return a.unasked(s)
	}
	named := false // a result names its call
	err := a.eachResult(s.observation, func(r result, _ bool) {
		named = named || r.id != ""
		a.results = append(a.results, r)
	})
	a.shared = !named && len(a.results) > 0 && len(a.results) < len(a.calls)
	if a.dialect == dialectTerminus && len(a.calls) == 0 && len(a.results) > 0 {
		a.reply(text)
	} else {
		a.say(text)
	}
	return err
}

func (a *atif) toolCalls(list jsonscan.Value) error {
	if list.Present() && list.Kind() != jsonscan.Array {
		return badField("tool_calls", "an array", list)
	}
	i := 0
	for v := range list.Elems() {
		name := v.Get("function_name")
		if v.Kind() != jsonscan.Object {
			return inside("tool_calls", i, badField("", "an object", v))
		}
		if name.Present() && name.Kind() != jsonscan.String {
			return inside("tool_calls", i, badField("function_name", "a string", name))
		}
		k := call{name: name.Str(&a.out.arena), args: v.Get("arguments"), id: a.out.id(v.Get("tool_call_id")), answer: -1}
		if a.dialect == dialectADP && quoted(k.args) {
			k.text = a.out.unquoted(&k)
		}
		a.call(k)
		i++
	}
	return nil
}

// eachResult reads the results of an observation and calls visit with each, and with whether it is a page.
func (a *atif) eachResult(observation jsonscan.Value, visit func(r result, page bool)) error {
	if observation.Present() && observation.Kind() != jsonscan.Object {
		return badField("observation", "an object", observation)
	}
	list := observation.Get("results")
	if list.Present() && list.Kind() != jsonscan.Array {
		return badField("observation.results", "an array", list)
	}
	i := 0
	for v := range list.Elems() {
		if v.Kind() != jsonscan.Object {
			return inside("observation.results", i, badField("", "an object", v))
		}
		r, page, err := a.result(v)
		if err != nil {
			return inside("observation.results", i, err)
		}
		visit(r, page)
		i++
	}
	return nil
}

// result reads one result. One that only points to a sub-agent's document answers nothing.
func (a *atif) result(v jsonscan.Value) (r result, page bool, err error) {
	content := v.Get("content")
	w, ok := a.out.content(content, &a.aside)
	if !ok {
		return r, false, badField("content", "a text or a list of parts", content)
	}
	r = result{id: a.out.id(v.Get("source_call_id")), text: w.text, mute: w.mute}
	if !content.Present() && v.Get("subagent_trajectory_ref").Present() {
		r.mute = true
	}
	if tree := webPage(v); tree.Present() && r.text == "" {
		r.text, r.mute, page = tree.Str(&a.out.arena), false, true
	}
	if page = page || pageText(r.text); page {
		a.page = r.text
	}
	if a.dialect == dialectADP && converterWrote(r.text) {
		r.mute = true
	}
	return r, page, nil
}
