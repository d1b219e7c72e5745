package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Members of Trajectory.Meta that an audit reads, whatever format a trajectory is of.
const (
	metaAnswer       = "reference_answer" // a string, or a list of strings of which each is right
	metaQuery        = "target_query"     // what it answers
	metaPerturbation = "perturbation"     // what was changed about the run on purpose; null, false, "", [] and {} are none
)

// Reference is what a trajectory was to find out, where it says so. Search runs name it for whoever plays the search
// engine.
type Reference struct {
	Query   string
	Answers []string // none: no answer is named
}

// ReferenceOf reads the reference answer of a trajectory: from its meta, else from a simulation instruction with
// labelled lines. The instruction of a benchmark's row stands inside its task. Texts are of t's memory, or new.
//
//	Target query: In which year was the lens taken out?
//	Reference answer: 1974; in the hall of the pilot school
//
// A label stands at the start of a line, behind marks of lists, headings and bold type, in any case; the text is
// the rest of the line, or the next line with one. In Chinese the labels are 目标问题 and 参考答案.
func ReferenceOf(t *turnmill.Trajectory) Reference {
	if strings.Contains(t.Meta, `"`+metaAnswer+`"`) {
		if r := referenceInMeta(t.Meta); len(r.Answers) > 0 {
			if r.Query == "" {
				r.Query = t.System.TaskDescription
			}
			return r
		}
	}
	if r := labelled(t.System.SimulationInstruction); len(r.Answers) > 0 {
		return r
	}
	if t.Source == worldBenchName || t.Domain == turnmill.DomainSearch {
		return labelled(t.System.TaskDescription)
	}
	return Reference{}
}

func referenceInMeta(meta string) (r Reference) {
	doc := jsonscan.Doc{NonFinite: true}
	v, err := doc.Parse([]byte(meta))
	if err != nil {
		return r
	}
	arena := &jsonscan.Arena{}
	r.Query = v.Get(metaQuery).Str(arena)
	switch a := v.Get(metaAnswer); a.Kind() {
	case jsonscan.String:
		r.Answers = append(r.Answers, a.Str(arena))
	case jsonscan.Array:
		for one := range a.Elems() {
			if one.Kind() == jsonscan.String {
				r.Answers = append(r.Answers, one.Str(arena))
			}
		}
	}
	return r
}

// referenceLabels begin the lines of an instruction, in lower case.
var referenceLabels = [...]struct {
	text   string
	answer bool
}{{"target query", false}, {"目标问题", false}, {"reference answer", true}, {"参考答案", true}}

// labelled reads the labelled lines of an instruction.
func labelled(text string) (r Reference) {
	var query []string
	var open *[]string // what the next line is the text of
	for line := range strings.Lines(text) {
		line = strings.Trim(line, referenceMarks)
		if isAnswer, rest, ok := cutReferenceLabel(line); ok {
			if open = &query; isAnswer {
				open = &r.Answers
			}
			line = rest
		}
		if open != nil && line != "" {
			*open = append(*open, line)
			open = nil
		}
	}
	r.Query = strings.Join(query, "\n")
	return r
}

// referenceMarks are what lines of a list, headings and bold type have at their ends.
const referenceMarks = blanks + "#*_-•"

// cutReferenceLabel cuts a label off a line: with a colon, or alone as a heading.
func cutReferenceLabel(line string) (answer bool, rest string, ok bool) {
	for _, l := range &referenceLabels {
		if len(line) < len(l.text) || !strings.EqualFold(line[:len(l.text)], l.text) {
			continue
		}
		rest = strings.TrimLeft(line[len(l.text):], referenceMarks)
		if rest == "" {
			return l.answer, "", true
		}
		for _, colon := range [...]string{":", "："} {
			if text, found := strings.CutPrefix(rest, colon); found {
				return l.answer, strings.Trim(text, referenceMarks), true
			}
		}
	}
	return false, "", false
}

// Perturbed tells whether meta names a perturbation: something about the run that was changed on purpose.
func Perturbed(meta string) bool {
	if !strings.Contains(meta, `"`+metaPerturbation+`"`) {
		return false
	}
	doc := jsonscan.Doc{NonFinite: true}
	v, err := doc.Parse([]byte(meta))
	if err != nil {
		return false
	}
	switch v = v.Get(metaPerturbation); v.Kind() {
	case jsonscan.Invalid, jsonscan.Null, jsonscan.False:
		return false
	case jsonscan.String:
		return v.RawStr() != `""`
	case jsonscan.Array, jsonscan.Object:
		return v.Len() > 0
	}
	return true
}
