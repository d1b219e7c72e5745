package pipelines

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/shard/prompt"
)

// sampleMaker is what a worker of sft has beside those of cpt: it takes the turns of a trajectory that are asked
// for to rows, by the answers that there are.
type sampleMaker struct {
	picker
	*chooser
	asker   *asker
	builder *shard.Builder
	config  *SFTConfig
	version string // of the template, or drawnTemplate
	state   shard.StateMode

	verifiers *verifiers     // nil: none
	counter   *promptCounter // of the pool rl, else nil
}

// newSampleMaker returns what one worker of sft works with.
func (s *setup) newSampleMaker() *sampleMaker {
	c := s.plan.Config.SFT
	want, _ := parseTargets(c.Targets) // it was validated
	asker := newAsker(c)
	answers := scrubbed{&live{recorded: s.answers.reader(), setup: s, asker: asker}, secrets.New(s.secrets)}
	return &sampleMaker{
		picker: picker{seed: s.plan.Mask.Seed, want: want}, chooser: newChooser(s.plan, answers, func() bool { return s.stopped }), asker: asker,
		builder: s.newRowBuilder(), config: c, verifiers: s.verifiers, counter: s.newPromptCounter(), version: s.plan.Config.Template, state: shard.StateMode(indexOf(states[:], s.plan.Config.State)),
	}
}

// sampleTrajectory takes the drawn turns of a trajectory to rows. The filters have passed it.
func (w *worker) sampleTrajectory(t *turnmill.Trajectory, out *outcome) error {
	m := w.samples
	out.startSamples(len(t.Turns))
	for _, at := range m.pick(t, w.verdicts) {
		asked := m.question(t, at, w.verdicts)
		h, err := m.hear(asked)
		if err != nil {
			return err
		}
		q := newQueryLine(asked.id, t, at, asked.tmpl.ID(), h)
		if err := m.verify(asked, h, q); err != nil {
			return err
		}
		q.reward(h, m.options.Threshold)
		if m.counter != nil {
			if err := m.prompt(asked, q, out); err != nil {
				return err
			}
		} else if h.State == reject.Selected {
			m.row(asked, h, q, out)
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
func (m *sampleMaker) row(asked *question, h *hearing, q *QueryLine, out *outcome) {
	winner := h.reply(h.Winner)
	res, err := m.builder.Sample(&shard.Sample{
		Trajectory: asked.tmpl.Render(asked.trajectory, asked.shown), Target: asked.at, Verdicts: asked.shown.Verdicts,
		Reasoning: winner.Reasoning, Answer: answerText(asked.tmpl, winner), Loss: m.config.answerLoss(),
	}, &out.rows)
	switch {
	case err != nil:
		q.State, q.Reason, q.Detail = "rejected", turnmill.ReasonUnencodable, err.Error()
	case res.Reason != "":
		q.State, q.Reason = "dropped", res.Reason
	default:
		q.State = "selected"
		q.Row = &SampleRow{Loss: m.config.Loss, Rewritten: answerText(asked.tmpl, winner) != winner.Text}
		out.sampleRow(q.Row, &res)
	}
}

// answerText returns what a row says that the environment answers: the prediction that the judges saw, in the form of the
// row's own template. A rollout of another template, or one with words around its tags, would contradict its prompt.
func answerText(tmpl *prompt.Template, r *turnmill.Reply) string {
	return tmpl.Wrap(judge.Extract(r.Text).Text)
}

func clone(s string) string { return strings.Clone(s) }
