package pipelines

import (
	"encoding/json"
	"fmt"

	"github.com/turnmill/turnmill"
)

// query puts into s why the row of an SFT set was chosen, and what of it stands before the turns that the table places
// there.
func (v *rowView) query(s *Shown, root string, row *foundRow) error {
	at, turns := row.at, row.turns
	q, err := findQuery(root, row.partition, at)
	if err != nil {
		return err
	}
	s.Query = q
	here := 0 // turns before the target that the table places in this row
	first := int32(-1)
	for i := range turns {
		if t := &turns[i]; t.Shard == at.shard && t.Row == at.row {
			if first < 0 {
				first = t.ActionStart
			}
			if t.Status == turnmill.StatusContext.String() {
				here++
			}
		}
	}
	if end := q.Row.System.End; here < q.Row.History && first >= end { // the others have their place in an earlier row
		s.Earlier = v.text(end, first)
		s.System, _ = v.format.Context(v.text(0, end) + header(s.Earlier))
		v.end = first
	}
	return nil
}

// header returns what opens each user's message, given a text that begins and ends with it.
func header(text string) string {
	for k := 1; k <= len(text)/2; k++ {
		if text[:k] == text[len(text)-k:] {
			return text[:k]
		}
	}
	return ""
}

// findQuery returns the query whose row is at a place.
func findQuery(root string, partition int, at place) (*QueryLine, error) {
	lines, err := openLines(root, queriesPath(partition))
	if err != nil {
		return nil, err
	}
	defer lines.close()
	for {
		line, err := lines.line()
		if err != nil {
			return nil, err
		}
		if line == nil {
			return nil, fmt.Errorf("%s: %w: no query has %s row %d", lines.path, turnmill.ErrCorrupt, at.shard, at.row)
		}
		q := &QueryLine{}
		if err := json.Unmarshal(line, q); err != nil {
			return nil, fmt.Errorf("%s: %w: line %d: %w", lines.path, turnmill.ErrCorrupt, lines.n, err)
		}
		if q.Row != nil && q.Row.Shard == at.shard && q.Row.Row == at.row {
			return q, nil
		}
	}
}
