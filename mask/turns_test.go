package mask

import (
	"fmt"
	"os"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

var update = golden.Update()

// TestTurns explains the turns of testdata/turns.txt. A block is
//
//	# what it shows
//	act   the action; further lines are indented by six blanks
//	obs   the observation
//	----
//	the words of both sides (* marks shared ones), the five integers, rows, category and ratio
func TestTurns(t *testing.T) {
	data, err := os.ReadFile("testdata/turns.txt")
	if err != nil {
		t.Fatal(err)
	}
	table := Default()
	masker, err := New(table, "0", ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	for i, block := range strings.Split(strings.TrimRight(string(data), "\n"), "\n\n") {
		input, _, found := strings.Cut(block+"\n", "\n----\n")
		if !found {
			t.Fatalf("block %d has no line of dashes", i+1)
		}
		turn := parseTurn(t, input)
		if i > 0 {
			out.WriteString("\n")
		}
		fmt.Fprintf(&out, "%s\n----\n%s", input, describe(&table, turn))
		if e, d := Explain(&table, turn), decide(masker, "id", turn); e.Counts != countsOf(d) {
			t.Errorf("block %d: Explain counts %+v, Decide %+v", i+1, e.Counts, countsOf(d))
		}
	}
	golden.Check(t, *update, "turns.txt", []byte(out.String()))
}

func parseTurn(t *testing.T, input string) *turnmill.Turn {
	t.Helper()
	var turn turnmill.Turn
	var text *string
	for line := range strings.Lines(input) {
		mark, rest := line, ""
		if len(line) >= 6 {
			mark, rest = line[:6], line[6:]
		}
		switch strings.TrimRight(mark, " \n") {
		case "act":
			text = &turn.Action
		case "obs":
			text = &turn.Observation
		case "":
		default:
			if strings.HasPrefix(line, "# ") {
				continue
			}
			t.Fatalf("a line that is neither act, obs, comment nor indented: %q", line)
		}
		*text += rest
	}
	return &turn
}

func describe(table *Table, turn *turnmill.Turn) string {
	e := Explain(table, turn)
	shared := map[string]bool{}
	for _, w := range e.Shared {
		shared[w] = true
	}
	list := func(words []string) string {
		marked := make([]string, len(words))
		for i, w := range words {
			marked[i] = w
			if shared[w] {
				marked[i] += "*"
			}
		}
		return strings.TrimRight(strings.Join(marked, " "), " ")
	}
	var rows []string
	for _, i := range e.Rows {
		rows = append(rows, table.Rows[i].Category.String())
	}
	category, keep := Classify(table, e.Counts)
	c := e.Counts
	return fmt.Sprintf("A     %s\nO     %s\na=%d o=%d shared=%d  chars act=%d obs=%d  rows [%s]  %s keep=%v\n",
		list(e.Action), list(e.Observation), c.ActionWords, c.ObservationWords, c.SharedWords, c.ActionChars, c.ObservationChars,
		strings.Join(rows, " "), category, keep)
}

// decide decides about a turn as the only one of its trajectory.
func decide(m *Masker, id string, turn *turnmill.Turn) turnmill.MaskDecision {
	return m.Decide(&turnmill.Trajectory{ID: id, Turns: []turnmill.Turn{*turn}}, 0)
}
