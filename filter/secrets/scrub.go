package secrets

import (
	"fmt"
	"strings"

	"github.com/turnmill/turnmill"
)

// Mode is what is done about secrets.
type Mode uint8

// The modes, in the order of Modes.
const (
	Scrub  Mode = iota // replaced and counted
	Report             // counted, texts stay
	Off                // not looked for
)

var modes = [...]string{"scrub", "report", "off"}

// Modes returns the names of the modes.
func Modes() []string { return modes[:] }

// String returns the mode's name.
func (m Mode) String() string { return modes[m] }

// ParseMode returns the mode of a name.
func ParseMode(name string) (Mode, error) {
	for i, m := range modes {
		if m == name {
			return Mode(i), nil
		}
	}
	return 0, fmt.Errorf("secrets %q: want one of %s", name, strings.Join(modes[:], ", "))
}

// Scrubber finds the secrets of trajectories and documents, and in mode Scrub replaces them. It serves one goroutine,
// keeps nothing of one trajectory for the next, and allocates only where it finds something.
type Scrubber struct {
	mode   Mode
	finder finder
	fields []*string
	counts Counts

	numbers map[string]int // of values, in the trajectory at hand
	known   []known
	next    int
}

// Mode returns the scrubber's mode.
func (s *Scrubber) Mode() Mode {
	if s == nil {
		return Off
	}
	return s.mode
}

// Counts are places by kind.
type Counts map[string]int64

// New returns a scrubber, or nil in mode Off. The methods of a nil one do nothing.
func New(mode Mode) *Scrubber {
	if mode == Off {
		return nil
	}
	return &Scrubber{mode: mode, finder: finder{rules: all(), spans: map[*rule][]stretch{}}, counts: Counts{}, numbers: map[string]int{}}
}

// Trajectory looks through every text of t but its domain. What it returns is valid until the next call, and empty
// where nothing was found.
func (s *Scrubber) Trajectory(t *turnmill.Trajectory) Counts {
	if s == nil {
		return nil
	}
	y := &t.System
	s.fields = append(s.fields[:0], &t.ID, &t.Source, &t.SourceKind, &t.TaskID, &t.Agent,
		&y.TaskDescription, &y.ActionSpace, &y.InitialState, &y.Demonstrations, &y.SimulationInstruction)
	for i := range t.Turns {
		turn := &t.Turns[i]
		s.fields = append(s.fields, &turn.State, &turn.Thought, &turn.Action, &turn.Tool, &turn.Observation)
	}
	s.fields = append(s.fields, &t.Meta)
	return s.scrub()
}

// Document looks through every text of d but its domain, as Trajectory does.
func (s *Scrubber) Document(d *turnmill.Document) Counts {
	if s == nil {
		return nil
	}
	s.fields = append(s.fields[:0], &d.ID, &d.Source, &d.SourceKind, &d.Text, &d.Meta)
	return s.scrub()
}

// Text returns a text that stands for itself, as an error's does, without its secrets. In mode Report it is the text.
func (s *Scrubber) Text(text string) string {
	if s == nil || s.mode == Report {
		return text
	}
	s.fields = append(s.fields[:0], &text)
	s.scrub()
	return text
}

// mostRounds bounds how often a text is looked at again: what is beside a secret may be one once that is gone.
const mostRounds = 4

// scrub looks through s.fields.
func (s *Scrubber) scrub() Counts {
	clear(s.counts)
	for round := 0; s.round(round == 0) && s.mode == Scrub && round < mostRounds; round++ {
	}
	return s.counts
}

// round finds, counts and replaces once. It tells whether anything was found.
func (s *Scrubber) round(first bool) bool {
	f := &s.finder
	f.found = f.found[:0]
	for i, text := range s.fields {
		f.text(i, *text)
	}
	if len(f.found) == 0 {
		return false
	}
	s.number(first)
	s.repeats()
	for i, from := 0, 0; i < len(s.fields); i++ {
		to := from
		for to < len(f.found) && f.found[to].field == i {
			s.counts[f.found[to].kind]++
			to++
		}
		if to > from && s.mode == Scrub {
			*s.fields[i] = s.replaced(*s.fields[i], f.found[from:to])
		}
		from = to
	}
	return true
}
