package pipelines

import (
	"bytes"
	"crypto/sha256"
	"slices"
	"strconv"

	"github.com/turnmill/turnmill"
)

// picker draws the turns of a trajectory that are asked for. A turn's number is the SHA-256 of
//
//	"target" 0x00 seed 0x00 id 0x00 index     index in decimal, as in the source
//
// and the turns with the least numbers are taken, in the order of the trajectory. So a turn that is added or
// filtered elsewhere changes no other turn's number, and --targets 2 asks what --targets 1 asks and one more.
// Which turns may be asked for the filters say: neither dialogue nor what stays context. Report, section 3.1.2.
type picker struct {
	seed string
	want targets
	left []ranked
	out  []int
}

type ranked struct {
	at   int
	rank [sha256.Size]byte
}

// pick returns positions in t.Turns, ascending; they are valid until the next call.
func (p *picker) pick(t *turnmill.Trajectory, verdicts []turnmill.Verdict) []int {
	p.left, p.out = p.left[:0], p.out[:0]
	for i := range verdicts {
		if verdicts[i].Status == turnmill.StatusTarget {
			p.left = append(p.left, ranked{at: i})
		}
	}
	n := p.want.n
	if p.want.eval { // first, last, and three from between without replacement; section 4.1
		n = 3
		for len(p.left) > 0 && len(p.out) < 2 {
			end := 0
			if len(p.out) == 1 {
				end = len(p.left) - 1
			}
			p.out = append(p.out, p.left[end].at)
			p.left = slices.Delete(p.left, end, end+1)
		}
	}
	if n > 0 && len(p.left) > n {
		for i := range p.left {
			p.left[i].rank = drawTarget(p.seed, t.ID, t.Turns[p.left[i].at].Index)
		}
		slices.SortFunc(p.left, func(a, b ranked) int { return bytes.Compare(a.rank[:], b.rank[:]) })
		p.left = p.left[:n]
	}
	for _, r := range p.left {
		p.out = append(p.out, r.at)
	}
	slices.Sort(p.out)
	return p.out
}

func drawTarget(seed, id string, index int) [sha256.Size]byte {
	return sha256.Sum256([]byte("target\x00" + seed + "\x00" + id + "\x00" + strconv.Itoa(index)))
}

// queryID names the query of a turn.
func queryID(t *turnmill.Trajectory, at int) string {
	return t.ID + "@" + strconv.Itoa(t.Turns[at].Index)
}
