package pipelines

import (
	"fmt"
	"math"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"

	"github.com/turnmill/turnmill/stats"
)

// beyondRecords are trajectories whose columns can be counted by hand.
var beyondRecords = []string{
	// The screen is the state; the turn with no_change is no history; the state of turn 3 is not what turn 2 showed.
	`{"id":"web","domain":"web","source":"s","observed":true,"system":{"task_description":"open shop","simulation_instruction":"slow network"},"turns":[` +
		`{"index":0,"state":"home shop cart","action":"click shop","observation":"shop red blue"},` +
		`{"index":1,"state":"shop red blue","action":"click wall","observation":"shop red blue"},` +
		`{"index":2,"state":"shop red blue","action":"click red","observation":"red detail home open"},` +
		`{"index":3,"state":"popup detail","action":"click close","observation":"red popup wall fresh"}]}`,
	// A terminal without states: the observation before is the state.
	`{"id":"term","domain":"terminal","observed":false,"meta":{"perturbation":{"kind":"clock"}},"turns":[` +
		`{"index":0,"action":"ls","observation":"a b"},{"index":1,"observation":"nothing was done"},{"index":2,"action":"cat a","observation":"b c nothing"}]}`,
	// No screen, no state; an answer that a search names unasked, and one that is asked for.
	`{"id":"find","domain":"search","system":{"task_description":"who wrote it","simulation_instruction":"Target query: who wrote it\nReference answer: Ada Lovelace"},"turns":[` +
		`{"index":0,"action":"search notes","observation":"notes by Ada Lovelace"},{"index":1,"action":"search ada lovelace","observation":"Ada Lovelace, born 1815"}]}`,
	`{"id":"one","domain":"mcp","turns":[{"index":0,"action":"x","observation":"y"}]}`, // too_few_turns
	`{"id":"doc","kind":"document","text":"some knowledge"}`,
}

// beyondLine shows a turn's columns of what the mask does not look at.
func beyondLine(r *stats.TurnRow) string {
	truth := func(b *bool) string {
		if b == nil {
			return "-"
		}
		return fmt.Sprint(*b)
	}
	return fmt.Sprintf("%s/%d %s observed=%s instructed=%s perturbed=%s words=%d state=%d shared=%d novelty=%.2f unseen=%d leaked=%s", r.ID, r.Turn,
		strings.TrimSpace(r.Status+" "+r.Reason), truth(r.Observed), truth(r.Instructed), truth(r.Perturbed), r.ObservationWords, r.StateWords, r.StateSharedWords, r.StateNovelty, r.UnseenWords, truth(r.AnswerLeaked))
}

func TestBeyond(t *testing.T) {
	o := auditOptions(t, writeFiles(t, []testFile{{"runs.jsonl", []byte(strings.Join(beyondRecords, "\n") + "\n")}}))
	o.Mask = "off"
	mustRun(t, o)
	mustCheck(t, o)
	want := strings.TrimSpace(`
web/0 target observed=true instructed=true perturbed=false words=3 state=3 shared=1 novelty=0.67 unseen=2 leaked=-
web/1 dropped no_change observed=true instructed=true perturbed=false words=3 state=-1 shared=-1 novelty=NaN unseen=-1 leaked=-
web/2 target observed=true instructed=true perturbed=false words=4 state=3 shared=1 novelty=0.75 unseen=1 leaked=-
web/3 target observed=true instructed=true perturbed=false words=4 state=2 shared=1 novelty=0.75 unseen=2 leaked=-
term/0 target observed=false instructed=false perturbed=true words=2 state=-1 shared=-1 novelty=NaN unseen=2 leaked=-
term/1 dropped no_action observed=false instructed=false perturbed=true words=3 state=-1 shared=-1 novelty=NaN unseen=-1 leaked=-
term/2 target observed=false instructed=false perturbed=true words=3 state=2 shared=1 novelty=0.67 unseen=2 leaked=-
find/0 target observed=- instructed=true perturbed=false words=4 state=-1 shared=-1 novelty=NaN unseen=1 leaked=true
find/1 target observed=- instructed=true perturbed=false words=4 state=-1 shared=-1 novelty=NaN unseen=2 leaked=false
one/0 dropped too_few_turns observed=- instructed=false perturbed=false words=1 state=-1 shared=-1 novelty=NaN unseen=-1 leaked=-
doc/0 target observed=- instructed=- perturbed=- words=0 state=-1 shared=-1 novelty=NaN unseen=-1 leaked=-`)
	var got []string
	for _, r := range allTurns(t, o.Output, 1) {
		got = append(got, beyondLine(&r))
	}
	if diff := cmp.Diff(want, strings.Join(got, "\n")); diff != "" {
		t.Errorf("columns (-want +got):\n%s", diff)
	}
	for _, row := range []string{
		`<tr data-name="the whole"><th scope="row"><a href="#whole">The whole</a></th><td class="r"><a href="#examples">4</a></td>`, // with a state
		`data-turns="3" data-words="9" data-unseen="5"`, // turn 0
		linkedCells("examples", "4", "1 <small>25%", "1 <small>25%", "2 <small>50%", "2 <small>50%", "1 <small>25%", "6", "3"), // who answered
		linkedCells("ex-tool-1", "1", "2"),
	} {
		if !strings.Contains(reportOn(t, o), row) {
			t.Errorf("the report does not say %s", row)
		}
	}
	o = with(t, o, func(o *Options) { o.Beyond = "off" })
	mustRun(t, o)
	if page := reportOn(t, o); !strings.Contains(page, "<code>--beyond on</code>") || strings.Contains(page, `data-beyond="unseen"`) {
		t.Error("the report of a run without --beyond does not say so, or has figures")
	}
}

// linkedCells are cells of numbers that lead to examples, each with what stands behind it.
func linkedCells(to string, cells ...string) string {
	var b strings.Builder
	for _, c := range cells {
		n, rest, small := strings.Cut(c, " ")
		fmt.Fprintf(&b, `<td class="r"><a href="#%s">%s</a>`, to, n)
		if small {
			b.WriteString(" " + rest + "</small>")
		}
		b.WriteString("</td>")
	}
	return b.String()
}

func reportOn(t *testing.T, o Options) string {
	t.Helper()
	page, err := os.ReadFile(filepath.Join(o.Output, reportPath))
	if err != nil {
		t.Fatal(err)
	}
	return string(page)
}

// TestBeyondIsAsked: cpt counts none of it unless it is told to, an audit all unless it is told not to; and the rows
// of the one are the columns of the other.
func TestBeyondIsAsked(t *testing.T) {
	corpus := mixedCorpus(t)
	o := options(t, corpus)
	mustRun(t, o)
	for _, r := range allTurns(t, o.Output, 1) {
		if !unmeasured(&r) {
			t.Fatalf("cpt has counted %s", beyondLine(&r))
		}
	}
	on := with(t, o, func(o *Options) { o.Beyond = "on" })
	mustRun(t, on)
	mustCheck(t, on)
	audit := with(t, o, func(o *Options) { o.Pipeline = pipelineAudit })
	mustRun(t, audit)
	if diff := cmp.Diff(allTurns(t, on.Output, 1), allTurns(t, audit.Output, 1), places, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("cpt --beyond on and audit (-cpt +audit):\n%.2000s", diff)
	}
	off := with(t, audit, func(o *Options) { o.Beyond = "off" })
	mustRun(t, off)
	mustCheck(t, off)
	if diff := cmp.Diff(allTurns(t, o.Output, 1), allTurns(t, off.Output, 1), places, cmpopts.EquateNaNs()); diff != "" {
		t.Errorf("cpt and audit --beyond off (-cpt +audit):\n%.2000s", diff)
	}
	sameRows(t, o.Output, on.Output)
}

// sameRows compares the shards of two runs.
func sameRows(t *testing.T, a, b string) {
	t.Helper()
	pick := func(root string) map[string]string {
		files := map[string]string{}
		for path, sum := range digest(t, root) {
			if strings.HasSuffix(filepath.ToSlash(path), ".arrow") {
				files[path] = sum
			}
		}
		return files
	}
	if diff := cmp.Diff(pick(a), pick(b)); diff != "" || len(pick(a)) == 0 {
		t.Errorf("rows (-without +with):\n%s", diff)
	}
}

// TestForgedBeyond: what of the columns follows from others is found without the inputs, the counts themselves with
// them.
func TestForgedBeyond(t *testing.T) {
	o := auditOptions(t, demoCorpus(t))
	onScreen := func(r *stats.TurnRow) bool {
		return target(r) && r.StateSharedWords > r.SharedWords && r.UnseenWords > 1
	}
	plain := func(r *stats.TurnRow) bool { return target(r) && r.StateWords == stats.NotCounted && r.UnseenWords > 1 }
	judged := func(r *stats.TurnRow) bool { return target(r) && r.AnswerLeaked != nil && !*r.AnswerLeaked }
	testForgeries(t, o, []forgery{
		oneTurn("observed of one turn", target, func(r *stats.TurnRow) {
			if r.Observed != nil {
				r.Observed = nil
			} else {
				r.Observed = stats.Bool(true)
			}
		}),
		oneTurn("instructed of one turn", target, func(r *stats.TurnRow) { r.Instructed = stats.Bool(!*r.Instructed) }),
		oneTurn("instructed is null", target, func(r *stats.TurnRow) { r.Instructed = nil }),
		oneTurn("perturbed of one turn", target, func(r *stats.TurnRow) { r.Perturbed = stats.Bool(!*r.Perturbed) }),
		byInputs(whole("perturbed of a trajectory", func(r *stats.TurnRow) { r.Perturbed = stats.Bool(!*r.Perturbed) })),
		{name: "observed of a trajectory", file: "examples/", forge: whole("", func(r *stats.TurnRow) { r.Observed = stats.Bool(false) }).forge},
		oneTurn("a document is observed", document, func(r *stats.TurnRow) { r.Observed = stats.Bool(true) }),
		oneTurn("a document has unseen words", document, func(r *stats.TurnRow) { r.UnseenWords = 0 }),
		oneTurn("a filtered turn has unseen words", droppedAlone, func(r *stats.TurnRow) { r.UnseenWords = 0 }),
		oneTurn("fewer state words than come back", onScreen, func(r *stats.TurnRow) { r.StateWords = 0 }),
		oneTurn("state words are null", onScreen, func(r *stats.TurnRow) { r.StateWords = stats.NotCounted }),
		oneTurn("a state where there is none", plain, func(r *stats.TurnRow) { r.StateWords = 3 }),
		oneTurn("state shares less than the action", onScreen, func(r *stats.TurnRow) { r.StateSharedWords = r.SharedWords - 1 }),
		oneTurn("state shared words", onScreen, func(r *stats.TurnRow) { r.StateSharedWords-- }),
		oneTurn("state novelty", onScreen, func(r *stats.TurnRow) { r.StateNovelty += 1e-15 }),
		oneTurn("state novelty is null", onScreen, func(r *stats.TurnRow) { r.StateNovelty = math.NaN() }),
		oneTurn("more unseen words than new ones", plain, func(r *stats.TurnRow) { r.UnseenWords = r.ObservationWords - r.SharedWords + 1 }),
		byInputs(oneTurn("fewer unseen words", plain, func(r *stats.TurnRow) { r.UnseenWords-- })),
		byInputs(oneTurn("state words", onScreen, func(r *stats.TurnRow) { r.StateWords += 100 })),
		oneTurn("answer judged in one turn", func(r *stats.TurnRow) bool { return plain(r) && r.AnswerLeaked == nil }, func(r *stats.TurnRow) { r.AnswerLeaked = stats.Bool(false) }),
		{name: "answer leaked", file: "examples/", forge: func(f *forger) { f.turn(judged, func(r *stats.TurnRow) { r.AnswerLeaked = stats.Bool(true) }) }},
		oneTurn("counts that no figure has room for", onScreen, func(r *stats.TurnRow) { r.SharedWords = r.ObservationWords + 9 }),
	})
}
