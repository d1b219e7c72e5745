package stats

import (
	"cmp"
	"encoding/json"
	"fmt"
	"io"
	"maps"
	"slices"
	"strings"
	"text/tabwriter"

	"github.com/turnmill/turnmill"
)

// mostSources bounds how many sources are told apart: their names come from the content.
const mostSources = 1000

// otherSources is the name under which those above mostSources are counted together.
const otherSources = "(others)"

// Sources counts what was lost by source, domain and reason. It is kept where it is asked for, by dry runs
// and the figures of an ingest; the turns table of a run holds the same turn by turn. Make one with
// NewSources.
type Sources struct {
	lost  map[lossKey]*Loss
	names map[string]bool
}

// Loss is one line of Sources: trajectories that were lost for the reason, and turns, those of such
// trajectories included.
type Loss struct {
	Source       string          `json:"source"`
	Domain       turnmill.Domain `json:"domain"`
	Reason       turnmill.Reason `json:"reason"`
	Trajectories int64           `json:"trajectories"`
	Turns        int64           `json:"turns"`
}

type lossKey struct {
	source string
	domain turnmill.Domain
	reason turnmill.Reason
}

// NewSources returns empty sources.
func NewSources() *Sources { return &Sources{map[lossKey]*Loss{}, map[string]bool{}} }

func (s *Sources) reset() {
	clear(s.lost)
	clear(s.names)
}

// Lose counts what a source lost. A nil Sources counts nothing.
func (s *Sources) Lose(source string, d turnmill.Domain, reason turnmill.Reason, trajectories, turns int64) {
	if s == nil {
		return
	}
	if !s.names[source] {
		if len(s.names) >= mostSources {
			source = otherSources
		} else {
			source = strings.Clone(source) // it may lie in a record's memory
			s.names[source] = true
		}
	}
	k := lossKey{source, d, reason}
	l := s.lost[k]
	if l == nil {
		k.source, k.domain = strings.Clone(source), own(d)
		l = &Loss{Source: k.source, Domain: k.domain, Reason: reason}
		s.lost[k] = l
	}
	l.Trajectories += trajectories
	l.Turns += turns
}

// Add adds o to s.
func (s *Sources) Add(o *Sources) {
	for _, l := range o.Losses() {
		s.Lose(l.Source, l.Domain, l.Reason, l.Trajectories, l.Turns)
	}
}

// Losses returns the lines by source, domain and reason. A nil Sources has none.
func (s *Sources) Losses() []Loss {
	all := []Loss{}
	if s == nil {
		return all
	}
	for _, l := range s.lost {
		all = append(all, *l)
	}
	slices.SortFunc(all, func(a, b Loss) int {
		return cmp.Or(strings.Compare(a.Source, b.Source), strings.Compare(string(a.Domain), string(b.Domain)), strings.Compare(string(a.Reason), string(b.Reason)))
	})
	return all
}

// WriteSources writes the lines as a table, after a blank line, where there are any.
func WriteSources(w io.Writer, s *Sources) error {
	losses := s.Losses()
	if len(losses) == 0 {
		return nil
	}
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	fmt.Fprintln(t, "\nlost by source\tdomain\treason\ttrajectories\tturns\t")
	for _, l := range losses {
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t\n", cell(l.Source), cell(string(l.Domain)), l.Reason, Thousands(l.Trajectories), Thousands(l.Turns))
	}
	return t.Flush()
}

// cell is a text from the content as one cell of a table.
func cell(text string) string {
	if text == "" {
		return "-"
	}
	return strings.NewReplacer("\t", " ", "\n", " ", "\r", " ", "\v", " ", "\f", " ").Replace(text)
}

// FormatCounts are the figures of an ingest: what each format gave, and what a run's filters would refuse of
// it.
type FormatCounts map[string]*FormatCount

// FormatCount is what the records of one format were.
type FormatCount struct {
	Counts *Counts
	States map[turnmill.Domain]int64 // turns that have a state of their own
}

// Of returns the count of a format.
func (f FormatCounts) Of(format string) *FormatCount {
	if format == "" {
		format = string(turnmill.DomainUnknown)
	}
	c := f[format]
	if c == nil {
		c = &FormatCount{NewCounts(), map[turnmill.Domain]int64{}}
		c.Counts.Sources = NewSources()
		f[format] = c
	}
	return c
}

// AddState counts the turns of a domain that have a state.
func (c *FormatCount) AddState(d turnmill.Domain, n int64) {
	if n > 0 {
		c.States[own(d)] += n
	}
}

// formatLine is one line of the figures: a format's records of one domain, or those that no domain is known
// for ("unread").
type formatLine struct {
	Format       string           `json:"format"`
	Domain       string           `json:"domain"`
	Records      Account          `json:"records"`
	Trajectories Account          `json:"trajectories"`
	Turns        Account          `json:"turns"`
	States       int64            `json:"states"`
	Repairs      map[string]int64 `json:"repairs"`
	Notices      map[string]int64 `json:"notices"`
}

// lines returns the figures, formats by name, domains in their usual order.
func (f FormatCounts) lines() (all []formatLine) {
	for _, format := range slices.Sorted(maps.Keys(f)) {
		c := f[format]
		add := func(domain string, d turnmill.Domain, l *Ledger) {
			line := formatLine{format, domain, l.Records, l.Trajectories, l.Turns, c.States[d], c.Counts.Repairs[d], c.Counts.Notices[d]}
			for _, a := range []*Account{&line.Records, &line.Trajectories, &line.Turns} {
				a.Dropped, a.Rejected = known(a.Dropped), known(a.Rejected)
			}
			line.Repairs, line.Notices = known(line.Repairs), known(line.Notices)
			all = append(all, line)
		}
		for _, d := range c.Counts.DomainOrder() {
			add(string(d), d, c.Counts.Ledger.Domains[d])
		}
		if l := c.Counts.undecoded(); l.Records.In > 0 || len(c.Counts.Notices[InputNotes])+len(c.Counts.Repairs[InputNotes]) > 0 {
			maps.DeleteFunc(l.Records.Rejected, func(_ turnmill.Reason, n int64) bool { return n == 0 })
			add("unread", InputNotes, l)
		}
	}
	return all
}

// known returns an empty map for none, so that JSON has an object.
func known[K comparable](m map[K]int64) map[K]int64 {
	if m == nil {
		return map[K]int64{}
	}
	return m
}

// sources returns what all formats lost by source.
func (f FormatCounts) sources() *Sources {
	all := NewSources()
	for _, format := range slices.Sorted(maps.Keys(f)) {
		all.Add(f[format].Counts.Sources)
	}
	return all
}

// MarshalJSON writes the figures as one object: formats, an entry each format and domain, and sources, as in
// Losses.
func (f FormatCounts) MarshalJSON() ([]byte, error) {
	out := struct {
		Formats []formatLine `json:"formats"`
		Sources []Loss       `json:"sources"`
	}{f.lines(), f.sources().Losses()}
	if out.Formats == nil {
		out.Formats = []formatLine{}
	}
	return json.Marshal(out)
}

// WriteTable writes the figures as tables: a line a format and domain, then what is lost by reason, then by
// source, then what was mended and noticed.
func (f FormatCounts) WriteTable(w io.Writer) error {
	t := tabwriter.NewWriter(w, 0, 4, 2, ' ', tabwriter.AlignRight)
	lines := f.lines()
	fmt.Fprintln(t, "format\tdomain\trecords\tout\tdropped\trejected\ttrajectories\tturns\tstates\t")
	for _, l := range lines {
		if l.Records.In == 0 { // there for its notes alone, which stand below
			continue
		}
		fmt.Fprintf(t, "%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t%s\t\n", l.Format, cell(l.Domain), Thousands(l.Records.In), Thousands(l.Records.Out), Thousands(l.Records.AllDropped()),
			Thousands(l.Records.AllRejected()), Thousands(l.Trajectories.In), Thousands(l.Turns.In), Thousands(l.States))
	}
	if err := t.Flush(); err != nil {
		return err
	}
	title := "\nlost by format\tdomain\treason\trecords\ttrajectories\tturns\t\n"
	for i := range lines {
		l := &lines[i]
		for _, r := range l.reasons() {
			fmt.Fprintf(t, "%s%s\t%s\t%s\t%s\t%s\t%s\t\n", title, l.Format, cell(l.Domain), r, Thousands(l.Records.lost(r)), Thousands(l.Trajectories.lost(r)), Thousands(l.Turns.lost(r)))
			title = ""
		}
	}
	if err := t.Flush(); err != nil {
		return err
	}
	if err := WriteSources(w, f.sources()); err != nil {
		return err
	}
	all, notes := NewCounts(), &tableWriter{w: w}
	for _, c := range f {
		all.Add(c.Counts)
	}
	notes.notes("repairs", all.Repairs)
	notes.notes("notices", all.Notices)
	return notes.err
}

// reasons returns why anything of a line was lost, by name.
func (l *formatLine) reasons() []turnmill.Reason {
	all := map[turnmill.Reason]bool{}
	for _, a := range []*Account{&l.Records, &l.Trajectories, &l.Turns} {
		for r := range a.Dropped {
			all[r] = true
		}
		for r := range a.Rejected {
			all[r] = true
		}
	}
	return slices.Sorted(maps.Keys(all))
}

// lost is what an account lost for a reason, dropped or rejected.
func (a *Account) lost(r turnmill.Reason) int64 { return a.Dropped[r] + a.Rejected[r] }
