package formats

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// TestOpenAIChatRealFiles reads the chats inside published files of formats that wrap such chats.
func TestOpenAIChatRealFiles(t *testing.T) {
	var out strings.Builder
	for _, set := range []struct{ under, chat string }{{"tau-bench", "traj"}, {"livemcpbench", ""}, {"adp/toucan_1_5m", ""}} {
		files := realFiles(t, set.under)
		var names []string
		for name := range files {
			if strings.HasSuffix(name, ".json") && !strings.Contains(name, "_std") {
				names = append(names, name)
			}
		}
		slices.Sort(names)
		for _, name := range names {
			fmt.Fprintf(&out, "%s\t%s\n", name, sumChats(t, records(t, frame.Array, files[name]), set.chat))
		}
	}
	golden(t, "real/openai-chat.tsv", out.String())
}

// sumChats decodes the records, or the member of each that is a list of messages, and counts turns.
func sumChats(t *testing.T, records [][]byte, member string) string {
	d := mustFormat(t, "openai-chat").New(Options{})
	var notes turnmill.Notes
	calls, dialogue := 0, 0
	hash := sha256.New()
	for _, raw := range records {
		if member != "" {
			var doc jsonscan.Doc
			v, err := doc.Parse(raw)
			if err != nil {
				t.Fatal(err)
			}
			raw = v.Get(member).Raw()
		}
		var got Decoded
		if err := d.Decode(raw, &got); err != nil {
			t.Fatal(err)
		}
		for _, turn := range got.Trajectories[0].Turns {
			if turn.Dialogue {
				dialogue++
			} else {
				calls++
			}
		}
		notes.Add(&got.Notes)
		hash.Write(AppendUnified(nil, &got.Trajectories[0]))
	}
	return fmt.Sprintf("records=%d\tcall_turns=%d\tdialogue_turns=%d\tunified=%x\t%s", len(records), calls, dialogue,
		hash.Sum(nil), strings.TrimSpace(noteLine(&notes)))
}
