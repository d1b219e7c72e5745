package pipelines

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/zstdio"
)

// lines returns the JSON lines of a compressed file.
func (f *forger) lines(name string) []string {
	f.t.Helper()
	r, err := openLines(f.root, name)
	if err != nil {
		f.t.Fatal(err)
	}
	defer r.close()
	var all []string
	for {
		line, err := r.line()
		if err != nil {
			f.t.Fatal(err)
		}
		if line == nil {
			return all
		}
		all = append(all, string(line))
	}
}

// writeLines writes a compressed file anew.
func (f *forger) writeLines(name string, lines []string) {
	f.t.Helper()
	var b bytes.Buffer
	w, err := zstdio.NewWriter(&b)
	if err != nil {
		f.t.Fatal(err)
	}
	if _, err := w.Write([]byte(strings.Join(lines, ""))); err != nil {
		f.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.t.Fatal(err)
	}
	write(f.t, f.path(name), b.Bytes())
	f.setRows(name, int64(len(lines)))
}

// query changes the first query that a test wants.
func (f *forger) query(want func(*QueryLine) bool, change func(*QueryLine)) {
	f.t.Helper()
	lines := f.lines(queriesPath(0))
	for i, line := range lines {
		q := &QueryLine{}
		if err := json.Unmarshal([]byte(line), q); err != nil {
			f.t.Fatal(err)
		}
		if want(q) {
			change(q)
			lines[i] = string(q.encode())
			f.writeLines(queriesPath(0), lines)
			return
		}
	}
	f.t.Fatal("no such query")
}

// TestForgedSFT: whatever is changed in a finished set and signed again, check finds it.
func TestForgedSFT(t *testing.T) {
	o := toySFT(t)
	o.Partitions = 1
	mustRun(t, o)
	selected := func(q *QueryLine) bool { return q.State == "selected" && len(q.Pairs) > 0 }
	dropped := func(q *QueryLine) bool { return q.Reason == turnmill.ReasonBelowThreshold }
	for name, change := range map[string]func(f *forger){
		"another winner": func(f *forger) { f.query(selected, func(q *QueryLine) { *q.Winner = (*q.Winner + 1) % 3 }) },
		"another reward": func(f *forger) { f.query(selected, func(q *QueryLine) { q.Reward++ }) },
		"another score":  func(f *forger) { f.query(selected, func(q *QueryLine) { q.Rollouts[0].State = "truncated" }) },
		"a pair turned": func(f *forger) {
			f.query(selected, func(q *QueryLine) { q.Pairs[0].First, q.Pairs[0].Second = q.Pairs[0].Second, q.Pairs[0].First })
		},
		"another template":    func(f *forger) { f.query(selected, func(q *QueryLine) { q.Template.Version = "v0" }) },
		"another answer":      func(f *forger) { f.query(selected, func(q *QueryLine) { q.Row.Answer.Start-- }) },
		"another row":         func(f *forger) { f.query(selected, func(q *QueryLine) { q.Row.Row++ }) },
		"another turn":        func(f *forger) { f.query(selected, func(q *QueryLine) { q.Turn++ }) },
		"another form":        func(f *forger) { f.query(selected, func(q *QueryLine) { q.Row.Rewritten = !q.Row.Rewritten }) },
		"another chain":       func(f *forger) { f.query(selected, func(q *QueryLine) { q.Rollouts[0].Chain.Leaks++ }) },
		"another reason":      func(f *forger) { f.query(dropped, func(q *QueryLine) { q.Reason = turnmill.ReasonJudgeRefused }) },
		"dropped, not failed": func(f *forger) { f.query(dropped, func(q *QueryLine) { q.State = "rejected" }) },
		"a query gone": func(f *forger) {
			f.writeLines(queriesPath(0), f.lines(queriesPath(0))[1:])
		},
		"an answer gone": func(f *forger) {
			lines := f.lines(repliesPath(0))
			f.writeLines(repliesPath(0), lines[:len(lines)-1])
		},
		"an answer more": func(f *forger) {
			lines := f.lines(repliesPath(0))
			f.writeLines(repliesPath(0), append(lines, lines[len(lines)-1]))
		},
		"another judgement": func(f *forger) {
			lines := f.lines(repliesPath(0))
			i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `\"quality\": 4`) })
			lines[i] = strings.Replace(lines[i], `\"quality\": 4`, `\"quality\": 5`, 1)
			f.writeLines(repliesPath(0), lines)
		},
		"a reject line gone": func(f *forger) {
			lines := f.lines(rejectsPath(0))
			i := slices.IndexFunc(lines, func(l string) bool { return strings.Contains(l, `"kind":"query"`) })
			f.writeLines(rejectsPath(0), slices.Delete(lines, i, i+1))
		},
		"another threshold": func(f *forger) { f.plan.Config.SFT.Threshold = "4.5" },
		"another loss":      func(f *forger) { f.plan.Config.SFT.Loss = "answer" },
		"more kept":         func(f *forger) { f.commits[0].SFT.Queries["web"].Selected++ },
		"a query moved": func(f *forger) {
			a := f.commits[0].Counts.Ledger
			a.Total.Queries.Out++
			a.Total.Queries.In++
			a.Domains["web"].Queries.Out++
			a.Domains["web"].Queries.In++
		},
	} {
		t.Run(name, func(t *testing.T) {
			f := forge(t, o.Output)
			change(f)
			f.sign()
			_, err := Check(context.Background(), CheckOptions{Path: f.root, Memory: o.Memory, Workers: 1})
			if err == nil || !errors.Is(err, turnmill.ErrCorrupt) {
				t.Errorf("check: %v, want it corrupt", err)
			}
		})
	}
}
