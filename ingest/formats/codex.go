package formats

import (
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// codex decodes logs of Codex. A log is read line by line into entries, its results are given to their calls
// by id, wherever they stand, and the entries are played:
//
//	{timestamp, type, payload}    rollouts: session_meta, response_item, event_msg, turn_context, compacted
//	{type, role, content} ...     older rollouts: the items alone, after a first line about the session
//	{session, items}              the oldest: one object
//	{type: item.completed, item}  what codex exec --json prints
//	{id, msg}                     what it printed before
//
// Rollouts say most things twice, as an item and as an event. Items are read, events fill what is missing:
// the words of a side that has no item, calls where there is no call among the items, results of calls that
// lack theirs.
type codex struct {
	acts
	wholeFile
	entries  []codexEntry
	asked    []call
	answered []codexAnswer
	runs     []codexRun
	codes    []string // exit codes of the run at hand
	places   []string // what was said of its machine before its first act
	closed   bool     // the act at hand has been answered: what the agent does next is another
	pieces   []string // of a message
	waiting  callBook
	played   map[string]int         // runs so far, by their ids
	begun    map[string]int32       // calls of a stream that have begun
	known    map[string]struct{}    // ids of the run at hand and of those that it goes on from
	lines    map[codexLine]struct{} // that have been read
	base     int64                  // offset of the document at hand
	events   int                    // recognised lines
}

// codexEntry is one thing that was said, done or answered.
type codexEntry struct {
	kind   codexKind
	mirror bool // an event
	text   string
	at     int32 // in asked or answered
}

type codexKind uint8

const (
	codexPerson  codexKind = iota // the person's words
	codexRule                     // instructions: of the developer, of the repository
	codexPlace                    // what the harness says of the machine
	codexHarness                  // other words of the harness: they answer nothing
	codexPause                    // the end of what one prompt asked for
	codexSay                      // the agent's words
	codexThink
	codexCall
	codexResult
)

// codexAnswer is a result, the call that it answers, and the command's exit code where that stands apart.
type codexAnswer struct {
	result
	call int32 // -1 when there is none
	code string
}

// codexRun is a session. A file may hold several, one after another.
type codexRun struct {
	id, forked, parent  string
	model, version      string
	rules, tools        string
	from                int32 // its first entry
	person, agent, does bool  // what its items hold, so that events repeat it
}

// codexLine tells a line that was written twice.
type codexLine struct{ time, payload string }

// forget makes the decoder ready for a record.
func (c *codex) forget() {
	if cap(c.entries) > keepEntries {
		*c = codex{acts: acts{opts: c.opts, paired: true}}
	}
	c.entries, c.asked, c.answered, c.runs = c.entries[:0], c.asked[:0], c.answered[:0], c.runs[:0]
	c.played, c.begun, c.known, c.lines = emptied(c.played), emptied(c.begun), emptied(c.known), emptied(c.lines)
	c.waiting.reset()
	c.events = 0
	c.doc.NonFinite = true
}

func (c *codex) Decode(raw []byte, out *Decoded) error {
	out.reset()
	c.forget()
	c.out = out
	c.readFile(raw, out, c)
	if c.events == 0 {
		return out.refuseWhole(codexName, "no line of it is an item or an event of a session")
	}
	c.run()
	c.playAll(codexName)
	return nil
}

// readList reads lines that stand in a record of another format, and plays them under its id.
func (c *codex) readList(lines jsonscan.Value, source, own string, out *Decoded) {
	c.forget()
	c.out = out
	c.value(lines, 0)
	if c.run(); own != "" {
		c.runs[0].id = own
	}
	c.playAll(source)
}

func (c *codex) playAll(source string) {
	for i := range c.runs {
		to := int32(len(c.entries))
		if i+1 < len(c.runs) {
			to = c.runs[i+1].from
		}
		c.play(source, i, c.entries[c.runs[i].from:to])
	}
}

// value reads a line, or a list of them. Offsets in the document that holds v count from base.
func (c *codex) value(v jsonscan.Value, base int64) {
	if v.Kind() == jsonscan.Array && v.Len() > 0 {
		for e := range v.Elems() {
			c.value(e, base)
		}
		return
	}
	c.base = base
	if err := c.take(v); err != nil {
		c.out.lost(base+int64(v.Offset()), int64(len(v.Raw())), err)
		return
	}
	c.events++
}

// run returns the run at hand.
func (c *codex) run() *codexRun {
	if len(c.runs) == 0 {
		c.runs = append(c.runs, codexRun{})
	}
	return &c.runs[len(c.runs)-1]
}

// add appends an entry.
func (c *codex) add(e codexEntry) {
	r := c.run()
	if !e.mirror {
		switch e.kind {
		case codexPerson:
			r.person = true
		case codexSay:
			r.agent = true
		case codexCall:
			r.does = true
		}
	}
	c.entries = append(c.entries, e)
}

// ask appends a call, written out: the line that holds it is gone when its turn is made.
func (c *codex) ask(k call, mirror bool) {
	if k.text == "" {
		k.text = c.out.arena.Close(c.out.appendCall(c.out.arena.Open(), &k))
	}
	k.args, k.answer = jsonscan.Value{}, -1
	c.asked = append(c.asked, k)
	c.add(codexEntry{kind: codexCall, mirror: mirror, at: int32(len(c.asked) - 1)})
}

func (c *codex) give(a codexAnswer, mirror bool) {
	a.call = -1
	c.answered = append(c.answered, a)
	c.add(codexEntry{kind: codexResult, mirror: mirror, at: int32(len(c.answered) - 1)})
}
