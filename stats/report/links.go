package report

import (
	"html/template"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

// linkedCount is a number with the examples of what it counts; To is "" where a number has none.
type linkedCount struct {
	Name, To string
	N        int64
}

// unlisted is where numbers lead that have no example in this page: to the commands that list what they count.
const unlisted = "#no-examples"

// Examples returns the link to the examples of what a group has, or "".
func (g group) Examples(what string) string {
	if g.Of == "" { // the whole has those of its first domain
		return g.v.inDomains("domain", what)
	}
	return g.v.anchors[figures.Kind{Of: g.Of, Name: g.Name, What: what}]
}

// Set returns the link to all examples of a group; of one of documents, which the mask does not decide about, there are
// none.
func (g group) Set() string {
	if g.Of == "" && len(g.v.Sets) > 0 {
		return "#examples"
	}
	return orUnlisted(g.v.sets[g.ID])
}

// inDomains returns the link to what the first domain with examples of it has.
func (v *view) inDomains(of, what string) string {
	if to := v.anchors[figures.Kind{Of: of, What: what}]; to != "" { // of no domain
		return to
	}
	for _, name := range v.domains() {
		if to := v.anchors[figures.Kind{Of: of, Name: name, What: what}]; to != "" {
			return to
		}
	}
	return ""
}

// domains returns the names of all domains, those with figures first.
func (v *view) domains() []string {
	var all []string
	seen := map[string]bool{}
	add := func(name string) {
		if !seen[name] {
			seen[name] = true
			all = append(all, name)
		}
	}
	for _, g := range v.Figures.Dims[figures.Domain].All() {
		add(g.Name)
	}
	for i := range v.Accounts {
		if i > 0 { // the first is the whole
			add(v.Accounts[i].Name)
		}
	}
	for i := range v.Records {
		add(v.Records[i].Domain)
	}
	return all
}

// linked counts the turns of a category, or the repetitive ones.
func linked(g group, what string) linkedCount {
	l := linkedCount{Name: what, N: g.Other[figures.OtherRepetitive], To: g.Examples(what)}
	if c, ok := turnmill.ParseCategory(what); ok {
		l.N = g.Group.Categories[c].Turns
	}
	return l
}

// linkedReason is a count of a reason with its examples, which are kept by domain.
func linkedReason(g group, kind string, c Count) linkedCount {
	to := g.Examples(kind + c.Name)
	if to == "" {
		to = unlisted
	}
	return linkedCount{c.Name, to, c.N}
}

// ledger is an account as the template takes it.
type ledger struct {
	Name  string
	Lines []ledgerLine
}

type ledgerLine struct {
	What                       string
	In, Out, Dropped, Rejected linkedCount
	WhyDropped, WhyRejected    []linkedCount
}

// Ledgers returns the accounts with their links.
func (v *view) Ledgers() []ledger {
	var all []ledger
	for i := range v.Accounts {
		a := &v.Accounts[i]
		out := ledger{Name: a.Name}
		for k := range a.Lines {
			out.Lines = append(out.Lines, v.ledgerLine(a.Name, i == 0, &a.Lines[k]))
		}
		all = append(all, out)
	}
	return all
}

func (v *view) ledgerLine(domain string, whole bool, l *AccountLine) ledgerLine {
	kept := v.setOf(domain, whole)
	out := ledgerLine{What: l.What, In: linkedCount{N: l.In, To: kept}, Out: linkedCount{N: l.Out, To: kept},
		Dropped: linkedCount{N: l.AllDropped}, Rejected: linkedCount{N: l.AllRejected}}
	for _, c := range l.Dropped {
		out.WhyDropped = append(out.WhyDropped, linkedCount{c.Name, v.lost(domain, whole, l.What, "dropped", c.Name), c.N})
	}
	for _, c := range l.Rejected {
		out.WhyRejected = append(out.WhyRejected, linkedCount{c.Name, v.lost(domain, whole, l.What, "rejected", c.Name), c.N})
	}
	if len(out.WhyDropped) > 0 { // the sum has the examples of its largest part
		out.Dropped.To = out.WhyDropped[0].To
	}
	if len(out.WhyRejected) > 0 {
		out.Rejected.To = out.WhyRejected[0].To
	}
	return out
}

// setOf returns the link to all examples of a domain, or of the whole.
func (v *view) setOf(domain string, whole bool) string {
	if whole {
		return v.Whole.Set()
	}
	for _, s := range v.Sections[figures.Domain].Groups {
		if s.Name == domain {
			return s.Set()
		}
	}
	return unlisted
}

// lost returns the link to examples of what an account lost for a reason: of its records or trajectories, else of
// their turns. What the mask alone took from the loss are turns of a category.
func (v *view) lost(domain string, whole bool, account, status, reason string) string {
	find := func(of, what string) string {
		if whole {
			return v.inDomains(of, what)
		}
		return v.anchors[figures.Kind{Of: of, Name: domain, What: what}]
	}
	var to string
	switch account {
	case "records":
		to = find("record", status+": "+reason)
	case "trajectories":
		to = find("trajectory", status+": "+reason)
	case "loss tokens":
		for i := len(barOrder) - 1; i >= 0 && to == "" && reason == string(turnmill.ReasonMasked); i-- {
			to = find("domain", barOrder[i].String())
		}
	}
	if to == "" {
		to = find("domain", "dropped: "+reason)
	}
	if to == "" {
		to = unlisted
	}
	return to
}

// noteTable is a list of notes with its title.
type noteTable struct {
	Title string
	List  []linkedNote
}

type linkedNote struct {
	linkedCount
	Domains []linkedCount
}

// NoteTables returns repairs, notices and secrets with their links.
func (v *view) NoteTables() []noteTable {
	return []noteTable{
		{"Repairs: texts that differ from what was read", v.notes(v.Repairs)},
		{"Notices: what a rule of reading decided", v.notes(v.Notices)},
		{"Secrets: places by kind", v.notes(v.Secrets)},
	}
}

func (v *view) notes(list []Note) (all []linkedNote) {
	for _, n := range list {
		what := "note: " + n.Name
		out := linkedNote{linkedCount: linkedCount{n.Name, orUnlisted(v.inDomains("note", what)), n.N}}
		for _, d := range n.Domains {
			out.Domains = append(out.Domains, linkedCount{d.Name, orUnlisted(v.anchors[figures.Kind{Of: "note", Name: d.Name, What: what}]), d.N})
		}
		all = append(all, out)
	}
	return all
}

func orUnlisted(to string) string {
	if to == "" {
		return unlisted
	}
	return to
}

// recordSet is the examples of one kind of record.
type recordSet struct {
	ID, Title string
	Shown     []*shownRecord
	Also      []int
}

type shownRecord struct {
	*RecordExample
	Number int
	amount amount
}

// chooseRecords picks the records that are shown: of what was lost, then of what was mended.
func (v *view) chooseRecords(a amount) {
	v.Lost = nil
	numbers := map[int]int{}
	for _, k := range v.recordKinds() {
		s := recordSet{ID: "ex-record-" + strconv.Itoa(len(v.Lost)+1), Title: recordTitle(k)}
		for n, i := range v.RecordKinds[k] {
			if n == a.others {
				break
			}
			if numbers[i] > 0 {
				s.Also = append(s.Also, numbers[i])
				continue
			}
			numbers[i] = len(numbers) + 1
			s.Shown = append(s.Shown, &shownRecord{&v.Records[i], numbers[i], a})
		}
		if len(s.Shown)+len(s.Also) > 0 {
			v.anchors[k] = "#" + s.ID
			v.Lost = append(v.Lost, s)
		}
	}
}

// recordTitle is a kind of records for people.
func recordTitle(k figures.Kind) string {
	name := k.Name
	if name == "" {
		name = "of no domain"
	}
	if k.Of == "note" {
		return strings.TrimPrefix(k.What, "note: ") + ", " + name
	}
	return map[string]string{"record": "records ", "trajectory": "trajectories "}[k.Of] + k.What + ", " + name
}

// Excerpt is what is shown of the record.
func (r *shownRecord) Excerpt() template.HTML {
	head, tail, skipped := r.Head, r.Tail, r.Skipped
	if n := runesBytes(head, r.amount.head); n < len(head) {
		skipped += len(head) - n + len(tail)
		head, tail = head[:n], ""
	}
	text := template.HTMLEscapeString(visible(head))
	if skipped > 0 {
		text += `<span class="cut"> … ` + Thousands(int64(skipped)) + ` bytes … </span>`
	}
	return template.HTML(text + template.HTMLEscapeString(visible(tail)))
}

// Why is the detail, cut where it is long.
func (r *shownRecord) Why() string {
	if n := runesBytes(r.Detail, r.amount.head); n < len(r.Detail) {
		return r.Detail[:n] + " …"
	}
	return r.Detail
}

// runesBytes returns where the first n code points of a text end.
func runesBytes(text string, n int) int {
	for i := range text {
		if n == 0 {
			return i
		}
		n--
	}
	return len(text)
}
