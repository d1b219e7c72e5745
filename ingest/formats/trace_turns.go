package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// play makes the trajectories of a trace, after arrange, all with the same meta.
func (t *trace) play(source, own, meta string) {
	t.nth = 0
	asks := t.asks
	for c := range t.convs {
		t.start(source, own, meta)
		for ; len(asks) > 0 && t.spans[asks[0]].conv == int32(c); asks = asks[1:] {
			t.request(&t.spans[asks[0]])
		}
		t.close()
	}
	rest := false
	for _, i := range t.toolSpans {
		if s := &t.spans[i]; !s.maybe && !s.used && (s.in != "" || s.out != "") {
			if !rest {
				t.start(source, own, meta)
				rest = true
			}
			t.alone(s)
		}
	}
	switch {
	case rest:
		t.close()
	case len(t.convs) == 0:
		t.start(source, own, meta)
		t.close()
	}
}

func (t *trace) start(source, own, meta string) {
	t.beginTalk(t.out.trajectory(source, ""), t.out)
	t.t.ID = t.out.ownID(own, t.nth)
	t.nth++
	t.diff.on = true
	t.t.Observed = turnmill.ObservedTrue
	t.t.Meta = meta
}

// close ends a conversation.
func (t *trace) close() {
	t.fill("")
	if len(t.tools) > 0 && t.t.System.ActionSpace == "" {
		b := append(t.out.arena.Open(), '[')
		for i, tool := range t.tools {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, tool...)
		}
		t.t.System.ActionSpace = t.out.arena.Close(append(b, ']'))
	}
	t.finish()
	var declared toolKinds
	if space := t.t.System.ActionSpace; space != "" {
		if list, err := t.out.parseInner(space); err == nil {
			declared = t.out.declaredKinds(list)
		}
	}
	t.t.Domain = domainOf(t.kinds, declared)
	t.out.finish(t.t, t.opts)
}

// request takes what is new in a request, then the reply.
func (t *trace) request(s *traceSpan) {
	if t.t.Agent == "" {
		t.t.Agent = s.agent
	}
	if t.t.Agent == "" {
		t.t.Agent = s.model
	}
	t.declared(s.tools)
	t.diff.rewind()
	if isJSON(s.system) {
		t.instructions(s.system)
	} else if s.system != "" {
		t.system(s.system)
	}
	switch v, ok := t.parse(s.in); {
	case ok:
		t.input(v)
	case s.in != "":
		t.user(words{text: s.in})
	}
	t.fill(s.start)
	t.diff.settle()
	switch v, ok := t.parse(s.out); {
	case ok:
		t.output(v, s.out)
	case s.out != "" && s.out != "null" && s.out != "None":
		t.agentText(s.out)
	}
}

// alone makes a turn of a tool's span that no generation called.
func (t *trace) alone(s *traceSpan) {
	k := call{name: toolSpanName(s.name), id: s.callID, answer: -1}
	b := jsonscan.AppendQuoted(append(t.out.arena.Open(), `{"name":`...), k.name)
	if s.in != "" {
		b = append(b, `,"arguments":`...)
		if _, err := t.out.parseInner(s.in); err == nil {
			b = append(b, s.in...)
		} else {
			t.out.note(turnmill.NoteBadArguments)
			b = jsonscan.AppendQuoted(b, s.in)
		}
	}
	k.text = t.out.arena.Close(append(b, '}'))
	t.end()
	t.agent()
	t.call(k)
	if s.out != "" {
		t.answer(result{id: s.callID, text: t.resultText(s.out)})
	}
}

// fill answers the calls of the act that no request held a result of, by the spans of their tools that began
// before the next request. Spans of calls that are answered are used up too.
func (t *trace) fill(before string) {
	for i := range t.calls {
		k := &t.calls[i]
		s := t.spanOf(k, before)
		if s == nil {
			continue
		}
		s.used = true
		if s.out == "" || t.hasResult(k, i) {
			continue
		}
		t.results = append(t.results, result{id: k.id, text: t.resultText(s.out)})
	}
}

// hasResult tells whether a result of the act belongs to its call i.
func (t *trace) hasResult(k *call, i int) bool {
	bare := 0
	for j := range t.results {
		if k.id != "" && t.results[j].id == k.id {
			return true
		}
		if t.results[j].id == "" {
			bare++
		}
	}
	return k.id == "" && bare > i
}

// spanOf finds the span of a call: by id, else by name and arguments, else by name, in the order of time.
func (t *trace) spanOf(k *call, before string) *traceSpan {
	var best *traceSpan
	rank := 0
	for ; t.open < len(t.toolSpans) && t.spans[t.toolSpans[t.open]].used; t.open++ {
	}
	for _, i := range t.toolSpans[t.open:] {
		s := &t.spans[i]
		if before != "" && s.start > before && len(s.start) == len(before) {
			break // by time, so are all that follow
		}
		if s.used {
			continue
		}
		n := 0
		switch {
		case k.id != "" && s.callID == k.id:
			n = 3
		case s.callID != "" && k.id != "" || toolSpanName(s.name) != k.name:
		case strings.HasSuffix(k.text, s.in+"}"):
			n = 2
		default:
			n = 1
		}
		if n > rank {
			best, rank = s, n
		}
		if rank == 3 {
			break
		}
	}
	return best
}

// resultText returns what a tool's span put out: the content of a message that it may be, else the whole.
func (t *trace) resultText(out string) string {
	v, ok := t.parse(out)
	if !ok {
		return out
	}
	if content := v.Get("content"); anyRole(v) == roleTool && content.Present() {
		v = content
	}
	r, err := t.result(jsonscan.Value{}, v)
	if err != nil {
		return out
	}
	return r.text
}
