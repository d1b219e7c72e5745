package main

import "github.com/turnmill/turnmill/pipelines"

// partMarks are the marks of an observation that is trained in part.
func partMarks(t *pipelines.ShownTurn) (marks []int) {
	at := 0
	for _, s := range t.Spans {
		marks = append(marks, s.Start-at, 4, s.End-s.Start, 3)
		at = s.End
	}
	return append(marks, len(t.Observation)-at, 4)
}

// spans lists what of an observation is trained whatever the draw, cut to a width.
func (p *painter) spans(t *pipelines.ShownTurn) {
	if !t.Parted {
		return
	}
	p.printf(plain, "  always trained:")
	switch n := len(t.Spans); {
	case n == 0:
		p.printf(plain, " nothing")
	case t.Spans[0].Start == 0 && t.Spans[0].End == len(t.Observation):
		p.printf(plain, " all of it")
	default:
		p.listed(t.Spans)
	}
	p.printf(plain, "\n")
}

func (p *painter) listed(spans []pipelines.ShownSpan) {
	left := 140
	for i, s := range spans {
		if p.lines > 0 && left <= 0 {
			p.printf(plain, " ... %d more", len(spans)-i)
			return
		}
		text := []rune(visible(s.Text))
		more := ""
		if p.lines > 0 && len(text) > left {
			text, more = text[:left], "..."
		}
		left -= len(text)
		p.printf(plain, " [")
		p.printf(green, "%s", string(text))
		p.printf(plain, "%s]", more)
	}
}
