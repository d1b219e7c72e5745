package formats

import (
	"bytes"
	"encoding/json"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// texts draws strings with what JSON, lines and UTF-8 make awkward.
func texts() *rapid.Generator[string] {
	awkward := rapid.SampledFrom([]string{
		"", " ", "\n", "\r\n", "\t", "\"", "\\", "\\u0041", "/", "\x00", "\x1b[0m", "\u0085", "\u2028", "\u2029",
		"\uFEFF", "\uFFFD", "é", "日本", "😀", "{\"a\":[1,2]}", "</script>", "<|im_end|>",
	})
	return rapid.Custom(func(t *rapid.T) string {
		parts := rapid.SliceOfN(rapid.OneOf(awkward, rapid.String()), 0, 4).Draw(t, "parts")
		return strings.ToValidUTF8(strings.Join(parts, ""), "")
	})
}

func trajectories() *rapid.Generator[*turnmill.Trajectory] {
	text := texts()
	return rapid.Custom(func(t *rapid.T) *turnmill.Trajectory {
		domains := append(turnmill.Domains(), turnmill.DomainUnknown, "kitchen")
		tr := &turnmill.Trajectory{
			ID: text.Draw(t, "id"), Domain: rapid.SampledFrom(domains).Draw(t, "domain"), Source: text.Draw(t, "source"),
			SourceKind: text.Draw(t, "kind"), TaskID: text.Draw(t, "task"), Agent: text.Draw(t, "agent"),
			Observed: turnmill.Observed(rapid.IntRange(0, 2).Draw(t, "observed")),
			System: turnmill.SystemPrompt{
				TaskDescription: text.Draw(t, "p1"), ActionSpace: text.Draw(t, "p2"), InitialState: text.Draw(t, "p3"),
				Demonstrations: text.Draw(t, "p4"), SimulationInstruction: text.Draw(t, "p5"),
			},
			Meta: rapid.SampledFrom([]string{"", "{}", `{"a":[1.50,null,{"b":"\u2028\n"}]}`}).Draw(t, "meta"),
		}
		index := -1
		for range rapid.IntRange(0, 5).Draw(t, "turns") {
			index += rapid.IntRange(1, 3).Draw(t, "step")
			turn := turnmill.Turn{
				Index: index, State: text.Draw(t, "state"), HasAction: rapid.Bool().Draw(t, "has"),
				Observation: text.Draw(t, "obs"), Thought: text.Draw(t, "thought"), Tool: text.Draw(t, "tool"),
				Dialogue: rapid.Bool().Draw(t, "dialogue"),
			}
			if turn.HasAction {
				turn.Action = text.Draw(t, "action")
			}
			tr.Turns = append(tr.Turns, turn)
		}
		return tr
	})
}

func readUnified(t interface{ Fatalf(string, ...any) }, line []byte) *Decoded {
	var out Decoded
	if err := (&unified{opts: Options{KeepThought: true}}).Decode(line, &out); err != nil {
		t.Fatalf("%s: %v", line, err)
	}
	return &out
}

func TestUnifiedReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		want := trajectories().Draw(t, "trajectory")
		line := AppendUnified(nil, want)
		if !json.Valid(line) {
			t.Fatalf("not JSON: %q", line)
		}
		if bytes.ContainsAny(line, "\n\r\u0085\u2028\u2029") {
			t.Fatalf("more than one line: %q", line)
		}
		got := readUnified(t, line)
		if len(got.Trajectories) != 1 || len(got.Documents) != 0 {
			t.Fatalf("%d trajectories, %d documents", len(got.Trajectories), len(got.Documents))
		}
		if diff := cmp.Diff(want, &got.Trajectories[0], cmpopts.EquateEmpty()); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
		if again := AppendUnified(nil, &got.Trajectories[0]); !bytes.Equal(again, line) {
			t.Fatalf("written again:\n%s\n%s", line, again)
		}
	})
}

func TestDocumentReadsWhatWasWritten(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		text := texts()
		want := turnmill.Document{
			ID: text.Draw(t, "id"), Domain: "knowledge", Source: text.Draw(t, "source"),
			SourceKind: text.Draw(t, "kind"), Text: text.Draw(t, "text"), Meta: `{"k":"v"}`,
		}
		got := readUnified(t, AppendDocument(nil, &want))
		if len(got.Documents) != 1 || len(got.Trajectories) != 0 {
			t.Fatalf("%d documents, %d trajectories", len(got.Documents), len(got.Trajectories))
		}
		if diff := cmp.Diff(want, got.Documents[0]); diff != "" {
			t.Fatalf("(-want +got)\n%s", diff)
		}
	})
}

// TestContentID holds ids that must never move. Their hashes were computed by another program.
func TestContentID(t *testing.T) {
	full := turnmill.Trajectory{
		ID: "own", Domain: "terminal", Source: "s", SourceKind: "open_traces", TaskID: "t", Agent: "a",
		Observed: turnmill.ObservedFalse, Meta: `{"m":1}`,
		System: turnmill.SystemPrompt{TaskDescription: "T", InitialState: "I\u2028"},
		Turns: []turnmill.Turn{
			{Index: 0, State: "$", Action: "é\n\x01\"", HasAction: true, Observation: "", Thought: "why", Tool: "x"},
			{Index: 5, Observation: "o", Dialogue: true},
		},
	}
	canonical := `{"domain":"terminal","source":"s","source_kind":"open_traces","task_id":"t","agent":"a","observed":false,` +
		`"system":{"task_description":"T","initial_state":"I` + "\u2028" + `"},` +
		`"turns":[{"index":0,"state":"$","action":"é\n\u0001\"","observation":"","tool":"x"},{"index":5,"observation":"o","dialogue":true}]}`
	if got := string(AppendCanonical(nil, &full)); got != canonical {
		t.Errorf("canonical\n got %s\nwant %s", got, canonical)
	}
	id, scratch := ContentID(&full, nil)
	if want := "sha256:3ba86fd56a33b527fa4f0da173a2931b"; id != want {
		t.Errorf("id %s, want %s", id, want)
	}
	full.ID, full.Meta, full.Turns[0].Thought = "", "", ""
	if again, _ := ContentID(&full, scratch); again != id {
		t.Errorf("id %s moved with id, meta and thought to %s", id, again)
	}
	doc := turnmill.Document{ID: "own", Domain: "knowledge", Source: "s", Text: "Water\u0085", Meta: "{}"}
	if got, want := string(AppendCanonicalDocument(nil, &doc)),
		`{"kind":"document","domain":"knowledge","source":"s","text":"Water`+"\u0085"+`"}`; got != want {
		t.Errorf("canonical\n got %s\nwant %s", got, want)
	}
	if got, _ := DocumentContentID(&doc, nil); got != "sha256:ebab87b74c096285a458d210dda465d3" {
		t.Errorf("id of the document %s", got)
	}
}

func TestAppendOneLine(t *testing.T) {
	for in, want := range map[string]string{
		`{"a":1}`:                        `{"a":1}`,
		"{\r\n\t\"a\": 1\n}":             "{\t\"a\": 1}",
		"{\"\u2028\":\"\u0085\u2029é\"}": `{"\u2028":"\u0085\u2029é"}`,
	} {
		if got := string(appendOneLine(nil, in)); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

// TestFurtherTrajectories checks the ids of a record that holds several.
func TestFurtherTrajectories(t *testing.T) {
	var d Decoded
	d.reset()
	d.trajectory("s", "run")
	d.Rejected = append(d.Rejected, TrajectoryError{Ordinal: 1, Reason: turnmill.ReasonBadField})
	d.trajectory("s", "run")
	d.trajectory("s", "")
	var ids []string
	for i := range d.Trajectories {
		ids = append(ids, d.Trajectories[i].ID)
	}
	if diff := cmp.Diff([]string{"run", "run#3", ""}, ids); diff != "" {
		t.Errorf("(-want +got)\n%s", diff)
	}
}

func TestVerbatimMendsEachByte(t *testing.T) {
	var d Decoded
	v, err := d.parse([]byte("{\"a\":\"x\xff\xfe\\u00e9\"}"))
	if err != nil {
		t.Fatal(err)
	}
	if got, want := d.verbatim(v), "{\"a\":\"x\uFFFD\uFFFD\\u00e9\"}"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if n := d.Notes[turnmill.NoteBadUTF8]; n != 2 {
		t.Errorf("%d bytes counted, want 2", n)
	}
}

func TestDepth(t *testing.T) {
	var out Decoded
	deep := strings.Repeat("[", jsonscan.DefaultDepth+1) + strings.Repeat("]", jsonscan.DefaultDepth+1)
	for _, f := range All() {
		if f.Text {
			continue
		}
		if err := f.New(Options{}).Decode([]byte(deep), &out); reasonOf(err) != turnmill.ReasonTooDeep {
			t.Errorf("%s: %v, want too_deep", f.Name, err)
		}
	}
}
