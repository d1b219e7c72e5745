package secrets

// Sizes of windows, in bytes of a view.
const (
	mostBefore = 256  // of a token before its keyword
	mostToken  = 1500 // and after it
	mostName   = 64
	mostValue  = 512
)

// tokenWindow is the run without blanks that a keyword stands in, and two bytes more.
func tokenWindow(text []byte, at, end int) (from, to int) {
	from, to = at, end
	for from > 0 && at-from < mostBefore && text[from-1] > ' ' {
		from--
	}
	for to < len(text) && to-end < mostToken && text[to] > ' ' {
		to++
	}
	return from, min(to+2, len(text))
}

// namedWindow is a name, a sign and a value.
func namedWindow(text []byte, at, end int) (from, to int) {
	from = at
	for from > 0 && at-from < mostName && (wordByte(text[from-1]) || text[from-1] == '.' || text[from-1] == '-') {
		from--
	}
	to = end
	for to < len(text) && to-end < 60 && text[to] != '=' && text[to] != ':' && text[to] != '>' && text[to] != '|' && text[to] != ',' {
		to++
	}
	for n := 0; to < len(text) && n < 12 && !wordByte(text[to]); n++ {
		to++
	}
	for n := 0; to < len(text) && n < mostValue && text[to] > ' '; n++ {
		to++
	}
	return from, min(to+2, len(text))
}

// keywordAlone is the keyword itself: the rule's own code looks around it.
func keywordAlone(_ []byte, at, end int) (from, to int) { return at, end }
