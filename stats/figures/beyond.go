package figures

import (
	"slices"

	"github.com/turnmill/turnmill"
)

// Beyond is what the turns of a group say about what the mask does not look at. State, unseen words and leaked
// answers are of turns that the mask decided about; the rest is of all turns that are no documents.
type Beyond struct {
	Measured, Unmeasured int64 // against what stands before the turn, or not

	State  State
	Unseen [NumPositions]Unseen

	Judged, Leaked Part // by a reference answer; of these, that name it unasked

	All, Instructed, Perturbed Part
	Provenance                 [3]Part // observed, simulated, not said
}

// State compares the novelty of observations against the action alone with that against action and state, over the
// turns that have a state.
type State struct {
	Turns        int64
	Action, Both Shares
	Bars         []Bar
}

// Bar counts the turns whose novelty is below a bound of the table.
type Bar struct {
	At           turnmill.Ratio
	Action, Both int64
}

// Unseen is what the observations at one place of their trajectories have that stands nowhere before them.
type Unseen struct {
	Turns, Words, Unseen int64 // distinct words in each turn, added up
	Shares               Shares
}

// Part counts some of the turns, and the trajectories that have one of them.
type Part struct {
	Turns, Trajectories int64

	partition  int
	trajectory int64
}

// add counts a turn; those of a partition come in their order.
func (p *Part) add(t *Turn) {
	if p.Turns == 0 || p.partition != t.Partition || p.trajectory != t.Trajectory {
		p.Trajectories++
	}
	p.Turns++
	p.partition, p.trajectory = t.Partition, t.Trajectory
}

// positions are the first turns of each stretch of a trajectory.
var positions = [...]int64{0, 1, 2, 3, 5, 9, 17}

// NumPositions is how many stretches of a trajectory are told apart.
const NumPositions = len(positions)

// PositionNames names them.
var PositionNames = [NumPositions]string{"0", "1", "2", "3-4", "5-8", "9-16", "17 on"}

// position returns the stretch that a turn lies in, by its place in the source.
func position(turn int64) int {
	i := len(positions) - 1
	for i > 0 && turn < positions[i] {
		i--
	}
	return i
}

func newBeyond(novelty []turnmill.Ratio) Beyond {
	var b Beyond
	for _, at := range ascending(slices.Clone(novelty), nil) {
		b.State.Bars = append(b.State.Bars, Bar{At: at})
	}
	return b
}

// add adds a turn that is no document.
func (b *Beyond) add(t *Turn) {
	b.All.add(t)
	b.Provenance[slices.Index(provenances[:], t.Observed)].add(t)
	if t.Instructed {
		b.Instructed.add(t)
	}
	if t.Perturbed {
		b.Perturbed.add(t)
	}
	if !t.Decided {
		return
	}
	if t.Judged {
		b.Judged.add(t)
	}
	if t.Leaked {
		b.Leaked.add(t)
	}
	if !t.Measured {
		b.Unmeasured++
		return
	}
	b.Measured++
	u := &b.Unseen[position(t.Index)]
	u.Turns++
	u.Words += t.ObservationWords
	u.Unseen += t.Unseen
	u.Shares.Add(t.Unseen, t.ObservationWords)
	if t.HasState {
		b.State.add(t)
	}
}

func (s *State) add(t *Turn) {
	alone, both := t.ObservationWords-t.SharedWords, t.ObservationWords-t.StateShared
	s.Turns++
	s.Action.Add(alone, t.ObservationWords)
	s.Both.Add(both, t.ObservationWords)
	if t.ObservationWords == 0 {
		return // below no bar, and above none
	}
	for i := range s.Bars {
		bar := &s.Bars[i]
		if order(uint64(alone), uint64(t.ObservationWords), bar.At) < 0 {
			bar.Action++
		}
		if order(uint64(both), uint64(t.ObservationWords), bar.At) < 0 {
			bar.Both++
		}
	}
}
