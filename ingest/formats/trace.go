package formats

import (
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// trace makes trajectories of the spans of a trace, in which each request to a model repeats the conversation
// before it and the tools have spans of their own:
//
//	spans  -->  generations and tools, by time; of two spans of one request one is left       trace.go
//	generations  -->  conversations: one goes on in a request that holds what was said in it
//	conversation -->  what is new in each request, then its reply; calls whose result no later
//	                  request holds are answered by the spans of their tools                   trace_turns.go
//
// Spans of tools that no generation called are calls and results by themselves.
type trace struct {
	talk
	doc       jsonscan.Doc // of the input or output at hand
	spans     []traceSpan
	parents   map[string]int32 // generations by their id
	convs     []conversation
	asks      []int32 // generations, by conversation and time
	toolSpans []int32 // by time
	open      int     // in toolSpans: those before it are used
	nth       int     // trajectories of the trace
}

// spanKind says what a span is.
type spanKind uint8

const (
	spanOther spanKind = iota
	spanModel
	spanTool
)

// traceSpan is one observation of a trace. Its texts are JSON as it stands, or plain text.
type traceSpan struct {
	id, parent, start, end, name, model, agent string
	callID                                     string
	in, out, tools, system                     string
	kind                                       spanKind
	maybe                                      bool // a tool's only if a call bears its name
	used                                       bool // a tool's span: it belongs to a call
	conv                                       int32
	of                                         int32 // the trace, where a file holds several
}

// conversation is a run of requests that go on from one another.
type conversation struct {
	user  string   // what the user said first
	ids   []string // of its calls
	last  string   // when its last request ended
	under string   // the parent of its last request
}

// clearTrace makes room for a trace.
func (t *trace) clearTrace() {
	t.spans = t.spans[:0]
	t.parents = emptied(t.parents)
	t.doc.NonFinite, t.frozen = true, true
}

// blank tells whether no span has any input or output: an export that left them out.
func (t *trace) blank() bool {
	for i := range t.spans {
		if t.spans[i].in != "" || t.spans[i].out != "" {
			return false
		}
	}
	return true
}

// arrange sorts the spans and finds their conversations.
func (t *trace) arrange() {
	slices.SortStableFunc(t.spans, func(a, b traceSpan) int {
		if len(a.start) != len(b.start) && isDigits(a.start) && isDigits(b.start) {
			return len(a.start) - len(b.start)
		}
		return strings.Compare(a.start, b.start)
	})
	for i := range t.spans {
		if t.spans[i].kind == spanModel {
			t.parents[t.spans[i].id] = int32(i)
		}
	}
	for i := range t.spans { // two spans of one request: the one that holds messages
		s := &t.spans[i]
		if outer, ok := t.parents[s.parent]; ok && s.kind == spanModel && outer != int32(i) {
			if isJSON(s.in) {
				t.spans[outer].kind = spanOther
			} else {
				s.kind = spanOther
			}
		}
	}
	t.convs = t.convs[:0]
	t.asks, t.toolSpans, t.open = t.asks[:0], t.toolSpans[:0], 0
	for i := range t.spans {
		switch t.spans[i].kind {
		case spanModel:
			t.place(&t.spans[i])
			t.asks = append(t.asks, int32(i))
		case spanTool:
			t.toolSpans = append(t.toolSpans, int32(i))
		}
	}
	slices.SortStableFunc(t.asks, func(a, b int32) int { return int(t.spans[a].conv - t.spans[b].conv) })
}

// place finds the conversation that a request goes on with, or begins one.
func (t *trace) place(s *traceSpan) {
	user, parsed := t.firstUser(s.in)
	s.conv = -1
	for i := len(t.convs) - 1; i >= 0 && s.conv < 0; i-- {
		c := &t.convs[i]
		switch {
		case c.last > s.start && len(c.last) == len(s.start): // they ran side by side
		case parsed && user != "" && user == c.user, holdsAny(s.in, c.ids), !parsed && s.parent == c.under:
			s.conv = int32(i)
		}
	}
	if s.conv < 0 {
		s.conv = int32(len(t.convs))
		if len(t.convs) < cap(t.convs) {
			t.convs = t.convs[:s.conv+1]
		} else {
			t.convs = append(t.convs, conversation{})
		}
		c := &t.convs[s.conv]
		c.user, c.ids = user, c.ids[:0]
	}
	c := &t.convs[s.conv]
	c.last, c.under = s.end, s.parent
	if v, ok := t.parse(s.out); ok {
		c.ids = t.findIDs(c.ids, v, 0)
		if n := len(c.ids) - lastIDs; n > 0 {
			c.ids = append(c.ids[:0], c.ids[n:]...)
		}
	}
}

// parse reads a text as JSON. The result is valid until the next call.
func (t *trace) parse(text string) (jsonscan.Value, bool) {
	if !isJSON(text) {
		return jsonscan.Value{}, false
	}
	b := append(t.out.arena.Open(), text...)
	t.out.arena.Close(b) // the texts of the value lie there
	v, err := t.doc.Parse(b)
	return v, err == nil
}

// firstUser returns the first text of the user in an input, and whether the input holds messages at all.
func (t *trace) firstUser(in string) (user string, parsed bool) {
	v, ok := t.parse(in)
	if !ok {
		return "", false
	}
	if list := messageList(v); list.Present() {
		v = list
	}
	for m := range v.Elems() {
		if m.Kind() != jsonscan.Object {
			continue
		}
		parsed = true
		if anyRole(m) == roleUser {
			for _, name := range [...]string{"content", "parts"} {
				if c := m.Get(name); c.Present() {
					return c.RawStr(), true
				}
			}
		}
	}
	return "", parsed
}

// messageList returns the list of messages in a request.
func messageList(v jsonscan.Value) jsonscan.Value {
	for _, name := range [...]string{"messages", "contents", "input"} {
		if list := v.Get(name); list.Kind() == jsonscan.Array {
			return list
		}
	}
	return jsonscan.Value{}
}

// lastIDs is the number of a conversation's latest calls by which a request is known to go on with it.
const lastIDs = 16

// idDepth is how deep in a reply calls are looked for.
const idDepth = 6

// findIDs appends the ids of calls in a reply.
func (t *trace) findIDs(ids []string, v jsonscan.Value, depth int) []string {
	if depth > idDepth {
		return ids
	}
	for e := range v.Elems() {
		ids = t.findIDs(ids, e, depth+1)
	}
	named := v.Get("name").Present() || v.Get("function").Present() || v.Get("toolName").Present()
	for k, m := range v.Members() {
		switch {
		case named && (k.Is("id") || k.Is("call_id") || k.Is("toolCallId")):
			if id := t.callID(m); len(id) >= 6 { // shorter ones stand in any text
				ids = append(ids, id)
			}
		default:
			ids = t.findIDs(ids, m, depth+1)
		}
	}
	return ids
}

func holdsAny(text string, ids []string) bool {
	for _, id := range ids {
		if strings.Contains(text, id) {
			return true
		}
	}
	return false
}

func isJSON(text string) bool {
	text = strings.TrimLeft(text, blanks)
	return text != "" && (text[0] == '[' || text[0] == '{')
}

func isDigits(s string) bool { return strings.Trim(s, "0123456789") == "" }

// toolSpanName returns the name of the tool that a span ran.
func toolSpanName(name string) string {
	for _, prefix := range [...]string{"execute_tool ", "running tool: ", "tool."} {
		if rest, ok := strings.CutPrefix(name, prefix); ok {
			return rest
		}
	}
	return name
}

// noContents rejects a trace that was exported without what its spans hold.
func noContents() error {
	return reject(turnmill.ReasonBadField, "every input and output of the trace is null: the export left them out")
}
