package filter

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

func TestGlob(t *testing.T) {
	for _, c := range []struct {
		pattern, text string
		want          bool
	}{
		{"just a moment...", "Just  a\nMoment...", true},
		{"just a moment...", "just a moment... please", false},
		{"just*", "just a moment", true},
		{"just*", "adjust", false},
		{"*just", "adjust", true},
		{"*just*", "adjusted", true},
		{"a*b*c", "a1b2c", true},
		{"a*b*c", "a1c2b", false},
		{"ab*ba", "aba", false},
		{"can't", "CAN’T", true},
		{"Ärger*", "ärger im netz", true},
		{"a**b", "axb", true},
	} {
		if got := newGlob(c.pattern).meets(appendFolded(nil, c.text)); got != c.want {
			t.Errorf("%q meets %q: %v, want %v", c.text, c.pattern, got, c.want)
		}
	}
}

func TestPatternsValidate(t *testing.T) {
	if err := Builtin().Validate(); err != nil {
		t.Fatal(err)
	}
	err := (&Patterns{
		Captcha:   []Pattern{{Title: "robot"}, {Lines: 4}, {Text: " * "}},
		HTTPError: []Pattern{{URL: "x", Lines: -1}, {Title: "\xff"}},
		Refused:   []string{"**", ""},
	}).Validate()
	for _, want := range []string{"captcha, pattern 2: it names nothing", "captcha, pattern 3: ", "http_error, pattern 1: lines -1", "http_error, pattern 2: ", "refused, pattern 1", "refused, pattern 2"} {
		if err == nil || !strings.Contains(err.Error(), want) {
			t.Errorf("want %q in: %v", want, err)
		}
	}
	if _, err := New(nil, Options{Patterns: &Patterns{Refused: []string{"*"}}}); err == nil {
		t.Error("a chain was made of patterns that everything meets")
	}
}

// Patterns of one's own take the place of the built-in ones, list by list, and have a hash of their own.
func TestPatternsOfOnesOwn(t *testing.T) {
	own := &Patterns{Captcha: []Pattern{{Title: "halt*", URL: "https://gate.example/*", Lines: 2}}, Refused: []string{"what?"}}
	chain, err := New(nil, Options{MinTurns: 1, Patterns: own})
	if err != nil {
		t.Fatal(err)
	}
	for page, want := range map[string]turnmill.Reason{
		"RootWebArea 'Halt, who goes there', url='https://gate.example/1'":                 turnmill.ReasonCaptcha,
		"RootWebArea 'Halt, who goes there', url='https://shop.example/1'":                 "",
		"RootWebArea 'Halt, who goes there', url='https://gate.example/1'\nline 2\nline 3": "",
		"RootWebArea 'Just a moment...'":                                                   "",
		"RootWebArea '502 Bad Gateway'":                                                    "",
	} {
		if _, reason := chain.Apply(screens(turnmill.DomainWeb, [3]string{"s", "a", page}), nil); reason != want {
			t.Errorf("%s: reason %q, want %q", page, reason, want)
		}
	}
	verdicts, _ := chain.Apply(screens(turnmill.DomainTerminal, [3]string{"", "a", "What?"}, [3]string{"", "b", garbled}, [3]string{"", "c", "d"}), nil)
	if verdicts[0].Reason != turnmill.ReasonRetryCycle || verdicts[1].Reason != "" {
		t.Errorf("verdicts %v", verdicts)
	}
	if own.Hash() == Builtin().Hash() || own.Hash() != (&Patterns{Captcha: own.Captcha, Refused: own.Refused}).Hash() {
		t.Error("the hash does not go by the content")
	}
}

// A refusal is known whatever characters stand where its head is cut off.
func TestRefusalsOfAnyScript(t *testing.T) {
	for _, letter := range []string{"x", "é", "無", "𝔘"} {
		for n := range 6 {
			refusal := strings.Repeat("-", n) + strings.Repeat(letter, refusalHead)
			chain, err := New([]string{"retry-cycle"}, Options{Patterns: &Patterns{Refused: []string{refusal}}})
			if err != nil {
				t.Fatal(err)
			}
			verdicts, _ := chain.Apply(screens(turnmill.DomainTerminal, [3]string{"", "a", refusal}, [3]string{"", "b", "c"}), nil)
			if verdicts[0].Reason != turnmill.ReasonRetryCycle {
				t.Errorf("%q after %d signs: %v", letter, n, verdicts)
			}
		}
	}
}

// A pattern that asks for a text and for more is met by a page that has all of it.
func TestPatternOfSeveralParts(t *testing.T) {
	c, err := New(nil, Options{Patterns: &Patterns{Captcha: []Pattern{{Title: "shop", Text: "closed*"}}}})
	if err != nil {
		t.Fatal(err)
	}
	for text, want := range map[string]bool{
		"RootWebArea 'Shop'\n\tStaticText 'Closed today'": true,
		"RootWebArea 'Bank'\n\tStaticText 'Closed today'": false,
		"RootWebArea 'Shop'\n\tStaticText 'Open today'":   false,
	} {
		c.failures = failures{}
		if c.look(text, false); c.failures.captcha != want {
			t.Errorf("%q: %v, want %v", text, !want, want)
		}
	}
}
