package reject

import (
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
)

// Retention is one row of the report's Table 4: of the candidates of a domain, those kept.
type Retention struct {
	Domain     turnmill.Domain `json:"domain"` // "total" in the last row
	Candidates int64           `json:"candidates"`
	Kept       int64           `json:"kept"`
}

// Total names the row that sums the others.
const Total turnmill.Domain = "total"

// Share returns the share of candidates that were kept, in tenths of a percent, rounded half up; false
// without candidates.
func (r Retention) Share() (int64, bool) {
	if r.Candidates == 0 {
		return 0, false
	}
	return (r.Kept*2000 + r.Candidates) / (2 * r.Candidates), true
}

// Retention returns Table 4: the seven domains that have queries in the report's order, then others by name,
// then the total.
func (a Accounts) Retention() []Retention {
	known := turnmill.Domains()
	order := slices.DeleteFunc(slices.Clone(known), func(d turnmill.Domain) bool { return a[d] == nil })
	for _, d := range slices.Sorted(maps.Keys(a)) {
		if !slices.Contains(known, d) {
			order = append(order, d)
		}
	}
	total := Retention{Domain: Total}
	var rows []Retention
	for _, d := range order {
		row := Retention{Domain: d, Candidates: a[d].Candidates, Kept: a[d].Selected}
		total.Candidates += row.Candidates
		total.Kept += row.Kept
		rows = append(rows, row)
	}
	return append(rows, total)
}

// WriteRetention writes the table as text, numbers aligned to the right.
func WriteRetention(w io.Writer, rows []Retention) error {
	width := len("domain")
	for _, r := range rows {
		width = max(width, len(r.Domain))
	}
	var text strings.Builder
	fmt.Fprintf(&text, "%-*s %12s %12s %8s\n", width, "domain", "candidates", "kept", "share")
	for _, r := range rows {
		share := "-"
		if tenths, ok := r.Share(); ok {
			share = fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
		}
		fmt.Fprintf(&text, "%-*s %12s %12s %8s\n", width, r.Domain, grouped(r.Candidates), grouped(r.Kept), share)
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// grouped writes a count with a comma every three digits.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
