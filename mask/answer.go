package mask

import (
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// answer is a reference answer as the sequence of its words.
type answer struct {
	words []string
	keys  []uint64 // of the words, each once
	back  []int    // where a match that breaks off goes on (Knuth, Morris, Pratt)
}

// Least sizes of an answer: shorter ones stand in many a text by chance. Characters are those of words; a Chinese or
// Japanese one counts as two.
const (
	leastWordChars   = 6 // of one word that is no number
	leastPhraseChars = 8 // of two words or more
)

// answers appends what can be judged of reference answers: of each the parts between semicolons and line ends that
// are long enough, and that the query does not name already.
func (m *Measurer) answers(to []answer, query string, answers []string) []answer {
	for _, whole := range answers {
		for part := range strings.FieldsFuncSeq(whole, func(r rune) bool { return r == ';' || r == '；' || r == '\n' }) {
			a := answer{words: appendWords(nil, part)}
			if !long(a.words, part) {
				continue
			}
			a.back = borders(a.words)
			if a.in(query) {
				continue
			}
			m.list(part)
			a.keys = slices.Clone(m.words.list)
			to = append(to, a)
		}
	}
	return to
}

// long tells whether an answer is long enough to be no chance.
func long(words []string, text string) bool {
	chars, letters := 0, false
	for _, r := range text {
		switch kind := kindOf(r); {
		case kind == kindPairing:
			chars, letters = chars+2, true
		case kind > kindPairing:
			chars, letters = chars+1, letters || r < '0' || r > '9'
		}
	}
	if len(words) < 2 {
		return len(words) == 1 && chars >= leastWordChars && letters
	}
	return chars >= leastPhraseChars
}

// borders returns of each beginning of a sequence the length of its longest proper end that it begins with.
func borders(words []string) []int {
	back := make([]int, len(words))
	k := 0
	for i := 1; i < len(words); i++ {
		for k > 0 && words[i] != words[k] {
			k = back[k-1]
		}
		if words[i] == words[k] {
			k++
		}
		back[i] = k
	}
	return back
}

// in tells whether a text has the words of the answer one after the other.
func (a *answer) in(text string) bool {
	var split splitter
	k, found := 0, false
	split.each(trim(bytesOf(text)), func(stretch []byte, _, _ int) {
		if found {
			return
		}
		eachWord(string(stretch), func(word []byte) {
			if found {
				return
			}
			for k > 0 && string(word) != a.words[k] {
				k = a.back[k-1]
			}
			if string(word) == a.words[k] {
				k++
			}
			if found = k == len(a.words); found {
				k = 0
			}
		})
	})
	return found
}

// leaked tells whether the observation of the turn that was measured last has an answer that its action does not
// have. Hardly any text that does not has all the words, which is known already.
func (m *Measurer) leaked(answers []answer, turn *turnmill.Turn) bool {
	for i := range answers {
		a := &answers[i]
		missing := func(key uint64) bool { return m.words.sides(key)&sideObservation == 0 }
		if !slices.ContainsFunc(a.keys, missing) && a.in(turn.Observation) && !a.in(turn.Action) {
			return true
		}
	}
	return false
}

// eachWord calls visit with the words of a stretch in order, repeated ones included, each valid during the call.
func eachWord(stretch string, visit func(word []byte)) {
	var word, pair []byte
	run, last := 0, 0 // pairing characters before, and the bytes of the one before
	end := func() {
		if len(word) > 0 {
			visit(word)
		} else if run == 1 {
			visit(pair)
		}
		word, pair, run = word[:0], pair[:0], 0
	}
	for _, r := range stretch {
		switch kind := kindOf(r); {
		case kind == kindPairing:
			if len(word) > 0 {
				end()
			}
			if run > 1 {
				pair = append(pair[:0], pair[len(pair)-last:]...)
			}
			pair = utf8.AppendRune(pair, r)
			last = utf8.RuneLen(r)
			if run++; run > 1 {
				visit(pair)
			}
		case kind > kindPairing:
			if run > 0 {
				end()
			}
			word = utf8.AppendRune(word, r+lower[kind])
		default:
			end()
		}
	}
	end()
}
