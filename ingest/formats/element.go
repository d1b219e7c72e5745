package formats

import (
	"bytes"
	"strconv"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// element is an element of a screen, for formats that record screens as lists or trees.
type element struct {
	class, text, about, id jsonscan.Value    // about is the content description
	corners                [4]jsonscan.Value // x1, y1, x2, y2; when they are no numbers there is no box
	size                   bool              // the last two of corners are width and height
	flags                  [12]string
	n                      int // flags
}

func (e *element) flag(name string, set bool) {
	if set {
		e.flags[e.n] = name
		e.n++
	}
}

// appendElement appends an element as a line without its end, absent parts left out:
//
//	class "text" [content description] #id {flags} (x1,y1,x2,y2)
//	TextView "Meet" #title {clickable} (145,1,229,136)
func (d *Decoded) appendElement(b []byte, e *element) []byte {
	from := len(b)
	b = appendTail(b, e.class, '.')
	if holdsText(e.text) {
		b = d.appendVerbatim(space(b, from), e.text)
	}
	if holdsText(e.about) {
		b = append(space(b, from), '[')
		at := len(b)
		b = d.appendVerbatim(b, e.about)
		b = append(append(b[:at], b[at+1:len(b)-1]...), ']') // without the quotes
	}
	if holdsText(e.id) {
		b = appendTail(append(space(b, from), '#'), e.id, '/')
	}
	if e.n > 0 {
		b = append(space(b, from), '{')
		for i, name := range e.flags[:e.n] {
			if i > 0 {
				b = append(b, ',')
			}
			b = append(b, name...)
		}
		b = append(b, '}')
	}
	return e.appendBox(b, from)
}

func (e *element) appendBox(b []byte, from int) []byte {
	var box [4]float64
	for i, v := range e.corners {
		n, err := 0.0, error(nil)
		if v.Kind() == jsonscan.Number {
			n, err = strconv.ParseFloat(v.RawStr(), 64)
		}
		if v.Kind() != jsonscan.Number || err != nil {
			return b
		}
		box[i] = n
	}
	if e.size {
		box[2], box[3] = box[0]+box[2], box[1]+box[3]
	}
	b = append(space(b, from), '(')
	for i, n := range box {
		if i > 0 {
			b = append(b, ',')
		}
		b = strconv.AppendFloat(b, n, 'f', -1, 32) // fractions of the screen add up without a tail
	}
	return append(b, ')')
}

func holdsText(v jsonscan.Value) bool { return v.Kind() == jsonscan.String && len(v.Raw()) > len(`""`) }

// appendTail appends what stands behind the last sep of a string.
func appendTail(b []byte, v jsonscan.Value, sep byte) []byte {
	from := len(b)
	b = v.AppendString(b)
	if i := bytes.LastIndexByte(b[from:], sep); i >= 0 {
		b = append(b[:from], b[from+i+1:]...)
	}
	return b
}

// space appends a blank unless nothing stands behind from.
func space(b []byte, from int) []byte {
	if len(b) > from {
		return append(b, ' ')
	}
	return b
}
