package formats

import (
	"github.com/turnmill/turnmill"
)

// acts makes the turns of one trajectory from what its agent did and what answered it, in their order. It
// holds what the agent did last (the act) until what answers it is complete:
//
//	instruct, person    before the first act: the task
//	agent               a message of the agent begins; it ends an act that has an answer
//	call, say           the act: calls, or texts where there is no call
//	answer              results                  -> a turn
//	person              the reply to the texts   -> a turn that is dialogue
//	end                 the act is over, whether or not anything answered it
type acts struct {
	opts    Options
	out     *Decoded
	t       *turnmill.Trajectory
	state   string   // the screen before the act
	started bool     // something of the agent or of a tool has been seen
	next    int      // index of the next turn
	copied  bool     // the act is a copy: its turns are counted in next, but stand elsewhere
	shared  bool     // the results answer all calls of the act together
	paired  bool     // calls come with the index of their result, for the whole log has been looked through
	task    []string // texts before the first act
	demos   []string // demonstrations
	says    []string // texts of the act
	reply   []string // what a person answered to them
	think   thoughts // of the act
	aside   thoughts // reasoning in messages of others
	calls   []call
	results []result
	ids     []string  // of all calls, to count those that repeat
	kinds   toolKinds // of all calls
}

// begin starts a trajectory.
func (a *acts) begin(t *turnmill.Trajectory, out *Decoded) {
	a.out, a.t = out, t
	a.state, a.started, a.next, a.kinds = "", false, 0, 0
	a.aside.reset()
	a.task, a.demos, a.ids = a.task[:0], a.demos[:0], a.ids[:0]
	a.clear()
}

// clear forgets the act.
func (a *acts) clear() {
	a.says, a.reply, a.calls, a.results = a.says[:0], a.reply[:0], a.calls[:0], a.results[:0]
	a.think.reset()
	a.copied, a.shared = false, false
}

// finish ends the trajectory. What is left to the caller is its domain, then Decoded.finish.
func (a *acts) finish() {
	a.end()
	a.t.System.TaskDescription, a.t.System.Demonstrations = a.out.join(a.task, "\n\n"), a.out.join(a.demos, "\n\n")
	a.out.noteRepeats(a.ids)
	a.out.Notes[turnmill.NoteThoughtStripped] += int64(a.aside.n)
}

// instruct takes instructions: part of the task at the start, and in the middle an answer to nothing.
func (a *acts) instruct(text string) {
	switch {
	case text == "":
		a.out.note(turnmill.NoteEmptiedMessage)
	case a.started:
		a.out.note(turnmill.NoteUnsolicited)
	default:
		a.task = append(a.task, text)
	}
}

// person takes the task, or a reply to what the agent said. Beside calls, and after nothing, a person's
// text answers no one.
func (a *acts) person(w words) {
	switch {
	case w.text == "":
		if !w.mute {
			a.out.note(turnmill.NoteEmptiedMessage)
		}
	case !a.started:
		a.task = append(a.task, w.text)
	case a.talking():
		a.reply = append(a.reply, w.text)
	default:
		a.out.note(turnmill.NoteUnsolicited)
	}
}

// talking tells whether the act is a text that a person may reply to.
func (a *acts) talking() bool { return len(a.says) > 0 && len(a.calls) == 0 && len(a.results) == 0 }

// agent begins a message of the agent. Two messages with nothing between them are one act.
func (a *acts) agent() {
	a.started = true
	if len(a.results) > 0 || len(a.reply) > 0 {
		a.end()
	}
}

// say adds a text to the act; it tells whether there was one.
func (a *acts) say(text string) bool {
	if text != "" {
		a.says = append(a.says, text)
	}
	return text != ""
}

// call adds a call to the act.
func (a *acts) call(k call) {
	if k.id != "" {
		a.ids = append(a.ids, k.id)
	}
	a.kinds |= toolKind(k.name)
	a.calls = append(a.calls, k)
}

// answeredCall adds a call to the act, with its result.
func (a *acts) answeredCall(k call, r result) {
	k.answer = len(a.results)
	a.results = append(a.results, r)
	a.call(k)
}

// answer takes a result. Results belong to the calls of the act that they follow.
func (a *acts) answer(r result) {
	a.started = true
	if len(a.calls) == 0 {
		a.out.note(turnmill.NoteOrphanObservation)
		return
	}
	a.results = append(a.results, r)
}

// end ends the act: it becomes a turn when something answered it.
func (a *acts) end() {
	switch {
	case len(a.calls) > 0:
		a.callTurn()
	case len(a.results) > 0:
		a.textTurn()
	case len(a.reply) > 0:
		a.add(turnmill.Turn{
			Action:      a.out.join(a.says, "\n"),
			Observation: a.out.join(a.reply, "\n"),
			Dialogue:    true,
		})
	default:
		a.out.Notes[turnmill.NoteUnansweredAction] += int64(len(a.says))
	}
	if !a.opts.KeepThought {
		a.out.Notes[turnmill.NoteThoughtStripped] += int64(a.think.n)
	}
	a.clear()
}

// demonstrated makes a demonstration of the turns so far.
func (a *acts) demonstrated() {
	a.end()
	b := a.out.arena.Open()
	for i := range a.t.Turns {
		if i > 0 {
			b = append(b, "\n\n"...)
		}
		b = append(append(append(b, a.t.Turns[i].Action...), '\n'), a.t.Turns[i].Observation...)
	}
	if len(b) > 0 {
		a.demos = append(a.demos, a.out.arena.Close(b))
	}
	a.t.Turns = a.t.Turns[:0]
	a.started = false
	a.out.note(turnmill.NoteDemonstration)
}

// add appends a turn of the act.
func (a *acts) add(t turnmill.Turn) {
	t.Index, t.HasAction, t.State = a.next, true, a.state
	a.next++
	if a.copied {
		return
	}
	if a.opts.KeepThought {
		t.Thought = a.out.join(a.think.texts, "\n")
	}
	a.t.Turns = append(a.t.Turns, t)
}

func (a *acts) callTurn() {
	for _, s := range a.says {
		a.think.add(s) // beside a call a text is no action
	}
	if a.shared {
		a.sharedTurn()
		return
	}
	if !a.paired {
		pair(a.calls, a.results)
	}
	for i := range a.results {
		if !a.results[i].used && !a.paired {
			a.out.note(turnmill.NoteOrphanObservation)
		}
	}
	answered := a.calls[:0]
	for _, k := range a.calls {
		if k.answer >= 0 && !a.results[k.answer].mute {
			answered = append(answered, k)
		} else {
			a.out.note(turnmill.NoteUnansweredAction)
		}
	}
	if len(answered) > 0 {
		a.add(turnmill.Turn{Action: a.callTexts(answered), Tool: a.callNames(answered), Observation: a.answers(answered)})
	}
}

// sharedTurn makes a turn of all calls and all results.
func (a *acts) sharedTurn() {
	if texts := a.texts(); len(texts) > 0 {
		a.add(turnmill.Turn{Action: a.callTexts(a.calls), Tool: a.callNames(a.calls), Observation: a.out.join(texts, "\n")})
	} else {
		a.out.Notes[turnmill.NoteUnansweredAction] += int64(len(a.calls))
	}
}

// textTurn makes a turn of a text that the environment answered. No text at all is a wait.
func (a *acts) textTurn() {
	if texts := a.texts(); len(texts) > 0 {
		a.add(turnmill.Turn{Action: a.out.join(a.says, "\n"), Observation: a.out.join(texts, "\n")})
	} else {
		a.out.Notes[turnmill.NoteUnansweredAction] += int64(len(a.says))
	}
}

// texts returns the texts of all results that have one.
func (a *acts) texts() []string {
	a.out.pieces = a.out.pieces[:0]
	for i := range a.results {
		if !a.results[i].mute {
			a.out.pieces = append(a.out.pieces, a.results[i].text)
		}
	}
	return a.out.pieces
}

// callTexts joins the canonical texts of calls in their order.
func (a *acts) callTexts(calls []call) string {
	if len(calls) == 1 && calls[0].text != "" {
		return calls[0].text
	}
	b := a.out.arena.Open()
	for i := range calls {
		if i > 0 {
			b = append(b, '\n')
		}
		b = a.out.appendCall(b, &calls[i])
	}
	return a.out.arena.Close(b)
}

// callNames joins the names of calls.
func (a *acts) callNames(calls []call) string {
	if len(calls) == 1 {
		return calls[0].name
	}
	b := append(a.out.arena.Open(), calls[0].name...)
	for i := range calls[1:] {
		b = append(append(b, ','), calls[i+1].name...)
	}
	return a.out.arena.Close(b)
}

// answers joins the results of answered calls in the order of the calls.
func (a *acts) answers(calls []call) string {
	if len(calls) == 1 {
		return a.results[calls[0].answer].text
	}
	b := append(a.out.arena.Open(), a.results[calls[0].answer].text...)
	for i := range calls[1:] {
		b = append(append(b, '\n'), a.results[calls[i+1].answer].text...)
	}
	return a.out.arena.Close(b)
}
