package pipelines

import (
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// screens are runs on a screen of which each action changes some lines.
func screens(n int) string {
	var b strings.Builder
	for i := range n {
		tree := func(more string) string {
			return `RootWebArea 'Shop'\n\tlink 'Home'\n\tlink 'Cart'\n` + more + `\tbutton 'Pay'\n\tStaticText 'Free delivery above 40'\n`
		}
		id := string(rune('a'+i/26)) + string(rune('a'+i%26))
		screens := [...]string{"RootWebArea 'Blank'", tree(""), tree(`\ttextbox 'Code' value='SPRING` + id + `'\n`),
			tree(`\ttextbox 'Code'\n\tStaticText '` + id + ` is accepted'\n`)}
		b.WriteString(`{"id":"screen-` + id + `","domain":"web","turns":[`)
		for k, action := range [...]string{"open shop", "type SPRING" + id, "click apply"} {
			if k > 0 {
				b.WriteString(",")
			}
			b.WriteString(`{"state":"` + screens[k] + `","action":"` + action + `","observation":"` + screens[k+1] + `"}`)
		}
		b.WriteString("]}\n")
	}
	return b.String()
}

// spansRun is a small run in a mode with spans, of turns of which some are kept and some are not.
func spansRun(t *testing.T, mode string) Options {
	t.Helper()
	files := smallFiles()
	files = append(files, testFile{"screens.jsonl", []byte(screens(40))})
	o := options(t, writeFiles(t, files))
	o.SeqLen, o.Partitions, o.ShardBytes, o.Mask = 1300, 4, 120_000, mode
	return o
}

// inPart are turns that are not kept and carry loss all the same.
func inPart(r *stats.TurnRow) bool { return !r.Kept && len(r.KeptSpans) > 0 }

func TestForgedSpans(t *testing.T) {
	label := func(f *forger, r stats.TurnRow, trained bool) {
		row := f.rows(r.Shard)[r.Row]
		at := int(r.TokenStart) + slices.IndexFunc(row.Labels[r.TokenStart:r.TokenEnd], func(l int32) bool { return (l != turnmill.IgnoreIndex) != trained })
		if trained {
			f.cell(r.Shard, "labels", int(r.Row), at, to(row.IDs[at]))
		} else {
			f.cell(r.Shard, "labels", int(r.Row), at, to(turnmill.IgnoreIndex))
		}
	}
	for _, mode := range []string{"span", "changed"} {
		t.Run(mode, func(t *testing.T) {
			testForgeries(t, spansRun(t, mode), []forgery{
				{name: "a token too many", file: "train/", forge: func(f *forger) { label(f, f.aTarget(inPart), true) }},
				{name: "a token too few", file: "train/", forge: func(f *forger) { label(f, f.aTarget(inPart), false) }},
				{name: "a span more", file: "turns/", forge: func(f *forger) {
					f.turn(func(r *stats.TurnRow) bool { return inPart(r) && r.KeptSpans[0] > 1 }, func(r *stats.TurnRow) { r.KeptSpans = append([]int32{0, 1}, r.KeptSpans...) })
				}},
				{name: "a span less", file: "turns/", forge: func(f *forger) {
					f.turn(inPart, func(r *stats.TurnRow) { r.KeptSpans = r.KeptSpans[2:] })
				}},
				{name: "a span that is longer, and the count with it", file: "train/", forge: func(f *forger) {
					f.turn(inPart, func(r *stats.TurnRow) { r.KeptSpans[0]--; r.TrainedTokens++ })
				}},
				{name: "spans that fall", file: "turns/", forge: func(f *forger) {
					f.turn(inPart, func(r *stats.TurnRow) { r.KeptSpans[0], r.KeptSpans[1] = r.KeptSpans[1], r.KeptSpans[0] })
				}},
				{name: "half a pair", file: "turns/", forge: func(f *forger) {
					f.turn(inPart, func(r *stats.TurnRow) { r.KeptSpans = append(r.KeptSpans, r.ObservationTokens+2) })
				}},
				{name: "spans behind the observation", file: "turns/", forge: func(f *forger) {
					f.turn(inPart, func(r *stats.TurnRow) { r.KeptSpans[len(r.KeptSpans)-1] = r.ObservationTokens + 2 })
				}},
				{name: "no spans where the mode has some", file: "turns/", forge: func(f *forger) {
					f.turn(func(r *stats.TurnRow) bool { return r.Kept && r.KeptSpans != nil && r.Keep < 1 }, func(r *stats.TurnRow) { r.KeptSpans = nil })
				}},
				{name: "spans where the mode has none", file: "turns/", forge: func(f *forger) {
					f.turn(func(r *stats.TurnRow) bool { return r.KeptSpans == nil && r.Status == "target" && r.Category != "" }, func(r *stats.TurnRow) { r.KeptSpans = []int32{} })
				}},
				{name: "spans of a dropped turn", file: "turns/", forge: func(f *forger) {
					f.turn(func(r *stats.TurnRow) bool { return r.Status == "dropped" && r.Category != "" }, func(r *stats.TurnRow) { r.KeptSpans = []int32{0, 1} })
				}},
				{name: "kept", file: "turns/", forge: func(f *forger) { f.turn(inPart, func(r *stats.TurnRow) { r.Kept = true }) }},
				{name: "masked", file: "turns/", forge: func(f *forger) {
					f.turn(inPart, func(r *stats.TurnRow) { r.Status, r.Reason = "context", "masked" })
				}},
				inPlan("mask turn", "turns/", func(p *Plan) { p.Mask.Mode, p.Mask.CopiedKeep = "turn", "" }),
			})
		})
	}
	testForgeries(t, spansRun(t, "changed"), []forgery{
		inPlan("another ratio of copied lines", "turns/", func(p *Plan) { p.Mask.CopiedKeep = "0.2" }),
		inPlan("a ratio in another spelling", "plan.json", func(p *Plan) { p.Mask.CopiedKeep = "0.10" }),
		inPlan("no ratio", "plan.json", func(p *Plan) { p.Mask.CopiedKeep = "" }),
		inPlan("a ratio of another mode", "plan.json", func(p *Plan) { p.Mask.Mode = "turn" }),
		{name: "the table's ratio", file: "turns/", forge: func(f *forger) {
			f.turn(func(r *stats.TurnRow) bool { return r.KeptSpans != nil && r.Keep == 0.1 }, func(r *stats.TurnRow) { r.Keep = 1 })
		}},
	})
}

// Of an audit, which has no rows, spans and counts are held against each other.
func TestForgedSpansOfAnAudit(t *testing.T) {
	for _, mode := range []string{"span", "changed"} {
		o := spansRun(t, mode)
		o.Pipeline = pipelineAudit
		testForgeries(t, o, []forgery{
			{name: mode + ", a span less", file: "turns/", forge: func(f *forger) {
				f.turn(inPart, func(r *stats.TurnRow) { r.KeptSpans = r.KeptSpans[2:] })
			}},
			{name: mode + ", a token more", file: "turns/", forge: func(f *forger) {
				f.turn(inPart, func(r *stats.TurnRow) { r.TrainedTokens++ })
			}},
			{name: mode + ", kept", file: "turns/", forge: func(f *forger) {
				f.turn(inPart, func(r *stats.TurnRow) { r.Kept, r.TrainedTokens = true, r.TargetTokens })
			}},
		})
	}
}
