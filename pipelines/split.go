package pipelines

import (
	"errors"
	"fmt"
	"math/big"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
)

// split is a part of the rows with a directory of its own.
type split uint8

const (
	train split = iota
	validation
)

// splitNames are the directories below OUT.
var splitNames = [...]string{train: "train", validation: "validation"}

// String returns the split's directory.
func (s split) String() string { return splitNames[s] }

// splitOf returns the split that a file below OUT belongs to.
func splitOf(path string) (split, bool) {
	for s, name := range splitNames {
		if strings.HasPrefix(path, name+"/") {
			return split(s), true
		}
	}
	return 0, false
}

// share is an exact share.
type share struct {
	ratio turnmill.Ratio
	text  string // in the least decimals
}

// parseShare reads a share in decimals: 0.05.
func parseShare(text string) (share, error) {
	return parseDecimals(text, errors.New("want a share from 0 to below 1 in decimals, as in 0.05"), -1)
}

// parseKeep reads a keep ratio in decimals, 1 among them.
func parseKeep(text string) (share, error) {
	return parseDecimals(text, errors.New("want a share from 0 to 1 in decimals, as in 0.1"), 0)
}

// parseDecimals reads a share whose order to 1 is at most most; want is the error of another.
func parseDecimals(text string, want error, most int) (share, error) {
	r, ok := new(big.Rat).SetString(text)
	if !ok || strings.Trim(text, "0123456789.") != "" || len(text) > 20 || r.Cmp(big.NewRat(1, 1)) > most {
		return share{}, want
	}
	if !r.Num().IsUint64() || !r.Denom().IsUint64() {
		return share{}, fmt.Errorf("%w, and no more than 18 of them", want)
	}
	digits, _ := r.FloatPrec()
	return share{turnmill.Ratio{Num: r.Num().Uint64(), Den: r.Denom().Uint64()}, r.FloatString(digits)}, nil
}

// splitter says which split a trajectory or document belongs to, by its id alone.
type splitter struct {
	share share
	seed  string
}

func (s *splitter) of(id string) split {
	if s.share.ratio.Num > 0 && mask.Keeps(mask.DrawValidation(s.seed, recordID(id)), s.share.ratio) {
		return validation
	}
	return train
}

// recordID returns an id without the suffix that numbers the further trajectories of a record, so that what
// comes from one record stays in one split.
func recordID(id string) string {
	i := strings.LastIndexByte(id, '#')
	if i < 0 {
		return id
	}
	if n, err := strconv.Atoi(id[i+1:]); err != nil || n < 2 || strconv.Itoa(n) != id[i+1:] {
		return id
	}
	return id[:i]
}
