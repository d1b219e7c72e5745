package pipelines

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

// TestDedupPublished: of all published runs, and of SWE-agent's histories alone, exactly the twins are joined. The golden
// counts them by the folders of the first and of the other.
func TestDedupPublished(t *testing.T) {
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Skip("TURNMILL_DATA is not set: it names a directory with recorded runs")
	}
	histories := t.TempDir()
	files, err := filepath.Glob(filepath.Join(root, "swe-agent", "*.traj"))
	if err != nil || len(files) == 0 {
		t.Fatal(err)
	}
	for _, file := range files {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(readAll(t, file), &members); err != nil {
			t.Fatal(err)
		}
		if members["trajectory"] != nil && members["history"] != nil {
			delete(members, "trajectory")
			write(t, filepath.Join(histories, filepath.Base(file)), encodeJSON(members))
		}
	}
	var text strings.Builder
	for _, method := range []string{dedupExact, dedupTurns, dedupNear} {
		o := options(t, root, histories)
		o.Pipeline, o.Tokenizer, o.Dedup = pipelineAudit, "", method
		m := mustRun(t, o)
		pairs := map[string]int{}
		for _, r := range allRejects(t, o.Output) {
			if r.Reason != duplicateReason(&m.Config) {
				continue
			}
			first, _, _ := strings.Cut(strings.TrimPrefix(r.Detail, "as "), ":")
			first, _, _ = strings.Cut(first, ",")
			if method == dedupTurns && !twinNames(first, r.Path) {
				t.Errorf("%s is told to be %s", r.Path, first)
			}
			pairs[dataFolder(first)+" "+dataFolder(r.Path)]++
		}
		fmt.Fprintf(&text, "%s: %d of %d\n", method, m.Scan.dropped(), m.Scan.Units)
		for _, pair := range sortedKeys(pairs) {
			fmt.Fprintf(&text, "  %s %d\n", pair, pairs[pair])
		}
	}
	golden.Check(t, *update, "dedup.txt", []byte(text.String()))
}

// twinNames tells whether two files hold the same runs by their names: SWE-agent's steps and history, raw and standard forms
// of one data set, or the two forms of FireAct.
func twinNames(a, b string) bool {
	set := func(path string) string { return filepath.Base(filepath.Dir(path)) }
	if strings.Contains(a, "marshmallow-1867.default_sys") { // the same run was published in three prompts' forms
		return strings.Contains(b, "marshmallow-1867.default_sys") || strings.Contains(b, "marshmallow-1867.xml_sys")
	}
	return filepath.Base(a) == filepath.Base(b) && strings.HasPrefix(b, "1/") || strings.Contains(a, "sample_") && set(a) == set(b) && a != b || set(a) == "fireact" && set(b) == "fireact" && a != b
}

func dataFolder(path string) string {
	parts := strings.Split(path, "/")
	if parts[0] == "1" {
		return "histories"
	}
	return parts[1]
}

func sortedKeys(m map[string]int) []string {
	keys := make([]string, 0, len(m))
	for k := range m {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	return keys
}

// TestDedupMethods: turns and near through plan, run and check, the same for any number of workers.
func TestDedupMethods(t *testing.T) {
	rng := rand.New(rand.NewPCG(2, 9))
	g := &generator{rng: rng}
	var first, second []testRecord
	for i := range 40 {
		r := testRecord{ID: fmt.Sprintf("run-%d", i), Domain: "terminal", Source: "one"}
		for k := range 5 {
			r.Turns = append(r.Turns, testTurn{Index: k, Action: ptr(fmt.Sprintf("step %d of %d", k, i)), Observation: ptr(g.words(30) + "\n" + g.words(20))})
		}
		first = append(first, r)
		twin := r
		twin.ID, twin.Source, twin.Turns = fmt.Sprintf("twin-%d", i), "two", slices.Clone(r.Turns)
		for k := range twin.Turns {
			twin.Turns[k].Observation = ptr(*twin.Turns[k].Observation + "\n(Current directory: /home)\n$")
		}
		if i%2 == 0 {
			second = append(second, twin)
		}
	}
	o := options(t, writeFiles(t, []testFile{{"a.jsonl", lines(first)}, {"b.jsonl", lines(second)}}))
	o.Partitions = 3
	for method, reason := range map[string]turnmill.Reason{dedupTurns: turnmill.ReasonDuplicateTurns, dedupNear: turnmill.ReasonNearDuplicate, dedupExact: turnmill.ReasonDuplicate} {
		want := int64(len(second))
		if method == dedupExact {
			want = 0
		}
		one := with(t, o, func(o *Options) { o.Dedup, o.Workers = method, 1 })
		m := mustRun(t, one)
		if got := m.Ledger.Total.Trajectories.Dropped[reason]; got != want || m.Scan.Dropped[reason] != want || m.Scan.Groups != want {
			t.Errorf("%s: %d are dropped, want %d; the scan says %+v", method, got, want, m.Scan)
		}
		mustCheck(t, one)
		many := with(t, one, func(o *Options) { o.Workers = 7 })
		mustRun(t, many)
		sameFiles(t, method, digest(t, one.Output), digest(t, many.Output))
	}
	far := with(t, o, func(o *Options) { o.Dedup, o.NearThreshold = dedupNear, "0.99" })
	if m := mustRun(t, far); m.Scan.dropped() != 0 {
		t.Errorf("at 0.99 %d are dropped", m.Scan.dropped())
	}
	bad := with(t, o, func(o *Options) { o.NearThreshold = "0.7" })
	if err := bad.Validate(); err == nil || !strings.Contains(err.Error(), "--dedup near alone") {
		t.Errorf("a threshold without its method: %v", err)
	}
}

func ptr(s string) *string { return &s }

// TestIssueNoStateBetweenRuns: what near finds does not depend on what was run before, nor on a dry run.
func TestIssueNoStateBetweenRuns(t *testing.T) {
	record := func(id, a, b string) string {
		return fmt.Sprintf(`{"id":%q,"turns":[{"action":"say","observation":%q},{"action":"say again","observation":%q}]}`+"\n", id, a, b)
	}
	short := record("0", "a hen sat on the wall by the gate", "etag eht yb llaw") + record("1", "a hen sat on the wall by the barn", "nrab eht yb llaw") + record("2", "rain fell on the hill all day long", "gnol yad lla")
	warm := record("w", "a hen sat on the wall by the gate today", "yadot etag eht yb llaw") + short
	dir := writeFiles(t, []testFile{{"short.jsonl", []byte(short)}, {"warm.jsonl", []byte(warm)}})
	o := options(t, filepath.Join(dir, "short.jsonl"))
	o.Dedup, o.NearThreshold, o.MinTurns = dedupNear, "0.4", 1
	mustRun(t, o)
	want := digest(t, o.Output)
	mustRun(t, with(t, o, func(o *Options) { o.DryRun = true }))
	mustRun(t, with(t, o, func(o *Options) {
		o.Inputs, o.Output = []string{filepath.Join(dir, "warm.jsonl")}, filepath.Join(filepath.Dir(o.Output), "beside")
	}))
	again := with(t, o, nil)
	mustRun(t, again)
	sameFiles(t, "after other runs", want, digest(t, again.Output))
	if m, err := openRun(again.Output); err != nil || m.manifest.Scan.Groups != 1 || m.manifest.Scan.dropped() != 1 {
		t.Errorf("groups %+v, %v", m.manifest.Scan, err)
	}
}
