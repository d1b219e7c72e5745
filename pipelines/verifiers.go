package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"sync"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/filter/verify"
	"github.com/turnmill/turnmill/ingest"
)

// VerifierConfig is what of a run's verifiers stands in the plan.
type VerifierConfig struct {
	SHA256  string `json:"sha256,omitempty"` // of the file's verifiers, in whatever order; "" without a file
	Queries int    `json:"queries"`          // that it names
	Meta    bool   `json:"meta"`             // those that trajectories carry count as well
}

// verifiers judge predictions of a run by execution. What a program says can hang on the machine, so it is kept in a
// journal before it counts, and never asked again:
//
//	rollout --> exact, json, ... --------------------> verdict
//	        --> program --> OUT/journal/pNNNNN.verdicts.jsonl, or else the sandbox --> journal --> verdict
type verifiers struct {
	set     *verify.Set // nil: none from a file
	meta    bool
	journal *endpoint.Journal // of the partition at hand; nil: verdicts are not kept
	file    *os.File
	only    bool // verdicts of programs come from the journal alone
	box     func() *verify.Sandbox
	running context.Context // of the run; programs end with it
}

// openVerifiers reads the file of verifiers that the options name. It is nil where there are none.
func (o *SFTOptions) openVerifiers() (*verifiers, error) {
	if o.Verifiers == "" && !o.MetaVerifiers {
		return nil, nil
	}
	v := &verifiers{meta: o.MetaVerifiers, running: context.Background(), box: sync.OnceValue(openSandbox)}
	if o.Verifiers == "" {
		return v, nil
	}
	data, err := os.ReadFile(o.Verifiers)
	if err == nil {
		v.set, err = verify.ReadSet(bytes.NewReader(data), verify.Beside(o.Verifiers))
	}
	if err != nil {
		return nil, &UsageError{fmt.Errorf("--verifiers %s: %w", o.Verifiers, err)}
	}
	return v, nil
}

// openSandbox tries out what programs run in.
func openSandbox() *verify.Sandbox {
	ctx, cancel := context.WithTimeout(context.Background(), 10*time.Second)
	defer cancel()
	return verify.OpenSandbox(ctx, verify.SandboxOptions{})
}

// config is what stands in the plan.
func (v *verifiers) config() *VerifierConfig {
	if v == nil {
		return nil
	}
	c := &VerifierConfig{Meta: v.meta}
	if v.set != nil {
		c.SHA256, c.Queries = v.set.SHA256(), v.set.Len()
	}
	return c
}

// verifiersAt reads a planned run's verifiers from where the options or local.json say that they are.
func verifiersAt(o *Options, p *Plan) (*verifiers, error) {
	c := p.Config.SFT.Verifiers
	if c == nil {
		return nil, nil
	}
	at := SFTOptions{Verifiers: o.SFT.Verifiers, MetaVerifiers: c.Meta}
	if at.Verifiers == "" && c.SHA256 != "" {
		l, err := readLocal(o.Output)
		if err != nil || l.Verifiers == "" {
			return nil, &UsageError{fmt.Errorf("%s: local.json does not say where the file of verifiers is (%v); name it with --verifiers", o.Output, err)}
		}
		at.Verifiers = l.Verifiers
	}
	v, err := at.openVerifiers()
	if err != nil {
		return nil, err
	}
	if now := v.config(); *now != *c {
		return nil, fmt.Errorf("--verifiers %s: %w: its verifiers are not those that were planned; put the file back, or plan anew with --restart", at.Verifiers, ingest.ErrChanged)
	}
	return v, nil
}

// verdictsPath names the journal of what programs said about a partition.
func verdictsPath(partition int) string { return journalPath(partition, "verdicts") }

// begin opens the journal of a partition. Without write it is read where there is one, and no program runs.
func (v *verifiers) begin(ctx context.Context, root string, partition int, write bool) error {
	if v == nil {
		return nil
	}
	v.running, v.only = ctx, !write
	var err error
	if v.file, v.journal, err = openVerdicts(root, verdictsPath(partition), write); err != nil {
		return errors.Join(err, v.end())
	}
	return nil
}

// end closes the journal.
func (v *verifiers) end() error {
	if v == nil || v.file == nil {
		return nil
	}
	err := v.file.Close()
	v.file, v.journal = nil, nil
	return err
}

// of returns the verifier of a query, nil when it has none. The error costs the query its verdict.
func (v *verifiers) of(q *question) (*verify.Verifier, error) {
	if found := v.set.Get(q.id); found != nil || !v.meta {
		return found, nil
	}
	return verify.ParseMeta(q.trajectory.Meta, q.trajectory.Turns[q.at].Index)
}

// check holds one prediction against what was recorded. sample is -1 for the recorded observation itself.
func (v *verifiers) check(by *verify.Verifier, q *question, sample int, prediction string) (verify.Verdict, error) {
	c := verify.Case{Query: q.id, Prediction: prediction, Reference: judge.StripMarker(q.trajectory.Turns[q.at].Observation)}
	if by.Kind != verify.Program {
		return by.Check(v.running, nil, c)
	}
	c.Messages = q.ask().Messages
	key := verdictRequest(by, &c, sample)
	if v.journal != nil {
		if said, ok, err := v.journal.Lookup(kindVerdict, key); err != nil || ok && (said.State == turnmill.ReplyComplete || v.only) {
			return verify.Verdict{State: verify.State(said.Text), Detail: said.Error}, err
		}
	}
	if v.only {
		return verify.Verdict{}, fmt.Errorf("query %s: OUT/%s holds no verdict of its program; a run whose journals are gone cannot be made again", q.id, journalDir)
	}
	ctx, cancel := context.WithTimeout(v.running, by.Limits().Wall)
	defer cancel()
	said, err := by.Check(ctx, v.box(), c)
	if err != nil || v.journal == nil {
		return said, err
	}
	return said, v.journal.Append(verdictEntry(key, said))
}
