package judge

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// dimensionOf returns the dimension that a key names, whatever its letter case.
func dimensionOf(key string) (Dimension, bool) {
	key = strings.TrimSpace(key)
	for d := range NumDimensions {
		if strings.EqualFold(key, dimensionNames[d]) {
			return Dimension(d), true
		}
	}
	return 0, false
}

// note remembers that a key stands in the object, whether or not its value is whole.
func (o *object) note(key string) {
	if _, ok := dimensionOf(key); ok {
		o.own.any = true
	} else if strings.EqualFold(strings.TrimSpace(key), "scores") {
		o.hasScores = true
	}
}

// put remembers the value of a key; in is the object that it is, else nil.
func (o *object) put(text, key string, v value, in *object) {
	if d, ok := dimensionOf(key); ok {
		if in != nil && in.score.kind != noValue {
			v = in.score // {"format": {"score": 4, "reason": "..."}}
		}
		old := o.own.values[d]
		o.own.twice[d] = o.own.twice[d] || old.kind != noValue && text[old.start:old.end] != text[v.start:v.end]
		o.own.values[d] = v
		return
	}
	switch strings.ToLower(strings.TrimSpace(key)) {
	case "scores":
		o.hasScores = in != nil
		if in != nil {
			o.replace(text, in.own)
		}
	case "score":
		o.score = v
	}
}

// replace takes the dimensions of an object under "scores"; of two such objects the last, and where they differ
// that is remembered.
func (o *object) replace(text string, dims dimensionValues) {
	for d := range NumDimensions {
		old, v := o.scores.values[d], dims.values[d]
		if old.kind != noValue && text[old.start:old.end] != text[v.start:v.end] {
			dims.twice[d] = true
		}
	}
	o.scores = dims
}

// grade reads one score. The state is Valid, or why there is none; word says what stands there.
func grade(text string, v value) (score uint8, state State, word string) {
	word = text[v.start:v.end]
	switch v.kind {
	case noValue:
		return 0, MissingDimension, "missing"
	case wordValue:
		if word == "null" || word == "None" {
			return 0, MissingDimension, word
		}
		return 0, Unparsable, word
	case objectValue, arrayValue:
		return 0, Unparsable, "not a number"
	}
	n, per, ok := fraction(word)
	switch {
	case !ok || math.IsNaN(n) || math.IsInf(n, 0):
		return 0, Unparsable, word
	case per != 0 && per != Best || n != math.Trunc(n) || n < Worst || n > Best:
		return 0, OutOfRange, word
	}
	return uint8(n), Valid, word
}

// fraction reads "4", "4.0" or "4/5"; per is 0 without a slash.
func fraction(word string) (n, per float64, ok bool) {
	above, below, slash := strings.Cut(strings.TrimSpace(word), "/")
	above, below = strings.TrimSpace(above), strings.TrimSpace(below)
	if !isNumber(above) || slash && !isNumber(below) {
		return 0, 0, false
	}
	n, _ = strconv.ParseFloat(above, 64) // an overflow is Inf, which is no score
	if slash {
		if per, _ = strconv.ParseFloat(below, 64); per == 0 {
			return 0, 0, false
		}
	}
	return n, per, true
}

// judge turns the values of an object into a judgement. A fault of one dimension is a fault of all; of several
// kinds the one named first here is reported: unparsable, out_of_range, missing_dimension.
func (j *Judgement) judge(text string, dims *dimensionValues) {
	var scores Scores
	worst, rank := Valid, 0
	for d := range NumDimensions {
		score, state, word := grade(text, dims.values[d])
		if dims.twice[d] {
			state, word = Unparsable, "given twice, and not the same"
		}
		if r := faultRank(state); r > rank {
			worst, rank = state, r
			j.Detail = fmt.Sprintf("%s is %s", Dimension(d), clip(word))
		}
		scores[d] = score
	}
	if j.State = worst; worst == Valid {
		j.Scores = scores
	}
}

// faultRank orders faults of dimensions.
func faultRank(s State) int {
	switch s {
	case Unparsable:
		return 3
	case OutOfRange:
		return 2
	case MissingDimension:
		return 1
	}
	return 0
}

// judgeCompat does the arithmetic of the released evaluator: what reads as a number is rounded, half to even,
// and clamped to 1 to 5; what does not is 0 and left out of the mean. Without any score it is unparsable.
func (j *Judgement) judgeCompat(text string, dims *dimensionValues) {
	for d := range NumDimensions {
		v := dims.values[d]
		var n float64
		ok := false
		if v.kind == numberValue || v.kind == stringValue {
			n, _, ok = fraction(text[v.start:v.end])
		}
		if !ok || math.IsNaN(n) || math.IsInf(n, 0) {
			j.Missing++
			continue
		}
		whole := math.RoundToEven(n)
		inside := min(max(whole, Worst), Best)
		if whole != n {
			j.Rounded++
		}
		if inside != whole {
			j.Clamped++
		}
		j.Scores[d] = uint8(inside)
	}
	if j.State = Valid; j.Missing == NumDimensions {
		j.State, j.Detail = Unparsable, "no dimension has a number"
	}
}

// clip shortens what is quoted from an answer.
func clip(word string) string {
	const most = 40
	if len(word) <= most {
		return word
	}
	return strings.ToValidUTF8(word[:most], "") + "…"
}
