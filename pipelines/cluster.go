package pipelines

import (
	"context"
	"errors"
	"fmt"
	"io/fs"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// PlanCPT writes the plan of a run into OUT, for Run and Merge. An OUT with that very plan stays as it is.
func PlanCPT(ctx context.Context, o Options) (*Plan, error) {
	if err := o.Validate(); err != nil {
		return nil, err
	}
	if o.streams() {
		return nil, &UsageError{errors.New(`input "-": standard input has no second reading, so that it cannot be planned; use turnmill ` + o.pipeline())}
	}
	if o.Ask.BatchRequests != "" {
		return nil, &UsageError{errors.New("--batch-requests: a plan asks nothing; give it to turnmill " + o.pipeline())}
	}
	s, _, err := plan(ctx, &o)
	if err != nil {
		return nil, err
	}
	defer s.answers.close()
	if o.DryRun {
		return s.plan, nil
	}
	unlock, err := openOutput(&o, s)
	if err != nil {
		return nil, err
	}
	defer unlock()
	return s.plan, enoughRoom(ctx, &o, s, everyPartition(s))
}

// Run runs one partition of a planned OUT and commits it. It may run beside others on the same OUT, and
// twice: a second copy writes the same bytes. Of the options it takes Output, Workers, Memory, Logger and
// Progress; Inputs and Tokenizer say where those are now, when they have moved since the plan.
func Run(ctx context.Context, o Options, partition int) error {
	if o.Workers < 0 {
		return &UsageError{fmt.Errorf("--workers %d: want 0 or more", o.Workers)}
	}
	p, planSum, unlock, err := openPlanned(&o, false)
	if err != nil {
		return err
	}
	defer unlock()
	if p.streams() {
		return &UsageError{fmt.Errorf("%s: it reads standard input, which has no partitions to run; feed the same bytes to turnmill %s", o.Output, p.Pipeline)}
	}
	if n := len(p.Partitions); partition < 0 || partition >= n {
		return &UsageError{fmt.Errorf("--partition %d: the plan has %d, counted from 0", partition, n)}
	}
	if done := p.done(o.Output, planSum); done.commit(partition) != nil {
		o.logger().Info("partition is committed already", "partition", partition)
		return nil
	}
	s, err := p.setup(ctx, &o, planSum)
	if err != nil {
		return err
	}
	defer s.answers.close()
	window, err := s.unchanged(partition)
	if err != nil {
		return err
	}
	return runSome(ctx, &o, s, window, []int{partition})
}

// Merge makes the files of the whole run from its commits. Of the options it takes Output, Logger and the
// rates.
func Merge(ctx context.Context, o Options) (*Manifest, error) {
	if err := errors.Join(o.rateErrors()...); err != nil {
		return nil, &UsageError{err}
	}
	p, planSum, unlock, err := openPlanned(&o, true)
	if err != nil {
		return nil, err
	}
	defer unlock()
	if err := removeTemporary(o.Output); err != nil {
		return nil, err
	}
	if p.streams() {
		if err := streamEnded(o.Output, p, planSum); err != nil {
			return nil, err
		}
	}
	var missing []int
	done := p.done(o.Output, planSum)
	for i := range p.Partitions {
		if done.commit(i) == nil {
			missing = append(missing, i)
		}
	}
	if len(missing) > 0 {
		which := "partitions " + numbers(missing) + " of %d have"
		if len(missing) == 1 {
			which = "partition " + numbers(missing) + " of %d has"
		}
		return nil, fmt.Errorf("%s: "+which+" no commit, or lost a file; run each with: turnmill run %s --partition %d",
			o.Output, len(p.Partitions), o.Output, missing[0])
	}
	return finish(ctx, &o, p, planSum)
}

// unfinished says of a run without a manifest which command goes on with it.
func unfinished(root string, p *Plan) error {
	_, sum := p.Encode()
	var missing []int
	done := p.done(root, sum)
	for i := range p.Partitions {
		if done.commit(i) == nil {
			missing = append(missing, i)
		}
	}
	switch {
	case p.streams():
		return fmt.Errorf("%s: the run is not finished; feed the same bytes to the same turnmill %s command again", root, p.Pipeline)
	case len(missing) == 0:
		return fmt.Errorf("%s: the run is not finished: every partition is done and there is no manifest.json; try turnmill merge %s", root, root)
	}
	return fmt.Errorf("%s: the run is not finished: %s of %s partitions are not done; give the same turnmill %s command again, or turnmill run %s --partition %d and so on, and then turnmill merge %s",
		root, stats.Thousands(int64(len(missing))), stats.Thousands(int64(len(p.Partitions))), p.Pipeline, root, missing[0], root)
}

// streamEnded makes sure that standard input is committed up to its end.
func streamEnded(root string, p *Plan, planSum string) error {
	done := p.done(root, planSum)
	for i := 0; ; i++ {
		switch c := done.commit(i); {
		case c == nil:
			return fmt.Errorf("%s: standard input was not read to its end, or partition %d has lost a file; feed the same bytes to turnmill %s", root, i, p.Pipeline)
		case c.Last:
			return nil
		}
	}
}

// answersAt reads a planned run's recorded answers, from where the options or local.json say that they are.
func answersAt(ctx context.Context, o *Options, p *Plan) (*recorded, error) {
	if len(o.SFT.Rollouts)+len(o.SFT.Judgements) > 0 {
		r, err := openAnswers(ctx, o)
		if err != nil {
			return nil, err
		}
		if now := r.plan(); len(answerDifferences("", p.Answers.Rollouts, now.Rollouts))+len(answerDifferences("", p.Answers.Judgements, now.Judgements)) > 0 {
			return nil, errors.Join(fmt.Errorf("%w: the files of --rollouts and --judgements are not those that were planned; name them in the order of the plan", ingest.ErrChanged), r.close())
		}
		return r, nil
	}
	l, err := readLocal(o.Output)
	if err == nil && l.Answers == nil {
		err = errors.New("it names no answers")
	}
	if err != nil {
		return nil, &UsageError{fmt.Errorf("%s: where the answers are stands in local.json, which cannot be read (%w); try --rollouts and --judgements", o.Output, err)}
	}
	return p.reopen(ctx, *l.Answers)
}

// numbers writes ascending numbers as ranges: 0-3, 7.
func numbers(of []int) string {
	const most = 20
	var parts []string
	for i := 0; i < len(of); {
		j := i + 1
		for j < len(of) && of[j] == of[j-1]+1 {
			j++
		}
		part := strconv.Itoa(of[i])
		if j-i > 1 {
			part += "-" + strconv.Itoa(of[j-1])
		}
		if parts = append(parts, part); len(parts) == most && j < len(of) {
			return strings.Join(parts, ", ") + fmt.Sprintf(" and %d more", len(of)-j)
		}
		i = j
	}
	return strings.Join(parts, ", ")
}

// openPlanned locks a planned OUT and reads its plan.
func openPlanned(o *Options, exclusive bool) (p *Plan, planSum string, unlock func(), err error) {
	if _, _, err = readPlanned(o.Output); err != nil { // before it is locked, so that the error says what is missing
		return nil, "", nil, err
	}
	if unlock, err = o.lock(exclusive); err != nil {
		return nil, "", nil, err
	}
	if p, planSum, err = readPlanned(o.Output); err != nil {
		unlock()
		return nil, "", nil, err
	}
	return p, planSum, unlock, nil
}

// readPlanned reads the plan of an OUT that this turnmill can run.
func readPlanned(root string) (*Plan, string, error) {
	p, err := readPlan(root)
	if errors.Is(err, fs.ErrNotExist) {
		return nil, "", &UsageError{fmt.Errorf("%s: there is no plan.json; make one with turnmill plan", root)}
	}
	if err != nil {
		return nil, "", err
	}
	if p.Turnmill != Version {
		return nil, "", &UsageError{fmt.Errorf("%s: planned by turnmill %s, and this is %s; run it with the one that planned it, or plan anew with --restart", root, p.Turnmill, Version)}
	}
	if err := p.signed(); err != nil {
		return nil, "", fmt.Errorf("%s: plan.json: %w: %w; plan anew with --restart", root, turnmill.ErrCorrupt, err)
	}
	_, sum := p.Encode()
	return p, sum, nil
}

// signed tells whether a plan's config and table are those that its sums name.
func (p *Plan) signed() error {
	table, err := mask.FromSpec(p.Mask.Table)
	if err != nil {
		return err
	}
	if p.ConfigSHA256 != hexSum(encodeJSON(p.Config)) {
		return errors.New("config_sha256 is not that of the config")
	}
	if p.Mask.SHA256 != table.Hash() {
		return errors.New("the mask table is not the one that its sha256 names")
	}
	return nil
}

// inputsOf returns where the plan's inputs are: where they were, or where the options say. A path is empty
// where there is none.
func inputsOf(o *Options, p *Plan) ([]string, error) {
	if len(o.Inputs) == 0 {
		l, err := readLocal(o.Output)
		if err != nil {
			return nil, &UsageError{fmt.Errorf("%s: where the inputs are stands in local.json, which cannot be read (%w); try --inputs", o.Output, err)}
		}
		if len(l.Inputs) != len(p.Inputs) {
			return nil, &UsageError{fmt.Errorf("%s: local.json knows %d inputs, the plan %d; try --inputs", o.Output, len(l.Inputs), len(p.Inputs))}
		}
		return l.Inputs, nil
	}
	found, err := ingest.Discover(o.Inputs)
	if err != nil {
		return nil, &UsageError{err}
	}
	now := make(map[string]string, len(found))
	for _, f := range found {
		now[f.Name] = f.Path
	}
	paths := make([]string, len(p.Inputs))
	for i := range p.Inputs {
		paths[i] = now[p.Inputs[i].Path]
	}
	return paths, nil
}

// unchanged makes sure that the inputs of a partition are those that were planned, and returns what
// the most demanding of them takes to be decoded.
func (s *setup) unchanged(partition int) (window int64, err error) {
	for _, r := range s.plan.Partitions[partition] {
		in, path := &s.plan.Inputs[r.Input], s.paths[r.Input]
		if path == "" {
			return 0, &UsageError{fmt.Errorf("input %s: it is not among --inputs; name the arguments of the plan, in their order", in.Path)}
		}
		sum, size, err := ingest.HeadTail(path)
		if errors.Is(err, fs.ErrNotExist) {
			return 0, &UsageError{fmt.Errorf("input %s: there is no %s here; name where the plan's inputs are on this machine with --inputs", in.Path, path)}
		}
		if err != nil {
			return 0, fmt.Errorf("input %s: %w", in.Path, err)
		}
		if sum != in.SHA256 || size != in.Bytes {
			return 0, fmt.Errorf("%s: %w: it is not the file that was planned as %s; try to put that back, or to plan anew with --restart",
				path, ingest.ErrChanged, in.Path)
		}
		if in.Rejected == "" && in.columns() {
			need, err := parquetNeed(path)
			if err != nil {
				return 0, err
			}
			window = max(window, need)
			continue
		}
		if in.Compression != frame.Zstd.String() || in.Rejected != "" {
			continue
		}
		head, err := ingest.ReadHead(path, s.plan.Config.MaxWindow)
		if err != nil && len(head.Data) == 0 {
			return 0, err
		}
		window = max(window, int64(head.Window))
	}
	return window, nil
}
