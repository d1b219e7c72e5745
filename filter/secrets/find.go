package secrets

import (
	"bytes"
	"cmp"
	"slices"
	"strings"
	"unicode/utf8"
)

// finding is a secret in a field: bytes [from, to) of it, and what it is worth.
type finding struct {
	field    int
	from, to int
	kind     string
	value    string // as it would be read
	rank     int    // of its rule: the least wins where two overlap
}

// finder looks through texts. It serves one goroutine.
type finder struct {
	*rules
	hits    []hit
	windows []stretch
	view    view
	joined  view
	inView  []hit
	found   []finding
	spans   map[*rule][]stretch
}

// stretch is a range of bytes. Of a window: hidden, nothing is known to be in it; seam, a line end cuts a keyword in it.
type stretch struct {
	from, to     int
	hidden, seam bool
}

// How much of a text is looked at around a keyword, in bytes. A token that is longer is followed to its end, see snap.
const (
	reachBefore = 400
	reachNamed  = 900
	reachToken  = 2 << 10
	reachKey    = 8 << 10 // before it too: the start may be cut
	reachHidden = 256     // first; reachToken where a keyword comes to light
	seamReach   = 24      // the longest keyword that a line end may cut, and more
)

// text appends the secrets of a field to f.found.
func (f *finder) text(field int, text string) {
	f.hits = f.grams.hits(text, f.hits[:0])
	f.windows = f.windows[:0]
	for _, h := range f.hits {
		word := &f.grams.words[h.word]
		for _, r := range word.rules {
			if r.near(text, h.at, h.at+len(word.text)) {
				f.windows = append(f.windows, stretch{from: h.at - max(reachBefore, r.before), to: h.at + cmp.Or(r.reach, reachNamed), hidden: r.kind == ""})
			}
		}
	}
	if len(text) > leastToken {
		f.hidden(text)
	}
	if len(text) > leastWrapped {
		f.seams(text, "\n")
		f.seams(text, `\n`)
	}
	if len(f.windows) > 0 {
		f.look(field, text)
	}
}

// hidden adds windows where a terminal code may cut a keyword in two; where an escape may, see hiding.
func (f *finder) hidden(text string) {
	for i := strings.IndexByte(text, escape); i >= 0; {
		f.windows = append(f.windows, stretch{from: i - reachHidden, to: i + reachHidden, hidden: true})
		step := min(i+reachHidden/2, len(text))
		next := strings.IndexByte(text[step:], escape)
		if next < 0 {
			break
		}
		i = step + next
	}
}

// seams adds windows where a line end cuts a keyword: of lines as wide as a terminal, and those that end with a
// shell's backslash.
func (f *finder) seams(text, sign string) {
	for i, start := 0, 0; ; start = i + len(sign) {
		n := strings.Index(text[start:], sign)
		if n < 0 {
			return
		}
		i = start + n
		line := text[start:i]
		if line = strings.TrimSuffix(line, "\r"); sign != "\n" {
			line = strings.TrimSuffix(line, `\r`)
			line = line[strings.LastIndexByte(line, '"')+1:] // where the text begins
		}
		width := len(line)
		switch {
		case width < 2:
			continue
		case line[width-1] == '\\': // any width will do
			line = strings.TrimRight(line, `\`)
		case width >= len(isColumn) || !isColumn[width]:
			continue
		}
		if line != "" && tokenByte(line[len(line)-1]) && f.cut(text, start+strings.LastIndex(text[start:i], line)+len(line), i+len(sign)) {
			f.windows = append(f.windows, stretch{from: i - reachBefore, to: i + reachToken, seam: true})
		}
	}
}

// cut tells whether a keyword lies across the end of a line, where i is the end of its text and next the start of the
// next one.
func (f *finder) cut(text string, i, next int) bool {
	for next < len(text) && next < i+40 && (text[next] == ' ' || text[next] == '\t' || text[next] == '>' || text[next] == '|') {
		next++
	}
	if next == len(text) || !tokenByte(text[next]) {
		return false
	}
	var seam [2 * seamReach]byte
	from := i
	for from > 0 && i-from < seamReach && tokenByte(text[from-1]) {
		from--
	}
	n := copy(seam[:], text[from:i])
	m := n
	for ; m < n+seamReach && next < len(text) && tokenByte(text[next]); next++ {
		seam[m] = text[next]
		m++
	}
	for at := range n {
		for _, k := range f.cutWords(seam[at]) {
			if w := f.grams.words[k].text; at+len(w) > n && at+len(w) <= m && foldedEqual(string(seam[at:at+len(w)]), w) {
				return true
			}
		}
	}
	return false
}

// cutWords are the keywords that begin with a byte and belong to a shape.
func (f *finder) cutWords(c byte) []int32 { return f.byFirst[c|0x20] }

// look searches the windows of a text.
func (f *finder) look(field int, text string) {
	slices.SortFunc(f.windows, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
	first := len(f.found)
	for i := 0; i < len(f.windows); {
		w := f.windows[i]
		for i++; i < len(f.windows) && f.windows[i].from <= w.to; i++ {
			next := f.windows[i]
			w.to, w.hidden, w.seam = max(w.to, next.to), w.hidden && next.hidden, w.seam || next.seam
		}
		if w.hidden {
			f.view.fill(text, snap(text, w).from, snap(text, w).to)
			if f.inView = f.grams.hits(string(f.view.text), f.inView[:0]); len(f.inView) == 0 {
				continue
			}
			w.from, w.to = w.from-reachBefore, w.to+reachToken
		}
		f.window(field, text, snap(text, w), w.seam)
	}
	f.settle(first)
}

// window searches one window, and what it is with its soft line ends taken out.
func (f *finder) window(field int, text string, w stretch, seam bool) {
	f.view.fill(text, w.from, w.to)
	plain := len(f.found)
	shapes := f.search(field, &f.view)
	if !shapes && !seam || bytes.IndexByte(f.view.text, '\n') < 0 {
		return
	}
	end := len(f.found)
	for _, full := range [...]bool{true, false} {
		if f.joined.join(&f.view, full) {
			at := len(f.found)
			f.search(field, &f.joined)
			f.found = append(f.found[:at], f.across(f.found[at:], f.found[plain:end], f.found[plain:at], full)...)
		}
	}
}

// snap moves a window's ends out of escapes and into the text.
func snap(text string, w stretch) stretch {
	w.from, w.to = max(w.from, 0), min(w.to, len(text))
	for w.from > 0 && (text[w.from-1] == '\\' || text[w.from-1] == escape || !utf8.RuneStart(text[w.from])) {
		w.from--
	}
	for w.to < len(text) && tokenByte(text[w.to]) && w.to < w.from+windowMost { // a long key is not cut
		w.to++
	}
	for w.to < len(text) && (text[w.to-1] == '\\' || !utf8.RuneStart(text[w.to])) {
		w.to++
	}
	return w
}

const windowMost = 1 << 20

// across leaves those findings of a joined view that go on where a line ends, and do not swallow the start of a next
// secret. Where lines are not full, what a line holds is known to be whole.
func (f *finder) across(joined, plain, known []finding, full bool) []finding {
	return slices.DeleteFunc(joined, func(j finding) bool {
		if !full {
			return slices.ContainsFunc(known, func(k finding) bool { return k.from < j.to && j.from < k.to })
		}
		return slices.ContainsFunc(plain, func(p finding) bool { return j.from < p.from && p.from < j.to })
	})
}

// search runs the rules of the keywords in a view. It tells whether one of them is a shape's.
func (f *finder) search(field int, v *view) (shapes bool) {
	joined := v == &f.joined
	text := v.text
	f.inView = f.grams.hits(string(text), f.inView[:0])
	clear(f.spans)
	for _, h := range f.inView {
		word := &f.grams.words[h.word]
		for _, r := range word.rules {
			if joined && !r.shape {
				continue
			}
			shapes = shapes || r.shape
			from, to := r.window(text, h.at, h.at+len(word.text))
			f.spans[r] = append(f.spans[r], stretch{from: from, to: to})
		}
	}
	if len(f.spans) == 0 {
		return false
	}
	for rank, r := range f.all {
		spans := f.spans[r]
		slices.SortFunc(spans, func(a, b stretch) int { return cmp.Compare(a.from, b.from) })
		for i := 0; i < len(spans); {
			s := spans[i]
			for i++; i < len(spans) && spans[i].from < s.to; i++ {
				s.to = max(s.to, spans[i].to)
			}
			r.find(text, s.from, s.to, func(from, to int) {
				if isPublished(text[from:to]) || overMark(text, from, to) || joined && !overSeam(v, from, to) {
					return
				}
				a, b := v.span(from, to)
				f.found = append(f.found, finding{field, a, b, r.kind, string(text[from:to]), rank})
			})
		}
	}
	return shapes
}

// overSeam tells whether a range of a joined view lies across a line end that was taken out.
func overSeam(v *view, from, to int) bool {
	for i := from + 1; i < to; i++ {
		if v.from[i] != v.to[i-1] {
			return true
		}
	}
	return false
}

// settle sorts the findings of a field from first on, and leaves one where several overlap: the one whose rule comes
// first, over all bytes of those.
func (f *finder) settle(first int) {
	all := f.found[first:]
	slices.SortStableFunc(all, func(a, b finding) int {
		return cmp.Or(cmp.Compare(a.from, b.from), cmp.Compare(b.to, a.to), cmp.Compare(a.rank, b.rank))
	})
	n := 0
	for _, x := range all {
		if n == 0 || x.from >= all[n-1].to {
			all[n] = x
			n++
			continue
		}
		last := &all[n-1]
		if x.rank < last.rank && x.from == last.from && x.to == last.to {
			last.kind, last.rank = x.kind, x.rank
		}
		if x.to > last.to {
			if len(x.value) > len(last.value) {
				last.kind, last.value, last.rank = x.kind, x.value, x.rank
			}
			last.to = x.to
		}
	}
	f.found = f.found[:first+n]
}
