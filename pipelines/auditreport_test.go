package pipelines

import (
	"bytes"
	"context"
	"os"
	"path/filepath"
	"regexp"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
)

// otherTables are tables that no run has had, with bounds on every grid.
var otherTables = map[string]mask.Spec{
	"looser echo": {Rows: []mask.RowSpec{
		{Category: "echo", Keep: "20%", OverlapMin: "60%", NoveltyBelow: "40%"},
		{Category: "boilerplate", Keep: "35%", OverlapMin: "40%", NoveltyBelow: "60%"},
		{Category: "retrieval", Keep: "100%", NoveltyMin: "70%", RatioAbove: "2"},
		{Category: "action", Keep: "90%", NoveltyMin: "20%", RatioMax: "1.5", OrShort: true},
	}, Short: limitOf(200), Other: "50%"},
	"ratios": {Rows: []mask.RowSpec{
		{Category: "transform", Keep: "10%", RatioBelow: "0.5"},
		{Category: "expansion", Keep: "70%", OverlapMin: "20%", RatioMin: "1"},
		{Category: "action", Keep: "80%", NoveltyMin: "80%", RatioMax: "1", OrShort: true},
	}, Short: limitOf(50), Other: "0%"},
}

func limitOf(n int64) *int64 { return &n }

// categorise finds the category of a cell: the first row whose bounds hold for its places.
func categorise(g *figures.Grid, key uint64, t *mask.Table) turnmill.Category {
	overlap, novelty, ratio, short := g.Places(key)
	isShort := int(short) <= index(g.Short, t.Short)
	for i := range t.Rows {
		holds := true
		for _, b := range t.Rows[i].Bounds() {
			switch b.On {
			case "overlap":
				holds = holds && onSide(overlap, index(g.Overlap, b.At), b.Sign)
			case "novelty":
				holds = holds && onSide(novelty, index(g.Novelty, b.At), b.Sign)
			default:
				at := uint32(2*index(g.LengthRatio, b.At) + 2)
				ok := ratio > 0 && map[string]bool{">": ratio > at, ">=": ratio >= at, "<": ratio < at, "<=": ratio <= at}[b.Sign]
				holds = holds && (ok || isShort && t.Rows[i].OrShort)
			}
		}
		if holds {
			return t.Rows[i].Category
		}
	}
	return turnmill.CategoryOther
}

func onSide(place uint32, at int, sign string) bool {
	if place == 0 {
		return false
	}
	return (place >= uint32(at)+1) == (sign == ">=")
}

// index returns where a threshold stands on a grid, whatever its terms.
func index[T any](grid []T, want T) int {
	for i, at := range grid {
		a, isRatio := any(at).(turnmill.Ratio)
		b, _ := any(want).(turnmill.Ratio)
		if isRatio && a.Num*b.Den == b.Num*a.Den || !isRatio && any(at) == any(want) {
			return i
		}
	}
	panic("a bound that is not on the grid")
}

// TestWhatIfIsExact: counted from the cells of a report, the categories of a table that was never run are those of
// a run with it, for every domain.
func TestWhatIfIsExact(t *testing.T) {
	corpus := mixedCorpus(t)
	o := options(t, corpus)
	o.Pipeline = pipelineAudit
	mustRun(t, o)
	p, err := readPlan(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	inForce := mask.Default()
	f, err := figuresOf(context.Background(), o.Output, p, &inForce, len(p.Partitions))
	if err != nil {
		t.Fatal(err)
	}
	tables := map[string]mask.Table{"the same": inForce}
	for name, spec := range otherTables {
		if tables[name], err = mask.FromSpec(spec); err != nil {
			t.Fatal(name, err)
		}
	}
	for name, table := range tables {
		t.Run(name, func(t *testing.T) {
			other := options(t, corpus)
			other.MaskTable = table
			want := map[string]map[string][2]int64{}
			for d, cells := range mustRun(t, other).Counts.Mask {
				want[string(d)] = map[string][2]int64{}
				for category, m := range cells {
					want[string(d)][category] = [2]int64{m.Turns, m.TargetTokens}
				}
			}
			got := map[string]map[string][2]int64{}
			for _, g := range f.Dims[figures.Domain].All() {
				for _, c := range f.Joint.Cells(g.Name) {
					if got[g.Name] == nil {
						got[g.Name] = map[string][2]int64{}
					}
					category := categorise(&f.Joint.Grid, c.Key, &table).String()
					sum := got[g.Name][category]
					got[g.Name][category] = [2]int64{sum[0] + c.Turns, sum[1] + c.Length}
				}
			}
			if diff := cmp.Diff(want, got); diff != "" {
				t.Errorf("domain, category: turns, tokens (-run +cells):\n%s", diff)
			}
		})
	}
}

// TestFiguresAreTheManifests: what the figures add up from the turns is what the run has counted.
func TestFiguresAreTheManifests(t *testing.T) {
	for _, tokenizer := range []string{"", "demo"} {
		o := auditOptions(t, mixedCorpus(t))
		o.Tokenizer, o.Partitions = tokenizer, 3
		m := mustRun(t, o)
		p, err := readPlan(o.Output)
		if err != nil {
			t.Fatal(err)
		}
		f, err := figuresOf(context.Background(), o.Output, p, &o.MaskTable, 3)
		if err != nil {
			t.Fatal(err)
		}
		want := map[turnmill.Domain]map[string]*stats.MaskCount{}
		for _, g := range f.Dims[figures.Domain].All() {
			for c := range turnmill.Category(turnmill.NumCategories) {
				if s := &g.Categories[c]; s.Turns > 0 {
					if want[turnmill.Domain(g.Name)] == nil {
						want[turnmill.Domain(g.Name)] = map[string]*stats.MaskCount{}
					}
					want[turnmill.Domain(g.Name)][c.String()] = &stats.MaskCount{Turns: s.Turns, KeptTurns: s.KeptTurns, ObservationTokens: s.ObservationTokens,
						TargetTokens: s.TargetTokens, KeptTokens: s.TrainedTokens, ExpectedShare: s.Keep}
				}
			}
		}
		if diff := cmp.Diff(m.Counts.Mask, want); diff != "" {
			t.Errorf("tokenizer %q (-manifest +figures):\n%s", tokenizer, diff)
		}
		if w, turns := f.Whole, m.Counts.Ledger.Total.Turns; w.Turns != turns.In || w.Targets+w.Masked+sum(w.Context) != turns.Out {
			t.Errorf("tokenizer %q: %d turns, %d targets, %d masked, context %v; the manifest says %+v", tokenizer, w.Turns, w.Targets, w.Masked, w.Context, turns)
		}
	}
}

func sum(m map[string]int64) (n int64) {
	for _, c := range m {
		n += c
	}
	return n
}

// TestReportIsProven: check finds a report or examples that another hand has written.
func TestReportIsProven(t *testing.T) {
	o := auditOptions(t, demoCorpus(t))
	o.Partitions = 2
	mustRun(t, o)
	mustCheck(t, o)
	t.Run("report", func(t *testing.T) {
		f := forge(t, o.Output)
		page, err := os.ReadFile(f.path(reportPath))
		if err != nil {
			t.Fatal(err)
		}
		write(t, f.path(reportPath), bytes.Replace(page, []byte("The whole"), []byte("The hole!"), 1))
		_, err = Check(context.Background(), CheckOptions{Path: f.root, Memory: o.Memory})
		wantError(t, err, "report.html", "not what the commits give")
	})
	for name, change := range map[string]func(*exampleLine){
		"another turn":   func(l *exampleLine) { l.Turn++ },
		"another rank":   func(l *exampleLine) { l.Rank++ },
		"other words":    func(l *exampleLine) { l.SharedWords++ },
		"a shorter text": func(l *exampleLine) { l.Observation.Head, l.ObservationChars = "", l.ObservationChars+1 },
	} {
		t.Run(name, func(t *testing.T) {
			f := forge(t, o.Output)
			var file bytes.Buffer
			r := figures.NewReservoir[*sample](mostKinds)
			var names []figures.Kind
			first := true
			err := readExamples(f.root, 1, func(kinds []figures.Kind) {
				names = kinds
				for _, k := range kinds {
					r.At(k)
				}
			}, func(l *exampleLine) error {
				if first {
					change(l)
				}
				first = false
				s := &sample{line: *l}
				for _, k := range l.Kinds {
					r.At(names[k]).Put(l.Rank, s)
				}
				return nil
			})
			if err != nil || first {
				t.Fatalf("no example in partition 1: %v", err)
			}
			if _, err := writeExamples(&file, r); err != nil {
				t.Fatal(err)
			}
			write(t, f.path(examplesPath(1)), file.Bytes())
			f.sign()
			_, err = Check(context.Background(), CheckOptions{Path: f.root, Memory: o.Memory})
			wantError(t, err, "examples/p00001.jsonl.zst", "turns table gives")
		})
	}
}

// TestReportShowsTheCorpus: the page names each domain, every category that occurs, and shows texts of the corpus.
func TestReportShowsTheCorpus(t *testing.T) {
	o := auditOptions(t, demoCorpus(t))
	m := mustRun(t, o)
	data, err := os.ReadFile(filepath.Join(o.Output, reportPath))
	if err != nil {
		t.Fatal(err)
	}
	page := string(data)
	for d, cells := range m.Counts.Mask {
		_, block, found := strings.Cut(page, "<h3>"+string(d)+"</h3>")
		block, _, _ = strings.Cut(block, "</article>")
		if !found {
			t.Errorf("no block of domain %s", d)
		}
		for category, c := range cells {
			row := regexp.MustCompile(`</span>` + category + `</th><td class="r"><a href="#ex-domain-\d+-\d+">` + stats.Thousands(c.Turns) + `</a></td>`)
			if !row.MatchString(block) {
				t.Errorf("domain %s does not say that %d turns are %s", d, c.Turns, category)
			}
		}
	}
	if n := strings.Count(page, `<article class="example"`); n < 40 {
		t.Errorf("%d examples", n)
	}
	if !strings.Contains(page, "<b>") || !strings.Contains(page, "near: ") {
		t.Error("no example has marked words, or stands near a border")
	}
}
