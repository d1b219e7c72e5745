package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/filter/verify"
)

// programSource is a verifier that passes every prediction of the toy corpus.
const programSource = "#!/bin/sh\nread -r line\ncase $line in *'\"prediction\":\"wrong'*) exit 1;; esac\nexit 0\n"

// verifiedSFT returns a toy run in which every third query has a verifier, programs of queries that are judged among them.
func verifiedSFT(t *testing.T) Options {
	t.Helper()
	o := toySFT(t)
	plain := with(t, o, func(o *Options) {})
	mustRun(t, plain)
	var lines []byte
	programs := 0
	for i, q := range queriesOf(t, plain.Output) {
		v := map[string]any{"kind": "exact", "class": "control"}
		switch {
		case i%3 > 0:
			continue
		case i%9 == 0:
			v = map[string]any{"kind": "regex", "class": "long_context", "pattern": "page"}
		case i%9 == 3 && programs < 5 && q.State == "selected":
			programs++
			v = map[string]any{"kind": "program", "class": "control", "program": programSource, "seconds": 5}
		}
		line, err := json.Marshal(map[string]any{"query": q.ID, "verifier": v})
		if err != nil {
			t.Fatal(err)
		}
		lines = append(append(lines, line...), '\n')
	}
	if programs != 5 {
		t.Fatalf("%d programs, want 5", programs)
	}
	o.SFT.Verifiers = filepath.Join(t.TempDir(), "verifiers.jsonl")
	write(t, o.SFT.Verifiers, lines)
	return o
}

// queriesOf reads the lines of all partitions.
func queriesOf(t *testing.T, root string) (all []*QueryLine) {
	t.Helper()
	names, err := filepath.Glob(filepath.Join(root, "queries", "*"))
	if err != nil || len(names) == 0 {
		t.Fatalf("no queries: %v", err)
	}
	for i := range names {
		r, err := openLines(root, queriesPath(i))
		if err != nil {
			t.Fatal(err)
		}
		for {
			line, err := r.line()
			if err != nil {
				t.Fatal(err)
			}
			if line == nil {
				break
			}
			q := &QueryLine{}
			if err := json.Unmarshal(line, q); err != nil {
				t.Fatal(err)
			}
			all = append(all, q)
		}
		r.close()
	}
	return all
}

// programVerdicts counts what programs said.
func programVerdicts(t *testing.T, root string) map[verify.State]int {
	t.Helper()
	n := map[verify.State]int{}
	for _, q := range queriesOf(t, root) {
		if q.Verifier == nil || q.Verifier.Kind != verify.Program {
			continue
		}
		n[q.Verifier.Recorded.State]++
		for _, r := range q.Rollouts {
			if r.Verdict != nil {
				n[r.Verdict.State]++
			}
		}
	}
	return n
}

// TestVerifiedSFT: any number of workers gives the same bytes, check proves the rewards, and what a program has said is
// never asked again, whatever the machine can do by then.
func TestVerifiedSFT(t *testing.T) {
	if refusal := openSandbox().Refusal(); refusal != "" {
		t.Skip("no sandbox: " + refusal)
	}
	base := verifiedSFT(t)
	base.Workers = 1
	m := mustRun(t, base)
	var kept, gated int64
	for _, d := range m.SFT.Verifiers {
		kept += d.Kept
		for _, n := range d.Gated {
			gated += n
		}
	}
	if kept == 0 || gated == 0 || m.SFT.VerifiersUnasked != 0 {
		t.Fatalf("%d verifiers kept, %d not, %d unasked; want some of the first two", kept, gated, m.SFT.VerifiersUnasked)
	}
	if n := programVerdicts(t, base.Output); n[verify.Pass] != 20 || len(n) != 1 {
		t.Fatalf("programs said %v, want 5 times 4 passes", n)
	}
	want := outputs(t, base.Output)
	mustCheck(t, base)
	for _, workers := range []int{2, 7} {
		o := with(t, base, func(o *Options) { o.Workers = workers })
		mustRun(t, o)
		sameFiles(t, fmt.Sprint("workers ", workers), want, outputs(t, o.Output))
	}
	t.Run("resumed without a sandbox", func(t *testing.T) {
		for i := range 9 {
			if err := os.Remove(filepath.Join(base.Output, commitPath(i))); err != nil {
				t.Fatal(err)
			}
		}
		t.Setenv("PATH", t.TempDir())
		mustRun(t, base)
		sameFiles(t, "resumed", want, outputs(t, base.Output))
	})
	t.Run("a journal that is gone", func(t *testing.T) {
		if err := os.RemoveAll(filepath.Join(base.Output, journalDir)); err != nil {
			t.Fatal(err)
		}
		if _, err := Check(context.Background(), CheckOptions{Path: base.Output, Memory: base.Memory, Workers: 1}); err != nil {
			t.Errorf("check of the files alone: %v", err)
		}
		_, err := Check(context.Background(), CheckOptions{Path: base.Output, Inputs: base.Inputs, Memory: base.Memory, Workers: 1})
		if err == nil || !strings.Contains(err.Error(), "holds no verdict of its program") {
			t.Errorf("check from the inputs: %v", err)
		}
	})
}

// outputs is digest without the journals, whose lines stand in the order in which verdicts came.
func outputs(t *testing.T, root string) map[string]string {
	t.Helper()
	files := digest(t, root)
	for name := range files {
		if strings.HasPrefix(name, journalDir+"/") {
			delete(files, name)
		}
	}
	return files
}

// TestRefusedProgram: where there is no sandbox programs are refused by name and the other kinds judge; a machine with
// one runs them when the partition is run again.
func TestRefusedProgram(t *testing.T) {
	base := verifiedSFT(t)
	t.Run("none", func(t *testing.T) {
		t.Setenv("PATH", t.TempDir())
		m := mustRun(t, base)
		var exact, refused int64
		for _, d := range m.SFT.Verifiers {
			exact += d.Rollouts[verify.Pass]
			refused += d.Recorded[verify.Refused]
		}
		if n := programVerdicts(t, base.Output); n[verify.Refused] != 20 || len(n) != 1 || refused != 5 || exact == 0 {
			t.Fatalf("programs said %v, the manifest has %d refused; %d other verdicts", n, refused, exact)
		}
		mustCheck(t, base)
	})
	if refusal := openSandbox().Refusal(); refusal != "" {
		t.Skip("no sandbox: " + refusal)
	}
	for i := range 9 {
		if err := os.Remove(filepath.Join(base.Output, commitPath(i))); err != nil {
			t.Fatal(err)
		}
	}
	mustRun(t, base)
	if n := programVerdicts(t, base.Output); n[verify.Pass] != 20 || len(n) != 1 {
		t.Errorf("with a sandbox programs said %v", n)
	}
}

// TestForgedVerifiers: verdicts, gate and rewards hang together.
func TestForgedVerifiers(t *testing.T) {
	o := verifiedSFT(t)
	o.Partitions = 1
	mustRun(t, o)
	kept := func(q *QueryLine) bool {
		return q.Verifier != nil && q.Verifier.Gate == "" && q.State == "selected"
	}
	for name, change := range map[string]func(q *QueryLine){
		"another verdict": func(q *QueryLine) { q.Rollouts[*q.Winner].Verdict.State = verify.Fail },
		"another reward":  func(q *QueryLine) { *q.Rollouts[0].Reward-- },
		"of the winner":   func(q *QueryLine) { q.Reward = 250 - q.Reward },
		"another gate":    func(q *QueryLine) { q.Verifier.Gate = "one_sided" },
		"no agreement":    func(q *QueryLine) { q.Verifier.Agree-- },
		"no verifier":     func(q *QueryLine) { q.Verifier = nil },
	} {
		t.Run(name, func(t *testing.T) {
			f := forge(t, o.Output)
			f.query(kept, change)
			f.sign()
			if _, err := Check(context.Background(), CheckOptions{Path: f.root, Memory: o.Memory, Workers: 1}); err == nil {
				t.Error("check finds nothing")
			}
		})
	}
}
