package judge

import (
	"fmt"
	"strings"
	"testing"

	"pgregory.net/rapid"
)

// drawn is an answer in parts, so that a dimension can be taken out of it.
type drawn struct {
	before, after string // around all objects
	objects       []drawnObject
}

type drawnObject struct {
	open, close string // what stands around it
	nested      bool   // under "scores"
	quote       string // of keys: ", ' or none
	keys        []Dimension
	values      []string
}

// drawAnswer draws an answer as judges write them, right and wrong, with one to three objects.
func drawAnswer(t *rapid.T) *drawn {
	value := rapid.SampledFrom([]string{"1", "2", "3", "4", "5", "5", "5", "5.0", `"4"`, `"3/5"`, `{"score": 2}`, "0", "6", "4.5", "NaN", "null", `"N/A"`, "90"})
	good := rapid.SampledFrom([]string{"1", "2", "3", "4", "5"})
	a := &drawn{
		before: rapid.SampledFrom([]string{"", "Fine.\n", "<think>\n{\"format\": 1}\n</think>\n", "thinking {\n</think>", "{ odd \" ' ", "`{a}` and {\"b\": 1}. "}).Draw(t, "before"),
		after:  rapid.SampledFrom([]string{"", "\n", " Done.", "\n{\"done\": true}"}).Draw(t, "after"),
	}
	around := rapid.SampledFrom([][2]string{{"", "\n"}, {"```json\n", "\n```\n"}, {"<final_evaluation>\n```json\n", "\n```\n</final_evaluation>\n"}, {"<final_evaluation>", ""}})
	for range rapid.IntRange(1, 3).Draw(t, "objects") {
		p := around.Draw(t, "around")
		o := drawnObject{open: p[0], close: p[1], nested: rapid.Bool().Draw(t, "nested"), quote: rapid.SampledFrom([]string{`"`, `"`, `"`, "'", ""}).Draw(t, "quote")}
		clean := rapid.Bool().Draw(t, "clean")
		for _, d := range rapid.Permutation([]Dimension{Format, Factuality, Consistency, Realism, Quality}).Draw(t, "order") {
			v := good
			if !clean {
				v = value
			}
			o.keys, o.values = append(o.keys, d), append(o.values, v.Draw(t, "value"))
		}
		if !clean && rapid.Bool().Draw(t, "twice") {
			o.keys, o.values = append(o.keys, Format), append(o.values, value.Draw(t, "again"))
		}
		a.objects = append(a.objects, o)
	}
	return a
}

// text writes the answer without one dimension; NumDimensions leaves all in.
func (a *drawn) text(without Dimension, in func(object int) bool) string {
	var b strings.Builder
	b.WriteString(a.before)
	for i, o := range a.objects {
		var members []string
		for k, d := range o.keys {
			if d != without || !in(i) {
				members = append(members, o.quote+d.String()+o.quote+": "+o.values[k])
			}
		}
		text := "{" + strings.Join(members, ", ") + "}"
		if o.nested {
			text = `{"weaknesses": ["it prints {\"format\": 1}"], ` + o.quote + "scores" + o.quote + ": " + text + "}"
		}
		b.WriteString(o.open + text + o.close)
	}
	b.WriteString(a.after)
	return b.String()
}

// TestLosingADimensionNeverRaises: an answer without one of its dimensions is not valid; one that loses a
// dimension in any one object gains no score and no mean.
func TestLosingADimensionNeverRaises(t *testing.T) {
	valid := 0
	rapid.Check(t, func(t *rapid.T) {
		a := drawAnswer(t)
		all := func(int) bool { return true }
		whole := ParseScores(complete(a.text(Dimension(NumDimensions), all)), Options{})
		lost := Dimension(rapid.IntRange(0, NumDimensions-1).Draw(t, "lost"))
		if j := ParseScores(complete(a.text(lost, all)), Options{}); j.State == Valid {
			t.Fatalf("valid without %s: %v\n%s", lost, j.Scores, a.text(lost, all))
		}
		if whole.State != Valid {
			return
		}
		valid++
		in := rapid.IntRange(0, len(a.objects)-1).Draw(t, "in")
		less := ParseScores(complete(a.text(lost, func(i int) bool { return i == in })), Options{})
		for d := range NumDimensions {
			if less.Scores[d] > whole.Scores[d] {
				t.Fatalf("losing %s in object %d raises %s from %d to %d", lost, in, Dimension(d), whole.Scores[d], less.Scores[d])
			}
		}
		if less.Scores.Sum() > whole.Scores.Sum() {
			t.Fatalf("losing %s raises the sum from %d to %d", lost, whole.Scores.Sum(), less.Scores.Sum())
		}
	})
	if valid == 0 {
		t.Errorf("no valid answer was drawn: the property proves little")
	}
}

// TestCompatRaises: the released evaluator's arithmetic does what the property above forbids. This is why it is
// an option.
func TestCompatRaises(t *testing.T) {
	with, without := `{"format":5,"factuality":5,"consistency":5,"realism":5,"quality":1}`, `{"format":5,"factuality":5,"consistency":5,"realism":5}`
	a, b := ParseScores(complete(with), Options{Compat: true}), ParseScores(complete(without), Options{Compat: true})
	if a.Scores.Mean().Float() != 4.2 || b.Scores.Mean().Float() != 5 || b.Missing != 1 {
		t.Errorf("means %v and %v, missing %d: want 4.2, 5 and 1", a.Scores.Mean().Float(), b.Scores.Mean().Float(), b.Missing)
	}
	if j := ParseScores(complete(without), Options{}); j.State != MissingDimension {
		t.Errorf("strictly it is %s", j.State)
	}
}

// TestCutAnywhere: an answer cut at any byte has the scores of the whole one or none.
func TestCutAnywhere(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a := drawAnswer(t)
		a.objects = a.objects[:1] // of two, the first stands when the second is not begun
		if strings.Contains(a.before, "</think>") {
			a.before = ""
		}
		text := a.text(Dimension(NumDimensions), nil)
		whole := ParseScores(complete(text), Options{})
		for i := range text {
			if j := ParseScores(complete(text[:i]), Options{}); j.State == Valid && j.Scores != whole.Scores {
				t.Fatalf("cut at %d: %v, whole %s %v\n%s", i, j.Scores, whole.State, whole.Scores, text[:i])
			}
		}
	})
}

// TestExtractProperties: what is put into a closed block comes out as it was, whatever stands before it.
func TestExtractProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		part := rapid.SampledFrom([]string{"a", "\n", "<think>", "</think>", "b c", "$ ", "{", "</", "<predicted", "观"})
		content := "x" + strings.Join(rapid.SliceOf(part).Draw(t, "content"), "") + "y"
		before := rapid.SampledFrom([]string{"", "reasoning ", "<think>a</think>", "<think>a <predicted_observation>b</predicted_observation></think>", "a</think>", "<think>", "see <predicted_observation> first. "}).Draw(t, "before")
		if before == "<think>" && strings.Contains(content, "</think>") {
			return // then nobody can tell where thinking ends
		}
		text := before + "<predicted_observation>\n" + content + "\n</predicted_observation>"
		if p := Extract(text); p.Text != content || !p.Tagged || !p.Closed {
			t.Fatalf("%q: got %+v", text, p)
		}
	})
}

func ExampleExtract() {
	fmt.Println(Extract("<think>It lists two files.</think>\n<predicted_observation>\n**Environment Observation:**\na.txt\nb.txt\n</predicted_observation>").Text)
	// Output:
	// a.txt
	// b.txt
}
