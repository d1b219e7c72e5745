package pipelines

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"slices"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/shard/hub"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/figures"
)

// ReportOptions say of which finished run a report is to be made.
type ReportOptions struct {
	Path      string // of the run, by cpt or audit
	Output    string // directory of the report; "": the run's
	Tokenizer string // "": the one that local.json names
	Hub       hub.Options
}

// planHead is how the plan of a run begins. A plan of something else that lies among inputs does not.
var planHead = regexp.MustCompile(`^\s*\{\s*"format_version"`)

// IsRun tells whether a directory holds the plan of a run, be it damaged or of another version.
func IsRun(path string) bool {
	data, err := os.ReadFile(filepath.Join(path, "plan.json"))
	return err == nil && planHead.Match(data)
}

// Report makes the report of a finished run from its turns tables and manifest, without its inputs, and returns
// where it lies. Of a run of cpt the examples are chosen again and their texts read from the shards: what is in no
// row has none, and without the tokenizer nothing has.
func Report(ctx context.Context, o ReportOptions) (string, error) {
	r, err := openRun(o.Path)
	if err != nil {
		return "", err
	}
	to := cmp.Or(o.Output, o.Path)
	own := sameDir(to, o.Path)
	if !own && IsRun(to) {
		return "", &UsageError{fmt.Errorf("--output %s: it is a run of its own, and would have the report of another; name another directory", to)}
	}
	page, err := r.report(ctx, &o)
	if err = r.whole(err); err != nil {
		return "", err
	}
	if err := os.MkdirAll(to, 0o777); err != nil {
		return "", &UsageError{fmt.Errorf("--output: %w; name a directory, or one that can be made", err)}
	}
	if own {
		unlock, err := (&Options{Output: to}).lock(true)
		if err != nil {
			return "", err
		}
		defer unlock()
	}
	_, err = writeFile(dirSink{to, machine{}}, reportPath, page)
	return filepath.Join(to, reportPath), err
}

// sameDir tells whether two paths lead to one directory that is there.
func sameDir(a, b string) bool {
	x, errX := os.Stat(a)
	y, errY := os.Stat(b)
	return errX == nil && errY == nil && os.SameFile(x, y)
}

// finishedRun is what a finished run says of itself.
type finishedRun struct {
	root       string
	plan       *Plan
	manifest   *Manifest
	table      mask.Table
	partitions int
}

// openRun reads plan and manifest of a finished run.
func openRun(root string) (*finishedRun, error) {
	p, err := readPlan(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &UsageError{fmt.Errorf("%s: it holds no plan.json, so it is no run of turnmill", root)}
	}
	if bad := (*UsageError)(nil); errors.As(err, &bad) {
		return nil, err
	}
	if err != nil {
		return nil, fmt.Errorf("%s: %w", root, err)
	}
	r := &finishedRun{root: root, plan: p, manifest: &Manifest{}}
	data, err := os.ReadFile(filepath.Join(root, "manifest.json"))
	if errors.Is(err, fs.ErrNotExist) {
		return nil, &UsageError{unfinished(root, p)}
	}
	if err != nil {
		return nil, err
	}
	if err = decodeJSON(data, r.manifest); err == nil {
		err = r.manifest.Balanced()
	}
	if err != nil {
		return nil, fmt.Errorf("%s: manifest.json: %w: %w", root, turnmill.ErrCorrupt, err)
	}
	if r.table, err = mask.FromSpec(p.Mask.Table); err != nil {
		return nil, fmt.Errorf("%s: plan.json: %w: %w", root, turnmill.ErrCorrupt, err)
	}
	for _, f := range r.manifest.Files {
		if filepath.Dir(filepath.FromSlash(f.Path)) == "turns" {
			r.partitions++
		}
	}
	return r, nil
}

// whole says of an error in a run's files which run it is, and what finds all that is wrong with it.
func (r *finishedRun) whole(err error) error {
	if errors.Is(err, turnmill.ErrCorrupt) || errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: %w; turnmill check %s says what is wrong with the run, and what mends it", r.root, err, r.root)
	}
	return err
}

func (r *finishedRun) report(ctx context.Context, o *ReportOptions) ([]byte, error) {
	if r.plan.audits() {
		return auditReport(ctx, r.root, r.manifest, r.plan, r.partitions)
	}
	chosen, err := r.choose(ctx)
	if err != nil {
		return nil, err
	}
	noTexts := ""
	switch model, err := tokenizerOf(ctx, r.root, o.Tokenizer, r.plan, o.Hub); {
	case err != nil && (o.Tokenizer != "" || ctx.Err() != nil):
		return nil, err
	case err != nil: // what of the machine is in the way is no matter for a file that is the same everywhere
		noTexts = "The run's tokenizer was not at hand, so that they have no texts; turnmill audit --tokenizer names it."
	default:
		if err := r.texts(ctx, chosen, model); err != nil {
			return nil, err
		}
	}
	examples := figures.NewReservoir[*sample](reportKinds)
	for _, k := range chosen.Kinds() {
		kept := examples.At(k)
		for _, e := range chosen.Of(k) {
			kept.Put(e.Rank, e.Value.sample)
		}
	}
	return reportOf(ctx, r.root, r.manifest, r.plan, r.partitions, examples, noTexts)
}

// placedSample is an example with its place in a shard; "": it is in no row.
type placedSample struct {
	sample              *sample
	at                  place
	action, observation turnmill.Span
}

// choose reads the turns once and chooses examples as an audit does.
func (r *finishedRun) choose(ctx context.Context) (*figures.Reservoir[*placedSample], error) {
	chosen := figures.NewReservoir[*placedSample](reportKinds)
	k := newKinder(&r.table, r.plan.tokens())
	for i := range r.partitions {
		err := eachTurn(r.root, i, func(rows []stats.TurnRow) error {
			for n := range rows {
				choosePlaced(chosen, &k, r.plan.Mask.Seed, &rows[n])
			}
			return context.Cause(ctx)
		})
		if err != nil {
			return nil, err
		}
	}
	return chosen, nil
}

func choosePlaced(chosen *figures.Reservoir[*placedSample], k *kinder, seed string, row *stats.TurnRow) {
	kinds := k.of(row)
	if len(kinds) == 0 {
		return
	}
	rank := figures.Rank(seed, row.ID, row.Turn)
	var one *placedSample
	for _, kind := range kinds {
		kept := chosen.At(kind)
		if kept == nil || !kept.Wants(rank) {
			continue
		}
		if one == nil {
			one = &placedSample{sample: &sample{line: lineOf(row, rank)}, at: place{row.Shard, row.Row},
				action: turnmill.Span{Start: row.ActionStart, End: row.ActionEnd}, observation: turnmill.Span{Start: row.TokenStart, End: row.TokenEnd}}
			if row.Shard == "" {
				one.sample.noTexts = "in no row: the inputs alone have its texts (turnmill show INPUT --id)"
			}
		}
		kept.Put(rank, one)
	}
}

// texts reads the examples' texts from the shards, each shard once, up to the last row that is needed.
func (r *finishedRun) texts(ctx context.Context, chosen *figures.Reservoir[*placedSample], model *tokenizer) error {
	seen := map[*placedSample]bool{}
	var all []*placedSample
	for _, k := range chosen.Kinds() {
		for _, e := range chosen.Of(k) {
			if e.Value.at.shard != "" && !seen[e.Value] {
				seen[e.Value] = true
				all = append(all, e.Value)
			}
		}
	}
	slices.SortStableFunc(all, func(a, b *placedSample) int {
		return cmp.Or(cmp.Compare(a.at.shard, b.at.shard), cmp.Compare(a.at.row, b.at.row))
	})
	for from := 0; from < len(all); {
		to := from
		for to < len(all) && all[to].at.shard == all[from].at.shard {
			to++
		}
		if ctx.Err() != nil {
			return context.Cause(ctx)
		}
		if err := r.textsOf(all[from:to], model); err != nil {
			return err
		}
		from = to
	}
	return nil
}

// textsOf reads the texts of examples in one shard, in the order of its rows.
func (r *finishedRun) textsOf(examples []*placedSample, model *tokenizer) error {
	name := examples[0].at.shard
	if _, ok := splitOf(name); !ok || !filepath.IsLocal(filepath.FromSlash(name)) {
		return fmt.Errorf("turns: %w: a turn stands in %q, which is no shard", turnmill.ErrCorrupt, name)
	}
	profile, ok := arrow.ParseProfile(r.plan.Config.Profile)
	if !ok {
		return fmt.Errorf("plan.json: %w: profile %q is not known", turnmill.ErrCorrupt, r.plan.Config.Profile)
	}
	f, err := os.Open(filepath.Join(r.root, filepath.FromSlash(name)))
	if err != nil {
		return err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return err
	}
	shard, err := arrow.NewReader(f, info.Size(), name, profile)
	if err != nil {
		return err
	}
	for len(examples) > 0 {
		row, err := shard.Next()
		if errors.Is(err, io.EOF) {
			return fmt.Errorf("%s: %w: no row %d", name, turnmill.ErrCorrupt, examples[0].at.row)
		}
		if err != nil {
			return err
		}
		for len(examples) > 0 && examples[0].at.row == row.Number {
			e := examples[0]
			v := rowView{model: model, ids: row.IDs}
			if e.action.Start < 0 || e.action.End <= e.action.Start || e.observation.Start < e.action.End || e.observation.End <= e.observation.Start || int(e.observation.End) > len(row.IDs) {
				return fmt.Errorf("%s: %w: row %d has no turn %d of %s", name, turnmill.ErrCorrupt, row.Number, e.sample.line.Turn, e.sample.line.ID)
			}
			e.sample.line.Action, e.sample.line.Observation = markedExcerpts(&r.table, v.text(e.action.Start, e.action.End-1), v.text(e.observation.Start, e.observation.End-1))
			examples = examples[1:]
		}
	}
	return nil
}
