package filter

import "github.com/turnmill/turnmill"

// stateless tells whether a turn of t has no screen to act on. Looked at are the turns that stay, a
// person's replies aside. The first of them may lack its state where others have theirs: some sources show
// a screen from the first answer on. Where no turn has one, the screens may still follow one another from
// an initial state; without that, they are missing.
func (c *Chain) stateless(t *turnmill.Trajectory) bool {
	turns, with, first := 0, 0, false
	for i := range t.Turns {
		if turn := &t.Turns[i]; c.verdicts[i].Status != turnmill.StatusDropped && !turn.Dialogue {
			if turns++; turn.State != "" {
				with++
			} else if turns == 1 {
				first = true
			}
		}
	}
	switch {
	case with == 0:
		return turns > 0 && t.System.InitialState == ""
	case first:
		return with < turns-1
	}
	return with < turns
}
