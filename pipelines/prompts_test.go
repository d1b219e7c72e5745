package pipelines

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/stats"
)

// toyRL returns a run of the pool rl over the toy corpus.
func toyRL(t *testing.T) Options {
	o := toySFT(t)
	o.SFT.Pool, o.SFT.Targets, o.SFT.Rollouts, o.SFT.Judgements = poolRL, "1", nil, nil
	o.SFT.MaxPrompt = 340
	return o
}

// promptsOf reads the prompts of a partition.
func promptsOf(t *testing.T, root string, i int) (all []stats.PromptRow) {
	t.Helper()
	c, err := openPrompts(root, i)
	if err != nil {
		t.Fatal(err)
	}
	defer c.close()
	for {
		row, err := c.rows.Next()
		if err != nil {
			t.Fatal(err)
		}
		if row == nil {
			return all
		}
		all = append(all, *row)
	}
}

// TestRL: one prompt a trajectory at most, of template v0, and never cut; the ledger knows the others. Any number of workers
// gives the same bytes, and check proves them.
func TestRL(t *testing.T) {
	base := toyRL(t)
	base.Workers = 1
	m := mustRun(t, base)
	q := m.Ledger.Total.Queries
	if q.In != 100 || q.Out+q.Dropped[turnmill.ReasonPromptTooLong] != q.In || q.Out == 0 || q.Out == q.In {
		t.Fatalf("queries %+v, %+v: want 100, some of them too long", q, m.SFT.Prompts["web"])
	}
	var n int64
	trajectories := map[string]bool{}
	lines := queriesOf(t, base.Output)
	for i := range 9 {
		for _, row := range promptsOf(t, base.Output, i) {
			n++
			at := slices.IndexFunc(lines, func(l *QueryLine) bool { return l.ID == row.ID })
			trajectory := lines[at].Trajectory
			if trajectories[trajectory] || row.Template != "v0" || row.PromptTokens > 340 || len(row.Prompt) != 2+2*lines[at].Turn {
				t.Errorf("%s: template %s, %d tokens, %d messages for turn %d", row.ID, row.Template, row.PromptTokens, len(row.Prompt), lines[at].Turn)
			}
			trajectories[trajectory] = true
		}
	}
	if n != q.Out {
		t.Errorf("%d prompts, the ledger has %d", n, q.Out)
	}
	want := digest(t, base.Output)
	mustCheck(t, base)
	for _, workers := range []int{2, 7} {
		o := with(t, base, func(o *Options) { o.Workers = workers })
		mustRun(t, o)
		sameFiles(t, fmt.Sprint("workers ", workers), want, digest(t, o.Output))
	}
}

// TestForgedRL: whatever is changed in a finished set of prompts and signed again, check finds it.
func TestForgedRL(t *testing.T) {
	o := toyRL(t)
	o.Partitions = 1
	mustRun(t, o)
	selected := func(q *QueryLine) bool { return q.Prompt != nil }
	rewrite := func(change func(rows []stats.PromptRow) []stats.PromptRow) func(f *forger) {
		return func(f *forger) {
			rows := change(promptsOf(t, f.root, 0))
			var b bytes.Buffer
			w, err := stats.NewPromptWriter(&b, Version)
			if err == nil {
				err = errors.Join(w.Write(rows), w.Close())
			}
			if err != nil {
				t.Fatal(err)
			}
			write(t, filepath.Join(f.root, promptsPath(0)), b.Bytes())
			f.setRows(promptsPath(0), int64(len(rows)))
		}
	}
	for name, change := range map[string]func(f *forger){
		"a prompt gone":  rewrite(func(rows []stats.PromptRow) []stats.PromptRow { return rows[1:] }),
		"the last gone":  rewrite(func(rows []stats.PromptRow) []stats.PromptRow { return rows[:len(rows)-1] }),
		"a prompt more":  rewrite(func(rows []stats.PromptRow) []stats.PromptRow { return append(rows, rows[0]) }),
		"two exchanged":  rewrite(func(rows []stats.PromptRow) []stats.PromptRow { rows[0], rows[1] = rows[1], rows[0]; return rows }),
		"another count":  rewrite(func(rows []stats.PromptRow) []stats.PromptRow { rows[0].PromptTokens++; return rows }),
		"a reference":    rewrite(func(rows []stats.PromptRow) []stats.PromptRow { rows[0].Reference += "x"; return rows }),
		"no user":        rewrite(func(rows []stats.PromptRow) []stats.PromptRow { rows[0].Prompt = rows[0].Prompt[:1]; return rows }),
		"a verifier":     rewrite(func(rows []stats.PromptRow) []stats.PromptRow { rows[0].Verifier = "{}"; return rows }),
		"another place":  func(f *forger) { f.query(selected, func(q *QueryLine) { q.Prompt.Row++ }) },
		"another length": func(f *forger) { f.query(selected, func(q *QueryLine) { q.Prompt.Tokens-- }) },
		"no prompt":      func(f *forger) { f.query(selected, func(q *QueryLine) { q.Prompt = nil }) },
		"another bound":  func(f *forger) { f.plan.Config.SFT.MaxPrompt = 100 },
		"more counted": func(f *forger) {
			f.commits[0].SFT.Prompts[turnmill.Domain(promptsOf(t, f.root, 0)[0].Domain)].Prompts++
		},
		"dropped instead": func(f *forger) {
			f.query(selected, func(q *QueryLine) { q.State, q.Reason = "dropped", "prompt_too_long" })
		},
		"the file gone": func(f *forger) { _ = os.Remove(filepath.Join(f.root, promptsPath(0))) },
	} {
		t.Run(name, func(t *testing.T) {
			f := forge(t, o.Output)
			change(f)
			if name != "the file gone" {
				f.sign()
			}
			if _, err := Check(context.Background(), CheckOptions{Path: f.root, Memory: o.Memory, Workers: 1}); err == nil {
				t.Error("check finds nothing")
			}
		})
	}
}
