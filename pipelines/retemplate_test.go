package pipelines

import (
	"bytes"
	"os"
	"path/filepath"
	"testing"
)

// TestRetemplated: the replies of a finished set serve another template. Every query ends as before, the answers that were used
// are the same bytes, and tokens are those of the new rows, which check counts.
func TestRetemplated(t *testing.T) {
	base := toySFT(t)
	mustRun(t, base)
	old := map[string]*QueryLine{}
	for _, q := range queriesOf(t, base.Output) {
		old[q.ID] = q
	}
	for _, version := range []string{"v4", "v7"} {
		o := with(t, base, func(o *Options) {
			o.Template = version
			o.SFT.Rollouts, o.SFT.Judgements = []string{filepath.Join(base.Output, "replies")}, []string{filepath.Join(base.Output, "replies")}
		})
		m := mustRun(t, o)
		mustCheck(t, o)
		var tokens int64
		for _, q := range queriesOf(t, o.Output) {
			was := old[q.ID]
			if q.State != was.State || q.Reason != was.Reason || (q.Winner == nil) != (was.Winner == nil) || q.Winner != nil && *q.Winner != *was.Winner || q.Reward != was.Reward {
				t.Errorf("%s under %s: %s %s, was %s %s", q.ID, version, q.State, q.Reason, was.State, was.Reason)
			}
			if q.Template.Version != version {
				t.Errorf("%s: template %s", q.ID, q.Template.Version)
			}
			if q.Row != nil {
				tokens += int64(q.Row.Tokens)
			}
		}
		if tokens != m.Tokens.All || tokens == 0 {
			t.Errorf("%s: rows of %d tokens, the manifest has %d", version, tokens, m.Tokens.All)
		}
		for i := range 9 {
			a, err := os.ReadFile(filepath.Join(base.Output, repliesPath(i)))
			b, err2 := os.ReadFile(filepath.Join(o.Output, repliesPath(i)))
			if err != nil || err2 != nil || !bytes.Equal(a, b) {
				t.Errorf("%s: other answers were used in partition %d: %v, %v", version, i, err, err2)
			}
		}
		if m.SFT.Unasked != 0 || m.SFT.Replies.Surplus != 0 {
			t.Errorf("%s: %d unasked, %d surplus", version, m.SFT.Unasked, m.SFT.Replies.Surplus)
		}
	}
}
