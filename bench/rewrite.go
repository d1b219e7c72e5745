package main

import (
	"slices"
	"strings"
)

// rewriter makes a replica of a trajectory's texts: other numbers, hashes, identifiers, and other words here and
// there. What a word becomes depends on the seed and the word alone, so that a file named in an action is
// the file that the observation names, and JSON stays JSON.
type rewriter struct {
	seed  uint64
	words []string // the corpus' own, the frequent first
}

// kept are words that formats, languages and tools are recognised by.
var kept = strings.Fields("true false null none name type string object array integer number boolean arguments parameters " +
	"description properties required function content text error result command action input output path file files " +
	"import return class print self from with this that the and for not begin patch user role system assistant")

// append appends s rewritten to dst.
func (r *rewriter) append(dst []byte, s string) []byte {
	for len(s) > 0 {
		n := 0
		for n < len(s) && alphanumeric(s[n]) {
			n++
		}
		switch {
		case n > 0:
			dst = r.run(dst, s[:n])
		case s[0] == '\\': // the letter of an escape stays, and the four digits of \u
			n = 2
			if strings.HasPrefix(s, `\u`) {
				n = 6
			}
			n = min(n, len(s))
			dst = append(dst, s[:n]...)
		default:
			n = 1
			dst = append(dst, s[0])
		}
		s = s[n:]
	}
	return dst
}

func (r *rewriter) text(s string) string { return string(r.append(nil, s)) }

func alphanumeric(c byte) bool { return digit(c) || lower(c) || upper(c) }
func digit(c byte) bool        { return '0' <= c && c <= '9' }
func lower(c byte) bool        { return 'a' <= c && c <= 'z' }
func upper(c byte) bool        { return 'A' <= c && c <= 'Z' }

// run rewrites a run of letters and digits: an identifier as a whole, else its numbers and words.
func (r *rewriter) run(dst []byte, s string) []byte {
	if len(s) >= 8 && borders(s) >= 3 {
		return r.letterwise(dst, s)
	}
	for len(s) > 0 {
		n := 1
		if digit(s[0]) {
			for n < len(s) && digit(s[n]) {
				n++
			}
			dst = r.number(dst, s[:n])
		} else {
			for n < len(s) && !digit(s[n]) && !(lower(s[n-1]) && upper(s[n])) {
				n++
			}
			dst = r.word(dst, s[:n])
		}
		s = s[n:]
	}
	return dst
}

// borders counts the changes between letters and digits.
func borders(s string) int {
	n := 0
	for i := 1; i < len(s); i++ {
		if digit(s[i]) != digit(s[i-1]) {
			n++
		}
	}
	return n
}

// letterwise puts another character of its kind in place of each; hexadecimal stays hexadecimal.
func (r *rewriter) letterwise(dst []byte, s string) []byte {
	hex := strings.Trim(s, "0123456789abcdef") == ""
	state := r.hash(s)
	for i := range len(s) {
		state = next(state)
		at := byte(state >> 33 % 26)
		switch {
		case hex && lower(s[i]):
			at %= 6
			dst = append(dst, 'a'+at)
		case lower(s[i]):
			dst = append(dst, 'a'+at)
		case upper(s[i]):
			dst = append(dst, 'A'+at)
		default:
			dst = append(dst, '0'+at%10)
		}
	}
	return dst
}

// number puts another number of as many digits in its place. One digit stays, and so does a zero in front.
func (r *rewriter) number(dst []byte, s string) []byte {
	if len(s) == 1 {
		return append(dst, s...)
	}
	state := r.hash(s)
	for i := range len(s) {
		state = next(state)
		switch {
		case i == 0 && s[0] == '0':
			dst = append(dst, '0')
		case i == 0:
			dst = append(dst, '1'+byte(state>>33%9))
		default:
			dst = append(dst, '0'+byte(state>>33%10))
		}
	}
	return dst
}

// word puts another word in the place of one in five, in the same case.
func (r *rewriter) word(dst []byte, s string) []byte {
	if len(s) < 4 || len(r.words) == 0 {
		return append(dst, s...)
	}
	low := strings.ToLower(s)
	h := r.hash(low)
	if h>>40%5 != 0 || slices.Contains(kept, low) {
		return append(dst, s...)
	}
	share := float64(next(h)>>11) / (1 << 53)
	other := r.words[int(share*share*float64(len(r.words)))] // the frequent ones oftener
	switch {
	case upper(s[1]):
		other = strings.ToUpper(other)
	case upper(s[0]):
		dst, other = append(dst, other[0]-'a'+'A'), other[1:]
	}
	return append(dst, other...)
}

// hash is FNV-1a from the seed on, with its bits mixed.
func (r *rewriter) hash(s string) uint64 {
	h := r.seed ^ 14695981039346656037
	for i := range len(s) {
		h = (h ^ uint64(s[i])) * 1099511628211
	}
	return mix(h)
}

func mix(h uint64) uint64 {
	h ^= h >> 32
	h *= 0xd6e8feb86659fd93
	return h ^ h>>32
}

// next is a step of a linear congruential generator, whose high bits are good.
func next(state uint64) uint64 { return state*6364136223846793005 + 1442695040888963407 }

// frequentWords returns the words of three to twelve small letters, the frequent first.
func frequentWords(texts []string) []string {
	count := map[string]int{}
	for _, s := range texts {
		for len(s) > 0 {
			n := 0
			for n < len(s) && alphanumeric(s[n]) {
				n++
			}
			if w := s[:n]; n >= 3 && n <= 12 && strings.Trim(w, "abcdefghijklmnopqrstuvwxyz") == "" {
				count[w]++
			}
			s = s[max(n, 1):]
		}
	}
	words := make([]string, 0, len(count))
	for w := range count {
		words = append(words, w)
	}
	slices.SortFunc(words, func(a, b string) int {
		if count[a] != count[b] {
			return count[b] - count[a]
		}
		return strings.Compare(a, b)
	})
	return words
}
