package formats

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestParseYAMLGuards gives the parser texts that would grow or nest without an end.
func TestParseYAMLGuards(t *testing.T) {
	bomb := "a: &a [x,x,x,x,x,x,x,x,x]\n"
	for i := range 20 {
		bomb += string(rune('b'+i)) + ": &" + string(rune('b'+i)) + " [" + strings.Repeat("*"+string(rune('a'+i))+",", 9) + "]\n"
	}
	for name, c := range map[string]struct {
		text string
		want turnmill.Reason
	}{
		"aliases":    {bomb, ""},
		"nested":     {"records: " + strings.Repeat("[", 20_000) + strings.Repeat("]", 20_000), turnmill.ReasonTooDeep},
		"dense":      {"[" + strings.Repeat("1,", maxYAML+1) + "]", turnmill.ReasonTooLarge},
		"documents":  {strings.Repeat("a: 1\n---\n", 1000), ""},
		"not YAML":   {"a: [", turnmill.ReasonBadYAML},
		"control":    {"a: \x01", turnmill.ReasonBadYAML},
		"open quote": {`a: "x`, turnmill.ReasonBadYAML},
	} {
		if _, err := parseYAML(c.text); reasonOf(err) != c.want {
			t.Errorf("%s: reason %q of %v, want %q", name, reasonOf(err), err, c.want)
		}
	}
}

// TestDenseWalk reads a walk that is too dense for one document: its records are read one by one.
func TestDenseWalk(t *testing.T) {
	const n = 3
	filler := "  x: [" + strings.Repeat("1,", maxYAML/2) + "]\n"
	text := "records:\n" + strings.Repeat("- Choice: 1\n  Input: 'null'\n"+filler+"  State: <p id=1>a</p>\n  state_str: h\n", n)
	var out Decoded
	if err := mustFormat(t, autoDroidName).New(Options{}).Decode([]byte(text), &out); err != nil {
		t.Fatal(err)
	}
	if got := len(out.Trajectories[0].Turns); got != n-1 || len(out.Lost) != 0 {
		t.Errorf("%d turns, %d lost; want %d and none", got, len(out.Lost), n-1)
	}
}

func TestYAMLLines(t *testing.T) {
	text := "a\nb\rc\r\nd\u0085e\u2028f\u2029g"
	lines := yamlLines{raw: []byte(text), line: 1}
	for i, start := range []string{"a", "b", "c", "d", "e", "f", "g"} {
		if at := lines.offset(i + 1); at != strings.Index(text, start) {
			t.Errorf("line %d begins at %d, want %d", i+1, at, strings.Index(text, start))
		}
	}
	if at := lines.offset(9); at != len(text) {
		t.Errorf("a line behind the end begins at %d, want %d", at, len(text))
	}
}
