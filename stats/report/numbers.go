package report

import (
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
)

// spoken lists shares for who does not see the bar.
func spoken(shares [turnmill.NumCategories]float64) string {
	var parts []string
	for _, c := range barOrder {
		if shares[c] > 0 {
			parts = append(parts, c.String()+" "+percent(shares[c]))
		}
	}
	if len(parts) == 0 {
		return "no turns"
	}
	return strings.Join(parts, ", ")
}

func counts(m map[string]int64) []Count {
	var out []Count
	for name, n := range m {
		out = append(out, Count{name, n})
	}
	slices.SortFunc(out, func(a, b Count) int {
		if a.N != b.N {
			return int(b.N - a.N)
		}
		return strings.Compare(a.Name, b.Name)
	})
	return out
}

func ratio(n, of int64) float64 {
	if of == 0 {
		return 0
	}
	return float64(n) / float64(of)
}

// percent writes a share for people: one decimal, two where it is small.
func percent(x float64) string {
	switch p := 100 * x; {
	case math.IsNaN(p):
		return "-"
	case p == 0:
		return "0%"
	case p < 0.01:
		return "<0.01%"
	case p < 1:
		return strconv.FormatFloat(p, 'f', 2, 64) + "%"
	case p > 99.9 && p < 100:
		return ">99.9%"
	default:
		return strings.TrimSuffix(strconv.FormatFloat(p, 'f', 1, 64), ".0") + "%"
	}
}

// figure writes a number with three digits.
func figure(x float64) string {
	if math.IsNaN(x) {
		return "-"
	}
	return strconv.FormatFloat(x, 'g', 3, 64)
}

// Thousands writes n with a comma between each three digits.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	from := 0
	if n < 0 {
		from = 1
	}
	for i := len(s) - 3; i > from; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}

// counted writes a number and what it is a number of.
func counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}
