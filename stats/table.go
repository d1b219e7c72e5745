package stats

import (
	"cmp"
	"fmt"
	"io"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
)

// Forms of the lines of the two tables: 80 columns hold a billion turns and 10^12 loss tokens. A larger
// number shifts its line, a domain's name of more than 10 letters all lines; nothing is cut.
const (
	recordRow = "%-*s %16s %16s %16s %16s\n"
	tokenRow  = "%-*s %12s %12s %17s %17s %6s\n"
	lineWidth = 80
)

// WriteTable writes the counts for a terminal of 80 columns: a line a domain for records and one for turns
// and loss tokens, then why things were lost, then what was mended and noticed. The accounts of the whole
// stand last; a domain's start at decoding.
func WriteTable(w io.Writer, c *Counts) error {
	t := &tableWriter{w: w}
	type line struct {
		name string
		*Ledger
	}
	var lines []line
	for _, d := range c.DomainOrder() {
		lines = append(lines, line{string(d), c.Ledger.Domains[d]})
	}
	if undecoded := c.undecoded(); undecoded.Records.In > 0 {
		lines = append(lines, line{"unread", undecoded})
	}
	lines = append(lines, line{"total", c.Ledger.Total})
	width := 10
	for _, l := range lines {
		width = max(width, len(l.name))
	}
	t.printf(recordRow, width, "domain", "records", "out", "dropped", "rejected")
	for _, l := range lines {
		r := &l.Records
		t.printf(recordRow, width, l.name, Thousands(r.In), Thousands(r.Out), Thousands(r.AllDropped()), Thousands(r.AllRejected()))
	}
	if c.Ledger.Total.Queries != nil {
		t.printf("\n"+recordRow, width, "domain", "queries", "out", "dropped", "rejected")
		for _, l := range lines {
			if q := l.Queries; q != nil {
				t.printf(recordRow, width, l.name, Thousands(q.In), Thousands(q.Out), Thousands(q.AllDropped()), Thousands(q.AllRejected()))
			}
		}
	}
	if c.Ledger.Total.Turns.In == 0 || c.Ledger.Total.LossTokens.In == 0 && c.Tokens.Rows == 0 {
		t.turnsOnly(width, c)
		t.lists(c)
		return t.err
	}
	t.printf("\n"+tokenRow, width, "domain", "turns", "out", "loss tokens", "trained", "share")
	for _, l := range lines {
		if l.Turns.In == 0 && l.name != "total" {
			continue
		}
		t.printf(tokenRow, width, l.name, Thousands(l.Turns.In), Thousands(l.Turns.Out),
			Thousands(l.LossTokens.In), Thousands(l.LossTokens.Out), share(&l.LossTokens))
	}
	t.lists(c)
	return t.err
}

// undecoded is what belongs to no domain: records that were rejected before they were decoded.
func (c *Counts) undecoded() *Ledger {
	l := &Ledger{Records: Account{In: c.Ledger.Total.Records.In, Rejected: maps.Clone(c.Ledger.Total.Records.Rejected)}}
	for _, d := range c.Ledger.Domains {
		l.Records.In -= d.Records.In
		for reason, n := range d.Records.Rejected {
			l.Records.Rejected[reason] -= n
		}
	}
	return l
}

// turnsOnly writes the second table where nothing was encoded.
func (t *tableWriter) turnsOnly(width int, c *Counts) {
	if c.Ledger.Total.Turns.In == 0 {
		return
	}
	t.printf("\n%-*s %12s %12s\n", width, "domain", "turns", "out")
	for _, d := range c.DomainOrder() {
		l := c.Ledger.Domains[d]
		t.printf("%-*s %12s %12s\n", width, string(d), Thousands(l.Turns.In), Thousands(l.Turns.Out))
	}
	t.printf("%-*s %12s %12s\n", width, "total", Thousands(c.Ledger.Total.Turns.In), Thousands(c.Ledger.Total.Turns.Out))
}

// share is what of the loss tokens is left, in percent; those of copies count on both sides.
func share(a *Account) string {
	all := a.In + a.Repeated
	if all == 0 {
		return "-"
	}
	return strconv.FormatFloat(100*float64(a.Out)/float64(all), 'f', 1, 64) + "%"
}

type tableWriter struct {
	w   io.Writer
	err error
}

func (t *tableWriter) printf(format string, args ...any) {
	if t.err == nil {
		_, t.err = fmt.Fprintf(t.w, format, args...)
	}
}

// lists writes reasons and notes, each the most frequent first.
func (t *tableWriter) lists(c *Counts) {
	l, q := c.Ledger.Total, c.Ledger.Total.Queries
	if q == nil {
		q = &Account{}
	}
	t.reasons("dropped", []named{{"records", l.Records.Dropped}, {"trajectories", l.Trajectories.Dropped}, {"queries", q.Dropped},
		{"turns", l.Turns.Dropped}, {"loss tokens", l.LossTokens.Dropped}})
	t.reasons("rejected", []named{{"records", l.Records.Rejected}, {"trajectories", l.Trajectories.Rejected}, {"queries", q.Rejected},
		{"turns", l.Turns.Rejected}, {"loss tokens", l.LossTokens.Rejected}})
	t.repeated(l)
	t.notes("repairs", c.Repairs)
	t.notes("notices", c.Notices)
	t.notes("secrets", c.Secrets)
}

// repeated writes how many copies there are, which came in once and are out more than once.
func (t *tableWriter) repeated(l *Ledger) {
	if l.Records.Repeated == 0 {
		return
	}
	var items []string
	for _, a := range []struct {
		name string
		n    int64
	}{{"records", l.Records.Repeated}, {"trajectories", l.Trajectories.Repeated}, {"turns", l.Turns.Repeated}, {"loss tokens", l.LossTokens.Repeated}} {
		items = append(items, a.name+" "+Thousands(a.n))
	}
	t.list("repeated", "", items)
}

type named struct {
	name  string
	count map[turnmill.Reason]int64
}

// reasons writes the accounts that have any, below one title.
func (t *tableWriter) reasons(title string, accounts []named) {
	for _, a := range accounts {
		if len(a.count) > 0 {
			t.list(title, a.name, byCount(a.count))
			title = ""
		}
	}
}

// notes writes the notes of all domains together.
func (t *tableWriter) notes(title string, notes map[turnmill.Domain]map[string]int64) {
	all := map[string]int64{}
	for _, names := range notes {
		for name, n := range names {
			all[name] += n
		}
	}
	if len(all) > 0 {
		t.list(title, "", byCount(all))
	}
}

// list writes items behind a title and the name of an account, wrapped, after a blank line if it has a
// title.
func (t *tableWriter) list(title, name string, items []string) {
	if title != "" {
		t.printf("\n")
	}
	line := fmt.Sprintf("%-10s %-12s", title, name)
	if name == "" {
		line = fmt.Sprintf("%-10s", title)
	}
	indent := strings.Repeat(" ", len(line))
	for i, item := range items {
		if i < len(items)-1 {
			item += ","
		}
		if i > 0 && len(line)+1+len(item) > lineWidth {
			t.printf("%s\n", line)
			line = indent
		}
		line += " " + item
	}
	t.printf("%s\n", line)
}

// Reasons writes counted reasons, the most frequent first.
func Reasons(m map[turnmill.Reason]int64) string { return strings.Join(byCount(m), ", ") }

func byCount[K ~string](m map[K]int64) []string {
	keys := slices.SortedFunc(maps.Keys(m), func(a, b K) int {
		return cmp.Or(cmp.Compare(m[b], m[a]), strings.Compare(string(a), string(b)))
	})
	out := make([]string, len(keys))
	for i, k := range keys {
		out[i] = fmt.Sprintf("%s %s", k, Thousands(m[k]))
	}
	return out
}

// DomainOrder returns the domains that occur: the report's seven first, the others by name.
func (c *Counts) DomainOrder() []turnmill.Domain {
	rank := func(d turnmill.Domain) int {
		if i := slices.Index(turnmill.Domains(), d); i >= 0 {
			return i
		}
		return len(turnmill.Domains())
	}
	return slices.SortedFunc(maps.Keys(c.Ledger.Domains), func(a, b turnmill.Domain) int {
		return cmp.Or(cmp.Compare(rank(a), rank(b)), strings.Compare(string(a), string(b)))
	})
}

// Counted writes a number and what it is a number of: "1 row", "1,234 rows".
func Counted(n int64, one, many string) string {
	if n == 1 {
		return "1 " + one
	}
	return Thousands(n) + " " + many
}

// Thousands writes n with a comma between each three digits.
func Thousands(n int64) string {
	s := strconv.FormatInt(n, 10)
	sign := ""
	if n < 0 {
		sign, s = "-", s[1:]
	}
	for i := len(s) - 3; i > 0; i -= 3 {
		s = s[:i] + "," + s[i:]
	}
	return sign + s
}
