package pipelines

import (
	"bytes"
	"cmp"
	"context"
	"fmt"
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
	"github.com/turnmill/turnmill/stats/report"
)

// reportPath is the report's place below OUT.
const reportPath = "report.html"

// The report is a pure function of turns tables, examples and counts, so that whoever merges makes the same:
//
//	turns/*.parquet  --twice--> figures          names first, then all sums
//	examples/*       ---------> examples         of a run of cpt: of its turns, with the texts of its shards
//	commits          ---------> accounts, notes

// figuresOf adds up the turns of a run.
func figuresOf(ctx context.Context, root string, p *Plan, table *mask.Table, partitions int) (*figures.Figures, error) {
	names := figures.NewNames()
	if err := addNames(ctx, root, partitions, names); err != nil {
		return nil, err
	}
	return figuresFor(ctx, root, p, table, partitions, names)
}

// addNames counts the names of a run's turns.
func addNames(ctx context.Context, root string, partitions int, names *figures.Names) error {
	for i := range partitions {
		err := eachTurn(root, i, func(rows []stats.TurnRow) error {
			for k := range rows {
				names.Add(namesOf(&rows[k]))
			}
			return context.Cause(ctx)
		}, "domain", "source", "agent", "tool", "observed")
		if err != nil {
			return err
		}
	}
	return nil
}

// figuresFor adds up the turns of a run, under the names that have most turns.
func figuresFor(ctx context.Context, root string, p *Plan, table *mask.Table, partitions int, names *figures.Names) (*figures.Figures, error) {
	f := figures.New(names, boundsOf(table), p.tokens())
	keeps := keepsOf(table)
	for i := range partitions {
		err := eachTurn(root, i, func(rows []stats.TurnRow) error {
			for k := range rows {
				t, sound := turnOf(&rows[k], i, &keeps, p.tokens())
				if !sound {
					return fmt.Errorf("%s: %w: turn %d of trajectory %d has counts that cannot be", turnsPath(i), turnmill.ErrCorrupt, t.Index, t.Trajectory)
				}
				f.Add(&t)
			}
			return context.Cause(ctx)
		}, figureColumns...)
		if err != nil {
			return nil, err
		}
	}
	f.Finish()
	return f, nil
}

// figureColumns are those that the figures need.
var figureColumns = []string{"record", "trajectory", "domain", "source", "agent", "tool", "action_words", "observation_words", "shared_words",
	"action_chars", "observation_chars", "category", "keep", "kept", "status", "reason", "observation_tokens", "target_tokens", "trained_tokens", "kept_spans",
	"turn", "observed", "instructed", "perturbed", "state_words", "state_shared_words", "unseen_words", "answer_leaked"}

// turnOf is a row of the turns table for the figures, and whether its counts can be: the table may be another hand's.
func turnOf(r *stats.TurnRow, partition int, keeps *[turnmill.NumCategories]float64, tokens bool) (_ figures.Turn, sound bool) {
	category, known := turnmill.ParseCategory(r.Category)
	t := figures.Turn{
		Partition: partition, Record: r.Record, Trajectory: r.Trajectory, Domain: r.Domain, Source: r.Source, Agent: r.Agent, Tool: r.Tool,
		ActionWords: int64(r.ActionWords), ObservationWords: int64(r.ObservationWords), SharedWords: int64(r.SharedWords),
		ActionChars: r.ActionChars, ObservationChars: r.ObservationChars, Document: !known, Category: category, Keep: keeps[category], Draw: r.Keep,
		Decided: decided(r, tokens), Status: r.Status, Reason: r.Reason,
		ObservationTokens: int64(r.ObservationTokens), TargetTokens: int64(r.TargetTokens), TrainedTokens: int64(r.TrainedTokens),
		ExpectedTokens: expectedTokens(r),
	}
	t.Kept = maskCount(r, mask.ModeTurn, tokens).KeptTurns > 0
	t.Index, t.Observed = int64(r.Turn), provenanceOf(r)
	t.Instructed, t.Perturbed = r.Instructed != nil && *r.Instructed, r.Perturbed != nil && *r.Perturbed
	t.Judged, t.Leaked = r.AnswerLeaked != nil, r.AnswerLeaked != nil && *r.AnswerLeaked
	if t.Measured = r.UnseenWords != stats.NotCounted; t.Measured {
		t.Unseen = int64(r.UnseenWords)
	}
	if t.HasState = r.StateWords != stats.NotCounted; t.HasState {
		t.StateShared = int64(r.StateSharedWords)
	}
	least := min(t.SharedWords, t.StateShared, t.Unseen, t.ActionChars, t.ObservationChars)
	return t, least >= 0 && t.SharedWords <= min(t.ActionWords, t.ObservationWords) && max(t.StateShared, t.Unseen) <= t.ObservationWords
}

// namesOf returns a row's name in each dimension.
func namesOf(r *stats.TurnRow) [figures.NumDimensions]string {
	return [figures.NumDimensions]string{r.Domain, r.Source, r.Agent, r.Tool, provenanceOf(r)}
}

// provenanceOf names who answered.
func provenanceOf(r *stats.TurnRow) string {
	if r.Observed == nil {
		return ""
	}
	return strconv.FormatBool(*r.Observed)
}

// copiedOf names the ratio of copied lines, in the mode that has one.
func copiedOf(m *MaskInfo) string {
	if m.CopiedKeep == "" {
		return ""
	}
	return ", copied lines at " + m.CopiedKeep
}

// keepsOf returns the ratio of each category, whatever the mode makes of it.
func keepsOf(table *mask.Table) (keeps [turnmill.NumCategories]float64) {
	keeps[turnmill.CategoryOther] = table.Other.Float()
	for i := range table.Rows {
		keeps[table.Rows[i].Category] = table.Rows[i].Keep.Float()
	}
	return keeps
}

// boundsOf returns the thresholds of a table.
func boundsOf(table *mask.Table) (b figures.Bounds) {
	for i := range table.Rows {
		for _, bound := range table.Rows[i].Bounds() {
			switch bound.On {
			case "overlap":
				b.Overlap = append(b.Overlap, bound.At)
			case "novelty":
				b.Novelty = append(b.Novelty, bound.At)
			default:
				b.LengthRatio = append(b.LengthRatio, bound.At)
			}
		}
	}
	b.Short = []int64{table.Short}
	return b
}

// auditReport makes the report of an audit.
func auditReport(ctx context.Context, root string, m *Manifest, p *Plan, partitions int) ([]byte, error) {
	examples, err := collectExamples(root, partitions)
	if err != nil {
		return nil, err
	}
	return reportOf(ctx, root, m, p, partitions, examples, "")
}

// reportOf makes the report of a finished run.
func reportOf(ctx context.Context, root string, m *Manifest, p *Plan, partitions int, examples *figures.Reservoir[*sample], noTexts string) ([]byte, error) {
	table, err := mask.FromSpec(p.Mask.Table)
	if err != nil {
		return nil, fmt.Errorf("plan.json: %w: %w", turnmill.ErrCorrupt, err)
	}
	f, err := figuresOf(ctx, root, p, &table, partitions)
	if err != nil {
		return nil, err
	}
	page := &report.Page{
		Facts: factsOf(m, p), Mode: p.Mask.Mode, Tokens: p.tokens(), Table: tableOf(&table), Figures: f,
		Accounts: accountsOf(m.Counts), Repairs: notesOf(m.Counts.Repairs), Notices: notesOf(m.Counts.Notices), Secrets: notesOf(m.Counts.Secrets), NoTexts: noTexts,
	}
	page.Answers = answerTables(m.SFT)
	page.Examples, page.Kinds = reportExamples(examples, &table)
	records, err := collectRecords(root, p, partitions)
	if err != nil {
		return nil, err
	}
	page.Records, page.RecordKinds = reportRecords(records)
	var b bytes.Buffer
	if err := report.Write(&b, page); err != nil {
		return nil, err
	}
	return b.Bytes(), nil
}

// factsOf says what was audited, and how.
func factsOf(m *Manifest, p *Plan) []report.Fact {
	var stored int64
	for i := range m.Inputs {
		stored += m.Inputs[i].Bytes
	}
	facts := []report.Fact{
		{Name: "turnmill", Value: m.Turnmill + ", pipeline " + m.Pipeline},
		{Name: "inputs", Value: stats.Thousands(int64(len(m.Inputs))) + " files, " + stats.Thousands(stored) + " bytes stored"},
		{Name: "mask", Value: "mode " + p.Mask.Mode + copiedOf(&p.Mask) + ", words " + p.Mask.Words + ", seed " + strconv.Quote(p.Mask.Seed)},
		{Name: "mask table", Value: "sha256 " + p.Mask.SHA256},
		{Name: "tokenizer", Value: "none: lengths are characters of observations"},
		{Name: "plan", Value: "sha256 " + m.Plan},
	}
	if p.tokens() {
		facts[4].Value = p.Tokenizer.Name + ", sha256 " + p.Tokenizer.SHA256 + ", chat " + p.Chat.Name + ": lengths are tokens that would carry loss without the mask"
	}
	if m.DuplicateIDs > 0 {
		facts = append(facts, report.Fact{Name: "repeated ids", Value: stats.Thousands(m.DuplicateIDs) + " trajectories or documents have an id that came before"})
	}
	return facts
}

func tableOf(t *mask.Table) report.Table {
	spec := t.Spec()
	out := report.Table{Short: t.Short, Other: spec.Other, SHA256: t.Hash()}
	for i := range t.Rows {
		_, bounds, _ := strings.Cut(t.Rows[i].String(), ": ")
		row := report.Row{Category: spec.Rows[i].Category, Keep: spec.Rows[i].Keep, OrShort: t.Rows[i].OrShort, Text: bounds, Bounds: []report.Bound{}}
		for _, b := range t.Rows[i].Bounds() {
			row.Bounds = append(row.Bounds, report.Bound{Name: b.Name, On: b.On, Sign: b.Sign, Text: b.Text, At: b.At})
		}
		out.Rows = append(out.Rows, row)
	}
	for _, b := range mask.BoundKinds() {
		out.Kinds = append(out.Kinds, report.Bound{Name: b.Name, On: b.On, Sign: b.Sign})
	}
	return out
}

// mostAccounts is how many domains' accounts the report shows.
const mostAccounts = 24

// accountsOf returns the ledger, the whole first.
func accountsOf(c *stats.Counts) []report.Account {
	accounts := []report.Account{accountOf("total", c.Ledger.Total)}
	for i, d := range c.DomainOrder() {
		if i == mostAccounts {
			break
		}
		accounts = append(accounts, accountOf(figures.Name(string(d)), c.Ledger.Domains[d]))
	}
	return accounts
}

func accountOf(name string, l *stats.Ledger) report.Account {
	a := report.Account{Name: name}
	for _, line := range []struct {
		what string
		*stats.Account
	}{{"records", &l.Records}, {"trajectories", &l.Trajectories}, {"turns", &l.Turns}, {"loss tokens", &l.LossTokens}} {
		if line.what == "loss tokens" && line.In == 0 {
			continue
		}
		a.Lines = append(a.Lines, report.AccountLine{
			What: line.what, In: line.In, Out: line.Out, Repeated: line.Repeated, AllDropped: line.AllDropped(), AllRejected: line.AllRejected(),
			Dropped: countsBySize(line.Dropped), Rejected: countsBySize(line.Rejected),
		})
	}
	return a
}

func countsBySize[K ~string](m map[K]int64) []report.Count {
	var all []report.Count
	for _, name := range slices.Sorted(maps.Keys(m)) {
		all = append(all, report.Count{Name: figures.Name(string(name)), N: m[name]})
	}
	slices.SortStableFunc(all, func(a, b report.Count) int { return cmp.Compare(b.N, a.N) })
	return all
}

// notesOf returns notes by name, the most frequent first, with up to a few domains each.
func notesOf(by map[turnmill.Domain]map[string]int64) []report.Note {
	const domains = 9
	sums := map[string]int64{}
	where := map[string]map[turnmill.Domain]int64{}
	for d, names := range by {
		for name, n := range names {
			sums[name] += n
			if where[name] == nil {
				where[name] = map[turnmill.Domain]int64{}
			}
			where[name][d] += n
		}
	}
	var notes []report.Note
	for _, c := range countsBySize(sums) {
		in := countsBySize(where[c.Name])
		notes = append(notes, report.Note{Name: c.Name, N: c.N, Domains: in[:min(len(in), domains)]})
	}
	return notes
}

// reportExamples numbers the examples of a reservoir.
func reportExamples(r *figures.Reservoir[*sample], table *mask.Table) ([]report.Example, map[figures.Kind][]int) {
	number := map[*sample]int{}
	var all []report.Example
	kinds := map[figures.Kind][]int{}
	borders := table.Borders()
	for _, k := range r.Kinds() {
		for _, e := range r.Of(k) {
			i, known := number[e.Value]
			if !known {
				i = len(all)
				number[e.Value] = i
				one := exampleOf(&e.Value.line, table, borders)
				one.NoTexts = e.Value.noTexts
				all = append(all, one)
			}
			kinds[k] = append(kinds[k], i)
		}
	}
	return all, kinds
}

func exampleOf(l *exampleLine, table *mask.Table, borders []mask.Border) report.Example {
	c := mask.Counts{ActionWords: int(l.ActionWords), ObservationWords: int(l.ObservationWords), SharedWords: int(l.SharedWords),
		ActionChars: l.ActionChars, ObservationChars: l.ObservationChars}
	e := report.Example{
		ID: figures.Name(l.ID), Turn: l.Turn, Domain: figures.Name(l.Domain), Source: figures.Name(l.Source), Agent: l.Agent, Tool: l.Tool,
		Category: l.Category, Status: l.Status, Reason: l.Reason, Keep: l.Keep,
		Words: [3]int32{l.ActionWords, l.ObservationWords, l.SharedWords}, Chars: [2]int64{l.ActionChars, l.ObservationChars},
		Action: textOf(&l.Action), Observation: textOf(&l.Observation),
	}
	overlap, novelty, jaccard, length := ratios(c)
	e.Overlap, e.Novelty, e.Jaccard, e.Ratio = decimals(overlap), decimals(novelty), decimals(jaccard), decimals(length)
	for _, i := range mask.Matching(table, c) {
		e.Rules = append(e.Rules, table.Rows[i].String())
	}
	e.Near = nearBorders(table, borders, c)
	e.RunnerUp = mask.RunnerUp(table, c).String()
	if n, ok := mask.NearestBorder(table, borders, c); ok {
		e.Nearest = n.Border.Name(table) + ", " + n.Away() + " away; beyond it " + n.Beyond.String()
	}
	return e
}

func decimals(x float64) string {
	if x != x {
		return "undefined"
	}
	return strconv.FormatFloat(x, 'f', 3, 64)
}

func textOf(x *excerpt) report.Text {
	return report.Text{Head: x.Head, HeadMarks: x.HeadMarks, Skipped: x.Skipped, Tail: x.Tail, TailMarks: x.TailMarks}
}
