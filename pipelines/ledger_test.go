package pipelines

import (
	"fmt"
	"path/filepath"
	"slices"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestLedgerAndRows: the accounts, and every token and label of every row, are those of a second, naive
// implementation that starts from the unified form.
func TestLedgerAndRows(t *testing.T) {
	demo, mixed := demoCorpus(t), filepath.Join(t.TempDir(), "mixed.jsonl")
	text, _ := unify(t, mixedCorpus(t)) // what a decoder rejects has no part in this
	write(t, mixed, text)
	for _, c := range []struct {
		name, input string
		seqLen      int
	}{
		{"demo", demo, 4096}, {"demo", demo, 262_144}, {"demo", demo, 900}, {"demo", demo, 200},
		{"mixed", mixed, 4096}, {"mixed", mixed, 450}, {"mixed", mixed, 60}, {"mixed", mixed, 2},
	} {
		t.Run(fmt.Sprintf("%s, seq-len %d", c.name, c.seqLen), func(t *testing.T) {
			_, records := unify(t, c.input)
			n := newNaive(t, c.seqLen)
			for i := range records {
				n.record(&records[i])
			}
			o := options(t, c.input)
			o.SeqLen, o.Partitions = c.seqLen, 3
			m := mustRun(t, o)
			if diff := cmp.Diff(n.counts, flat(&m.Ledger)); diff != "" {
				t.Errorf("the ledger (-naive +manifest):\n%s", diff)
			}
			var trained int64
			at := 0
			for _, shard := range shardsOf(m) {
				for _, row := range readShard(t, o.Output, shard, 0) {
					if at == len(n.rows) {
						t.Fatalf("more rows than the %d of the naive run", at)
					}
					want := n.rows[at]
					if !slices.Equal(want.ids, row.IDs) || !slices.Equal(want.labels, row.Labels) {
						t.Fatalf("row %d: %v labelled %v\nwant %v labelled %v", at, row.IDs, row.Labels, want.ids, want.labels)
					}
					for _, l := range row.Labels {
						if l >= 0 {
							trained++
						}
					}
					at++
				}
			}
			if at != len(n.rows) || trained != n.counts["total loss_tokens out"] || int64(at) != m.Counts.Tokens.Rows {
				t.Errorf("%d rows with %d trained tokens; naive %d and %d", at, trained, len(n.rows), n.counts["total loss_tokens out"])
			}
		})
	}
}

// TestRowsByEye: decoded, each row is the conversation in ChatML, byte for byte, and what carries loss are
// exactly the observations of kept turns and their end tokens, found by their place in the text.
func TestRowsByEye(t *testing.T) {
	corpus := demoCorpus(t)
	_, records := unify(t, corpus)
	for _, seqLen := range []int{4096, 1200} {
		n := newNaive(t, seqLen)
		for i := range records {
			n.record(&records[i])
		}
		o := options(t, corpus)
		o.SeqLen = seqLen
		m := mustRun(t, o)
		at := 0
		for _, shard := range shardsOf(m) {
			for _, row := range readShard(t, o.Output, shard, 0) {
				want := n.rows[at]
				at++
				if want.text == "" {
					continue // a document
				}
				var text []byte
				for i, id := range row.IDs {
					text = n.model.AppendText(text, id)
					if loss := row.Labels[i] >= 0; len(text) > len(want.trained) || loss != want.trained[len(text)-1] {
						t.Fatalf("seq-len %d, row %d, token %d: loss %v after %q", seqLen, at-1, i, loss, text[max(0, len(text)-80):])
					}
				}
				if string(text) != want.text {
					t.Errorf("seq-len %d, row %d:\n%s", seqLen, at-1, cmp.Diff(want.text, string(text)))
				}
			}
		}
		if at != len(n.rows) || at < 40 {
			t.Errorf("%d rows, want %d", at, len(n.rows))
		}
	}
}

// TestKnownNumbers: what a person counts in the demo corpus.
func TestKnownNumbers(t *testing.T) {
	lines := 0
	for _, f := range demoFiles() {
		for _, c := range f.data {
			if c == '\n' {
				lines++
			}
		}
	}
	m := mustRun(t, options(t, demoCorpus(t)))
	total := m.Ledger.Total
	if total.Records.In != int64(lines) || lines != 52 {
		t.Errorf("%d records in, %d lines", total.Records.In, lines)
	}
	if got := m.Ledger.Domains["mcp"].Trajectories.In; got != 8+5 { // mcp.jsonl, and the chats with tools
		t.Errorf("%d trajectories of mcp", got)
	}
	if got := m.Ledger.Domains["knowledge"].Records.Out; got != 4 {
		t.Errorf("%d documents", got)
	}
	for reason, want := range map[string]int64{"no_environment": 1, "too_few_turns": 1} {
		if got := flat(&m.Ledger)["total records dropped."+reason]; got != want {
			t.Errorf("%d records are dropped for %s, want %d", got, reason, want)
		}
	}
}
