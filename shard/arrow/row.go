package arrow

import (
	"fmt"
	"math"

	"github.com/turnmill/turnmill"
)

// CheckRow returns what makes a row unfit for training, or nil. ids must lie below vocabulary, labels be
// the id or IgnoreIndex, the first token must not be trained (nothing predicts it) and some token must
// be (a row without loss gives NaN). Profile weighted wants one weight a token: in [0, 1], and 0 where
// there is no loss; the others have no column for weights and refuse them.
func CheckRow(row *turnmill.Row, p Profile, vocabulary int) error {
	ids, labels := row.IDs, row.Labels
	if len(ids) != len(labels) {
		return fmt.Errorf("%d ids and %d labels", len(ids), len(labels))
	}
	trained, ok := countTrained(ids, labels, int32(max(-1, min(vocabulary-1, math.MaxInt32))))
	if !ok {
		return badToken(ids, labels, vocabulary)
	}
	if trained == 0 {
		return fmt.Errorf("none of %d tokens is trained", len(ids))
	}
	if labels[0] != turnmill.IgnoreIndex {
		return fmt.Errorf("the first token is trained, and nothing stands before it to predict it from")
	}
	return checkWeights(row, p)
}

// checkBlock is how many tokens are looked at together: labels are mostly all ids or none for as long.
const checkBlock = 64

// countTrained counts the labels that are ids. It is not ok when an id lies outside 0 to last, or a label is
// neither the id nor IgnoreIndex.
func countTrained(ids, labels []int32, last int32) (trained int, ok bool) {
	outside := int32(0) // negative when an id was outside
	for ; len(ids) >= checkBlock && len(labels) >= checkBlock; ids, labels = ids[checkBlock:], labels[checkBlock:] {
		block := (*[checkBlock]int32)(ids)
		for i := 0; i < checkBlock; i += 4 {
			a, b, c, d := block[i], block[i+1], block[i+2], block[i+3]
			outside |= a | b | c | d | (last - a) | (last - b) | (last - c) | (last - d)
		}
		switch {
		case *block == *(*[checkBlock]int32)(labels):
			trained += checkBlock
		case labels[0] == turnmill.IgnoreIndex && *(*[checkBlock - 1]int32)(labels) == *(*[checkBlock - 1]int32)(labels[1:]):
		default:
			n, ok := countEach(ids[:checkBlock], labels[:checkBlock])
			if !ok {
				return 0, false
			}
			trained += n
		}
	}
	for _, id := range ids {
		outside |= id | (last - id)
	}
	n, ok := countEach(ids, labels)
	return trained + n, ok && outside >= 0
}

func countEach(ids, labels []int32) (trained int, ok bool) {
	for i, id := range ids {
		switch labels[i] {
		case id:
			trained++
		case turnmill.IgnoreIndex:
		default:
			return 0, false
		}
	}
	return trained, true
}

// badToken returns what is wrong with the first token that countTrained refuses.
func badToken(ids, labels []int32, vocabulary int) error {
	for i, id := range ids {
		if id < 0 || int(id) >= vocabulary {
			return fmt.Errorf("token %d: id %d lies outside the vocabulary of %d", i, id, vocabulary)
		}
		if labels[i] != id && labels[i] != turnmill.IgnoreIndex {
			return fmt.Errorf("token %d: label %d is neither the id %d nor %d", i, labels[i], id, turnmill.IgnoreIndex)
		}
	}
	return nil
}

func checkWeights(row *turnmill.Row, p Profile) error {
	weights := row.Weights
	if p != ProfileWeighted {
		if len(weights) != 0 {
			return fmt.Errorf("profile %s has no column for weights; try profile %s", p, ProfileWeighted)
		}
		return nil
	}
	if len(weights) != len(row.IDs) {
		return fmt.Errorf("%d ids and %d weights", len(row.IDs), len(weights))
	}
	for i, w := range weights {
		// The comparison is written so that NaN fails it. Minus zero is a second spelling of zero.
		if !(w >= 0 && w <= 1) || (w == 0 && math.Signbit(float64(w))) {
			return fmt.Errorf("token %d: weight %v is not in [0, 1]", i, w)
		}
		if w != 0 && row.Labels[i] == turnmill.IgnoreIndex {
			return fmt.Errorf("token %d: weight %v on a token without loss", i, w)
		}
	}
	return nil
}
