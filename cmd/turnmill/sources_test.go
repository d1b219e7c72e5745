package main

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"maps"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// publishedRoot returns the folder of published files, or leaves the test out.
func publishedRoot(t *testing.T) string {
	t.Helper()
	dir := os.Getenv("TURNMILL_DATA")
	if dir == "" {
		t.Skip("TURNMILL_DATA is not set: no published files to read")
	}
	return dir
}

// planned is what the plan says of one input. Unit is there where several inputs are read as one record.
type planned struct {
	Path, Format, Layout string
	Rejected             turnmill.Reason
	Unit                 *int
}

// plannedInputs returns the plan's inputs below dir, their paths counted from there.
func plannedInputs(t *testing.T, dir string) []planned {
	t.Helper()
	out := filepath.Join(t.TempDir(), "out")
	mustRun(t, exitDone, "plan", "cpt", dir, "-o", out, "--tokenizer", "demo")
	var plan struct{ Inputs []planned }
	if err := json.Unmarshal(readFile(t, out, "plan.json"), &plan); err != nil {
		t.Fatal(err)
	}
	for i := range plan.Inputs {
		plan.Inputs[i].Path = strings.TrimPrefix(plan.Inputs[i].Path, "0/")
	}
	return plan.Inputs
}

// ingestDir reads a directory, and returns the unified lines, the reject lines and the counts.
func ingestDir(t *testing.T, dir string) (out, rejects string, counts *stats.Counts) {
	t.Helper()
	d := pipelines.DefaultOptions()
	var lines, lost bytes.Buffer
	o := pipelines.IngestOptions{Inputs: []string{dir}, Format: "auto", Domain: "auto", MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow,
		Rejected: func(line []byte) error { lost.Write(line); return nil }}
	counts, err := pipelines.Ingest(context.Background(), o, &lines)
	if err != nil {
		t.Fatal(err)
	}
	if err := counts.Balanced(); err != nil {
		t.Errorf("%s: %v", dir, err)
	}
	return lines.String(), lost.String(), counts
}

// copyBelow copies files below root into a fresh directory, each under its own path or under what rename says.
func copyBelow(t *testing.T, root string, paths []string, rename func(string) string) string {
	t.Helper()
	dir := t.TempDir()
	for _, p := range paths {
		to := filepath.Join(dir, filepath.FromSlash(rename(p)))
		if err := os.MkdirAll(filepath.Dir(to), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(to, readFile(t, root, filepath.FromSlash(p)), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	return dir
}

func itself(path string) string { return path }

// TestSourceTable: docs/formats.md tells what turnmill ingest reads in the folders of TURNMILL_DATA; -update
// writes it. Counts alone: the files are other people's.
func TestSourceTable(t *testing.T) {
	root := publishedRoot(t)
	type key struct{ folder, format string }
	groups := map[key][]string{}
	for _, in := range plannedInputs(t, root) {
		folder, _, _ := strings.Cut(in.Path, "/")
		k := key{folder, in.Format}
		groups[k] = append(groups[k], in.Path)
	}
	order := append(formatNames(), "")
	keys := slices.SortedFunc(maps.Keys(groups), func(a, b key) int {
		if n := strings.Compare(a.folder, b.folder); n != 0 {
			return n
		}
		return slices.Index(order, a.format) - slices.Index(order, b.format)
	})
	var rows [][]string
	for _, k := range keys {
		_, _, c := ingestDir(t, copyBelow(t, root, groups[k], itself))
		format := "none"
		if k.format != "" {
			format = "`" + k.format + "`"
		}
		l := c.Ledger.Total
		rows = append(rows, []string{k.folder, format, fmt.Sprint(len(groups[k])), fmt.Sprint(l.Records.In), fmt.Sprint(l.Trajectories.Out),
			fmt.Sprint(l.Turns.In), domainsOf(c), lossesIn(c)})
	}
	holdTable(t, "docs/formats.md", []string{"folder", "format", "files", "records", "trajectories", "turns", "domains", "not read"}, rows)
}

// domainsOf lists the domains of trajectories, the most frequent first.
func domainsOf(c *stats.Counts) string {
	n := map[string]int64{}
	for d, l := range c.Ledger.Domains {
		n[string(d)] = l.Trajectories.Out
	}
	return listed(n)
}

// lossesIn lists why records and trajectories are not in the output.
func lossesIn(c *stats.Counts) string {
	l := c.Ledger.Total
	text := listed(sum(reasons(l.Records.Rejected), reasons(l.Records.Dropped)))
	if more := listed(reasons(l.Trajectories.Rejected)); more != "" {
		text += "; trajectories: " + more
	}
	return strings.TrimPrefix(text, "; ")
}

func listed(n map[string]int64) string {
	names := slices.SortedFunc(maps.Keys(n), func(a, b string) int {
		if n[a] != n[b] {
			return int(n[b] - n[a])
		}
		return strings.Compare(a, b)
	})
	var items []string
	for _, name := range names {
		if n[name] > 0 {
			items = append(items, fmt.Sprintf("%s %d", name, n[name]))
		}
	}
	return strings.Join(items, ", ")
}

// holdTable compares the table of a text that has the header with rows, or writes it there with -update.
func holdTable(t *testing.T, file string, header []string, rows [][]string) {
	t.Helper()
	line := func(cells []string) string {
		for i, c := range cells {
			cells[i] = strings.ReplaceAll(c, "|", `\|`)
		}
		return "| " + strings.Join(cells, " | ") + " |"
	}
	want := []string{line(header), "|" + strings.Repeat("---|", len(header))}
	for _, r := range rows {
		want = append(want, line(r))
	}
	lines := strings.Split(string(readFile(t, root, file)), "\n")
	from := slices.Index(lines, want[0])
	if from < 0 {
		t.Fatalf("%s has no table with the header %s", file, want[0])
	}
	to := from
	for to < len(lines) && strings.HasPrefix(lines[to], "|") {
		to++
	}
	if diff := cmp.Diff(lines[from:to], want); diff != "" && !*update {
		t.Errorf("%s (-text +now; go test ./cmd/turnmill -run %s -update writes it):\n%s", file, t.Name(), diff)
	}
	if *update {
		lines = slices.Concat(lines[:from], want, lines[to:])
		if err := os.WriteFile(filepath.Join(root, file), []byte(strings.Join(lines, "\n")), 0o666); err != nil {
			t.Fatal(err)
		}
	}
}

// scattered gives each path a name that says nothing: other digits, no folder, no extension.
func scattered(seed uint64) func(string) string {
	r := rand.New(rand.NewPCG(seed, 0))
	return func(string) string { return fmt.Sprintf("%016x", r.Uint64()) }
}

// TestToldByContent puts all published files that are runs by themselves into one folder under random names:
// each is told, read and rejected as it was in its place.
func TestToldByContent(t *testing.T) {
	root := publishedRoot(t)
	told := map[string]planned{} // by the new name
	from := map[string]string{}
	var paths []string
	rename := scattered(11)
	for _, in := range plannedInputs(t, root) {
		if in.Unit != nil || in.Rejected == turnmill.ReasonMissingPart {
			continue // TestPartsAlone
		}
		name := rename(in.Path)
		paths, from[name] = append(paths, in.Path), in.Path
		in.Path = name
		told[name] = in
	}
	if len(paths) < 80 {
		t.Fatalf("%d files: nothing is proven", len(paths))
	}
	names := map[string]string{}
	for name, path := range from {
		names[path] = name
	}
	flat := copyBelow(t, root, paths, func(p string) string { return names[p] })
	for _, in := range plannedInputs(t, flat) {
		if diff := cmp.Diff(told[in.Path], in); diff != "" {
			t.Errorf("%s under another name (-in its place +alone):\n%s", from[in.Path], diff)
		}
	}
	var out, rejects strings.Builder
	for _, name := range slices.Sorted(maps.Keys(from)) {
		path := from[name]
		o, r, _ := ingestDir(t, copyBelow(t, root, []string{path}, itself))
		out.WriteString(o)
		rejects.WriteString(strings.ReplaceAll(r, fmt.Sprintf("%q", "0/"+path), fmt.Sprintf("%q", "0/"+name)))
	}
	gotOut, gotRejects, _ := ingestDir(t, flat)
	if gotOut != out.String() {
		t.Errorf("%d files under random names give %d bytes, want those of each in its place, %d bytes", len(from), len(gotOut), out.Len())
	}
	if diff := cmp.Diff(strings.Split(rejects.String(), "\n"), strings.Split(gotRejects, "\n")); diff != "" {
		t.Errorf("rejects (-in place +alone):\n%s", diff)
	}
}

// TestPartsAlone: a file of a run that lies in several is nothing by itself, whatever its name: it is rejected
// for its companions that are missing, and gives no turns.
func TestPartsAlone(t *testing.T) {
	root := publishedRoot(t)
	rename := scattered(12)
	parts := map[string]int{}
	for _, in := range plannedInputs(t, root) {
		if in.Unit == nil {
			continue
		}
		parts[in.Format]++
		_, _, c := ingestDir(t, copyBelow(t, root, []string{in.Path}, rename))
		lost := reasons(c.Ledger.Total.Records.Rejected)
		if c.Ledger.Total.Turns.In > 0 || lost[string(turnmill.ReasonMissingPart)]+lost[string(turnmill.ReasonNoRecords)] != 1 {
			t.Errorf("%s alone: %d turns, rejected %v, want missing_companion", in.Path, c.Ledger.Total.Turns.In, lost)
		}
	}
	if len(parts) == 0 {
		t.Error("no published run lies in several files")
	}
	t.Logf("files of runs in several, by format: %v", parts)
}
