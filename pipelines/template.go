package pipelines

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/shard/prompt"
)

// plainLayout is the value of --template for rows without one.
const plainLayout = "plain"

// drawnTemplate is the value of --template where sft draws one of v2 to v11 for each query.
const drawnTemplate = "seed"

// templateNames are the values of --template, the pipeline's default first.
func templateNames(samples bool) []string {
	first := plainLayout
	if samples {
		first = drawnTemplate
	}
	return append([]string{first}, prompt.Versions()...)
}

// templateOf names a version by the texts that this turnmill has for it; nil is the plain layout.
func templateOf(name string) (*turnmill.Template, error) {
	if name == plainLayout {
		return nil, nil
	}
	if name == drawnTemplate {
		return &turnmill.Template{Version: name, SHA256: drawnSum()}, nil
	}
	sum, err := prompt.SetSHA256(name)
	if err != nil {
		return nil, err
	}
	return &turnmill.Template{Version: name, SHA256: sum}, nil
}

// drawnSum names all templates that are drawn from: the hash of the hashes of v2 to v11, each followed by a line feed.
func drawnSum() string {
	var sums []byte
	for _, v := range prompt.Versions()[2:] {
		sum, err := prompt.SetSHA256(v)
		if err != nil {
			panic("pipelines: " + err.Error())
		}
		sums = append(append(sums, sum...), '\n')
	}
	return hexSum(sums)
}

// sameTemplate makes sure that the templates of a plan are those of this turnmill.
func (p *Plan) sameTemplate() error {
	now, err := templateOf(p.Config.Template)
	switch {
	case err != nil:
		return err
	case (now == nil) != (p.Template == nil) || now != nil && *now != *p.Template:
		return fmt.Errorf("template %s is not what it was when this was planned", p.Config.Template)
	}
	return nil
}

// templated writes trajectories under a prompt template and makes rows of what that gives:
//
//	trajectory --shard/prompt, by domain--> templated trajectory --rowBuilder--> rows
//
// What the mask measured was the trajectory itself. Documents have no template.
type templated struct {
	rowBuilder
	version  string
	state    shard.StateMode
	verdicts []turnmill.Verdict
	targets  []shard.Target
}

// Trajectory appends the rows of t under the template of its domain.
func (b *templated) Trajectory(t *turnmill.Trajectory, targets []shard.Target, d shard.Drawer, out *shard.Rows) (shard.Result, error) {
	tmpl, err := prompt.Find(t.Domain, b.version)
	if err != nil {
		panic("pipelines: a validated plan has a template that shard/prompt refuses: " + err.Error())
	}
	b.verdicts = b.verdicts[:0]
	for i := range targets {
		b.verdicts = append(b.verdicts, targets[i].Verdict)
	}
	shows := func(turn int) bool { return b.state.Shows(t, turn) }
	under := tmpl.Render(t, prompt.Options{Verdicts: b.verdicts, State: shows})
	return b.rowBuilder.Trajectory(under, b.shifted(t, under, targets, tmpl.Lead()), d, out)
}

// shifted returns targets whose spans are of the observations under the template, where lead bytes stand before each.
// One that reaches the end of an observation takes what the template writes behind it along.
func (b *templated) shifted(t, under *turnmill.Trajectory, targets []shard.Target, lead int) []shard.Target {
	b.targets = append(b.targets[:0], targets...)
	for i := range b.targets {
		if len(targets[i].Spans) == 0 || targets[i].Status == turnmill.StatusDropped {
			continue
		}
		spans := make([]turnmill.Span, len(targets[i].Spans))
		for k, s := range targets[i].Spans {
			spans[k] = turnmill.Span{Start: s.Start + int32(lead), End: s.End + int32(lead)}
		}
		if last := &spans[len(spans)-1]; int(last.End) == lead+len(t.Turns[i].Observation) {
			last.End = int32(len(under.Turns[i].Observation))
		}
		b.targets[i].Spans = spans
	}
	return b.targets
}
