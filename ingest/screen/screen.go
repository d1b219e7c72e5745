// Package screen turns what a program writes to a terminal into the text that a person sees on it.
//
//	"k\bk3d ls\r\n\x1b[36mdemo\x1b[0m"  --Write-->  cells  --Text-->  "k3d ls\ndemo"
//
// It owns the terminal emulator. A Screen answers no question that a program asks of its terminal, rings no
// bell and keeps no colours. The same bytes give the same text, whatever the size of the pieces in which
// they are written.
package screen

import (
	"fmt"
	"io"
	"strings"

	"github.com/charmbracelet/x/ansi"
	"github.com/charmbracelet/x/vt"
)

// Limits of a screen's size in cells. Recordings state their size, and damaged ones any number.
const (
	MaxSide  = 2000
	MaxCells = 400_000
)

// What a few bytes may ask of the emulator: the repeats of a character, and the rows kept that scrolled away.
const (
	maxRepeat = 500
	maxAway   = 500
)

// Screen is a terminal of a fixed number of columns and rows. It serves one goroutine.
type Screen struct {
	term *vt.Emulator
}

// Position is a place in the text of a run: a column, and a row that counts on as rows scroll away.
type Position struct{ Column, Row int }

// New returns an empty screen. It is an error when one side is not between 1 and MaxSide or the screen has
// more than MaxCells cells.
func New(columns, rows int) (*Screen, error) {
	if err := checkSize(columns, rows); err != nil {
		return nil, err
	}
	s := &Screen{vt.NewEmulator(columns, rows)}
	s.term.SetScrollbackSize(maxAway)
	s.term.RegisterCsiHandler('b', func(params ansi.Params) bool { // REP; true: it is passed over
		n, _, ok := params.Param(0, 1)
		return ok && n > maxRepeat
	})
	// What a terminal answers would wait in a pipe until somebody reads it. A closed pipe takes it at once.
	if c, ok := s.term.InputPipe().(io.Closer); ok {
		if err := c.Close(); err != nil {
			return nil, err
		}
	}
	return s, nil
}

func checkSize(columns, rows int) error {
	if columns < 1 || rows < 1 || columns > MaxSide || rows > MaxSide || columns*rows > MaxCells {
		return fmt.Errorf("a screen of %d columns and %d rows, want 1 to %d of either and at most %d cells", columns, rows, MaxSide, MaxCells)
	}
	return nil
}

// Write lets a program write text. Sequences may be cut between two calls.
func (s *Screen) Write(text string) {
	_, _ = s.term.WriteString(text) // fails only after Close, which nobody calls
}

// Resize changes the size within the limits of New.
func (s *Screen) Resize(columns, rows int) error {
	if err := checkSize(columns, rows); err != nil {
		return err
	}
	s.term.Resize(columns, rows)
	return nil
}

// Text returns the rows that are visible, joined by line feeds, without blanks at the end of a row and
// without empty rows at the end.
func (s *Screen) Text() string {
	return strings.ToValidUTF8(strings.TrimRight(s.term.String(), " \r\n"), "\uFFFD")
}

// Alternate tells whether a full-screen program (an editor, a pager) has taken the alternate screen.
func (s *Screen) Alternate() bool { return s.term.IsAltScreen() }

// Cursor returns where the next character goes.
func (s *Screen) Cursor() Position {
	at := s.term.CursorPosition()
	return Position{at.X, at.Y + s.term.ScrollbackLen()}
}

// Forget drops the rows that have scrolled away: positions count from the first visible row again.
func (s *Screen) Forget() { s.term.ClearScrollback() }

// Between returns the text from one position up to another. Rows that are full to their last column go on
// in the next one; after others there is a line feed. Rows that have scrolled away are left out.
func (s *Screen) Between(from, to Position) string {
	var b strings.Builder
	away, width := s.term.ScrollbackLen(), s.term.Width()
	for row := max(from.Row, away); row <= to.Row && row-away < s.term.Height(); row++ {
		first, last := 0, width
		if row == from.Row {
			first = from.Column
		}
		if row == to.Row {
			last = min(to.Column, width)
		}
		line, full := s.cells(row-away, first, last)
		b.WriteString(line)
		if row < to.Row && !full {
			b.WriteByte('\n')
		}
	}
	return strings.ToValidUTF8(strings.TrimRight(b.String(), " \n"), "\uFFFD")
}

// cells returns a part of a visible row, and whether its last cell holds something.
func (s *Screen) cells(row, first, last int) (text string, full bool) {
	var b strings.Builder
	for x := first; x < last; x++ {
		c := s.term.CellAt(x, row)
		if c == nil || c.Width == 0 { // the second half of a wide character
			full = c != nil
			continue
		}
		full = c.Content != "" && c.Content != " "
		if c.Content == "" {
			b.WriteByte(' ')
		} else {
			b.WriteString(c.Content)
		}
	}
	if full {
		return b.String(), true
	}
	return strings.TrimRight(b.String(), " "), false
}
