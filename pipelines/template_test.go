package pipelines

import (
	"bytes"
	"context"
	"fmt"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/shard/prompt"
	"github.com/turnmill/turnmill/stats"
)

// trajectories decodes the unified form of inputs.
func trajectories(t *testing.T, inputs ...string) map[string]*turnmill.Trajectory {
	t.Helper()
	lines, _ := unify(t, inputs...)
	f, err := formats.ByName("turnmill")
	if err != nil {
		t.Fatal(err)
	}
	all := map[string]*turnmill.Trajectory{}
	for line := range bytes.Lines(lines) {
		var d formats.Decoded
		if err := f.New(formats.Options{}).Decode(bytes.Clone(line), &d); err != nil {
			t.Fatal(err)
		}
		for i := range d.Trajectories {
			one := d.Trajectories[i]
			all[one.ID] = &one
		}
	}
	return all
}

// TestTemplatedRows: decoded, a row is the conversation of its template in ChatML, and what carries loss are
// the wrapped observations with their end tokens. show finds the same texts by the turns' ranges.
func TestTemplatedRows(t *testing.T) {
	corpus := demoCorpus(t)
	want := trajectories(t, corpus)
	for _, version := range []string{"v0", "v1", "v9"} {
		o := options(t, corpus)
		o.Template, o.Mask, o.Filters, o.SeqLen, o.TrainDialogue = version, "off", []string{"none"}, 100_000, true
		m := mustRun(t, o)
		mustCheck(t, o)
		seen := 0
		for row := range m.Counts.Tokens.Rows {
			s, err := Show(context.Background(), ShowOptions{Path: o.Output, Row: row})
			if err != nil {
				t.Fatal(err)
			}
			traj := want[s.ID]
			if traj == nil {
				continue // a document
			}
			seen++
			tmpl, err := prompt.Find(traj.Domain, version)
			if err != nil {
				t.Fatal(err)
			}
			messages := tmpl.Messages(traj, len(traj.Turns)-1, prompt.Options{})
			if !sameText(s.System, messages[0].Content) {
				t.Errorf("%s, %s: system %q, want %q", version, s.ID, s.System, messages[0].Content)
			}
			for i, turn := range s.Turns {
				if turn.Action != messages[1+2*i].Content || turn.State != "" || turn.Observation != tmpl.Wrap(traj.Turns[i].Observation) || turn.ActionMarks != nil {
					t.Errorf("%s, %s, turn %d: %q, %q", version, s.ID, i, turn.Action, turn.Observation)
				}
				if turn.Trained != turn.Tokens[1]+1 {
					t.Errorf("%s, %s, turn %d: %d tokens trained of %d", version, s.ID, i, turn.Trained, turn.Tokens[1])
				}
			}
			if got, text := rowText(t, &o, s), chatML(messages, tmpl.Wrap(traj.Turns[len(traj.Turns)-1].Observation)); got != text {
				t.Errorf("%s, %s:\n%s", version, s.ID, cmp.Diff(text, got))
			}
		}
		if seen < 40 {
			t.Errorf("%s: %d rows", version, seen)
		}
	}
}

func chatML(messages []turnmill.Message, last string) string {
	var b strings.Builder
	for _, m := range append(messages, turnmill.Message{Role: "assistant", Content: last}) {
		fmt.Fprintf(&b, "<|im_start|>%s\n%s<|im_end|>\n", m.Role, m.Content)
	}
	return b.String()
}

// rowText decodes a whole row.
func rowText(t *testing.T, o *Options, s *Shown) string {
	t.Helper()
	p, err := readPlan(o.Output)
	if err != nil {
		t.Fatal(err)
	}
	row, err := readRow(o.Output, p, s.Shard, s.Row)
	if err != nil {
		t.Fatal(err)
	}
	model, _, err := loadTokenizer(context.Background(), "demo", "auto", o.Hub)
	if err != nil {
		t.Fatal(err)
	}
	var text []byte
	for _, id := range row.IDs {
		text = model.AppendText(text, id)
	}
	return string(text)
}

// TestMaskIsOfCanonicalTexts: A12. Integers, statistics, category, ratio, draw and verdict of every turn are
// the same under every template and under none, with and without rows.
func TestMaskIsOfCanonicalTexts(t *testing.T) {
	corpus := mixedCorpus(t)
	base := options(t, corpus)
	base.SeqLen, base.Partitions, base.Pipeline = 200_000, 2, "audit"
	mustRun(t, base)
	want := masks(t, base.Output)
	if len(want) < 200 {
		t.Fatalf("%d turns", len(want))
	}
	seen := map[string]string{}
	for _, version := range prompt.Versions() {
		o := with(t, base, func(o *Options) { o.Template = version })
		m := mustRun(t, o)
		if diff := cmp.Diff(want, masks(t, o.Output)); diff != "" {
			t.Errorf("%s (-plain +template):\n%s", version, diff)
		}
		if m.Template == nil || m.Template.Version != version || m.Config.Template != version {
			t.Errorf("%s: manifest %+v", version, m.Template)
		}
		tokens := fmt.Sprint(m.Counts.Tokens)
		if other, again := seen[tokens]; again {
			t.Errorf("%s has the tokens of %s", version, other)
		}
		seen[tokens] = version
	}
	without := with(t, base, func(o *Options) { o.Template, o.Tokenizer = "v3", "" })
	mustRun(t, without)
	if diff := cmp.Diff(want, masks(t, without.Output)); diff != "" {
		t.Errorf("without a tokenizer (-plain +template):\n%s", diff)
	}
}

// masks are what of the turns the mask decides.
func masks(t *testing.T, root string) (out []string) {
	for _, row := range allTurns(t, root, 2) {
		if row.Category == "" {
			continue
		}
		kept := stats.TurnRow{ID: row.ID, Turn: row.Turn, Domain: row.Domain, ActionWords: row.ActionWords, ObservationWords: row.ObservationWords,
			SharedWords: row.SharedWords, ActionChars: row.ActionChars, ObservationChars: row.ObservationChars, Overlap: row.Overlap, Novelty: row.Novelty,
			Jaccard: row.Jaccard, LengthRatio: row.LengthRatio, Category: row.Category, Keep: row.Keep, Kept: row.Kept, Status: row.Status, Reason: row.Reason}
		if kept.Reason == string(turnmill.ReasonNoLoss) { // a row is dropped for it where there are rows
			kept.Status, kept.Reason = "context", string(turnmill.ReasonMasked)
		}
		out = append(out, fmt.Sprintf("%+v", kept))
	}
	return out
}

// TestTemplateOptions: what cannot be is refused before anything is read.
func TestTemplateOptions(t *testing.T) {
	for _, c := range []struct {
		set  func(*Options)
		want []string
	}{
		{func(o *Options) { o.Template = "v12" }, []string{`--template "v12"`, "plain, v0, v1"}},
		{func(o *Options) { o.Template = "" }, []string{`--template ""`}},
		{func(o *Options) { o.Template, o.Objective = "v1", "policy" }, []string{"--template v1", "--objective policy", "leave one"}},
		{func(o *Options) { o.Template, o.Objective = "v1", "all" }, []string{"--template v1", "--objective all"}},
	} {
		o := options(t, t.TempDir())
		c.set(&o)
		_, err := CPT(context.Background(), o)
		wantUsage(t, err, c.want...)
	}
}

// TestPlannedTemplate: a partition is run under the texts that were planned, or not at all.
func TestPlannedTemplate(t *testing.T) {
	o := options(t, demoCorpus(t))
	o.Template = "v1"
	p, err := PlanCPT(context.Background(), o)
	if err != nil {
		t.Fatal(err)
	}
	if err := Run(context.Background(), later(o), 0); err != nil {
		t.Fatal(err)
	}
	p.Template.SHA256 = hexSum(nil)
	data, _ := p.Encode()
	write(t, filepath.Join(o.Output, "plan.json"), data)
	wantUsage(t, Run(context.Background(), later(o), 0), "template v1 is not what it was", "--restart")
}
