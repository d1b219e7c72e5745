package pipelines

import (
	"slices"
	"testing"
)

// TestThinkPrompt: Pitfall 7. Where the model's own prompt opens reasoning, rows are the same tokens and the
// opening tag alone leaves the loss.
func TestThinkPrompt(t *testing.T) {
	base := toySFT(t)
	opened := with(t, base, func(o *Options) { o.SFT.ThinkPrompt = true })
	with, without := mustRun(t, base), mustRun(t, opened)
	mustCheck(t, opened)
	model := newNaive(t, 0).model
	rows := 0
	for i, shard := range shardsOf(with) {
		a, b := readShard(t, base.Output, shard, 0), readShard(t, opened.Output, shardsOf(without)[i], 0)
		for k := range a {
			if !slices.Equal(a[k].IDs, b[k].IDs) {
				t.Fatalf("row %d of %s has other tokens", k, shard)
			}
			var tag []byte
			for at, id := range a[k].IDs {
				if a[k].Labels[at] != b[k].Labels[at] {
					if b[k].Labels[at] >= 0 {
						t.Fatalf("row %d of %s: token %d gains loss", k, shard, at)
					}
					tag = model.AppendText(tag, id)
				}
			}
			if rows++; string(tag) != "<think>\n" {
				t.Errorf("row %d of %s: %q leaves the loss", k, shard, tag)
			}
		}
	}
	if rows < 20 {
		t.Errorf("%d rows", rows)
	}
	if with.Chat.SHA256 == without.Chat.SHA256 {
		t.Error("both runs name one chat format")
	}
}
