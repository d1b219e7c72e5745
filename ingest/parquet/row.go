package parquet

import (
	"errors"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

var (
	errLevels = errors.New("its columns do not go together: one has more values of a list than another")
	errLarge  = errors.New("too large")
)

// assembler writes a row as JSON from the leaves, which all stand at its first value.
type assembler struct {
	buf   []byte
	max   int64
	over  bool // the row is larger than max: its values are passed
	doc   jsonscan.Doc
	notes turnmill.Notes
}

// row writes the next row. After errLarge the leaves stand at the row after it; after any other error they
// stand nowhere.
func (a *assembler) row(root *node) ([]byte, error) {
	a.buf, a.over = a.buf[:0], false
	if _, err := a.value(root, 0, 0); err != nil {
		return nil, err
	}
	if a.over || int64(len(a.buf)) > a.max {
		return nil, errLarge
	}
	return a.buf, nil
}

// value writes what a node holds and tells whether it is null. rep is the repetition level at which its leaves
// go on, above the definition level from which on the node's parent is there.
func (a *assembler) value(n *node, rep, above int) (null bool, err error) {
	a.room(0)
	if n.kind == scalar {
		return a.scalar(n.leaves[0], rep, above)
	}
	def := n.def
	if len(n.leaves) > 0 {
		if def, err = levelOf(n.leaves[0]); err != nil {
			return false, err
		}
	}
	switch {
	case def < above:
		return false, errLevels
	case def < n.def:
		a.buf = append(a.buf, "null"...)
		return true, n.pass(rep, def)
	case n.kind == object:
		return false, a.object(n, rep)
	case def < n.items && n.kind == list:
		a.buf = append(a.buf, '[', ']')
		return false, n.pass(rep, def)
	case def < n.items:
		a.buf = append(a.buf, '{', '}')
		return false, n.pass(rep, def)
	}
	return false, a.several(n, rep)
}

// levelOf returns the definition level of a leaf's next value.
func levelOf(l *leaf) (int, error) {
	if err := l.due(); err != nil {
		return 0, err
	}
	return l.definition(), nil
}

// pass takes the one value of each leaf below a node of which nothing is there.
func (n *node) pass(rep, def int) error {
	for _, l := range n.leaves {
		d, err := l.take(rep)
		if err != nil {
			return err
		}
		if d != def {
			return errLevels
		}
	}
	return nil
}

// object writes the members that are not null.
func (a *assembler) object(n *node, rep int) error {
	a.buf = append(a.buf, '{')
	first := true
	if n.image {
		a.notes[turnmill.NoteNonTextPart]++
	}
	for _, part := range n.parts {
		from := len(a.buf)
		if !first {
			a.buf = append(a.buf, ',')
		}
		a.buf = append(a.buf, part.key...)
		null, err := a.value(part, rep, n.def)
		if err != nil {
			return err
		}
		if !null {
			first = false
			continue
		}
		a.notes[turnmill.NoteNullMember]++
		if !a.over {
			a.buf = a.buf[:from]
		}
	}
	a.buf = append(a.buf, '}')
	return nil
}

// several writes the items of a list that has some, or the members of a map.
func (a *assembler) several(n *node, rep int) error {
	open, closing := byte('['), byte(']')
	if n.kind == mapping {
		open, closing = '{', '}'
	}
	a.buf = append(a.buf, open)
	for {
		if n.kind == mapping {
			if _, err := a.value(n.parts[0], rep, n.items); err != nil {
				return err
			}
			a.buf = append(a.buf, ':')
		}
		if _, err := a.value(n.parts[len(n.parts)-1], rep, n.items); err != nil {
			return err
		}
		more, err := n.leaves[0].peek()
		if err != nil {
			return err
		}
		if !more || n.leaves[0].repetition() < n.rep {
			a.buf = append(a.buf, closing)
			return nil
		}
		a.buf = append(a.buf, ',')
		rep = n.rep
	}
}

func (a *assembler) scalar(l *leaf, rep, above int) (null bool, err error) {
	def, err := l.take(rep)
	if err != nil {
		return false, err
	}
	switch {
	case def < above:
		return false, errLevels
	case def < l.def || l.as == nothing:
		a.buf = append(a.buf, "null"...)
		return true, nil
	}
	if l.as != text && l.as != jsonText {
		a.buf = l.appendValue(a.buf)
		return false, nil
	}
	raw := l.bytes()
	if a.room(len(raw)); a.over {
		return false, nil
	}
	open, done := l.opens, false
	if l.as == jsonText {
		open = anything
	}
	if open != 0 && len(raw) > 0 {
		if a.buf, done = openJSON(a.buf, raw, open, &a.doc); done {
			a.notes[turnmill.NoteOpenedJSON]++
			return false, nil
		}
	}
	a.buf = jsonscan.AppendQuotedRaw(a.buf, raw)
	return false, nil
}

// room gives the buffer up where n more bytes make the row too large: the rest of it is passed.
func (a *assembler) room(n int) {
	if a.over || int64(len(a.buf)+n) > a.max {
		a.over, a.buf = true, a.buf[:0]
	}
}
