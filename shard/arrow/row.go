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
	trained := 0
	for i, id := range ids {
		if id < 0 || int(id) >= vocabulary {
			return fmt.Errorf("token %d: id %d lies outside the vocabulary of %d", i, id, vocabulary)
		}
		switch labels[i] {
		case id:
			trained++
		case turnmill.IgnoreIndex:
		default:
			return fmt.Errorf("token %d: label %d is neither the id %d nor %d", i, labels[i], id, turnmill.IgnoreIndex)
		}
	}
	if trained == 0 {
		return fmt.Errorf("none of %d tokens is trained", len(ids))
	}
	if labels[0] != turnmill.IgnoreIndex {
		return fmt.Errorf("the first token is trained, and nothing stands before it to predict it from")
	}
	return checkWeights(row, p)
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
