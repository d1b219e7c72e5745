package main

import (
	"fmt"
	"strings"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// query says why a row of an SFT set was chosen: what each rollout was worth, and what told them apart.
func (p *painter) query(s *pipelines.Shown) {
	q := s.Query
	if q == nil {
		return
	}
	p.printf(plain, "query %s, template %s; rollout %d of %d chosen, by %s\n", label(q.ID), q.Template.Version, *q.Winner, len(q.Rollouts),
		map[string]string{"alone": "being the only one left", "wins": "pairs won", "score": "its score", "index": "its number, all else being equal"}[q.Decided])
	for i := range q.Rollouts {
		style := dim
		if i == *q.Winner {
			style = green
		}
		p.printf(style, "  rollout %d  %s\n", i, rolloutText(q, i))
	}
	if n := s.Query.Row.Cut; n > 0 {
		p.printf(plain, "%s left out, so that the row fits --seq-len\n", stats.Counted(int64(n), "oldest turn", "oldest turns"))
	}
}

// rolloutText says how a rollout ended, its scores and the pairs that it won.
func rolloutText(q *pipelines.QueryLine, i int) string {
	r := &q.Rollouts[i]
	text := r.State
	switch {
	case r.Scores != nil:
		mean := r.Scores.Mean()
		text += fmt.Sprintf("  scores %s, mean %.2f", strings.Trim(fmt.Sprint(*r.Scores), "[]"), mean.Float())
	case r.Judged != "":
		text += "  judged " + r.Judged
	}
	if q.Wins != nil {
		text += ", " + stats.Counted(int64(q.Wins[i]), "pair won", "pairs won")
	}
	return text
}
