package formats

import (
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// The marks of a row's texts. Each stands at the start of a line.
const (
	markTurn   = "### Turn "
	markTask   = "**Task Instruction:**"
	markState  = "**Current State:**"
	markAction = "**Action:**"
	markAnswer = "**Environment Observation:**"
)

// benchPrompt is what a prompt says.
type benchPrompt struct {
	turn                int // from 1; 0 without a heading
	task, state, action string
	acts                bool
}

// readPrompt takes a prompt apart. The state goes on to the first line that begins with the mark of the
// action, outside a fence of four or more; a prompt without any mark is the action.
func readPrompt(text string) (p benchPrompt) {
	rest := text
	if after, ok := strings.CutPrefix(strings.TrimLeft(rest, blanks), markTurn); ok {
		line, tail, _ := strings.Cut(after, "\n")
		if n, err := strconv.Atoi(strings.Trim(line, blanks)); err == nil && n > 0 && n <= 1<<31-1 {
			p.turn, rest = n, tail
		}
	}
	marked := false
	if section, tail, ok := cutSection(rest, markTask, markState, markAction); ok {
		p.task, rest, marked = section, tail, true
	}
	if section, tail, ok := cutSection(rest, markState, markAction); ok {
		p.state, rest, marked = section, tail, true
		if inside, _, ok := unfence(p.state); ok && strings.HasPrefix(p.state, "````") {
			p.state = inside
		}
	}
	switch i := lineWith(rest, markAction); {
	case i >= 0:
		p.action, p.acts = strings.Trim(rest[i+len(markAction):], blanks), true
	case !marked && (p.turn == 0 || strings.Trim(rest, blanks) != ""):
		p.action, p.acts = strings.Trim(rest, blanks), true
	}
	return p
}

// cutSection cuts what stands under a mark that begins the text, up to the line with one of the next marks.
func cutSection(text, mark string, next ...string) (section, rest string, ok bool) {
	after, ok := strings.CutPrefix(strings.TrimLeft(text, blanks), mark)
	if !ok {
		return "", text, false
	}
	after = strings.TrimPrefix(strings.TrimPrefix(after, " "), "\n")
	end := len(after)
	for _, m := range next {
		if i := lineWith(after, m); i >= 0 {
			end = min(end, i)
		}
	}
	section, rest = after[:end], after[end:]
	if rest == "" {
		return section, rest, true
	}
	if s, ok := strings.CutSuffix(section, "\n\n"); ok {
		return s, rest, true
	}
	return strings.TrimSuffix(section, "\n"), rest, true
}

// lineWith returns where a line begins with mark, outside fences of four or more backticks, or -1.
func lineWith(text, mark string) int {
	fence := 0
	for from := 0; from <= len(text); {
		line, _, more := strings.Cut(text[from:], "\n")
		n := backticks(line)
		switch {
		case fence == 0 && strings.HasPrefix(line, mark):
			return from
		case fence == 0 && n >= 4:
			fence = n
		case fence > 0 && n == fence && len(line) == n:
			fence = 0
		}
		if !more {
			break
		}
		from += len(line) + 1
	}
	return -1
}

func backticks(line string) int { return len(line) - len(strings.TrimLeft(line, "`")) }

// unfence returns what stands in the fence that begins the text, and the word behind its opening. What comes
// behind the fence is not part of it.
func unfence(text string) (inside, word string, ok bool) {
	n := backticks(text)
	first, rest, more := strings.Cut(text, "\n")
	if n < 3 || !more || strings.ContainsAny(first[n:], " \t`") {
		return "", "", false
	}
	if rest == text[:n] || strings.HasPrefix(rest, text[:n]+"\n") {
		return "", first[n:], true
	}
	for from := 0; ; {
		i := strings.Index(rest[from:], "\n"+text[:n])
		if i < 0 {
			return "", "", false
		}
		end := from + i
		if after := rest[end+1+n:]; after == "" || after[0] == '\n' {
			return rest[:end], first[n:], true
		}
		from = end + 1
	}
}

// readAnswer is the observation of a response.
func readAnswer(text string) string {
	if after, ok := strings.CutPrefix(text, markAnswer); ok {
		return strings.TrimPrefix(after, "\n")
	}
	return text
}

// appendPrompt writes the prompt of a turn, so that readPrompt gives back what it holds.
func appendPrompt(b []byte, t *turnmill.Turn) []byte {
	b = strconv.AppendInt(append(b, markTurn...), int64(t.Index)+1, 10)
	b = append(b, '\n')
	if t.State != "" {
		b = append(append(b, markState...), '\n')
		if backticks(t.State) >= 4 || lineWith(t.State, markAction) >= 0 || fenceOpen(t.State) {
			b = appendFence(b, t.State, 4)
		} else {
			b = append(b, t.State...)
		}
	}
	if !t.HasAction {
		return b
	}
	if t.State != "" {
		b = append(b, "\n\n"...)
	}
	b = append(append(b, markAction...), '\n')
	switch {
	case oneLineJSON(t.Action):
		b = append(append(append(b, "```json\n"...), t.Action...), "\n```"...)
	case t.Action != "" && (strings.Trim(t.Action, blanks) != t.Action || t.Action[0] == '`'):
		b = appendFence(b, t.Action, 3)
	default:
		b = append(b, t.Action...)
	}
	return b
}

// fenceOpen tells whether a text opens a fence of four or more that it does not close.
func fenceOpen(text string) bool { return lineWith(text+"\n"+markAction, markAction) < 0 }

// appendFence writes a text between lines of backticks, at least n and more than any line of it begins with.
func appendFence(b []byte, text string, n int) []byte {
	for line := range strings.SplitSeq(text, "\n") {
		n = max(n, backticks(line)+1)
	}
	fence := strings.Repeat("`", n)
	return append(append(append(append(append(b, fence...), '\n'), text...), '\n'), fence...)
}

// oneLineJSON tells whether a text is one object or list on one line.
func oneLineJSON(text string) bool {
	if text == "" || text[0] != '{' && text[0] != '[' || strings.IndexByte(text, '\n') >= 0 {
		return false
	}
	var doc jsonscan.Doc
	_, err := doc.Parse([]byte(text))
	return err == nil
}
