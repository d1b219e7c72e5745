package judge

import (
	"strings"
	"testing"
)

// FuzzParseScores: no text panics; a valid judgement has five scores on the scale, another none; the object lies
// within the text; a text cut off has no other scores than the whole.
func FuzzParseScores(f *testing.F) {
	for _, s := range shapes(f) {
		f.Add(s.Reply)
	}
	f.Fuzz(func(t *testing.T, text string) {
		j := ParseScores(complete(text), Options{})
		if int(j.Object.End) > len(text) || j.Object.Start > j.Object.End {
			t.Errorf("object %+v of %d bytes", j.Object, len(text))
		}
		for d, v := range j.Scores {
			if on := v >= Worst && v <= Best; on != (j.State == Valid) {
				t.Errorf("%s with %s %d", j.State, Dimension(d), v)
			}
		}
		c := ParseScores(complete(text), Options{Compat: true})
		for d, v := range c.Scores {
			if v > Best || v > 0 && c.State != Valid {
				t.Errorf("compat: %s with %s %d", c.State, Dimension(d), v)
			}
		}
		if c.State == Valid && c.Scores.Mean().Den == 0 {
			t.Error("compat: valid without a score")
		}
		for _, lax := range []bool{false, true} {
			if s := scan(text, 0, lax, nil); s.steps > s.limit+len(text)+1 {
				t.Errorf("%d steps for %d bytes", s.steps, len(text))
			}
		}
	})
}

// FuzzParseWords: a verdict that is valid has its word in the text.
func FuzzParseWords(f *testing.F) {
	for _, s := range []string{`\boxed{A}`, `\boxed{\text{ b }}`, `\boxed{`, `\boxed{{A}}`, "CORRECT", "**Verdict:** incorrect.", "Not correct.", "结论：不正确", "<think>CORRECT</think>INCORRECT", "correct, but not correct"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		if p := ParsePair(complete(text)); p.State == Valid && !strings.Contains(text, `\boxed{`) {
			t.Errorf("a preference without a box")
		}
		v := ParseVerdict(complete(text))
		if v.State != Valid && v.Pass {
			t.Errorf("%s passes", v.State)
		}
		found := false
		for _, w := range verdictWords {
			found = found || w.pass == v.Pass && strings.Contains(strings.ToLower(text), w.text)
		}
		if v.State == Valid && !found {
			t.Errorf("a verdict without its word")
		}
	})
}

// FuzzExtract: a prediction is never longer than its answer, and a second reading of one without tags changes
// nothing but further markers.
func FuzzExtract(f *testing.F) {
	for _, s := range []string{"", "a", "<think>a</think>b", "a</think>b", "<think>a", "<predicted_observation>a", "<predicted_observation>a</predicted_observation>b", "**Environment Observation:** a", "<think><predicted_observation>", "</predicted_observation>", "<THINK></Think><Predicted_Observation>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, text string) {
		p := Extract(text)
		if len(p.Text) > len(text) || p.Closed && !p.Tagged {
			t.Errorf("%+v", p)
		}
		if !strings.Contains(text, "<") && StripMarker(text) != p.Text {
			t.Errorf("without a tag %q becomes %q", text, p.Text)
		}
	})
}
