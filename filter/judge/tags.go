package judge

import "strings"

// Tags around what counts in an answer, and around thinking.
const (
	predictionTag = "predicted_observation"
	evaluationTag = "final_evaluation"
)

var thinkTags = [...]string{"think", "thinking"}

// answer is the part of a text that counts: text[start:end] without the cuts.
type answer struct {
	text       string
	start, end int
	block      bool     // it stood in a block of the tag asked for
	closed     bool     // the block has its end
	cuts       [][2]int // thinking, half-open byte ranges in order
}

// findAnswer takes thinking away and finds the last block of a tag, or all that is left when there is none.
//
//	<think> a </think> b                 b             pairs go
//	a </think> b                         b             an end without a start: everything before it goes
//	<think> a <TAG> b                    TAG: b        a start without an end: it goes on to the tag
//	<think> a                            nothing       or to the end of the text
//	<TAG> a <think> b </think> c </TAG>  all of it     within a closed block think tags are content
//	<TAG> a </TAG> b <TAG> c             TAG: c        the last block counts, closed or not
//
// The case of tags does not matter. Linear: the tags are listed once, and each is looked at once.
func findAnswer(text, name string) answer {
	tags := listTags(text, name)
	a := answer{text: text, end: len(text)}
	for i := 0; i < len(tags); {
		t := tags[i]
		switch t.kind {
		case thinkStart:
			i = a.cutThinking(tags, i)
			continue
		case thinkEnd:
			a = answer{text: text, end: len(text), cuts: [][2]int{{0, t.end}}}
		case blockStart:
			a.start, a.end, a.block, a.closed = t.end, len(text), true, false
			if n := t.nextBlock; n < len(tags) && tags[n].kind == blockEnd {
				a.end, a.closed = tags[n].start, true
				i = n
			}
		}
		i++
	}
	return a
}

// cutThinking cuts from the start of thinking at tags[i] and returns the tag to go on with.
func (a *answer) cutThinking(tags []tag, i int) int {
	from, next := tags[i].start, tags[i].nextThinkEnd
	if next < len(tags) {
		a.cuts = append(a.cuts, [2]int{from, tags[next].end})
		return next + 1
	}
	for next = i + 1; next < len(tags) && tags[next].kind != blockStart; next++ {
	}
	to := len(a.text)
	if next < len(tags) {
		to = tags[next].start
	}
	a.cuts = append(a.cuts, [2]int{from, to})
	return next
}

// without returns the answer with its cuts taken out.
func (a *answer) without() string {
	var b strings.Builder
	at := a.start
	for _, cut := range a.cuts {
		if cut[1] <= at || cut[0] >= a.end {
			continue
		}
		b.WriteString(a.text[at:max(at, cut[0])])
		at = min(cut[1], a.end)
	}
	if at == a.start {
		return a.text[a.start:a.end]
	}
	b.WriteString(a.text[at:a.end])
	return b.String()
}

// blanked returns the whole text up to the answer's end, with blanks for what lies before it and for its
// cuts: what is found in it stands at the same bytes of the text.
func (a *answer) blanked() string {
	inside := false
	for _, cut := range a.cuts {
		inside = inside || cut[1] > a.start && cut[0] < a.end
	}
	if !inside {
		return a.text[:a.end]
	}
	b := []byte(a.text[:a.end])
	for _, cut := range a.cuts {
		for i := cut[0]; i < min(cut[1], a.end); i++ {
			b[i] = ' '
		}
	}
	return string(b)
}

type tagKind uint8

const (
	thinkStart tagKind = iota
	thinkEnd
	blockStart
	blockEnd
)

// tag is one tag of a text. The next tags of a kind are positions in the list, its length for none.
type tag struct {
	start, end   int
	kind         tagKind
	nextThinkEnd int
	nextBlock    int // start or end
}

// listTags lists the think tags of a text and the tags of one name, in order.
func listTags(text, name string) []tag {
	var tags []tag
	for at := 0; ; {
		i := strings.IndexByte(text[at:], '<')
		if i < 0 {
			break
		}
		at += i
		t := tag{start: at}
		n := 0
		if n, t.kind = tagAt(text[at:], name, blockStart, blockEnd); n == 0 {
			for _, think := range thinkTags {
				if n, t.kind = tagAt(text[at:], think, thinkStart, thinkEnd); n > 0 {
					break
				}
			}
		}
		if n > 0 {
			t.end = at + n
			tags = append(tags, t)
		}
		at += max(n, 1)
	}
	thinkAt, blockAt := len(tags), len(tags)
	for i := len(tags) - 1; i >= 0; i-- {
		tags[i].nextThinkEnd, tags[i].nextBlock = thinkAt, blockAt
		switch tags[i].kind {
		case thinkEnd:
			thinkAt = i
		case blockStart, blockEnd:
			blockAt = i
		}
	}
	return tags
}

// tagAt returns the length and the kind of the tag of a name with which text begins; 0 when there is none.
func tagAt(text, name string, start, end tagKind) (int, tagKind) {
	kind, at := start, 1
	if strings.HasPrefix(text, "</") {
		kind, at = end, 2
	}
	to := at + len(name)
	if len(text) <= to || text[to] != '>' || !strings.EqualFold(text[at:to], name) {
		return 0, kind
	}
	return to + 1, kind
}
