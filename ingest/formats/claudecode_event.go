package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// entry is what an event of a session holds. Its texts, calls and results lie in lists of the session.
type entry struct {
	kind         entryKind
	summary      bool // of the harness, in the place of what a compaction removed
	uuid, parent string
	content      string // as it stands, to tell copies
	model        string
	chain        chain
	unit, next   int32 // the unit and the next entry in it; -1 for none
	anchor       int32 // for a link: the message that its children hang from
	texts, thinks,
	asked, answered span
}

// entryKind says who wrote an entry.
type entryKind uint8

const (
	entryLink    entryKind = iota // no message; parents may lead through it
	entryAgent                    // a part of a message of the agent
	entryPerson                   // the person's words, or results
	entryHarness                  // words that the harness wrote under either role
)

// chain tells apart lines that interleave in one log.
type chain struct {
	session, agent string
	side           bool
}

// span is a half-open range of a list.
type span struct{ from, to int32 }

func (s span) empty() bool { return s.from == s.to }

// sessionEvent holds the members of an event.
type sessionEvent struct {
	kind, uuid, parent, logical, session, agent, version, message jsonscan.Value
	side, meta, summary, hidden, failed                           bool
}

func (s *session) readEvent(v jsonscan.Value) sessionEvent {
	var e sessionEvent
	for k, m := range v.Members() {
		switch s.out.key(k) {
		case "type":
			e.kind = m
		case "uuid":
			e.uuid = m
		case "parentUuid":
			e.parent = m
		case "logicalParentUuid":
			e.logical = m
		case "sessionId":
			e.session = m
		case "agentId":
			e.agent = m
		case "version":
			e.version = m
		case "message":
			e.message = m
		case "isSidechain":
			e.side = m.Kind() == jsonscan.True
		case "isMeta":
			e.meta = m.Kind() == jsonscan.True
		case "isCompactSummary":
			e.summary = m.Kind() == jsonscan.True
		case "isVisibleInTranscriptOnly":
			e.hidden = m.Kind() == jsonscan.True
		case "isApiErrorMessage":
			e.failed = m.Kind() == jsonscan.True
		}
	}
	return e
}

// event takes an event. An error costs the event.
func (s *session) event(v jsonscan.Value) error {
	if v.Kind() != jsonscan.Object {
		return wrongFormat(claudeCodeName, "an event is "+article(v.Kind())+", want an object")
	}
	e, arena := s.readEvent(v), &s.out.arena
	n := entry{uuid: e.uuid.Str(arena), parent: e.parent.Str(arena), unit: -1, next: -1, anchor: unsought,
		chain: chain{session: e.session.Str(arena), agent: e.agent.Str(arena), side: e.side}}
	switch {
	case e.kind.Is("assistant"):
		n.kind = entryAgent
		return s.message(&e, n)
	case e.kind.Is("user"):
		n.kind = entryPerson
		return s.message(&e, n)
	case e.kind.Kind() != jsonscan.String:
		return wrongFormat(claudeCodeName, "an event without a type")
	}
	if n.uuid != "" || n.chain.session != "" || v.Get("leafUuid").Present() {
		s.events++
	}
	if n.parent == "" { // a compaction cuts the line of parents
		n.parent = e.logical.Str(arena)
	}
	if n.uuid != "" {
		s.keep(n)
	}
	return nil
}

// message takes an event that holds a message.
func (s *session) message(e *sessionEvent, n entry) error {
	arena := &s.out.arena
	if e.message.Kind() != jsonscan.Object {
		return reject(turnmill.ReasonBadMessage, "message is %s, want an object", article(e.message.Kind()))
	}
	content := e.message.Get("content")
	if err := checkContent(content, n.kind); err != nil {
		return err
	}
	if s.events++; s.version == "" {
		s.version = e.version.Str(arena)
	}
	if n.content = content.RawStr(); s.copy(&n) {
		s.out.Copied++
		return nil
	}
	if n.kind == entryAgent {
		n.model = e.message.Get("model").Str(arena)
		if id := e.message.Get("id").Str(arena); id != "" {
			n.unit = s.unitOf(id)
		}
	}
	blank := s.read(content, &n)
	switch {
	case e.failed, n.model == "<synthetic>", n.answered.empty() && (e.meta || e.summary || e.hidden || s.byHarness(&n)):
		n.kind, n.summary = entryHarness, e.summary
	case blank:
		s.out.note(turnmill.NoteEmptiedMessage)
	}
	s.keep(n)
	return nil
}

// copy tells whether an entry stands in the log already.
func (s *session) copy(n *entry) bool {
	i, known := s.uuids[n.uuid]
	return known && n.uuid != "" && s.entries[i].kind != entryLink && s.entries[i].content == n.content
}

// keep appends an entry, after its unit has been found.
func (s *session) keep(n entry) {
	if _, known := s.uuids[n.uuid]; !known && n.uuid != "" {
		s.uuids[n.uuid] = int32(len(s.entries))
	}
	s.entries = append(s.entries, n)
	if n.kind != entryLink {
		s.join(int32(len(s.entries) - 1))
	}
}
