package judge

import (
	"strings"

	"github.com/turnmill/turnmill"
)

// ParsePair reads an answer to Asker.Pair: the last \boxed{A} or \boxed{B}. The letter may be small and may
// stand in \text{} and the like. A last box with anything else in it is no verdict, whatever was boxed before.
func ParsePair(reply *turnmill.Reply) Preference {
	p := Preference{State: stateOf(reply)}
	if p.State != Valid {
		return p
	}
	text := spoken(reply.Text)
	box, state := lastBox(text)
	switch {
	case state == Valid && strings.EqualFold(box, "A"):
	case state == Valid && strings.EqualFold(box, "B"):
		p.Second = true
	case state == Valid:
		p.State = Unparsable
	case state == Unparsable && refuses(text):
		p.State = Refused
	default:
		p.State = state
	}
	return p
}

// spoken returns what a judge said, without thinking.
func spoken(text string) string {
	a := findAnswer(text, evaluationTag)
	a.start, a.end = 0, len(text)
	return strings.TrimSpace(a.without())
}

// lastBox returns what the last box holds, less what dresses it. Unparsable: there is none; Truncated: it has
// no end.
func lastBox(text string) (string, State) {
	const open = `\boxed{`
	i := strings.LastIndex(text, open)
	if i < 0 {
		return "", Unparsable
	}
	text = text[i+len(open):]
	end, depth := 0, 1
	for ; end < len(text); end++ {
		switch text[end] {
		case '{':
			depth++
		case '}':
			depth--
		}
		if depth == 0 {
			break
		}
	}
	if depth > 0 {
		return "", Truncated
	}
	box := strings.TrimSpace(text[:end])
	for _, dress := range []string{`\text{`, `\textbf{`, `\mathbf{`, `\mathrm{`} {
		if in, ok := strings.CutPrefix(box, dress); ok && strings.HasSuffix(in, "}") {
			box = strings.TrimSpace(in[:len(in)-1])
		}
	}
	return box, Valid
}

// word is a word of a verdict.
type word struct {
	text string
	pass bool
}

// verdictWords are whole verdicts, the longer ones first.
var verdictWords = []word{
	{"not correct", false}, {"incorrect", false}, {"correct", true},
	{"failed", false}, {"fail", false}, {"passed", true}, {"pass", true},
	{"不正确", false}, {"不通过", false}, {"错误", false}, {"正确", true}, {"通过", true},
}

// verdictLabels may stand before a verdict.
var verdictLabels = []string{"final verdict", "verdict", "final answer", "answer", "judgement", "judgment", "结论", "答案", "判断"}

// ParseVerdict reads an answer to Asker.Verdict. A verdict is a whole one: a box, or the last line, holds
// nothing else; or the first line begins with it, ended by a mark (: . , ; -). "Incorrect: the exit code is
// correct." fails; "Correct, but one value is incorrect" is unparsable, because it cannot be both. A word
// within another word, or within a sentence, is none.
func ParseVerdict(reply *turnmill.Reply) Verdict {
	v := Verdict{State: stateOf(reply)}
	if v.State != Valid {
		return v
	}
	text := spoken(reply.Text)
	if box, state := lastBox(text); state != Unparsable {
		if v.State = state; state == Valid {
			v.take(wholeVerdict(box))
		}
		return v
	}
	first, _, _ := strings.Cut(text, "\n")
	final := text[strings.LastIndexByte(text, '\n')+1:]
	if v.take(wholeVerdict(final)); v.State == Valid {
		return v
	}
	if v.take(openingVerdict(first)); v.State == Unparsable && refuses(text) {
		v.State = Refused
	}
	return v
}

// take sets a verdict, or says that there is none.
func (v *Verdict) take(pass, ok bool) {
	v.State, v.Pass = Valid, pass
	if !ok {
		v.State, v.Pass = Unparsable, false
	}
}

// bare returns a line without label and what dresses it, in small letters.
func bare(line string) string {
	const dress = " \t\r*_`#\"'“”「」【】()[]"
	line = strings.ToLower(strings.Trim(line, dress))
	for _, label := range verdictLabels {
		if rest, ok := strings.CutPrefix(line, label); ok {
			rest = strings.TrimLeft(rest, "*_ ")
			for _, colon := range []string{":", "："} {
				if after, ok := strings.CutPrefix(rest, colon); ok {
					return strings.Trim(after, dress)
				}
			}
		}
	}
	return line
}

// wholeVerdict reads a line that is a verdict and nothing else.
func wholeVerdict(line string) (pass, ok bool) {
	line = strings.TrimRight(bare(line), ".!。！*_ ")
	for _, w := range verdictWords {
		if line == w.text {
			return w.pass, true
		}
	}
	return false, false
}

// openingVerdict reads a line that begins with a verdict, ended by a mark.
func openingVerdict(line string) (pass, ok bool) {
	line = bare(line)
	for _, w := range verdictWords {
		rest, found := strings.CutPrefix(line, w.text)
		if !found {
			continue
		}
		rest = strings.TrimLeft(rest, "*_`\"")
		if !startsWithMark(rest) || w.pass && denies(rest) {
			return false, false
		}
		return w.pass, true
	}
	return false, false
}

// startsWithMark tells whether a verdict has ended.
func startsWithMark(rest string) bool {
	for _, mark := range []string{":", ".", ",", ";", "!", " -", " –", " —", "—", "–", "：", "。", "，", "；", "！"} {
		if strings.HasPrefix(rest, mark) {
			return true
		}
	}
	return rest == ""
}

// denies tells whether a line that began with a pass goes on to say the opposite.
func denies(rest string) bool {
	for _, w := range verdictWords {
		if !w.pass && strings.Contains(rest, w.text) {
			return true
		}
	}
	return false
}
