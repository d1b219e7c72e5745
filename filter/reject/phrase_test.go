package reject

import (
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

func TestSpellings(t *testing.T) {
	for line, want := range map[string]string{
		"a":             "a",
		"a{b|c}":        "ab ac",
		"{a|b}{c|d}e":   "ace bce ade bde",
		"x{|, y} {z|w}": "x z|x, y z|x w|x, y w",
	} {
		sep := " "
		if strings.Contains(want, "|") {
			sep = "|"
		}
		if got := strings.Join(spellings(line), sep); got != want {
			t.Errorf("%q: got %q, want %q", line, got, want)
		}
	}
}

// TestLists: every line of both lists is in small letters, and finds itself where it may stand.
func TestLists(t *testing.T) {
	for name, list := range map[string]string{"interrupts": interruptList, "leaks": leakList} {
		n := 0
		for line := range strings.Lines(list) {
			line = strings.TrimRight(line, "\n")
			if line == "" || line[0] == '#' {
				continue
			}
			n++
			if line != lowerASCII(line) || strings.TrimSpace(line) != line || strings.Count(line, "{") != strings.Count(line, "}") {
				t.Errorf("%s: %q is not written as the list says", name, line)
			}
			one := readPhrases(line + "\n")
			bare := strings.TrimSuffix(strings.TrimPrefix(line, "^"), "!")
			for _, text := range spellings(bare) {
				if got := one.find(strings.ToUpper(text) + "!"); len(got) != 1 || got[0].Start != 0 || int(got[0].End) < len(text) {
					t.Errorf("%s: %q does not find %q: %v", name, line, text, got)
				}
			}
		}
		if n < 10 {
			t.Errorf("%s: %d lines", name, n)
		}
	}
}

// TestFindAgainstNaive compares with a search that tries every phrase at every byte.
func TestFindAgainstNaive(t *testing.T) {
	all := slices.Concat(interrupts.by[:]...)
	part := rapid.SampledFrom([]string{"wait", "Wait", "no", "No,", " ", " ", "!", ",", ".", "\n", "hmm", "hold on", "actually", "Actually,", "等等", "不对", "，", "let me recheck", "x", "a1", "is"})
	rapid.Check(t, func(t *rapid.T) {
		text := strings.Join(rapid.SliceOf(part).Draw(t, "parts"), "")
		lower, at := lowerASCII(text), 0
		for _, s := range interrupts.find(text) {
			want, end := naive(all, lower, at)
			if int(s.Start) != want || int(s.End) != end {
				t.Fatalf("%q: got %v, want %d to %d", text, s, want, end)
			}
			at = end
		}
		if want, end := naive(all, lower, at); want >= 0 {
			t.Fatalf("%q: %d to %d is not found", text, want, end)
		}
	})
}

// naive returns the first and longest phrase at or after a byte, -1 for none.
func naive(all []phrase, lower string, from int) (start, end int) {
	for i := from; i < len(lower); i++ {
		longest, to := 0, 0
		for _, ph := range all {
			if end, ok := ph.at(lower, i); ok && !inWord(lower, i) && len(ph.text) > longest {
				longest, to = len(ph.text), end
			}
		}
		if longest > 0 {
			return i, to
		}
	}
	return -1, 0
}
