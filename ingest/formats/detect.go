package formats

import (
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

// HeadBytes is how much of a file, decompressed, decides on its format.
const HeadBytes = 1 << 20

// Detection is what a file's head says of it.
type Detection struct {
	Format     Format
	Layout     frame.Layout
	Samples    int // records of the head that were looked at, at most 32
	Recognised int // those that the format recognises
}

// Detect decides on a file's layout and format by its head alone: the first HeadBytes of it, decompressed,
// or, when complete, all of it. The format that recognises the most records wins; between equals the
// likelier layout, then the order of All. A bad record among the others, the first one included, does not
// matter, and of a record that is longer than the head the part that is there is asked.
//
// The error is a *turnmill.RecordError: with reason no_records when there is nothing but blanks, else with
// unknown_format, naming the three nearest formats and why each refused, or the form that the records have and
// why it is read by none.
func Detect(head []byte, complete bool) (Detection, error) { return detect(All(), head, complete) }

// DetectAs is Detect with the format given: only the layout is decided, and a file that the format does not
// recognise gets the likeliest of its layouts; where runs lie in several files it is refused, for nothing can
// tell what it belongs to. An unknown name is an error that lists the names.
func DetectAs(name string, head []byte, complete bool) (Detection, error) {
	f, err := ByName(name)
	if err != nil {
		return Detection{}, err
	}
	if err := zipError(head); err != nil {
		return Detection{}, err
	}
	head, err = trimHead(head, complete)
	if err != nil {
		return Detection{}, err
	}
	all := views(head)
	best, nearest, _ := surveyScript([]Format{f}, head, all)
	switch {
	case best.Recognised > 0:
		return best, nil
	case f.Join != nil:
		return Detection{}, unknown(nearest, "nothing in the file is a part of such a run")
	}
	for _, v := range all {
		if layout, ok := layoutOf(f, v.layout); ok {
			return Detection{Format: f, Layout: layout}, nil
		}
	}
	return Detection{Format: f, Layout: f.Layouts[0]}, nil
}

func detect(formats []Format, head []byte, complete bool) (Detection, error) {
	if err := zipError(head); err != nil {
		return Detection{}, err
	}
	head, err := trimHead(head, complete)
	if err != nil {
		return Detection{}, err
	}
	best, nearest, named := surveyScript(formats, head, views(head))
	switch {
	case best.Recognised > 0:
		return best, nil
	case named != nil:
		return Detection{}, barrenError(named)
	}
	what := "no format recognises the file"
	if !complete {
		what = fmt.Sprintf("no format recognises the first %d bytes of the file", HeadBytes)
	}
	return Detection{}, unknown(nearest, what)
}

// DetectRows is Detect, or with a name other than auto DetectAs, for a file of layout Parquet: by the JSON of
// its first rows, which are all of them when complete. Formats whose records are whole files take all rows
// together, a line each; those of texts take none.
func DetectRows(name string, rows [][]byte, complete bool) (Detection, error) {
	all := All()
	if name != "auto" {
		f, err := ByName(name)
		if err != nil {
			return Detection{}, err
		}
		all = []Format{f}
	}
	best, nearest, named := survey(all, []view{{layout: frame.Parquet, samples: rowSamples(rows)}})
	switch {
	case best.Recognised > 0:
		return best, nil
	case name != "auto":
		return Detection{Format: all[0], Layout: frame.Parquet}, nil
	case named != nil:
		return Detection{}, barrenError(named)
	}
	what := "no format recognises the rows of the file"
	if !complete {
		what = fmt.Sprintf("no format recognises the first %d rows of the file", len(rows))
	}
	return Detection{}, unknown(nearest, what)
}

func trimHead(head []byte, complete bool) ([]byte, error) {
	if len(head) > HeadBytes {
		head, complete = head[:HeadBytes], false
	}
	if head = trimPadding(head); len(head) > 0 {
		return head, nil
	}
	e := &turnmill.RecordError{Step: "detect", Reason: turnmill.ReasonNoRecords, Err: errors.New("the file holds no record")}
	if !complete {
		e.Reason, e.Err = turnmill.ReasonUnknownFormat, fmt.Errorf("the first %d bytes hold no record", HeadBytes)
		e.Hint = "--format NAME"
	}
	return nil, e
}

// layoutOf returns the layout in which f reads a file that looks like layout.
func layoutOf(f Format, layout frame.Layout) (frame.Layout, bool) {
	if slices.Contains(f.Layouts, layout) {
		return layout, true
	}
	if layout == frame.Parquet {
		return layout, !f.Text
	}
	return frame.Whole, slices.Contains(f.Layouts, frame.Whole)
}

// surveyScript is survey, which for formats whose parts may be scripts looks once more behind "var x =".
func surveyScript(formats []Format, head []byte, all []view) (best Detection, nearest []refusal, named *barren) {
	best, nearest, named = survey(formats, all)
	value, at := scriptValue(head)
	if best.Recognised > 0 || at == 0 || len(value) == 0 {
		return best, nearest, named
	}
	joined := slices.DeleteFunc(slices.Clone(formats), func(f Format) bool { return f.Join == nil })
	if d, _, _ := survey(joined, views(value)); d.Recognised > 0 {
		best = d
	}
	return best, nearest, named
}

// refusal is the nearest that a file came to a format.
type refusal struct {
	name, why string
	marks     int
}

// survey asks every format about the samples of every view. nearest are the refusals of formats that
// recognised none, in the order of formats; named is what a sample was known to be that no format is asked
// about.
func survey(formats []Format, all []view) (best Detection, nearest []refusal, named *barren) {
	nearest = make([]refusal, len(formats))
	for i, f := range formats {
		nearest[i] = refusal{f.Name, "nothing in it has the shape of a record", -1}
	}
	for _, v := range all {
		if best.Recognised > 0 && (v.layout == frame.Values || v.layout == frame.Lines) {
			break // several values on one line are a line that is bad in part
		}
		found := make([]Detection, len(formats))
		for sample := range v.samples {
			if r := barrenForm(sample); r != nil {
				named = r
				continue
			}
			for i, f := range formats {
				layout, ok := layoutOf(f, v.layout)
				if !ok || f.Text != v.text {
					continue
				}
				found[i].Format, found[i].Layout = f, layout
				found[i].Samples++
				why, marks := f.Recognise(sample)
				if why == "" {
					found[i].Recognised++
				} else if r := &nearest[i]; marks > r.marks {
					r.why, r.marks = why, marks
				}
			}
		}
		for _, d := range found {
			if d.Recognised > best.Recognised {
				best = d
			}
		}
	}
	return best, nearest, named
}

// unknown is the error for a file that nothing recognises.
func unknown(nearest []refusal, what string) error {
	slices.SortStableFunc(nearest, func(a, b refusal) int { return b.marks - a.marks })
	var near []string
	for _, r := range nearest[:min(3, len(nearest))] {
		near = append(near, r.name+": "+r.why)
	}
	return &turnmill.RecordError{
		Step:   "detect",
		Reason: turnmill.ReasonUnknownFormat,
		Err:    errors.New(what + " (nearest: " + strings.Join(near, "; ") + ")"),
		Hint:   "--format NAME to force one; turnmill formats lists them",
	}
}
