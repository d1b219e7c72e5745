package formats

import (
	"bytes"
	"errors"
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// maxSamples is the number of records of a head that the formats are asked about.
const maxSamples = 32

// view is one way to see records in a file's head.
type view struct {
	layout  frame.Layout
	text    bool // the sample is a text as a string, for formats of texts alone
	samples func(yield func(jsonscan.Value) bool)
}

// views returns the ways to see head, the most likely first, by the value that it begins with:
//
//	ends on its first line          one value a line; the line may be an array of records
//	goes on over several lines      values, or an array of records, or one record
//	is damaged, or no value at all  a bad first line; or a damaged array, when it begins with its bracket
//
// A value that the head's end cuts counts as one that goes on. What begins with no bracket may also be a text.
func views(head []byte) []view {
	all := jsonViews(head)
	if !container(head) {
		all = append(all, view{frame.Whole, true, textSample(head)})
	}
	return all
}

func jsonViews(head []byte) []view {
	doc := jsonscan.Doc{NonFinite: true}
	_, end, err := doc.ParsePrefix(head)
	if short(err) {
		end = len(head)
	}
	damaged := err != nil && !short(err)
	many := !damaged && bytes.IndexByte(head[:end], '\n') >= 0
	lines := view{layout: frame.Lines, samples: lineSamples(head)}
	switch array := head[0] == '['; {
	case array && (many || damaged):
		return []view{{layout: frame.Array, samples: elementSamples(head)}, {layout: frame.Whole, samples: wholeSample(head)}, lines}
	case array:
		return []view{lines, {layout: frame.Array, samples: elementSamples(head)}, {layout: frame.Whole, samples: wholeSample(head)}}
	case many:
		return []view{{layout: frame.Values, samples: valueSamples(head)}, lines}
	}
	return []view{lines, {layout: frame.Values, samples: valueSamples(head)}}
}

// short tells whether a text ended too early, rather than being damaged.
func short(err error) bool {
	var s *jsonscan.SyntaxError
	return errors.As(err, &s) && s.Short
}

// lineSamples yields the lines that are one whole object or array. Bad lines are passed over. Where no line
// is whole, the last one is taken as far as it goes.
func lineSamples(head []byte) func(func(jsonscan.Value) bool) {
	return func(yield func(jsonscan.Value) bool) {
		doc := jsonscan.Doc{NonFinite: true}
		n, rest := 0, head
		var line []byte
		for len(rest) > 0 && n < maxSamples {
			raw, after, _ := bytes.Cut(rest, []byte{'\n'})
			rest = after
			if raw = trimPadding(raw); !container(raw) {
				continue
			}
			line = raw
			if v, err := doc.Parse(line); err == nil {
				if n++; !yield(v) {
					return
				}
			}
		}
		if n == 0 {
			cutSample(&doc, line, yield)
		}
	}
}

// rowSamples yields the JSON of rows.
func rowSamples(rows [][]byte) func(func(jsonscan.Value) bool) {
	return func(yield func(jsonscan.Value) bool) {
		doc := jsonscan.Doc{NonFinite: true}
		for _, row := range rows {
			if v, err := doc.Parse(row); err == nil && !yield(v) {
				return
			}
		}
	}
}

// valueSamples yields values that stand one after another. After a damaged one it goes on at the next line
// that begins with a bracket.
func valueSamples(head []byte) func(func(jsonscan.Value) bool) {
	return func(yield func(jsonscan.Value) bool) {
		doc := jsonscan.Doc{NonFinite: true}
		rest := head
		for n, tries := 0, 0; n < maxSamples && tries < maxSamples; tries++ {
			v, end, err := doc.ParsePrefix(rest)
			switch {
			case err == nil:
				if n++; !yield(v) {
					return
				}
				rest = trimPadding(rest[end:])
			case short(err):
				if n == 0 {
					cutSample(&doc, rest, yield)
				}
				return
			default:
				next := bytes.Index(rest, []byte("\n{"))
				if next < 0 {
					return
				}
				rest = rest[next+1:]
			}
			if len(rest) == 0 {
				return
			}
		}
	}
}

// elementSamples yields the elements of the array that head begins with, up to the first damaged one.
func elementSamples(head []byte) func(func(jsonscan.Value) bool) {
	return func(yield func(jsonscan.Value) bool) {
		doc := jsonscan.Doc{NonFinite: true}
		rest := trimPadding(head[1:])
		for n := 0; n < maxSamples && len(rest) > 0 && rest[0] != ']'; {
			v, end, err := doc.ParsePrefix(rest)
			if err != nil {
				if n == 0 && short(err) {
					cutSample(&doc, rest, yield)
				}
				return
			}
			if n++; !yield(v) {
				return
			}
			rest = trimPadding(rest[end:])
			if len(rest) == 0 || rest[0] != ',' {
				return
			}
			rest = trimPadding(rest[1:])
		}
	}
}

// wholeSample yields the value that head begins with, as far as it goes.
func wholeSample(head []byte) func(func(jsonscan.Value) bool) {
	return func(yield func(jsonscan.Value) bool) {
		doc := jsonscan.Doc{NonFinite: true}
		if v, _, err := doc.ParsePrefix(head); err == nil {
			yield(v)
		} else if short(err) {
			cutSample(&doc, head, yield)
		}
	}
}

// textSample yields the head as a string.
func textSample(head []byte) func(func(jsonscan.Value) bool) {
	return func(yield func(jsonscan.Value) bool) {
		var doc jsonscan.Doc
		if v, err := doc.Parse(jsonscan.AppendQuoted(nil, strings.ToValidUTF8(string(head), "\uFFFD"))); err == nil {
			yield(v)
		}
	}
}

// cutSample yields a record that the end of the head cuts, with its open ends closed.
func cutSample(doc *jsonscan.Doc, record []byte, yield func(jsonscan.Value) bool) {
	if !container(record) {
		return
	}
	if v, err := doc.Parse(closePrefix(nil, record)); err == nil {
		yield(v)
	}
}

func container(b []byte) bool { return len(b) > 0 && (b[0] == '{' || b[0] == '[') }

// trimPadding removes what may stand between records: blanks, NUL bytes of a preallocated file, and byte
// order marks.
func trimPadding(b []byte) []byte {
	for {
		n := len(b)
		b = bytes.Trim(b, blanks+"\x00")
		b = bytes.TrimPrefix(b, []byte("\uFEFF"))
		if len(b) == n {
			return b
		}
	}
}
