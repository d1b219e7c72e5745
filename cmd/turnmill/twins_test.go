package main

import (
	"encoding/json"
	"fmt"
	"maps"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// twinTurn is a turn as ingest writes it; twinRun what of a trajectory twins are told by.
type twinTurn struct {
	Index               int
	State, Action, Tool string
	Observation         string
	Dialogue            bool
}

type twinRun struct {
	TaskID string `json:"task_id"`
	Source string
	Turns  []twinTurn
}

// runsOf reads a file, or data as one, into its trajectories.
func runsOf(t *testing.T, path string) []twinRun {
	t.Helper()
	var all []twinRun
	for line := range strings.Lines(mustRun(t, exitDone, "ingest", path).out) {
		var r twinRun
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		all = append(all, r)
	}
	if len(all) == 0 {
		t.Fatalf("%s: no trajectory", path)
	}
	return all
}

// twins counts a comparison of two ways to read the same runs.
type twins struct {
	what              string
	runs, turns, same int
	differences       [][]string // run, turns, members, why
	run, parts, kind  string     // of the difference that goes on
	from, to          int
}

// compare takes a run both ways. why explains a turn's difference, or returns "".
func (w *twins) compare(t *testing.T, name string, a, b []twinTurn, why func(a, b *twinTurn) string) {
	w.runs++
	w.turns += len(a)
	for i := range a {
		if i >= len(b) {
			w.differ(name, a[i].Index, "turn", "answered in the first alone")
			continue
		}
		parts := partsThatDiffer(&a[i], &b[i])
		if parts == "" {
			w.same++
			continue
		}
		reason := why(&a[i], &b[i])
		if reason == "" {
			t.Errorf("%s: turn %d differs in %s, and nothing explains it", name, a[i].Index, parts)
		}
		w.differ(name, a[i].Index, parts, reason)
	}
	if len(b) > len(a) {
		t.Errorf("%s: %d turns, its twin has %d", name, len(a), len(b))
	}
	w.end()
}

// differ adds a turn to the difference at hand, or begins another.
func (w *twins) differ(run string, turn int, parts, why string) {
	if w.run != run || w.parts != parts || w.kind != why || turn != w.to+1 {
		w.end()
		w.run, w.parts, w.kind, w.from = run, parts, why, turn
	}
	w.to = turn
}

func (w *twins) end() {
	if w.run == "" {
		return
	}
	places := fmt.Sprint(w.from)
	if w.to > w.from {
		places = fmt.Sprintf("%d to %d", w.from, w.to)
	}
	w.differences = append(w.differences, []string{w.run, places, w.parts, w.kind})
	w.run = ""
}

func partsThatDiffer(a, b *twinTurn) string {
	var parts []string
	for name, same := range map[string]bool{"index": a.Index == b.Index, "state": a.State == b.State, "action": a.Action == b.Action,
		"tool": a.Tool == b.Tool, "observation": a.Observation == b.Observation, "dialogue": a.Dialogue == b.Dialogue} {
		if !same {
			parts = append(parts, name)
		}
	}
	slices.Sort(parts)
	return strings.Join(parts, ", ")
}

// TestTwins: runs that were published in two forms give the same turns, or docs/formats.md says of each turn
// why not; -update writes it.
func TestTwins(t *testing.T) {
	data := publishedRoot(t)
	adp, swe := adpTwins(t, data), sweTwins(t, data)
	var counts, differences [][]string
	for _, w := range []*twins{adp, swe} {
		if w.runs < 5 || w.turns < 40 {
			t.Errorf("%s: %d runs, %d turns: nothing is proven", w.what, w.runs, w.turns)
		}
		counts = append(counts, []string{w.what, fmt.Sprint(w.runs), fmt.Sprint(w.turns), fmt.Sprint(w.same)})
		differences = append(differences, w.differences...)
	}
	holdTable(t, "docs/formats.md", []string{"twins", "trajectories", "turns", "same turns"}, counts)
	holdTable(t, "docs/formats.md", []string{"run", "turns", "members", "why"}, differences)
}

// adpTwins compares the standard form of the Agent Data Protocol with ATIF documents made from the same runs.
func adpTwins(t *testing.T, data string) *twins {
	w := &twins{what: "`adp` and `atif`, of the Agent Data Protocol"}
	files, err := filepath.Glob(filepath.Join(data, "adp-atif", "*", "sample_atif.json"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d ATIF documents of ADP, %v", len(files), err)
	}
	for _, file := range files {
		set := filepath.Base(filepath.Dir(file))
		first := runsOf(t, filepath.Join(data, "adp", set, "sample_std.json"))
		for i, b := range runsOf(t, file) {
			a := twinOf(first, i, &b)
			if a == nil {
				w.differences = append(w.differences, []string{fmt.Sprintf("%s %d", set, i), fmt.Sprintf("all %d", len(b.Turns)), "turn",
					"the standard form of this run is not published beside it"})
				continue
			}
			w.compare(t, fmt.Sprintf("%s %d", set, i), a.Turns, b.Turns, spacing)
		}
	}
	return w
}

// twinOf returns the run with the first observation of b, or the one at b's place where both have no turns.
func twinOf(all []twinRun, i int, b *twinRun) *twinRun {
	for k := range all {
		if len(b.Turns) > 0 && len(all[k].Turns) > 0 && all[k].Turns[0].Observation == b.Turns[0].Observation {
			return &all[k]
		}
	}
	if i < len(all) && len(b.Turns)+len(all[i].Turns) == 0 {
		return &all[i]
	}
	return nil
}

// spacing explains actions that are the same JSON with other blanks.
func spacing(a, b *twinTurn) string {
	if partsThatDiffer(a, b) == "action" && compact(a.Action) == compact(b.Action) {
		return "other blanks in the arguments' JSON"
	}
	return ""
}

// compact returns a JSON text without blanks between its tokens.
func compact(text string) string {
	var doc jsonscan.Doc
	if _, err := doc.Parse([]byte(text)); err != nil {
		return text
	}
	var v any
	if err := json.Unmarshal([]byte(text), &v); err != nil {
		return text
	}
	out, err := json.Marshal(v)
	if err != nil {
		return text
	}
	return string(out)
}

// sweTwins compares the steps of SWE-agent's files with what history alone gives.
func sweTwins(t *testing.T, data string) *twins {
	w := &twins{what: "`swe-agent`, steps and history"}
	files, err := filepath.Glob(filepath.Join(data, "swe-agent", "*.traj"))
	if err != nil || len(files) == 0 {
		t.Fatalf("%d files of SWE-agent, %v", len(files), err)
	}
	for _, file := range files {
		var members map[string]json.RawMessage
		if err := json.Unmarshal(readFile(t, file), &members); err != nil {
			t.Fatal(err)
		}
		if members["trajectory"] == nil || members["history"] == nil {
			continue
		}
		maps.DeleteFunc(members, func(k string, _ json.RawMessage) bool { return k == "trajectory" })
		alone, err := json.Marshal(members)
		if err != nil {
			t.Fatal(err)
		}
		a, b := runsOf(t, file)[0].Turns, runsOf(t, writeTemp(t, "history", alone))[0].Turns
		parted := false // the lists hold other actions from here on
		w.compare(t, filepath.Base(file), a, b, func(a, b *twinTurn) string {
			if parted = parted || strings.TrimSpace(a.Action) != strings.TrimSpace(b.Action); parted {
				return "another command stands here in history"
			}
			return inHistory(a, b)
		})
	}
	return w
}

// inHistory explains what history makes of a step.
func inHistory(a, b *twinTurn) string {
	var why []string
	rest, found := strings.CutPrefix(b.Observation, a.Observation)
	switch footer := strings.TrimSpace(rest); {
	case found && rest == "":
	case a.Observation == "" && strings.HasPrefix(b.Observation, "Your command ran successfully and did not produce any output"):
		why = append(why, "history puts silence into words and adds a footer")
	case found && (strings.HasPrefix(footer, "(Open file:") || strings.HasPrefix(footer, "(Current directory:") || footer == "bash-$"):
		why = append(why, "history adds a footer")
	default:
		return ""
	}
	if a.Tool != b.Tool {
		why = append(why, "history names the tool that was called, the step its command")
	}
	return strings.Join(why, "; ")
}
