package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
)

// play makes a trajectory of a run.
func (c *codex) play(source string, i int, entries []codexEntry) {
	r := &c.runs[i]
	c.waiting.reset()
	c.match(r, entries)
	t := c.out.trajectory(source, "")
	t.ID, t.Agent = c.out.ownID(r.id, c.played[r.id]), r.model
	c.played[r.id]++
	c.begin(t, c.out)
	c.codes, c.places, c.closed = c.codes[:0], c.places[:0], false
	if r.rules != "" {
		c.instruct(r.rules)
	}
	for j := range entries {
		if e := &entries[j]; e.mirror && c.repeated(r, e) {
			c.out.Copied++
		} else {
			c.entry(r, e)
		}
	}
	c.finish()
	t.System.ActionSpace, t.System.InitialState = r.tools, c.out.join(c.places, "\n")
	c.settle(r, t)
}

// match gives the results of a run to its calls. Events give results to calls among the items that lack
// theirs; where the items hold no call the events' calls are the run's.
func (c *codex) match(r *codexRun, entries []codexEntry) {
	for i := range entries {
		if e := &entries[i]; e.mirror && r.does {
			continue
		} else if e.kind == codexCall {
			c.link(e.at, c.waiting.call(c.asked[e.at].id, e.at))
		} else if e.kind == codexResult {
			c.link(c.waiting.result(c.answered[e.at].id, e.at), e.at)
		}
	}
	for i := range entries {
		if e := &entries[i]; e.mirror && r.does && e.kind == codexResult {
			if call, ok := c.waiting.take(c.answered[e.at].id); ok {
				c.link(call, e.at)
			}
		}
	}
}

func (c *codex) link(call, answer int32) {
	if call >= 0 && answer >= 0 {
		c.asked[call].answer, c.answered[answer].call = int(answer), call
	}
}

// repeated tells whether an event says what an item says.
func (c *codex) repeated(r *codexRun, e *codexEntry) bool {
	switch e.kind {
	case codexPerson:
		return r.person
	case codexSay:
		return r.agent
	case codexThink:
		return r.agent || r.does
	case codexResult:
		return r.does && c.answered[e.at].call < 0
	}
	return r.does
}

// entry plays an entry.
func (c *codex) entry(r *codexRun, e *codexEntry) {
	switch e.kind {
	case codexPerson:
		c.person(words{text: e.text})
	case codexRule:
		if r.rules != "" && strings.Contains(e.text, r.rules) {
			c.out.Copied++
		} else {
			c.instruct(e.text)
		}
	case codexPause:
		c.end()
	case codexPlace, codexHarness:
		if e.kind == codexPlace && !c.started {
			c.places = append(c.places, e.text)
			return
		}
		c.end() // what follows is no reply to what came before
		c.out.note(turnmill.NoteUnsolicited)
	case codexResult:
		if c.started = true; c.answered[e.at].call < 0 {
			c.out.note(turnmill.NoteOrphanObservation)
		} else {
			c.closed = true
		}
	default:
		c.act(e)
	}
}

// act plays what the agent did. Calls with no result between them are one act, whatever their results' places.
func (c *codex) act(e *codexEntry) {
	if c.started = true; c.closed || len(c.acts.reply) > 0 || e.kind == codexSay && len(c.calls) > 0 && len(c.results) == 0 {
		c.end()
		c.closed = false
	}
	switch e.kind {
	case codexSay:
		if !c.say(c.out.withoutThinking(e.text, &c.think)) {
			c.out.note(turnmill.NoteEmptiedMessage)
		}
	case codexThink:
		c.think.block(e.text)
	case codexCall:
		k := c.asked[e.at]
		answer := k.answer
		k.answer = -1
		c.kinds |= builtin(k.name)
		if answer < 0 {
			c.call(k)
		} else {
			a := &c.answered[answer]
			c.answeredCall(k, a.result)
			if a.code != "" {
				c.codes = append(c.codes, a.code)
			}
		}
	}
}

// settle fills in what is known of a run beside its turns.
func (c *codex) settle(r *codexRun, t *turnmill.Trajectory) {
	t.Observed = turnmill.ObservedTrue
	t.Meta = c.out.object(member{name: "version", text: r.version}, member{name: "forked_from", text: r.forked},
		member{name: "parent_id", text: r.parent}, c.out.listed("exit_codes", c.codes))
	if t.Domain = domainOf(c.kinds, 0); t.Domain == turnmill.DomainMCP && c.kinds&^toolAside == 0 {
		t.Domain = turnmill.DomainSWE
	}
	c.out.finish(t, c.opts)
}
