package report

import (
	"cmp"
	"html/template"
	"maps"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

// amount says how many examples are shown, and how much of their texts.
type amount struct {
	categories, others int // of a kind: of categories of a domain; of its borders and the like
	head, tail         int // code points of a text
}

// amounts are tried in their order until the page is small enough.
var amounts = [...]amount{
	{4, 2, 900, 300}, {3, 2, 600, 200}, {3, 1, 400, 150}, {3, 1, 250, 80}, {2, 1, 200, 60}, {2, 1, 120, 40}, {1, 1, 80, 20}, {1, 0, 60, 0}, {0, 0, 0, 0},
}

// exampleSet is the examples of one domain, source, agent or tool.
type exampleSet struct {
	ID    string
	Title string
	Kinds []exampleKind
}

// exampleKind is the examples of one kind: those that are shown here, and where the others are.
type exampleKind struct {
	ID    string
	Title string
	Shown []*shownExample
	Also  []int
}

type shownExample struct {
	*Example
	Number          int
	ActionHTML      template.HTML
	ObservationHTML template.HTML
	HasTexts        bool
}

// choose picks what is shown, and numbers it in the order of the page.
func (v *view) choose(a amount) {
	v.examples = make([]shownExample, len(v.Page.Examples))
	v.Sets, v.Shown, v.anchors, v.sets = nil, 0, map[figures.Kind]string{}, map[string]string{}
	for d := range figures.NumDimensions {
		for i, g := range v.Figures.Dims[d].All() {
			of := d.String() + "-" + strconv.Itoa(i+1) // as the group's own
			set := exampleSet{ID: "ex-" + of, Title: d.String() + " " + title(d, g.Name)}
			for _, what := range v.whats(d) {
				most := a.others
				if _, category := turnmill.ParseCategory(what); category || what == "repetitive" {
					most = a.categories
				}
				if d != figures.Domain {
					most = min(most, 1)
				}
				kind := figures.Kind{Of: d.String(), Name: g.Name, What: what}
				k := v.chooseKind(kind, most, a)
				if k.Title = what; len(k.Shown)+len(k.Also) > 0 {
					k.ID = set.ID + "-" + strconv.Itoa(len(set.Kinds)+1)
					v.anchors[kind] = "#" + k.ID
					set.Kinds = append(set.Kinds, k)
				}
			}
			if len(set.Kinds) > 0 {
				v.sets[of] = "#" + set.ID
				v.Sets = append(v.Sets, set)
			}
		}
	}
	v.chooseRecords(a)
}

// recordKinds returns the kinds of records in the order of the page.
func (v *view) recordKinds() []figures.Kind {
	of := []string{"record", "trajectory", "note"}
	return slices.SortedFunc(maps.Keys(v.RecordKinds), func(a, b figures.Kind) int {
		return cmp.Or(cmp.Compare(slices.Index(of, a.Of), slices.Index(of, b.Of)), cmp.Compare(a.What, b.What), cmp.Compare(a.Name, b.Name))
	})
}

func (v *view) chooseKind(k figures.Kind, most int, a amount) (out exampleKind) {
	for i, number := range v.numbers(k) {
		if i == most {
			break
		}
		e := &v.examples[number]
		if e.Number > 0 {
			out.Also = append(out.Also, e.Number)
			continue
		}
		v.Shown++
		*e = shownExample{Example: &v.Page.Examples[number], Number: v.Shown}
		if e.NoTexts == "" && v.Page.NoTexts == "" {
			e.HasTexts = true
			e.ActionHTML, e.ObservationHTML = e.Action.html(a), e.Observation.html(a)
		}
		out.Shown = append(out.Shown, e)
	}
	return out
}

// numbers returns the examples of a kind. All others, which stand together, have those of each of their names.
func (v *view) numbers(k figures.Kind) (all []int) {
	if k.Name != figures.RestName {
		return v.Kinds[k]
	}
	named := map[string]bool{}
	for d := range figures.NumDimensions {
		for _, g := range v.Figures.Dims[d].All() {
			named[g.Name] = named[g.Name] || d.String() == k.Of
		}
	}
	for other, numbers := range v.Kinds {
		if other.Of == k.Of && other.What == k.What && !named[other.Name] {
			all = append(all, numbers...)
		}
	}
	slices.Sort(all)
	return slices.Compact(all)
}

// whats returns what the examples of a dimension are of, in the order of the page: categories, and what else there is
// by name.
func (v *view) whats(d figures.Dimension) []string {
	if v.told[d] == nil {
		v.told[d] = v.tell(d)
	}
	return v.told[d]
}

func (v *view) tell(d figures.Dimension) []string {
	var all, more []string
	for _, c := range barOrder {
		all = append(all, c.String())
	}
	for k := range v.Kinds {
		if k.Of == d.String() && !slices.Contains(all, k.What) && !slices.Contains(more, k.What) {
			more = append(more, k.What)
		}
	}
	slices.Sort(more)
	return append(all, more...)
}

// piece is a stretch of a text with the kind of its mark.
type piece struct {
	text string
	kind int
}

// pieces cuts a text at its marks.
func pieces(text string, marks []int) (all []piece) {
	for i := 0; i+1 < len(marks) && marks[i] >= 0 && marks[i] <= len(text); i += 2 {
		all = append(all, piece{text[:marks[i]], marks[i+1]})
		text = text[marks[i]:]
	}
	if text != "" {
		all = append(all, piece{text, 0})
	}
	return all
}

// first leaves the first n code points, last the last n.
func first(all []piece, n int) []piece {
	for i := range all {
		k := 0
		for at := range all[i].text {
			if k == n {
				all[i].text = all[i].text[:at]
				return all[:i+1]
			}
			k++
		}
		n -= k
	}
	return all
}

func last(all []piece, n int) []piece {
	for i := len(all) - 1; i >= 0; i-- {
		text := all[i].text
		at := len(text)
		for ; n > 0 && at > 0; n-- {
			_, size := utf8.DecodeLastRuneInString(text[:at])
			at -= size
		}
		if at > 0 {
			all[i].text = text[at:]
			return all[i:]
		}
	}
	return all
}

// html writes a text with its marks, cut to an amount.
func (t *Text) html(a amount) template.HTML {
	head, tail := pieces(t.Head, t.HeadMarks), pieces(t.Tail, t.TailMarks)
	inHead, inTail := utf8.RuneCountInString(t.Head), utf8.RuneCountInString(t.Tail)
	all := int64(inHead+inTail) + t.Skipped
	var b strings.Builder
	switch {
	case all == 0:
		return `<span class="none">(empty)</span>`
	case t.Skipped == 0 && all <= int64(a.head+a.tail):
		write(&b, head)
		write(&b, tail)
		return template.HTML(b.String())
	case t.Skipped == 0 && inTail == 0:
		tail, inTail = pieces(t.Head, t.HeadMarks), inHead
	}
	write(&b, first(head, a.head))
	b.WriteString(`<span class="cut"> … ` + Thousands(all-int64(min(inHead, a.head)+min(inTail, a.tail))) + ` characters … </span>`)
	write(&b, last(tail, a.tail))
	return template.HTML(b.String())
}

// write writes pieces as HTML: words of both sides in b, words of one side in i.
func write(b *strings.Builder, all []piece) {
	for _, p := range all {
		if p.text == "" {
			continue
		}
		text := template.HTMLEscapeString(visible(p.text))
		switch p.kind {
		case 1:
			text = "<i>" + text + "</i>"
		case 2:
			text = "<b>" + text + "</b>"
		}
		b.WriteString(text)
	}
}

// visible shows control characters as symbols, and what would turn the direction of the text round as U+FFFD.
func visible(s string) string {
	return strings.Map(func(r rune) rune {
		switch {
		case r == '\t' || r == '\n':
			return r
		case r < 0x20:
			return 0x2400 + r
		case r == 0x7F:
			return 0x2421
		case r >= 0x80 && r < 0xA0, r >= 0x202A && r <= 0x202E, r >= 0x2066 && r <= 0x2069:
			return 0xFFFD
		}
		return r
	}, s)
}
