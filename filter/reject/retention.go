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
	return tenths(r.Kept, r.Candidates), true
}

// tenths returns a share in tenths of a percent, rounded half up. of is not 0.
func tenths(n, of int64) int64 { return (n*2000 + of) / (2 * of) }

// domains returns the domains with queries: the seven in the report's order, then others by name.
func (a Accounts) domains() []turnmill.Domain {
	known := turnmill.Domains()
	order := slices.DeleteFunc(slices.Clone(known), func(d turnmill.Domain) bool { return a[d] == nil })
	for _, d := range slices.Sorted(maps.Keys(a)) {
		if !slices.Contains(known, d) {
			order = append(order, d)
		}
	}
	return order
}

// Retention returns Table 4: a row for each domain with queries, then the total.
func (a Accounts) Retention() []Retention {
	total := Retention{Domain: Total}
	var rows []Retention
	for _, d := range a.domains() {
		row := Retention{Domain: d, Candidates: a[d].Candidates, Kept: a[d].Selected}
		total.Candidates += row.Candidates
		total.Kept += row.Kept
		rows = append(rows, row)
	}
	return append(rows, total)
}

// WriteRetention writes the table as text, numbers aligned to the right.
func WriteRetention(w io.Writer, rows []Retention) error {
	text := [][]string{{"domain", "candidates", "kept", "share"}}
	for _, r := range rows {
		share := "-"
		if n, ok := r.Share(); ok {
			share = percent(n)
		}
		text = append(text, []string{string(r.Domain), grouped(r.Candidates), grouped(r.Kept), share})
	}
	return writeTable(w, text)
}

// writeTable writes rows of cells, the first column to the left and the others to the right.
func writeTable(w io.Writer, rows [][]string) error {
	widths := make([]int, len(rows[0]))
	for _, row := range rows {
		for i, cell := range row {
			widths[i] = max(widths[i], len(cell))
		}
	}
	var text strings.Builder
	for _, row := range rows {
		fmt.Fprintf(&text, "%-*s", widths[0], row[0])
		for i, cell := range row[1:] {
			fmt.Fprintf(&text, "  %*s", widths[i+1], cell)
		}
		text.WriteByte('\n')
	}
	_, err := io.WriteString(w, text.String())
	return err
}

// percent writes tenths of a percent.
func percent(tenths int64) string { return fmt.Sprintf("%d.%d %%", tenths/10, tenths%10) }

// grouped writes a count with a comma every three digits.
func grouped(n int64) string {
	s := fmt.Sprint(n)
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return s
}
