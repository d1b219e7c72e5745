package verify

import (
	"strconv"
	"strings"
)

// decimal returns a JSON number in a form that two spellings share if and only if their values are equal: 100,
// 1e2, 1.00E+2 give "1e2", and every zero "0". Nothing is rounded. An exponent of more than 16 characters keeps its
// spelling: then only the same spelling is the same number.
func decimal(s string) string {
	sign := ""
	digits, negative := strings.CutPrefix(s, "-")
	if negative {
		sign = "-"
	}
	exp := int64(0)
	if i := strings.IndexAny(digits, "eE"); i >= 0 {
		if strings.Trim(digits[:i], "0.") == "" {
			return "0"
		}
		power := strings.TrimPrefix(digits[i+1:], "+")
		if len(power) > 16 {
			return s
		}
		n, err := strconv.ParseInt(power, 10, 64)
		if err != nil {
			return s
		}
		exp, digits = n, digits[:i]
	}
	whole, fraction, _ := strings.Cut(digits, ".")
	exp -= int64(len(fraction))
	digits = strings.TrimLeft(whole+fraction, "0")
	short := strings.TrimRight(digits, "0")
	if short == "" {
		return "0"
	}
	exp += int64(len(digits) - len(short))
	return sign + short + "e" + strconv.FormatInt(exp, 10)
}
