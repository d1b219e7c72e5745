package secrets

import (
	"cmp"
	"encoding/json"
	"slices"
	"strconv"
	"strings"
)

// What stands in a secret's place: REDACTED.kind.n, of characters that mean nothing to JSON, to a shell, in an address
// or to a template. n counts the secrets of a trajectory from 1, in the order in which they are met.
const mark = "REDACTED."

// known is a secret of the trajectory at hand.
type known struct {
	value, kind string
}

// number gives each value of f.found its number, after those that an earlier run has left in the texts.
func (s *Scrubber) number(first bool) {
	if first {
		clear(s.numbers)
		s.known, s.next = s.known[:0], 1
		for _, text := range s.fields {
			s.next = max(s.next, lastMark(*text)+1)
		}
	}
	for i := range s.finder.found {
		x := &s.finder.found[i]
		n, met := s.numbers[x.value]
		if !met {
			n = len(s.known)
			s.numbers[x.value] = n
			s.known = append(s.known, known{x.value, x.kind})
		}
		x.kind = s.known[n].kind
	}
}

// lastMark returns the greatest number of a mark in a text, 0 where there is none.
func lastMark(text string) int {
	last := 0
	for {
		_, rest, ok := strings.Cut(text, mark)
		if !ok {
			return last
		}
		text = rest
		kind, number, ok := strings.Cut(rest[:min(len(rest), 80)], ".")
		if !ok || kind == "" || strings.ContainsAny(kind, " \n\"") {
			continue
		}
		end := 0
		for end < len(number) && end < 9 && '0' <= number[end] && number[end] <= '9' {
			end++
		}
		if n, err := strconv.Atoi(number[:end]); err == nil {
			last = max(last, n)
		}
	}
}

// leastRepeat is the least length of a value that is looked for where no rule has found it.
const leastRepeat = 8

// repeats finds the values where they stand by themselves, as a password does that one field names and another prints.
func (s *Scrubber) repeats() {
	words := newRepeats(s.known)
	if words == nil {
		return
	}
	f := &s.finder
	n := len(f.found)
	for i, text := range s.fields {
		words.find(*text, func(from, to int, value string) {
			f.found = append(f.found, finding{i, from, to, s.known[s.numbers[value]].kind, value, len(f.all)})
		})
	}
	if len(f.found) == n {
		return
	}
	slices.SortStableFunc(f.found, func(a, b finding) int { // what a rule has found first
		return cmp.Or(cmp.Compare(a.field, b.field), cmp.Compare(a.rank/len(f.all), b.rank/len(f.all)), cmp.Compare(a.from, b.from))
	})
	f.found = withoutOverlaps(f.found, len(f.all))
}

// withoutOverlaps leaves of the repeats those that touch no finding of a rule and no repeat before them, and sorts all.
func withoutOverlaps(found []finding, ofRepeat int) []finding {
	kept := found[:0]
	for i := 0; i < len(found); {
		field, first := found[i].field, len(kept)
		for ; i < len(found) && found[i].field == field && found[i].rank != ofRepeat; i++ {
			kept = append(kept, found[i])
		}
		rules, end := kept[first:len(kept):len(kept)], 0
		for ; i < len(found) && found[i].field == field; i++ {
			x := found[i]
			at, _ := slices.BinarySearchFunc(rules, x.to, func(r finding, to int) int { return cmp.Compare(r.from, to) })
			if x.from >= end && (at == 0 || rules[at-1].to <= x.from) {
				kept = append(kept, x)
				end = x.to
			}
		}
		slices.SortFunc(kept[first:], func(a, b finding) int { return cmp.Compare(a.from, b.from) })
	}
	return kept
}

// repeats finds values in time linear in the text, but for texts made to look like them.
type repeats struct {
	first [1 << 10]uint64 // which two bytes a value begins with
	words map[[leastRepeat]byte][]spelt
}

// spelt is a value as a text may have it.
type spelt struct{ text, value string }

func newRepeats(all []known) *repeats {
	r := &repeats{words: map[[leastRepeat]byte][]spelt{}}
	for _, k := range all {
		if len(k.value) < leastRepeat || !strongWord([]byte(k.value)) {
			continue
		}
		quoted, _ := json.Marshal(k.value)
		r.add(k.value, k.value)
		r.add(string(quoted[1:len(quoted)-1]), k.value)
		r.add(strings.ReplaceAll(k.value, "/", `\/`), k.value)
	}
	if len(r.words) == 0 {
		return nil
	}
	return r
}

func (r *repeats) add(text, value string) {
	key := [leastRepeat]byte([]byte(text[:leastRepeat]))
	for _, w := range r.words[key] {
		if w.text == text {
			return
		}
	}
	r.words[key] = append(r.words[key], spelt{text, value})
	slices.SortStableFunc(r.words[key], func(a, b spelt) int { return cmp.Compare(len(b.text), len(a.text)) })
	two := uint16(text[0]) | uint16(text[1])<<8
	r.first[two>>6] |= 1 << (two & 63)
}

func (r *repeats) find(text string, found func(from, to int, value string)) {
	for i := 0; i+leastRepeat <= len(text); i++ {
		two := uint16(text[i]) | uint16(text[i+1])<<8
		if r.first[two>>6]&(1<<(two&63)) == 0 {
			continue
		}
		for _, w := range r.words[[leastRepeat]byte([]byte(text[i:i+leastRepeat]))] {
			end := i + len(w.text)
			if strings.HasPrefix(text[i:], w.text) && apart(text, i) && apart(text, end) {
				found(i, end, w.value)
				i = end - 1
				break
			}
		}
	}
}

// apart tells whether a word ends or begins at i.
func apart(text string, i int) bool {
	return i == 0 || i == len(text) || !wordByte(text[i-1]) || !wordByte(text[i]) || i > 1 && text[i-2] == '\\' && strings.IndexByte("nrtbf", text[i-1]) >= 0
}

// replaced returns a text with marks instead of the findings, which are in order. JSON stays JSON: a number that is a
// secret becomes a string.
func (s *Scrubber) replaced(text string, found []finding) string {
	values := isJSON(text)
	var b strings.Builder
	at, quoted := 0, false
	for _, x := range found {
		b.WriteString(text[at:x.from])
		if values {
			quoted = inString(text[at:x.from], quoted)
		}
		bare := values && !quoted
		if bare {
			b.WriteByte('"')
		}
		b.WriteString(mark)
		b.WriteString(x.kind)
		b.WriteByte('.')
		b.WriteString(strconv.Itoa(s.next + s.numbers[x.value]))
		if bare {
			b.WriteByte('"')
		}
		at = x.to
	}
	b.WriteString(text[at:])
	return b.String()
}

// inString follows the strings of JSON through a text.
func inString(text string, in bool) bool {
	for i := 0; i < len(text); i++ {
		switch text[i] {
		case '\\':
			i++
		case '"':
			in = !in
		}
	}
	return in
}

// isJSON tells whether a text is JSON values, one or several.
func isJSON(text string) bool {
	if text == "" || strings.IndexByte("{[\"", text[0]) < 0 && strings.IndexByte("{[\"", strings.TrimSpace(text + " x")[0]) < 0 {
		return false
	}
	d := json.NewDecoder(strings.NewReader(text))
	for n := 0; ; n++ {
		var raw json.RawMessage
		if err := d.Decode(&raw); err != nil {
			return n > 0 && err.Error() == "EOF"
		}
	}
}
