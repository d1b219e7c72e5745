package formats

import (
	"bytes"
	"cmp"
	"math/bits"
	"slices"
	"strings"
	"time"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// The kinds of part of a conversation that lies in several files: the SDK writes a file an event, and its state.
const (
	ohPartSystem = 1 << iota
	ohPartUser   // words
	ohPartAgent
	ohPartAction
	ohPartAnswer
	ohPartOther // of the harness
	ohPartMore  // of a file that holds several events: a conversation whole
	ohPartState // base_state.json
)

const ohPartEvents = ohPartSystem | ohPartUser | ohPartAgent | ohPartAction | ohPartAnswer | ohPartOther

// ohPartKind tells what a value is to a conversation; 0 is nothing.
func ohPartKind(v jsonscan.Value) uint16 {
	if v.Kind() != jsonscan.Object {
		return 0
	}
	switch kindOf(v) {
	case "":
		if isOpenHandsState(v) {
			return ohPartState
		}
		return 0
	case "SystemPromptEvent":
		return ohPartSystem
	case "MessageEvent":
		if v.Get("source").Is("agent") {
			return ohPartAgent
		}
		return ohPartUser
	case "ActionEvent":
		return ohPartAction
	case "ObservationEvent", "AgentErrorEvent", "UserRejectObservation":
		return ohPartAnswer
	}
	return ohPartOther
}

// isOpenHandsState tells a conversation's state, which lies beside the folder of its events.
func isOpenHandsState(v jsonscan.Value) bool {
	return v.Kind() == jsonscan.Object && v.Get("id").Kind() == jsonscan.String && v.Get("agent").Get("llm").Kind() == jsonscan.Object &&
		(v.Get("execution_status").Present() || v.Get("agent_status").Present() || v.Get("max_iterations").Present())
}

// openHandsPart gives an event's id, and takes the ids of the event before it and of its action. Of a file
// with several events no key counts.
func openHandsPart(v jsonscan.Value, p *Parts) {
	kind := ohPartKind(v)
	if kind&ohPartEvents != 0 && p.Kinds&ohPartEvents != 0 {
		kind |= ohPartMore
	}
	if p.Kinds |= kind; p.Kinds&ohPartMore != 0 {
		p.Gives, p.Takes = nil, nil
		return
	}
	give := func(v jsonscan.Value) { p.Gives = p.unique(p.Gives, v) }
	take := func(v jsonscan.Value) { p.Takes = p.unique(p.Takes, v) }
	if kind != 0 {
		give(v.Get("id"))
		take(v.Get("parent_id"))
		take(v.Get("action_id"))
		take(v.Get("value").Get("id")) // of a snapshot: the conversation's
	}
}

// minKey is the length of an id that is drawn (a UUID, a ULID). A shorter one counts the events of its own
// conversation, and each has the same.
const minKey = 16

func (p *Parts) unique(keys []Key, v jsonscan.Value) []Key {
	if v.Kind() != jsonscan.String || len(v.Raw()) < minKey+2 {
		return keys
	}
	return append(keys, p.key(v))
}

func openHandsLacks(kinds uint16) string {
	switch {
	case kinds&ohPartMore != 0 || bits.OnesCount16(kinds&ohPartEvents) > 1:
		return ""
	case kinds&ohPartEvents != 0:
		return "one event of a conversation, or several of one kind, and no file beside it holds the others"
	}
	return "the state of a conversation, and no file beside or below it holds its events one by one"
}

// DecodeParts reads the events in their order, wherever their files stand.
func (h *ohFile) DecodeParts(parts []Part, out *Decoded) error {
	out.reset()
	h.forget()
	h.begin(out.trajectory(openHandsV1Name, ""), out)
	stamps := h.stamps(parts)
	all := len(stamps)
	stamps = slices.CompactFunc(stamps, func(a, b ohStamp) bool { return len(a.data) > 0 && bytes.Equal(a.data, b.data) })
	out.Copied += int64(all - len(stamps))
	for _, i := range inOrder(stamps) {
		h.readPart(stamps[i].data, stamps[i].base, out, h)
	}
	return h.close(out)
}

// ohStamp is a file, and what its first event says of its place.
type ohStamp struct {
	id, parent string
	at         time.Time // zero where it says none
	data       []byte
	base       int64 // what stands before the file
	seen       bool
}

// value takes the first event of a file.
func (s *ohStamp) value(v jsonscan.Value, _ int64) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	if s.seen || kindOf(v) == "" {
		return
	}
	s.seen = true
	s.id, s.parent = strings.Clone(v.Get("id").RawStr()), strings.Clone(v.Get("parent_id").RawStr())
	if name := v.Get("timestamp"); name.Kind() == jsonscan.String {
		s.at = eventTime(string(name.AppendString(nil)))
	}
}

// eventTime reads a time as Python's isoformat writes it. One without a zone is the writer's own.
func eventTime(s string) time.Time {
	for _, layout := range [...]string{"2006-01-02T15:04:05", time.RFC3339} {
		if at, err := time.Parse(layout, s); err == nil {
			return at
		}
	}
	return time.Time{}
}

// stamps returns the files by the times of their events, then by their ids and their bytes.
func (h *ohFile) stamps(parts []Part) []ohStamp {
	stamps := make([]ohStamp, len(parts))
	var damage Decoded // is told when the file is read in earnest
	base := int64(0)
	for i := range parts {
		s := &stamps[i]
		s.data, s.base = parts[i].Data, base
		h.readPart(s.data, 0, &damage, s)
		base += int64(len(s.data))
	}
	slices.SortFunc(stamps, func(a, b ohStamp) int {
		return cmp.Or(a.at.Compare(b.at), strings.Compare(a.id, b.id), bytes.Compare(a.data, b.data))
	})
	return stamps
}

// inOrder returns the places of files in their order, but each behind the one that its event names as its
// parent: a clock may have been put back between two of them.
func inOrder(stamps []ohStamp) []int {
	byID := make(map[string]int, len(stamps))
	for i := range stamps {
		if _, again := byID[stamps[i].id]; !again && stamps[i].id != "" {
			byID[stamps[i].id] = i
		}
	}
	order, done := make([]int, 0, len(stamps)), make([]bool, len(stamps))
	var way []int
	for i := range stamps {
		for at := i; !done[at]; { // up to what is done; a circle ends where it began
			done[at], way = true, append(way, at)
			if parent, ok := byID[stamps[at].parent]; ok {
				at = parent
			}
		}
		for ; len(way) > 0; way = way[:len(way)-1] {
			order = append(order, way[len(way)-1])
		}
	}
	return order
}
