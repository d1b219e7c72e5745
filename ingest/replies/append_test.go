package replies

import (
	"bytes"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// TestAppend: what is written reads back as it was.
func TestAppend(t *testing.T) {
	texts := rapid.StringOfN(rapid.RuneFrom([]rune("a\"\\\n\u2028é<>/{}\x00")), 0, 12, -1)
	rapid.Check(t, func(t *rapid.T) {
		r := turnmill.Reply{ID: "q" + texts.Draw(t, "id") + "@4", Sample: rapid.IntRange(0, 9).Draw(t, "sample"),
			State: turnmill.ReplyState(rapid.IntRange(0, 4).Draw(t, "state")), Text: texts.Draw(t, "text"), Reasoning: texts.Draw(t, "reasoning"),
			Finish: texts.Draw(t, "finish"), Model: texts.Draw(t, "model"), Error: texts.Draw(t, "error"),
			Usage: turnmill.Usage{Prompt: rapid.Int64Range(0, 99).Draw(t, "prompt"), Completion: 7}}
		query := r.ID
		kind := rapid.IntRange(0, 2).Draw(t, "kind")
		var row []byte
		switch kind {
		case 0:
			row = AppendRollout(nil, &r)
		case 1:
			row, r.ID = AppendScores(nil, query, 2, &r), naming.Score(query, 2)
		case 2:
			row, r.ID = AppendPair(nil, query, 2, 0, &r), naming.Pair(query, 2, 0)
		}
		if bytes.IndexByte(row, '\n') != len(row)-1 {
			t.Fatalf("more than a line: %q", row)
		}
		got, err := newDecoder(naming).decode(row)
		if err != nil || len(got) != 1 || got[0] != r {
			t.Fatalf("%s\n got %+v, %v\nwant %+v", row, got, err, r)
		}
	})
}
