package verify

import (
	"regexp"
	"strconv"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// codeWords finds an exit code where terminals, agents and harnesses print one: "exit code 0", "exited with
// code 1", "Exit status: 2", "<returncode>0", "exit_code": 0, "exitCode=0", "return code -9".
const codeWords = `(?i)\b(?:exit(?:ed)?(?:[ _]with)?[ _]?(?:code|status)|return[ _]?code)["'>]*\s*(?:[:=]|is|was|of)?\s*["'` + "`" + `]*(-?[0-9]{1,10})\b`

// exitCode compares exit codes. In a text the last one found counts, since a command's own output comes before the
// harness's word; in JSON it is the number at a pointer.
type exitCode struct {
	re    *regexp.Regexp // its first group is the code; nil with a pointer
	field []string
	want  *int64 // nil: the reference's
}

// find returns the code in a text.
func (r exitCode) find(text string) (int64, bool) {
	if r.re == nil {
		var d jsonscan.Doc
		v, err := d.Parse([]byte(text))
		if err != nil {
			return 0, false
		}
		return follow(v, r.field).Int()
	}
	all := r.re.FindAllStringSubmatch(text, -1)
	if len(all) == 0 {
		return 0, false
	}
	n, err := strconv.ParseInt(all[len(all)-1][1], 10, 64)
	return n, err == nil
}

func (r exitCode) check(prediction, expected string) Verdict {
	var want int64
	if r.want != nil {
		want = *r.want
	} else {
		n, ok := r.find(expected)
		if !ok {
			return bad("the reference shows no exit code; give `expected`, or `pattern` or `field` to find it by")
		}
		want = n
	}
	got, ok := r.find(prediction)
	if !ok {
		return Verdict{Fail, "the prediction shows no exit code"}
	}
	return equal(got == want, "exit code "+strconv.FormatInt(got, 10)+", expected "+strconv.FormatInt(want, 10))
}
