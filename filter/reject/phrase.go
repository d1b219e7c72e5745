package reject

import (
	"cmp"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// phrase is one spelling of a line of a list.
type phrase struct {
	text  string // in small letters
	start bool   // only where a sentence starts
	mark  bool   // only with a mark after it
}

// phrases are the phrases of a list by their first byte, longer ones first.
type phrases struct {
	by   [256][]phrase
	then [256][256]bool // whether a phrase begins with these two bytes
}

// marks end what stops itself; sentenceEnds stand before a new sentence.
var (
	marks        = []string{"!", ",", ".", ":", "…", "—", "--", " - ", " — ", "，", "。", "！"}
	sentenceEnds = []string{".", "!", "?", "\n", ":", "…", "。", "！", "？", "—"}
)

// readPhrases reads a list; interrupts.txt says how one is written.
func readPhrases(list string) *phrases {
	all := new(phrases)
	for line := range strings.Lines(list) {
		line = strings.TrimRight(line, "\r\n")
		if line == "" || line[0] == '#' {
			continue
		}
		line, start := strings.CutPrefix(line, "^")
		line, mark := strings.CutSuffix(line, "!")
		for _, text := range spellings(line) {
			all.by[text[0]] = append(all.by[text[0]], phrase{text, start, mark})
			all.then[text[0]][text[1]] = true
		}
	}
	for _, same := range all.by {
		slices.SortStableFunc(same, func(a, b phrase) int { return cmp.Compare(len(b.text), len(a.text)) })
	}
	return all
}

// spellings writes out the groups of a line, from the left.
func spellings(line string) []string {
	before, rest, found := strings.Cut(line, "{")
	if !found {
		return []string{line}
	}
	group, after, _ := strings.Cut(rest, "}")
	var all []string
	for _, end := range spellings(after) {
		for choice := range strings.SplitSeq(group, "|") {
			all = append(all, before+choice+end)
		}
	}
	return all
}

// find returns where the phrases stand, in order and apart, with the mark that one needs. Linear in the text.
func (p *phrases) find(text string) []turnmill.Span {
	lower := lowerASCII(text)
	var spans []turnmill.Span
	for i := 0; i+1 < len(lower); i++ {
		if !p.then[lower[i]][lower[i+1]] || inWord(lower, i) {
			continue
		}
		list := p.by[lower[i]]
		for k := range list {
			if end, ok := list[k].at(lower, i); ok {
				spans = append(spans, turnmill.Span{Start: int32(i), End: int32(end)})
				i = end - 1
				break
			}
		}
	}
	return spans
}

// at tells whether the phrase stands at i, and where it ends.
func (ph *phrase) at(text string, i int) (int, bool) {
	end := i + len(ph.text)
	if !strings.HasPrefix(text[i:], ph.text) || end < len(text) && inWord(text, end) || ph.start && !startsSentence(text[:i]) {
		return 0, false
	}
	if !ph.mark {
		return end, true
	}
	for _, m := range marks {
		if strings.HasPrefix(text[end:], m) {
			return end + len(m), true
		}
	}
	return 0, false
}

// startsSentence tells whether a sentence starts after what stands before. Only the last few blanks are looked over.
func startsSentence(before string) bool {
	for range 4 {
		before = strings.TrimSuffix(before, " ")
	}
	if before == "" {
		return true
	}
	return slices.ContainsFunc(sentenceEnds, func(end string) bool { return strings.HasSuffix(before, end) })
}

// inWord tells whether a word of ASCII letters, digits and _ goes on from the byte before i to the byte at i.
func inWord(text string, i int) bool { return i > 0 && wordByte(text[i]) && wordByte(text[i-1]) }

func wordByte(c byte) bool {
	return 'a' <= c && c <= 'z' || '0' <= c && c <= '9' || c == '_'
}

// lowerASCII returns text with small ASCII letters; every byte keeps its place.
func lowerASCII(text string) string {
	b := []byte(text)
	for i, c := range b {
		if 'A' <= c && c <= 'Z' {
			b[i] = c + 'a' - 'A'
		}
	}
	return string(b)
}
