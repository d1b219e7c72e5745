package pipelines

import (
	"fmt"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/stats"
)

// Secrets go where records come in: what unpack yields is scrubbed, so that ids, filters, masks, spans and rows are of
// the texts that are trained, whoever reads. Beside the texts, an outcome scrubs what it quotes of a record that could
// not be read, and its excerpts.

// scrub looks through what was decoded, and counts.
func (u *unpacker) scrub(counts *stats.Counts) {
	if u.secrets == nil {
		return
	}
	u.decoded.Notes[turnmill.NoteSecret] = 0
	for i := range u.decoded.Trajectories {
		t := &u.decoded.Trajectories[i]
		u.count(t.Domain, u.secrets.Trajectory(t), counts)
	}
	for i := range u.decoded.Documents {
		d := &u.decoded.Documents[i]
		u.count(d.Domain, u.secrets.Document(d), counts)
	}
}

func (u *unpacker) count(d turnmill.Domain, found secrets.Counts, counts *stats.Counts) {
	for kind, n := range found {
		counts.AddSecrets(d, kind, n)
		if u.secrets.Mode() == secrets.Scrub {
			u.decoded.Notes[turnmill.NoteSecret] += n
		}
	}
}

// secretRules names the rules of a plan: "" where nothing is looked for.
func secretRules(mode string) string {
	if mode == secrets.Off.String() {
		return ""
	}
	return secrets.Hash()
}

// secretsOf returns the mode of a plan, whose rules have to be this turnmill's.
func (p *Plan) secretsOf() (secrets.Mode, error) {
	mode, err := secrets.ParseMode(p.Config.Secrets)
	if err == nil && secretRules(p.Config.Secrets) != p.Config.SecretRules {
		err = fmt.Errorf("secret rules %q; this turnmill's are %q", p.Config.SecretRules, secretRules(p.Config.Secrets))
	}
	return mode, err
}

// scrubbed is an answerSource without secrets. Numbers are of each text: what an answer quotes of its query has been
// scrubbed before it was asked.
type scrubbed struct {
	answerSource
	secrets *secrets.Scrubber
}

func (s scrubbed) rollouts(q *question) (all []turnmill.Reply, found int, err error) {
	all, found, err = s.answerSource.rollouts(q)
	return s.replies(all), found, err
}

func (s scrubbed) judgements(q *question, id judge.ID, about ...*turnmill.Reply) (all []turnmill.Reply, found int, err error) {
	all, found, err = s.answerSource.judgements(q, id, about...)
	return s.replies(all), found, err
}

func (s scrubbed) replies(all []turnmill.Reply) []turnmill.Reply {
	for i := range all {
		r := &all[i]
		r.Text, r.Reasoning, r.Error = s.secrets.Text(r.Text), s.secrets.Text(r.Reasoning), s.secrets.Text(r.Error)
	}
	return all
}

// hidden returns a text that quotes an input, without its secrets.
func (o *Options) hidden(text string) string {
	mode, err := secrets.ParseMode(o.Secrets)
	if text == "" || err != nil { // which Validate names
		return text
	}
	return secrets.New(mode).Text(text)
}
