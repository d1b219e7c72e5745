package pipelines

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/shard/prompt"
)

// sampleMaker is what a worker of sft has beside those of cpt: it takes the turns of a trajectory that are asked
// for to rows, by the answers that there are.
type sampleMaker struct {
	picker
	*chooser
	builder *shard.Builder
	config  *SFTConfig
	version string // of the template, or drawnTemplate
	state   shard.StateMode
}

// newSampleMaker returns what one worker of sft works with.
func (s *setup) newSampleMaker() *sampleMaker {
	c := s.plan.Config.SFT
	want, _ := parseTargets(c.Targets) // it was validated
	rollouts, judgements := s.answers.readers()
	return &sampleMaker{
		picker: picker{seed: s.plan.Mask.Seed, want: want}, chooser: newChooser(s.plan, rollouts, judgements),
		builder: s.newRowBuilder(), config: c, version: s.plan.Config.Template, state: shard.StateMode(indexOf(states[:], s.plan.Config.State)),
	}
}

// sampleTrajectory takes the drawn turns of a trajectory to rows. The filters have passed it.
func (w *worker) sampleTrajectory(t *turnmill.Trajectory, out *outcome) error {
	m := w.samples
	out.startSamples(len(t.Turns))
	for _, at := range m.pick(t, w.verdicts) {
		id := queryID(t, at)
		h, err := m.hear(id, t.Domain)
		if err != nil {
			return err
		}
		tmpl := m.template(t, id)
		q := newQueryLine(id, t, at, tmpl.ID(), h)
		if h.State == reject.Selected {
			m.row(t, at, tmpl, w.verdicts, h, q, out)
		} else {
			q.State, q.Reason = "dropped", h.Reason
			if h.State == reject.Failed {
				q.State = "rejected"
			}
		}
		out.query(q, h, at)
	}
	out.sampled(t, w.targets)
	return nil
}

// template returns the one that a query is asked with: drawn for it, or the one of the whole run.
func (m *sampleMaker) template(t *turnmill.Trajectory, id string) *prompt.Template {
	tmpl, err := askedWith(m.version, m.picker.seed, id, t.Domain, m.config.Pool)
	if err != nil {
		panic("pipelines: a validated plan names a template that prompt refuses: " + err.Error())
	}
	return tmpl
}

// askedWith returns the template of a query, given the value of --template.
func askedWith(version, seed, id string, domain turnmill.Domain, pool string) (*prompt.Template, error) {
	if version == drawnTemplate {
		return prompt.Choose(seed, id, domain, pool)
	}
	return prompt.Find(domain, version)
}

// row writes the row of a query whose winner is known, or says why there is none.
func (m *sampleMaker) row(t *turnmill.Trajectory, at int, tmpl *prompt.Template, verdicts []turnmill.Verdict, h *hearing, q *queryLine, out *outcome) {
	winner := h.winner()
	shown := tmpl.Render(t, prompt.Options{Verdicts: verdicts, State: func(turn int) bool { return m.state.Shows(t, turn) }})
	res, err := m.builder.Sample(&shard.Sample{
		Trajectory: shown, Target: at, Verdicts: verdicts,
		Reasoning: winner.Reasoning, Answer: winner.Text, Loss: m.config.answerLoss(),
	}, &out.rows)
	switch {
	case err != nil:
		q.State, q.Reason, q.Detail = "rejected", turnmill.ReasonUnencodable, err.Error()
	case res.Reason != "":
		q.State, q.Reason = "dropped", res.Reason
	default:
		q.State = "selected"
		q.Row = &sampleRow{Loss: m.config.Loss}
		out.sampleRow(q.Row, &res)
	}
}

// winner returns the reply that was chosen.
func (h *hearing) winner() *turnmill.Reply {
	for i := range h.rollouts {
		if h.rollouts[i].Sample == h.Winner {
			return &h.rollouts[i]
		}
	}
	panic("pipelines: a winner that nobody gave")
}

func clone(s string) string { return strings.Clone(s) }
