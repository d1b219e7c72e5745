package judge

import (
	"strings"

	"github.com/turnmill/turnmill"
)

// Options are the settings of ParseScores.
type Options struct {
	// Compat does the arithmetic of the released evaluator: scores are rounded and clamped, a missing one is 0
	// and left out of the mean, so that losing a dimension can raise it. What was changed is counted.
	Compat bool
}

// ParseScores reads an answer to Asker.Scores. It looks where Strategy says, in that order; with a
// final_evaluation block nowhere else. The scale is strict:
//
//	4  4.0  "4"  "4/5"  4/5  {"score": 4}     4
//	0  6  4.5  90  "4/10"                     out_of_range
//	null, or no such key                      missing_dimension
//	NaN  1e999  "N/A"  "high"  true  []       unparsable; also two values of one dimension that differ
//
// One such dimension makes the answer what it is. An answer that ends within an object with scores, or within
// its block, is truncated, whatever it said before; so is every reply that the token limit ended. Keys may
// have any letter case, and further keys do not matter. The reply is only read. Work is linear in its text.
func ParseScores(reply *turnmill.Reply, opt Options) Judgement {
	var j Judgement
	if j.State = stateOf(reply); j.State != Valid {
		if j.Detail = reply.Error; j.Detail == "" {
			j.Detail = "the reply ended as " + reply.State.String()
		}
		return j
	}
	a := findAnswer(reply.Text, evaluationTag)
	text := a.blanked()
	o, cut := j.find(&a, text, opt)
	if o == nil && opt.Compat && a.block {
		whole := a
		whole.start, whole.end, whole.block = 0, len(reply.Text), false
		text = whole.blanked()
		o, cut = j.find(&whole, text, opt)
	}
	if o == nil || !opt.Compat && (cut || !a.block && endsInTag(reply.Text)) {
		j.Strategy = Unfound
		j.State, j.Detail = unread(&a, text, cut)
		return j
	}
	j.Object = turnmill.Span{Start: int32(o.start), End: int32(o.end)}
	if opt.Compat {
		j.judgeCompat(text, o.dimensions())
		return j
	}
	j.judge(text, o.dimensions())
	return j
}

// find returns the object whose scores count, and whether the text is cut: within an object with scores after
// it, or within any where there is none.
func (j *Judgement) find(a *answer, text string, opt Options) (*object, bool) {
	strict := scan(text, a.start, false, nil)
	o := strict.whole
	switch {
	case o != nil && a.block:
		j.Strategy = Tagged
	case o != nil && o.fenced:
		j.Strategy = Fenced
	case o != nil:
		j.Strategy = Balanced
	default:
		if o = backward(text, a.start); o != nil {
			j.Strategy = Backward
		}
	}
	from := a.start
	if o != nil {
		if from = o.end; opt.Compat {
			return o, false
		}
	}
	// What comes after it and reads only in a laxer form is the judge's last word all the same.
	lax := scan(text, from, true, strict.starts)
	if lax.whole == nil && o != nil { // or it stands around it
		if around := scan(text, a.start, true, strict.starts).whole; around != nil && around.end > o.end {
			lax.whole = around
		}
	}
	if lax.whole != nil {
		o, j.Strategy = lax.whole, Repaired
	}
	if o != nil {
		return o, lax.scores && !a.closed
	}
	if o = &strict.inner; o.end == 0 {
		o = &lax.inner
	}
	if o.end == 0 {
		return nil, lax.cut
	}
	j.Strategy = ScoresOnly
	return o, false
}

// backward returns the object that ends at the last closing brace, found by counting braces from behind.
func backward(text string, from int) *object {
	end := strings.LastIndexByte(text[from:], '}')
	for depth, i := 0, from+end; i >= from; i-- {
		switch text[i] {
		case '}':
			depth++
		case '{':
			if depth--; depth == 0 {
				return scan(text[:from+end+1], i, false, nil).whole
			}
		}
	}
	return nil
}

// unread says why there are no scores: the answer ends too early, the judge refuses in words, or nothing
// can be read.
func unread(a *answer, text string, cut bool) (State, string) {
	rest := strings.TrimSpace(text[min(a.start, len(text)):])
	switch {
	case a.block && !a.closed && (cut || rest == "" || !strings.Contains(rest, "}")):
		return Truncated, "the answer ends within its final_evaluation block"
	case !a.block && endsInTag(a.text):
		return Truncated, "the answer ends within a tag"
	case cut && !a.closed:
		return Truncated, "the answer ends within an object"
	case strings.TrimSpace(a.text) == "":
		return Unparsable, "the answer is empty"
	case rest == "" && a.block:
		return Unparsable, "the final_evaluation block is empty"
	case rest == "":
		return Truncated, "the answer ends within its thinking"
	case !a.block && refuses(rest):
		return Refused, "the judge refuses in words"
	case strings.Contains(rest, "{"):
		return Unparsable, "no object with scores can be read"
	}
	return Unparsable, "there is no object"
}

// endsInTag tells whether a text ends with the beginning of the final_evaluation tag.
func endsInTag(text string) bool {
	i := strings.LastIndexByte(text, '<')
	return i >= 0 && len(text)-i > 1 && len(text)-i < len(evaluationTag)+2 &&
		strings.EqualFold(text[i+1:], evaluationTag[:len(text)-i-1])
}
