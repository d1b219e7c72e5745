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
	p.printf(plain, "  always trained: ")
	if len(t.Spans) == 0 {
		p.printf(plain, "nothing\n")
		return
	}
	left := 140
	for i, s := range t.Spans {
		text := []rune(visible(s.Text))
		if p.lines > 0 && len(text) > left {
			p.printf(plain, " and more, %d in all", len(t.Spans))
			break
		}
		left -= len(text)
		if i > 0 {
			p.printf(plain, " ")
		}
		p.printf(plain, "[")
		p.printf(green, "%s", string(text))
		p.printf(plain, "]")
	}
	p.printf(plain, "\n")
}
