package pipelines

import (
	"context"
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// contaminated returns a corpus of 60 runs and benchmarks of which some are in it: run i holds a task of the benchmark
// that want names, or none.
func contaminated(t *testing.T) (o Options, want map[string]string) {
	t.Helper()
	g := &generator{rng: rand.New(rand.NewPCG(8, 1))}
	instructions := "You are careful. " + g.words(60)
	var records []testRecord
	var bench, text strings.Builder
	want = map[string]string{}
	for i := range 60 {
		task := g.words(40)
		r := testRecord{ID: fmt.Sprintf("run-%d", i), Domain: "mcp", Source: "shop", TaskID: fmt.Sprint(i), System: &testSystem{TaskDescription: instructions + "\n" + task}}
		for k := range 3 {
			r.Turns = append(r.Turns, testTurn{Index: k, Action: ptr(g.words(4)), Observation: ptr(g.words(30))})
		}
		row := map[string]any{"problem_statement": instructions + " " + strings.ToUpper(task), "instance_id": fmt.Sprintf("other__task-%d", i), "n": 3}
		switch {
		case i%10 == 1: // the task's words
		case i%10 == 2:
			row = map[string]any{"source": "shop", "task_id": i, "messages": []any{map[string]any{"content": instructions}}}
		case i%10 == 3:
			r.System.TaskDescription, r.TaskID = instructions, fmt.Sprintf("other__task-%d", i)
		case i%10 == 4:
			fmt.Fprintln(&text, task)
			row = nil
		default:
			row = map[string]any{"problem_statement": instructions + " " + g.words(40), "instance_id": fmt.Sprintf("unseen__task-%d", i)}
		}
		if i%10 >= 1 && i%10 <= 4 {
			want[r.ID] = map[bool]string{true: "0/rows.jsonl", false: "1/tasks.txt"}[row != nil]
		}
		if row != nil {
			line, err := json.Marshal(row)
			if err != nil {
				t.Fatal(err)
			}
			bench.Write(append(line, '\n'))
		}
		records = append(records, r)
	}
	dir := writeFiles(t, []testFile{{"rows.jsonl", gzipped([]byte(bench.String()))}, {"tasks.txt", []byte(text.String())}})
	o = options(t, writeFiles(t, []testFile{{"a.jsonl", lines(records[:40])}, {"b.json", array(records[40:])}}))
	o.Decontaminate, o.Partitions = []string{filepath.Join(dir, "rows.jsonl"), filepath.Join(dir, "tasks.txt")}, 3
	return o, want
}

// TestDecontaminate: what holds a task of a benchmark is dropped, by id or by words, and the line names the task; what shares
// only the instructions of all tasks stays.
func TestDecontaminate(t *testing.T) {
	o, want := contaminated(t)
	m := mustRun(t, o)
	got := map[string]string{}
	for _, r := range allRejects(t, o.Output) {
		if r.Reason == turnmill.ReasonContaminated {
			got[r.ID], _, _ = strings.Cut(r.Detail, ":")
		}
	}
	if fmt.Sprint(got) != fmt.Sprint(want) || m.Scan.Dropped[turnmill.ReasonContaminated] != int64(len(want)) {
		t.Errorf("dropped %v\nwant    %v\nthe scan says %+v", got, want, m.Scan)
	}
	mustCheck(t, o)
	other := with(t, o, func(o *Options) { o.Workers = 5 })
	mustRun(t, other)
	sameFiles(t, "5 workers", digest(t, o.Output), digest(t, other.Output))
	dry := mustRun(t, with(t, o, func(o *Options) { o.DryRun = true }))
	if n := dry.Ledger.Total.Records.Dropped[turnmill.ReasonContaminated]; n != int64(len(want)) {
		t.Errorf("a dry run drops %d", n)
	}

	both := with(t, o, func(o *Options) { o.Inputs, o.Dedup = []string{o.Inputs[0], o.Inputs[0]}, dedupExact })
	all := mustRun(t, both) // each run twice: a contaminated one is no first of another
	if d := all.Ledger.Total.Records.Dropped; d[turnmill.ReasonContaminated] != int64(2*len(want)) || d[turnmill.ReasonDuplicate] != int64(60-len(want)) {
		t.Errorf("every run twice: dropped %v", d)
	}
	mustCheck(t, both)

	write(t, o.Decontaminate[1], []byte("another task altogether\n"))
	_, err := CPT(context.Background(), o)
	wantUsage(t, err, "decontaminate", "--restart")
	if _, err := Check(context.Background(), checkOptions(&o, true)); err == nil || !strings.Contains(err.Error(), "no longer those of the plan") {
		t.Errorf("check with another benchmark: %v", err)
	}
}

// TestDecontaminateRefused: files that hold no task are named, and so is standard input.
func TestDecontaminateRefused(t *testing.T) {
	dir := writeFiles(t, []testFile{{"empty.jsonl", nil}, {"broken.json", []byte(`{"task_id":`)}, {"in.jsonl", lines(demoRecords())}})
	for name, want := range map[string]string{"empty.jsonl": "it holds no task", "broken.json": "unexpected EOF", "absent.txt": "absent.txt"} {
		o := options(t, filepath.Join(dir, "in.jsonl"))
		o.Decontaminate = []string{filepath.Join(dir, name)}
		_, err := CPT(context.Background(), o)
		wantUsage(t, err, "--decontaminate", want)
	}
	o := options(t, "-")
	o.Decontaminate, o.Stdin = []string{filepath.Join(dir, "in.jsonl")}, strings.NewReader("")
	_, err := CPT(context.Background(), o)
	wantUsage(t, err, "--decontaminate", "standard input")
}

// FuzzDecisions: whatever stands in a file of decisions, its reader ends, and what it reads is written as it was.
func FuzzDecisions(f *testing.F) {
	d := decision{record: 3, unit: 1, reason: turnmill.ReasonDuplicate, detail: "as 0/a.jsonl:1"}
	one := d.append([]byte(decisionsMagic), 0)
	f.Add(one)
	f.Add((&decision{record: 300, reason: turnmill.ReasonContaminated}).append(one, 3))
	f.Add([]byte(decisionsMagic))
	f.Fuzz(func(t *testing.T, data []byte) {
		r := newDecisionReader(strings.NewReader(string(data)))
		again, last := []byte(decisionsMagic), int64(0)
		for r.more {
			again = r.now.append(again, last)
			last = r.now.record
			r.next()
		}
		if r.err == nil && len(again) > len(data) { // varints may be longer than they need be
			t.Errorf("%q became %q", data, again)
		}
	})
}
