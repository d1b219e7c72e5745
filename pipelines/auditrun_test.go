package pipelines

import (
	"context"
	"errors"
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/mask"
)

func mustReport(t *testing.T, o ReportOptions) string {
	t.Helper()
	path, err := Report(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestReportOfARun: the report of a run of cpt has the figures and the texts of an audit with its tokenizer, and does
// not read the inputs again.
func TestReportOfARun(t *testing.T) {
	corpus := demoCorpus(t)
	o := options(t, corpus)
	o.Partitions = 3
	mustRun(t, o)
	audit := with(t, o, func(o *Options) { o.Pipeline = pipelineAudit })
	mustRun(t, audit)
	if err := os.RemoveAll(corpus); err != nil {
		t.Fatal(err)
	}
	page, want := mustReport(t, ReportOptions{Path: o.Output}), mustReport(t, ReportOptions{Path: audit.Output})
	after := func(page, mark string) string {
		_, rest, found := strings.Cut(page, mark)
		if !found {
			t.Fatalf("no %s in the page", mark)
		}
		return rest
	}
	lines := strings.Split(want, "\n")
	same := 0
	for _, l := range lines {
		if strings.HasPrefix(l, "<tr data-category=") && strings.Contains(page, l) {
			same++
		}
	}
	if same < 15 {
		t.Errorf("%d rows of categories are those of the audit", same)
	}
	if a, b := strings.Count(page, "<h5>observation</h5>"), strings.Count(want, "<h5>observation</h5>"); a < b*9/10 || a > b {
		t.Errorf("%d examples have texts, %d of the audit's", a, b)
	}
	examples := after(page, `<section id="examples">`)
	found := 0
	for _, e := range strings.Split(after(want, `<section id="examples">`), `<h5>action</h5>`)[1:] {
		if text, _, _ := strings.Cut(e, "</pre>"); strings.Contains(examples, text) {
			found++
		}
	}
	if found < 30 {
		t.Errorf("%d actions read as those of the audit", found)
	}
	if again := mustReport(t, ReportOptions{Path: o.Output, Output: t.TempDir()}); again != page {
		t.Error("written elsewhere the report has other bytes")
	}
	if !strings.Contains(page, "in no row: the inputs alone have its texts") {
		t.Error("a dropped turn's texts are not said to be missing")
	}
	// A run that has a report is still whole.
	if _, err := Check(context.Background(), checkOptions(&o, false)); err != nil {
		t.Error(err)
	}
}

// TestReportWithoutTokenizer: figures do not need it, and the page says why examples have no texts.
func TestReportWithoutTokenizer(t *testing.T) {
	o := options(t, demoCorpus(t))
	o.Tokenizer = filepath.Join(t.TempDir(), "tokenizer.json")
	data, err := findTokenizer(context.Background(), "demo", o.Hub)
	if err != nil {
		t.Fatal(err)
	}
	write(t, o.Tokenizer, data.data)
	mustRun(t, o)
	if err := os.Remove(o.Tokenizer); err != nil {
		t.Fatal(err)
	}
	page := mustReport(t, ReportOptions{Path: o.Output})
	if !strings.Contains(page, "tokenizer was not at hand") || strings.Contains(page, "<h5>action</h5>") {
		t.Error("the page does not say that the tokenizer is missing")
	}
	if page = mustReport(t, ReportOptions{Path: o.Output, Tokenizer: "demo"}); !strings.Contains(page, "<h5>action</h5>") {
		t.Error("with --tokenizer the examples have no texts")
	}
	_, err = Report(context.Background(), ReportOptions{Path: o.Output, Tokenizer: o.Tokenizer})
	wantUsage(t, err, "--tokenizer")
}

// TestReportRefuses: what is no finished run, and what is damaged.
func TestReportRefuses(t *testing.T) {
	_, err := Report(context.Background(), ReportOptions{Path: t.TempDir()})
	wantUsage(t, err, "no plan.json")
	o := auditOptions(t, demoCorpus(t))
	mustRun(t, o)
	manifest := filepath.Join(o.Output, "manifest.json")
	data, err := os.ReadFile(manifest)
	if err != nil {
		t.Fatal(err)
	}
	write(t, manifest, []byte(`{"format_version":1}`))
	_, err = Report(context.Background(), ReportOptions{Path: o.Output})
	wantError(t, err, "manifest.json", "lack a part")
	if err := os.Remove(manifest); err != nil {
		t.Fatal(err)
	}
	_, err = Report(context.Background(), ReportOptions{Path: o.Output})
	wantUsage(t, err, "the run is not finished")
	write(t, manifest, data)
	write(t, filepath.Join(o.Output, examplesPath(0)), []byte("nothing of the kind"))
	_, err = Report(context.Background(), ReportOptions{Path: o.Output})
	wantError(t, err, o.Output+": ", "examples/p00000.jsonl.zst", "turnmill check "+o.Output)
	if err := os.Remove(filepath.Join(o.Output, turnsPath(0))); err != nil {
		t.Fatal(err)
	}
	_, err = DiffRuns(context.Background(), o.Output, o.Output, 0)
	wantError(t, err, o.Output+": ", "turns/p00000.parquet", "turnmill check "+o.Output)
}

// TestReportRefusesOutput: the report of a run does not become that of another, by whatever name the directory goes.
func TestReportRefusesOutput(t *testing.T) {
	o := auditOptions(t, demoCorpus(t))
	mustRun(t, o)
	other := with(t, o, func(o *Options) { o.Seed = "7" })
	mustRun(t, other)
	want := digest(t, other.Output)
	_, err := Report(context.Background(), ReportOptions{Path: o.Output, Output: other.Output})
	wantUsage(t, err, "--output", "it is a run of its own", "another directory")
	sameFiles(t, "refused", want, digest(t, other.Output))

	link := filepath.Join(t.TempDir(), "link")
	if err := os.Symlink(o.Output, link); err != nil {
		t.Skip(err)
	}
	if _, err := Report(context.Background(), ReportOptions{Path: o.Output, Output: link}); err != nil {
		t.Errorf("the run's own directory by another name: %v", err)
	}
	mustCheck(t, o)
}

// TestIsRun: a plan that is damaged, or of another version, is a run's all the same; one of something else is none.
func TestIsRun(t *testing.T) {
	dir := t.TempDir()
	plan := filepath.Join(dir, "plan.json")
	if IsRun(dir) {
		t.Error("an empty directory is a run")
	}
	for text, want := range map[string]bool{
		"{\n \"format_version\": 1,\n \"turnm": true, `{"format_version":99}`: true,
		"": false, "{}": false, `{"steps":["look","book"]}`: false, `[{"format_version":1}]`: false,
	} {
		write(t, plan, []byte(text))
		if got := IsRun(dir); got != want {
			t.Errorf("%q: a run is %v, want %v", text, got, want)
		}
	}
	write(t, plan, []byte("{\n \"format_version\": 1,\n \"turnm"))
	_, err := Report(context.Background(), ReportOptions{Path: dir})
	wantError(t, err, dir+": plan.json", "corrupt")
	_, err = Report(context.Background(), ReportOptions{Path: plan})
	wantUsage(t, err, plan+": it is a file; name the directory of a run")
}

// TestDiffRuns: a run does not differ from itself; another table moves what it has to, and no more.
func TestDiffRuns(t *testing.T) {
	corpus := demoCorpus(t)
	a := auditOptions(t, corpus)
	mustRun(t, a)
	d, err := DiffRuns(context.Background(), a.Output, a.Output, 0)
	if err != nil || len(d.Lines) < 20 || d.Unit != "characters" {
		t.Fatalf("against itself: %v, %d lines in %s", err, len(d.Lines), d.Unit)
	}
	b := with(t, a, func(o *Options) {
		o.MaskTable = mask.Default()
		o.MaskTable.Rows[0].Keep.Num, o.MaskTable.Rows[0].Keep.Den = 1, 2 // of echo
	})
	mustRun(t, b)
	d, err = DiffRuns(context.Background(), a.Output, b.Output, 0.001)
	var drift *DriftError
	if !errors.As(err, &drift) || drift.Most.What != "kept" {
		t.Fatalf("another keep ratio: %v", err)
	}
	for _, l := range d.Lines {
		if l.What != "kept" && l.Moved() != 0 {
			t.Errorf("%s, %s has moved by %v", l.Domain, l.What, l.Moved())
		}
		if l.What == "kept" && l.Turns[1] < l.Turns[0] {
			t.Errorf("%s keeps less with a larger ratio: %v", l.Domain, l.Turns)
		}
	}
	if _, err := DiffRuns(context.Background(), a.Output, b.Output, 1); err != nil {
		t.Errorf("with a tolerance of all: %v", err)
	}
	one := with(t, a, func(o *Options) { o.Inputs = []string{filepath.Join(corpus, "swe.jsonl")} })
	if _, err := os.Stat(one.Inputs[0]); err == nil {
		mustRun(t, one)
		d, err = DiffRuns(context.Background(), a.Output, one.Output, 0.5)
		if !errors.As(err, &drift) {
			t.Errorf("a domain is gone: %v", err)
		}
		for _, l := range d.Lines {
			if l.Domain == "mcp" && !math.IsNaN(l.Turns[1]) {
				t.Errorf("mcp of a corpus without it: %+v", l)
			}
		}
	} else {
		t.Errorf("the demo corpus has no file of one domain: %v", err)
	}
	for _, bad := range []float64{-1, 2, math.NaN()} {
		_, err := DiffRuns(context.Background(), a.Output, b.Output, bad)
		wantUsage(t, err, "--tolerance")
	}
}

// TestDiffManyDomains: where there are more domains than have figures of their own, both runs have the same ones, and the
// same stand together.
func TestDiffManyDomains(t *testing.T) {
	const domains = 15
	corpus := func(name string, turns func(domain int) int) Options {
		var all []byte
		for d := range domains {
			for i := range turns(d) {
				all = fmt.Appendf(all, `{"id":"%d-%d","domain":"domain-%d","turns":[{"action":"say %[1]d","observation":"say %[1]d"},{"action":"get","observation":"much that is new"}]}`+"\n", d, i, d)
			}
		}
		path := filepath.Join(t.TempDir(), name)
		write(t, path, all)
		o := auditOptions(t, path)
		mustRun(t, o)
		return o
	}
	a := corpus("a.jsonl", func(d int) int { return 5 + d })
	b := corpus("b.jsonl", func(d int) int { return 25 - d })
	d, err := DiffRuns(context.Background(), a.Output, b.Output, 0.01)
	if err != nil {
		t.Errorf("the same shares in each domain: %v", err)
	}
	seen := map[string]bool{}
	for _, l := range d.Lines {
		seen[l.Domain] = true
	}
	if len(seen) != 14 || !seen["all others"] { // the whole, twelve, and the rest
		t.Errorf("%d domains: %v", len(seen), seen)
	}
}

// TestDiffModes: what is kept is what the run's mode is expected to keep, spans included.
func TestDiffModes(t *testing.T) {
	turn := options(t, demoCorpus(t))
	mustRun(t, turn)
	for _, mode := range []string{"span", "changed"} {
		o := with(t, turn, func(o *Options) { o.Mask = mode })
		m := mustRun(t, o)
		d, err := DiffRuns(context.Background(), turn.Output, o.Output, 0)
		var drift *DriftError
		if !errors.As(err, &drift) || drift.Most.What != "kept" {
			t.Fatalf("%s: %v", mode, err)
		}
		var expected, all float64
		for _, by := range m.Counts.Mask {
			for _, s := range by {
				expected += float64(s.ExpectedMillionths) / 1e6
				all += float64(s.TargetTokens)
			}
		}
		for _, l := range d.Lines {
			if l.Domain == "all" && l.What == "kept" && math.Abs(l.Length[1]-expected/all) > 1e-6 {
				t.Errorf("%s: %v of the tokens, the manifest says %v", mode, l.Length[1], expected/all)
			}
			if l.What != "kept" && l.Moved() != 0 {
				t.Errorf("%s: %s, %s has moved by %v", mode, l.Domain, l.What, l.Moved())
			}
		}
	}
}

// TestDriftError: one share has moved, two have.
func TestDriftError(t *testing.T) {
	e := &DriftError{Lines: 1, Most: DiffLine{Domain: "mcp", What: "echo", Turns: [2]float64{0.1, 0.3}}, Tolerance: 0.01}
	wantError(t, e, "1 share has moved by more than 0.01; most of all echo of domain mcp, by 0.2")
	e.Lines = 2000
	wantError(t, e, "2,000 shares have moved")
}
