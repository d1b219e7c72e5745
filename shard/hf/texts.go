package hf

import "slices"

// textSet finds texts of a set, leftmost first and of several that begin at one place the longest, as the
// library finds added tokens: thousands that mostly begin alike (Gemma has 6,415), so each place is asked
// once for each length that occurs, not for each text.
type textSet struct {
	plain   map[string]bool // the texts; true for those to count
	lengths [256][]int      // of the texts by their first byte, longest first
}

func (s *textSet) add(text string, plain bool) {
	if s.plain == nil {
		s.plain = map[string]bool{}
	}
	s.plain[text] = plain
	s.lengths[text[0]] = append(s.lengths[text[0]], len(text))
}

// finish makes the set ready.
func (s *textSet) finish() {
	for b, lengths := range s.lengths {
		slices.Sort(lengths)
		lengths = slices.Compact(lengths)
		slices.Reverse(lengths)
		s.lengths[b] = lengths
	}
}

// count returns how many of the texts found are those to count. Nothing is looked for inside one found.
func (s *textSet) count(text []byte) int {
	n := 0
	for i := 0; i < len(text); {
		length, plain := s.at(text[i:])
		if plain {
			n++
		}
		i += max(length, 1)
	}
	return n
}

// at returns the length of the longest text of the set that text begins with, or 0, and its mark.
func (s *textSet) at(text []byte) (length int, plain bool) {
	for _, n := range s.lengths[text[0]] {
		if n <= len(text) {
			if plain, ok := s.plain[string(text[:n])]; ok {
				return n, plain
			}
		}
	}
	return 0, false
}
