package report

import (
	"bytes"
	"encoding/json"
	"fmt"
	"regexp"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats/figures"
)

const hostile = "</script><script>alert(1)</script><img src=x onerror=alert(2)>\"'`{{.}}\x00\x1b[31m\u202e"

// samplePage makes a page of so many names and examples.
func samplePage(names, turns, examples, textRunes int) *Page {
	bounds := figures.Bounds{Overlap: []turnmill.Ratio{{Num: 7, Den: 10}}, Novelty: []turnmill.Ratio{{Num: 3, Den: 10}}, LengthRatio: []turnmill.Ratio{{Num: 1, Den: 1}}, Short: []int64{100}}
	name := func(kind string, i int) string { return fmt.Sprintf("%s %d %s", kind, i, hostile) }
	n := figures.NewNames()
	each := func(f func(t *figures.Turn)) {
		for i := range turns {
			a, o := int64(1+i%90), int64(1+(i*7)%83)
			f(&figures.Turn{
				Record: int64(i), Trajectory: int64(i), Domain: name("domain", i%names), Source: name("source", i%names), Agent: name("agent", i%names), Tool: name("tool", (i/3)%names),
				ActionWords: a, ObservationWords: o, SharedWords: min(a, o) * int64(i%11) / 11, ActionChars: 3 * a, ObservationChars: int64(i*31) % 900,
				Category: turnmill.Category(i % turnmill.NumCategories), Keep: 0.05, Decided: true, Kept: i%20 == 0, Status: "target",
				Index: int64(i % 30), Observed: []string{"true", "false", ""}[i%3], Instructed: i%4 == 0, Perturbed: i%9 == 0,
				Measured: true, HasState: i%2 == 0, StateShared: o, Judged: i%5 == 0, Leaked: i%10 == 0,
			})
		}
	}
	each(func(t *figures.Turn) { n.Add(t.Names()) })
	f := figures.New(n, bounds, false)
	each(f.Add)
	f.Finish()
	p := &Page{
		Facts: []Fact{{"inputs", hostile}}, Mode: "turn", Figures: f, Kinds: map[figures.Kind][]int{},
		Table: Table{Short: 100, Other: "100%", Rows: []Row{
			{Category: "echo", Keep: "5%", Text: "echo: overlap >= 70%, novelty < 30%", Bounds: []Bound{
				{Name: "overlap_min", On: "overlap", Sign: ">=", Text: "70%", At: turnmill.Ratio{Num: 7, Den: 10}}, {Name: "novelty_below", On: "novelty", Sign: "<", Text: "30%", At: turnmill.Ratio{Num: 3, Den: 10}}}},
			{Category: "transform", Keep: "50%", Bounds: []Bound{{Name: "ratio_below", On: "length_ratio", Sign: "<", Text: "1", At: turnmill.Ratio{Num: 1, Den: 1}}}}}},
		Accounts: []Account{{Name: hostile, Lines: []AccountLine{{What: "turns", In: 12, Out: 10, AllDropped: 2, Dropped: []Count{{hostile, 2}}}}}},
		Repairs:  []Note{{Name: "forged_control", N: 3, Domains: []Count{{hostile, 3}}}},
	}
	text := strings.Repeat("wörd "+hostile+" ", textRunes/50+1)
	for i := range examples {
		p.Examples = append(p.Examples, Example{ID: name("id", i), Domain: name("domain", i%names), Tool: hostile, Category: "echo", Status: "target", Keep: 0.05,
			Overlap: "0.8", Rules: []string{"echo: " + hostile}, Near: []string{hostile},
			Action: Text{Head: text, HeadMarks: []int{4, 2, 10, 1}}, Observation: Text{Head: text, Skipped: 12, Tail: hostile}})
		k := figures.Kind{Of: "domain", Name: name("domain", i%names), What: turnmill.Category(i / names % turnmill.NumCategories).String()}
		p.Kinds[k] = append(p.Kinds[k], i)
	}
	p.RecordKinds = map[figures.Kind][]int{}
	for i := range examples / 2 {
		p.Records = append(p.Records, RecordExample{Where: hostile + ":7", Bytes: 9, Kind: "record", What: "rejected: " + hostile, Notes: []string{hostile}, Detail: text, ID: hostile,
			Domain: name("domain", i%names), Head: text, Skipped: 5, Tail: text})
		for _, k := range []figures.Kind{{Of: "record", Name: name("domain", i%names), What: "rejected: " + name("", i/9)}, {Of: "note", Name: name("domain", i%names), What: "note: forged_control"}} {
			p.RecordKinds[k] = append(p.RecordKinds[k], i)
		}
	}
	return p
}

func render(t testing.TB, p *Page) string {
	t.Helper()
	var b bytes.Buffer
	if err := Write(&b, p); err != nil {
		t.Fatal(err)
	}
	return b.String()
}

// TestHostileContent: nothing of the content becomes markup, script or control.
func TestHostileContent(t *testing.T) {
	page := render(t, samplePage(3, 200, 30, 300))
	if n := strings.Count(page, "<script"); n != 2 {
		t.Errorf("%d scripts, want the data and ours", n)
	}
	if n := strings.Count(page, "</script"); n != 2 {
		t.Errorf("%d ends of scripts, want 2", n)
	}
	for _, bad := range []string{"<img", "onerror=alert(2)>\"", "\x00", "\x1b"} {
		if strings.Contains(page, bad) {
			t.Errorf("the page holds %q", bad)
		}
	}
	for _, at := range regexp.MustCompile(`(src|href|action)="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		if !strings.HasPrefix(at[2], "#") {
			t.Errorf("the page refers to %q", at[2])
		}
	}
	if strings.Contains(page, "url(") || strings.Contains(page, "http://") || strings.Contains(page, "https://") {
		t.Error("the page names an address")
	}
	if !strings.Contains(page, "&lt;script&gt;alert(1)") || !strings.Contains(page, "<b>wörd") && !strings.Contains(page, "<b>wör") {
		t.Error("an example's text is not there, or not marked")
	}
}

// TestLinksLead: every link goes to a place of the page, and no place is named twice.
func TestLinksLead(t *testing.T) {
	page := render(t, samplePage(5, 900, 100, 300))
	ids := map[string]int{}
	for _, m := range regexp.MustCompile(` id="([^"]*)"`).FindAllStringSubmatch(page, -1) {
		ids[m[1]]++
	}
	links := 0
	for _, m := range regexp.MustCompile(` href="#([^"]*)"`).FindAllStringSubmatch(page, -1) {
		links++
		if ids[m[1]] != 1 {
			t.Errorf("a link to #%s, of which there are %d", m[1], ids[m[1]])
		}
	}
	if links < 100 {
		t.Errorf("%d links", links)
	}
}

// TestSmall: whatever a corpus holds, the page is smaller than 2 MB.
func TestSmall(t *testing.T) {
	for _, tt := range []struct{ names, turns, examples, runes int }{{1, 1, 0, 10}, {1, 0, 0, 0}, {9, 5000, 800, 2000}, {300, 400_000, 4000, 2000}} {
		t.Run(fmt.Sprint(tt), func(t *testing.T) {
			p := samplePage(tt.names, tt.turns, tt.examples, tt.runes)
			page := render(t, p)
			t.Logf("%d bytes, %d cells", len(page), p.Figures.Joint.Count())
			if len(page) >= mostBytes || !strings.Contains(page, "</html>") {
				t.Errorf("%d bytes", len(page))
			}
			if page != render(t, p) {
				t.Error("written again it has other bytes")
			}
		})
	}
}

// TestData: what the script reads is JSON with the cells of each domain, whose turns are those of the figures.
func TestData(t *testing.T) {
	p := samplePage(4, 3000, 0, 0)
	page := render(t, p)
	_, data, _ := strings.Cut(page, `id="data">`)
	data, _, _ = strings.Cut(data, "</script>")
	var w whatIf
	if err := json.Unmarshal([]byte(data), &w); err != nil {
		t.Fatal(err)
	}
	if len(w.Domains) != 4 || w.Unit != "characters" || len(w.Table.Rows) != 2 {
		t.Fatalf("%d domains, unit %s, %d rows", len(w.Domains), w.Unit, len(w.Table.Rows))
	}
	cells := 0
	for _, d := range w.Domains {
		cells += len(strings.Fields(d.Cells))
	}
	if cells != p.Figures.Joint.Count() {
		t.Errorf("%d cells in the page, %d in the figures", cells, p.Figures.Joint.Count())
	}
	for _, r := range w.Table.Rows {
		for _, b := range r.Bounds {
			grid := map[string][]string{"overlap": w.Overlap, "novelty": w.Novelty, "length_ratio": w.Ratio}[b.On]
			if !strings.Contains(" "+strings.Join(grid, " ")+" ", " "+b.Text+" ") {
				t.Errorf("the bound %s %s of the table in force is not on the grid %v", b.Name, b.Text, grid)
			}
		}
	}
}

// TestTextsAreCut: a text shows its first and last characters and says how many are left out; its marks stay
// where they belong.
func TestTextsAreCut(t *testing.T) {
	for _, tt := range []struct {
		name string
		text Text
		want string
	}{
		{"whole", Text{Head: "ab cd", HeadMarks: []int{2, 2, 1, 0, 2, 1}}, "<b>ab</b> <i>cd</i>"},
		{"empty", Text{}, `<span class="none">(empty)</span>`},
		{"cut", Text{Head: "abcdefghij", HeadMarks: []int{6, 2, 4, 1}}, `<b>abcd</b><span class="cut"> … 4 characters … </span><i>ij</i>`},
		{"cut before", Text{Head: "éééé", HeadMarks: []int{8, 1}, Skipped: 90, Tail: "xyz", TailMarks: []int{3, 2}}, `<i>éééé</i><span class="cut"> … 91 characters … </span><b>yz</b>`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			if got := tt.text.html(amount{head: 4, tail: 2}); string(got) != tt.want {
				t.Errorf("%s\nwant %s", got, tt.want)
			}
		})
	}
}

// The shades of a density are those of the logarithm, to the count.
func TestShades(t *testing.T) {
	for most, want := range map[int64][densityShades]int64{
		0: {1, 1, 1, 1, 1, 1}, 1: {1, 1, 1, 1, 1, 1}, 2: {1, 2, 2, 2, 2, 2}, 32: {1, 2, 4, 8, 16, 32}, 33: {1, 3, 5, 9, 17, 33},
		10_000_000_000: {1, 100, 10_000, 1_000_000, 100_000_000, 10_000_000_000},
	} {
		if got := shades(most); got != want {
			t.Errorf("most %d: %v, want %v", most, got, want)
		}
	}
}

func TestPercent(t *testing.T) {
	for x, want := range map[float64]string{0: "0%", 1: "100%", 0.5: "50%", 0.1234: "12.3%", 0.0034: "0.34%", 0.00001: "<0.01%", 0.9999: ">99.9%"} {
		if got := percent(x); got != want {
			t.Errorf("percent(%v) = %s, want %s", x, got, want)
		}
	}
}

// TestEveryNumberLinks: what was lost, mended or counted leads to its examples, and what has none to the commands that
// list it.
func TestEveryNumberLinks(t *testing.T) {
	p := samplePage(2, 200, 16, 50)
	domain := p.Figures.Dims[figures.Domain].All()[0].Name
	p.Accounts = []Account{{Name: "total", Lines: []AccountLine{
		{What: "records", In: 10, Out: 7, AllRejected: 3, Rejected: []Count{{"bad_json", 2}, {"seldom", 1}}},
		{What: "loss tokens", In: 100, Out: 60, AllDropped: 40, Dropped: []Count{{"masked", 40}}}}}}
	p.Repairs = []Note{{Name: "forged_control", N: 3, Domains: []Count{{domain, 3}}}, {Name: "of_files", N: 4}}
	p.Records = append(p.Records, RecordExample{Where: "a.jsonl:7", Kind: "record", What: "rejected: bad_json", Head: "{"})
	p.RecordKinds[figures.Kind{Of: "record", What: "rejected: bad_json"}] = []int{len(p.Records) - 1}
	page := render(t, p)
	for _, want := range []string{
		`seldom <a href="#no-examples">1</a>`, "a.jsonl:7",
		`masked <a href="#ex-domain-1-`, `<th scope="row">of_files</th><td class="r"><a href="#no-examples">4</a>`,
		`<th scope="row">records</th><td class="r"><a href="#examples">10</a>`, `<div><dt>turns</dt><dd><a href="#ex-domain-1">`,
	} {
		if !strings.Contains(page, want) {
			t.Errorf("the page has no %s", want)
		}
	}
	_, id, _ := strings.Cut(page, `bad_json <a href="#`)
	if id, _, _ = strings.Cut(id, `"`); !strings.Contains(page, `<h4 id="`+id+`">records rejected: bad_json, of no domain</h4>`) {
		t.Errorf("what was lost leads to %q", id)
	}
	if !regexp.MustCompile(`forged_control</th><td class="r"><a href="#ex-record-\d+">3</a></td><td><span class="why">[^<]*<a href="#ex-record-\d+">3</a>`).MatchString(page) {
		t.Error("what was mended has no example")
	}
}
