package verify

import (
	"regexp"
	"strings"
)

// blanks are what trimming takes away: ASCII white space, nothing of Unicode's.
const blanks = " \t\r\n"

// exact compares texts after trimming. Trims are none, end (of the text), both (ends of the text) and lines (the
// end of every line, and of the text).
type exact struct{ trim string }

var trims = []string{"none", "end", "both", "lines"}

func (r exact) normal(s string) string {
	switch r.trim {
	case "end":
		return strings.TrimRight(s, blanks)
	case "both":
		return strings.Trim(s, blanks)
	case "lines":
		lines := strings.Split(strings.TrimRight(s, blanks), "\n")
		for i, line := range lines {
			lines[i] = strings.TrimRight(line, blanks)
		}
		return strings.Join(lines, "\n")
	}
	return s
}

func (r exact) check(prediction, expected string) Verdict {
	return equal(r.normal(prediction) == r.normal(expected), "texts differ")
}

// matches looks for a regular expression in the prediction; what is expected is the pattern. Go's engine takes
// time linear in the text whatever the pattern is.
type matches struct {
	re *regexp.Regexp
}

// compile makes the rule; whole asks for the whole text, no trimming.
func compile(pattern string, whole bool) (matches, error) {
	if whole {
		if _, err := regexp.Compile(pattern); err != nil { // "a)(b" would be mended by the brackets below
			return matches{}, err
		}
		pattern = `\A(?:` + pattern + `)\z`
	}
	re, err := regexp.Compile(pattern)
	return matches{re}, err
}

func (r matches) check(prediction, _ string) Verdict {
	return equal(r.re.MatchString(prediction), "the pattern does not match")
}
