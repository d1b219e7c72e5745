package main

import (
	"fmt"
	"io"
	"strings"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// painter writes a Shown for a person.
type painter struct {
	out    io.Writer
	colour bool
	lines  int // of each text; 0 means all
	err    error
}

// The colours by what becomes of a text.
const (
	plain   = ""
	dim     = "\x1b[2m"
	green   = "\x1b[32m"
	yellow  = "\x1b[33m"
	red     = "\x1b[31m"
	bold    = "\x1b[1m"
	noStyle = "\x1b[0m"
	shared  = "\x1b[35m" // words of both sides
	alone   = "\x1b[36m" // words of one side
)

// kinds are the colours of stretches: those of words, and of what is trained and what is not in a turn that is trained
// in part.
var kinds = [...]string{1: alone, 2: shared, 3: green, 4: yellow}

func (p *painter) printf(style, format string, args ...any) {
	if p.err != nil {
		return
	}
	text := fmt.Sprintf(format, args...)
	if p.colour && style != plain {
		// Each line is coloured on its own, so that pagers keep the colour.
		body, end := strings.TrimSuffix(text, "\n"), text[len(strings.TrimSuffix(text, "\n")):]
		text = style + strings.ReplaceAll(body, "\n", noStyle+"\n"+style) + noStyle + end
	}
	_, p.err = io.WriteString(p.out, text)
}

func (p *painter) row(s *pipelines.Shown) {
	if s.Shard != "" {
		p.printf(bold, "%s, row %d\n", s.Shard, s.Row)
		if s.Windows > 1 {
			kind := "window"
			if s.Query != nil {
				kind = "row"
			}
			p.printf(plain, "%s %d of %d of its trajectory; this one is --row %d\n", kind, s.Window, s.Windows, s.Number)
		}
		p.printf(plain, "id %s, domain %s, source %s: %s tokens, %s trained\n", label(s.ID), label(string(s.Domain)), label(s.Source),
			stats.Thousands(int64(s.Tokens)), stats.Thousands(int64(s.Trained)))
	} else {
		p.printf(bold, "trajectory %d\n", s.Row)
		p.printf(plain, "id %s, domain %s, source %s\n", label(s.ID), label(string(s.Domain)), label(s.Source))
	}
	p.origin(s)
	p.query(s)
	p.legend(s)
	if s.Dropped != "" {
		p.printf(red, "dropped: %s\n", s.Dropped)
	}
	if s.System != "" {
		p.printf(bold, "\nsystem")
		p.printf(plain, "  context\n")
		p.text(dim, s.System, nil, false)
	}
	if s.Earlier != "" {
		p.printf(bold, "\nhistory")
		p.printf(plain, "  context\n")
		p.text(dim, s.Earlier, nil, false)
	}
	for i := range s.Turns {
		p.turn(s, &s.Turns[i])
	}
}

// origin says which of several this is, and where it was read.
func (p *painter) origin(s *pipelines.Shown) {
	switch {
	case s.Matches > 1:
		p.printf(plain, "%d of %s trajectories with this id; --nth shows another\n", s.Match, stats.Thousands(s.Matches))
	case s.Match > 1:
		p.printf(plain, "number %d of what is asked for\n", s.Match)
	}
	if s.Asked != nil {
		p.printf(plain, "asked for: turn %d\n", *s.Asked)
	}
	f := s.From
	if f == nil {
		return
	}
	place := visible(f.Path)
	switch {
	case f.Line > 0:
		place += fmt.Sprintf(":%d", f.Line)
	case f.Offset != nil:
		place += ", byte " + stats.Thousands(*f.Offset)
	case len(f.Files) > 0:
		place = "files " + visible(f.Files[0]) + " to " + visible(f.Files[len(f.Files)-1])
	}
	if f.Record != nil {
		place += fmt.Sprintf(", record %s of partition %d", stats.Thousands(*f.Record), *f.Partition)
	}
	p.printf(plain, "from %s\n", place)
}

func (p *painter) legend(s *pipelines.Shown) {
	p.printf(plain, "mask %s; colours: ", s.Mask)
	p.printf(green, "trained")
	p.printf(plain, ", ")
	p.printf(dim, "context")
	p.printf(plain, ", ")
	p.printf(yellow, "masked")
	p.printf(plain, ", ")
	p.printf(red, "dropped")
	if p.colour {
		p.printf(plain, "; words: ")
		p.printf(shared, "of both sides")
		p.printf(plain, ", ")
		p.printf(alone, "of one side alone")
	}
	p.printf(plain, "\n")
}

func (p *painter) turn(s *pipelines.Shown, t *pipelines.ShownTurn) {
	style, what := outcomeOf(t)
	p.printf(bold, "\nturn %d", t.Turn)
	p.printf(style, "  %s", what)
	if t.Tool != "" {
		p.printf(plain, "  tool %s", label(t.Tool))
	}
	p.printf(plain, "\n")
	if t.Category != "" {
		p.statistics(s, t)
	}
	lost := s.Shard != "" && t.Span == nil // a run keeps no text of what is in no row
	if t.State != "" {
		p.printf(plain, "  state\n")
		p.text(dim, t.State, nil, false)
	}
	action, observation := dim, style
	trained := [2]string{"", fmt.Sprintf(", %d trained", t.Trained)}
	switch {
	case t.Category == "":
	case s.Objective == "policy":
		action, observation = style, dim
		trained = [2]string{trained[1], ""}
	case s.Objective == "all":
		action = style
		trained[1] += " with the action's"
	}
	if t.Category != "" {
		p.printf(plain, "  action%s\n", tokens(t.Tokens[0], " with its end token"+trained[0]))
		p.text(action, t.Action, t.ActionMarks, lost)
	}
	n := t.Tokens[1]
	with := ""
	if t.Category != "" && t.Span != nil {
		n, with = n+1, " with its end token"
	}
	what = "observation"
	if s.Query != nil && t.Status == "target" {
		r := s.Query.Row
		what = "reasoning and answer"
		with = fmt.Sprintf(", %s of reasoning and %s of answer with its end token", stats.Thousands(int64(r.Reasoning.Len())), stats.Thousands(int64(r.Answer.Len())))
	}
	p.printf(plain, "  %s%s\n", what, tokens(n, with+trained[1]))
	marks := t.ObservationMarks
	if t.Parted && !t.Kept && !lost {
		marks = partMarks(t)
	}
	p.text(observation, t.Observation, marks, lost)
}

func tokens(n int32, more string) string {
	if n == 0 {
		return ""
	}
	return fmt.Sprintf("  %s tokens%s", stats.Thousands(int64(n)), more)
}

func outcomeOf(t *pipelines.ShownTurn) (style, what string) {
	switch {
	case t.Status == "dropped":
		return red, "dropped: " + t.Reason
	case t.Status == "context" && t.Reason == "masked":
		return yellow, "masked"
	case t.Status == "context":
		return dim, "context: " + t.Reason
	case t.Parted && !t.Kept:
		return green, "trained in part"
	}
	return green, "trained"
}

func (p *painter) statistics(s *pipelines.Shown, t *pipelines.ShownTurn) {
	p.printf(plain, "  %s, keep %.4g", t.Category, t.Keep)
	if t.Draw != nil {
		sign := "<"
		if !t.Kept {
			sign = ">="
		}
		p.printf(plain, "; draw %.4f %s %.4g", *t.Draw, sign, t.Keep)
	}
	p.printf(plain, "\n  words: action %d, observation %d, shared %d; characters: %d, %d\n", t.Words[0], t.Words[1], t.Words[2], t.Chars[0], t.Chars[1])
	p.printf(plain, "  overlap %s, novelty %s, jaccard %s, length ratio %s\n", figure(t.Overlap), figure(t.Novelty), figure(t.Jaccard), figure(t.LengthRatio))
	for _, near := range t.Near {
		p.printf(yellow, "  near %s\n", near)
	}
	rule, second := "no row of the table holds", ""
	if len(t.Rules) > 0 {
		rule, second = t.Rules[0], t.RunnerUp+": no other row holds"
	}
	p.printf(plain, "  rule: %s\n", rule)
	if len(t.Rules) > 1 {
		second = strings.Join(t.Rules[1:], "; then ")
	}
	if second != "" {
		p.printf(plain, "  runner-up: %s\n", second)
	}
	if n := t.Nearest; n != nil {
		p.printf(plain, "  nearest border: %s, %s away; beyond it %s\n", n.Border, n.Away, n.Beyond)
	}
	p.spans(t)
}

func figure(f *float64) string {
	if f == nil {
		return "undefined"
	}
	return fmt.Sprintf("%.3f", *f)
}

// label returns a name of the content's, which may hold anything, fit for a terminal.
func label(s string) string {
	if s == "" {
		return "-"
	}
	return visible(s)
}
