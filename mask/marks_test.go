package mask

import (
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// drawMarks writes [shared] and <own>.
func drawMarks(piece string, marks []Mark) string {
	var b strings.Builder
	for _, m := range marks {
		part := piece[:m.Bytes]
		piece = piece[m.Bytes:]
		switch m.Kind {
		case MarkShared:
			part = "[" + part + "]"
		case MarkOwn:
			part = "<" + part + ">"
		}
		b.WriteString(part)
	}
	return b.String() + piece
}

func TestMarks(t *testing.T) {
	table := Default()
	for _, tt := range []struct{ name, action, observation, wantAction, wantObservation string }{
		{"words", "Cat notes.txt now", "notes: txt, 14 lines", "<Cat> [notes.txt] <now>", "[notes: txt], <14 lines>"},
		{"json", `{"keys":"cat\nalpha"}`, "alpha beta", `{"<keys":"cat>\n[alpha]"}`, "[alpha] <beta>"},
		{"json in json", `{"arguments":"{\"text\":\"one\\ntwo\"}"}`, "one two", `{"<arguments":"{\"text>\":\"[one\\ntwo]\"}"}`, "[one two]"},
		{"pairs", "先查订单", "订单 ok 查", "<先查>[订单]", "[订单] <ok 查>"},
		{"nothing", "", "...", "", "..."},
	} {
		t.Run(tt.name, func(t *testing.T) {
			e := Explain(&table, &turnmill.Turn{Action: tt.action, Observation: tt.observation})
			got := drawMarks(tt.action, e.Marks(tt.action, e.Action, Escaped(tt.action)))
			if got != tt.wantAction {
				t.Errorf("action      %s\nwant        %s", got, tt.wantAction)
			}
			got = drawMarks(tt.observation, e.Marks(tt.observation, e.Observation, Escaped(tt.observation)))
			if got != tt.wantObservation {
				t.Errorf("observation %s\nwant        %s", got, tt.wantObservation)
			}
		})
	}
}

// Marks cover a piece of any text, and no more.
func TestMarksCover(t *testing.T) {
	table := Default()
	rapid.Check(t, func(t *rapid.T) {
		turn := turnmill.Turn{Action: rapid.String().Draw(t, "action"), Observation: rapid.String().Draw(t, "observation")}
		e := Explain(&table, &turn)
		piece := turn.Observation[rapid.IntRange(0, len(turn.Observation)).Draw(t, "from"):]
		n := 0
		for _, m := range e.Marks(piece, e.Observation, rapid.Bool().Draw(t, "escapes")) {
			if m.Bytes <= 0 {
				t.Fatalf("a stretch of %d bytes", m.Bytes)
			}
			n += m.Bytes
		}
		if n != len(piece) {
			t.Fatalf("%d bytes are marked of %d", n, len(piece))
		}
	})
}
