package mask

import "github.com/turnmill/turnmill"

// changed compares a turn with the screen before it, if there is one.
func (m *Masker) changed(d *turnmill.MaskDecision, t *turnmill.Trajectory, i int) {
	before := screenBefore(t, i)
	if before == "" || t.Turns[i].Observation == "" {
		return
	}
	d.Keep = CopiedKeep(d.Keep, m.Copied)
	if d.Keep.Num < d.Keep.Den {
		d.Spans = m.own(m.aligner.spans(m.spans[:0], before, t.Turns[i].Observation))
	}
}

// CopiedKeep returns the ratio of the lines that a tree has in common with the one before: the table's for the turn,
// and copied where that keeps all.
func CopiedKeep(table, copied turnmill.Ratio) turnmill.Ratio {
	if table.Num < table.Den {
		return table
	}
	return copied
}

// screenBefore returns the screen that turn i starts from: its state. Where that is not told, on Android, the web and
// desktops it is the observation before it, or the initial state. "" says that there is none.
func screenBefore(t *turnmill.Trajectory, i int) string {
	turn := &t.Turns[i]
	gui := t.Domain == turnmill.DomainAndroid || t.Domain == turnmill.DomainWeb || t.Domain == turnmill.DomainOS
	switch {
	case turn.Dialogue:
		return ""
	case turn.State != "" || !gui:
		return turn.State
	case i == 0:
		return t.System.InitialState
	case t.Turns[i-1].Dialogue || !t.Turns[i-1].HasAction:
		return ""
	}
	return t.Turns[i-1].Observation
}
