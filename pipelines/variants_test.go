package pipelines

import (
	"bytes"
	"encoding/json"
	"fmt"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/stats"
)

// tracedTurn is a turn of a published trace, with what the variants of the rule need of it.
type tracedTurn struct {
	domain, source, page string // page: the screen before it, of web turns
	turn                 turnmill.Turn
	prompt, answer       string // as a row of AgentWorldBench has them
}

// words is a turn under a variant: two sets of words and the lengths.
type variantWords struct {
	action, observation map[string]bool
	la, lo              int64
}

func wordsOf(text string) map[string]bool {
	table := mask.Default()
	set := map[string]bool{}
	for _, w := range mask.Explain(&table, &turnmill.Turn{Action: text}).Action {
		set[w] = true
	}
	return set
}

func (v variantWords) counts() mask.Counts {
	c := mask.Counts{ActionWords: len(v.action), ObservationWords: len(v.observation), ActionChars: v.la, ObservationChars: v.lo}
	for w := range v.action {
		if v.observation[w] {
			c.SharedWords++
		}
	}
	return c
}

// plain is the rule as it stands.
func plainWords(action, observation string) variantWords {
	length := func(text string) int64 { return int64(utf8.RuneCountInString(strings.TrimSpace(text))) }
	return variantWords{wordsOf(action), wordsOf(observation), length(action), length(observation)}
}

// rawWords cuts texts as they stand, JSON or not: a full stop before them is no word and begins no JSON.
func rawWords(action, observation string) variantWords {
	v := plainWords(action, observation)
	v.action, v.observation = wordsOf(". "+action), wordsOf(". "+observation)
	return v
}

func blankWords(text string) map[string]bool {
	set := map[string]bool{}
	for _, w := range strings.Fields(strings.ToLower(text)) {
		set[w] = true
	}
	return set
}

// payload is an action of calls without the envelope's words.
func payload(action string) string {
	var parts []string
	for line := range strings.Lines(action) {
		var call struct {
			Name      *string
			Arguments json.RawMessage
		}
		if json.Unmarshal([]byte(line), &call) != nil || call.Name == nil || call.Arguments == nil {
			return action
		}
		name, _ := json.Marshal(*call.Name)
		parts = append(parts, string(name)+" "+string(call.Arguments))
	}
	return strings.Join(parts, "\n")
}

// keystrokes is a command as a terminal's call, and its output as the screen that shows both.
func keystrokes(t *turnmill.Turn) (action, observation string) {
	keys, _ := json.Marshal(strings.TrimRight(t.Action, "\n") + "\n")
	return `[{"keystrokes":` + string(keys) + `,"duration":0.5}]`, "root@host:/app# " + t.Action + "\n" + t.Observation + "\nroot@host:/app# "
}

// variants are other readings of the rule. A variant that says nothing about a turn returns false.
var variants = []struct {
	name, study string
	of          func(t *tracedTurn) (was, is mask.Counts, ok bool)
}{
	{"whitespace words", "28", func(t *tracedTurn) (was, is mask.Counts, ok bool) {
		v := plainWords(t.turn.Action, t.turn.Observation)
		was = v.counts()
		v.action, v.observation = blankWords(t.turn.Action), blankWords(t.turn.Observation)
		return was, v.counts(), true
	}},
	{"raw JSON text", "0", func(t *tracedTurn) (was, is mask.Counts, ok bool) {
		return plainWords(t.turn.Action, t.turn.Observation).counts(), rawWords(t.turn.Action, t.turn.Observation).counts(), true
	}},
	{"raw JSON text, commands of SWE-agent wrapped as keystrokes with their screen", "5 of 494", func(t *tracedTurn) (was, is mask.Counts, ok bool) {
		if t.source != "swe-agent" || strings.HasPrefix(t.turn.Action, "{") {
			return was, is, false
		}
		action, observation := keystrokes(&t.turn)
		return plainWords(action, observation).counts(), rawWords(action, observation).counts(), true
	}},
	{"benchmark headings left in", "18", func(t *tracedTurn) (was, is mask.Counts, ok bool) {
		return plainWords(t.turn.Action, t.turn.Observation).counts(), plainWords(t.prompt, t.answer).counts(), true
	}},
	{"call envelope words dropped", "4", func(t *tracedTurn) (was, is mask.Counts, ok bool) {
		v := plainWords(t.turn.Action, t.turn.Observation)
		was = v.counts()
		v.action = wordsOf(payload(t.turn.Action))
		return was, v.counts(), true
	}},
	{"bytes for the length ratio", "0", func(t *tracedTurn) (was, is mask.Counts, ok bool) {
		v := plainWords(t.turn.Action, t.turn.Observation)
		was = v.counts()
		v.la, v.lo = int64(len(strings.TrimSpace(t.turn.Action))), int64(len(strings.TrimSpace(t.turn.Observation)))
		return was, v.counts(), true
	}},
	{"current page inside the action, web turns", "76 of 104", func(t *tracedTurn) (was, is mask.Counts, ok bool) {
		if t.domain != "web" || t.page == "" {
			return was, is, false
		}
		v := plainWords(t.turn.Action, t.turn.Observation)
		was = v.counts()
		maps.Copy(v.action, wordsOf(t.page))
		v.la += int64(utf8.RuneCountInString(strings.TrimSpace(t.page)))
		return was, v.counts(), true
	}},
}

// lowerOrders are other orders of the table's lower half, by the rows of the built-in table.
var lowerOrders = []struct {
	name, study string
	first       [3]turnmill.Category
}{
	{"order echo, transform, boilerplate", "7", [3]turnmill.Category{turnmill.CategoryEcho, turnmill.CategoryTransform, turnmill.CategoryBoilerplate}},
	{"order transform, echo, boilerplate", "13", [3]turnmill.Category{turnmill.CategoryTransform, turnmill.CategoryEcho, turnmill.CategoryBoilerplate}},
	{"order transform, boilerplate, echo, as printed", "36", [3]turnmill.Category{turnmill.CategoryTransform, turnmill.CategoryBoilerplate, turnmill.CategoryEcho}},
}

func reordered(first [3]turnmill.Category) mask.Table {
	t := mask.Default()
	rows := slices.Clone(t.Rows)
	for i, c := range first {
		t.Rows[i] = rows[slices.IndexFunc(rows, func(r mask.Row) bool { return r.Category == c })]
	}
	return t
}

// publishedTraces returns the turns of the kinds of files that the rule's study looked at: those with a call or a
// command that was answered. A person's replies are none.
func publishedTraces(t *testing.T) (all []tracedTurn) {
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Skip("TURNMILL_DATA is not set: it names a directory with recorded runs")
	}
	for _, dir := range []string{"adp", "swe-agent", "tau-bench", "toolbench"} {
		text, _ := unify(t, filepath.Join(root, dir))
		for line := range bytes.Lines(text) {
			var r struct {
				Domain, Source string
				Turns          []struct {
					Index                    int
					State, Observation, Tool string
					Action                   *string
					Dialogue                 bool
				}
			}
			if err := json.Unmarshal(line, &r); err != nil {
				t.Fatal(err)
			}
			before := ""
			for _, turn := range r.Turns {
				page := turn.State
				if page == "" {
					page = before
				}
				before = turn.Observation
				if turn.Action == nil || turn.Dialogue {
					continue
				}
				one := tracedTurn{domain: r.Domain, source: r.Source, page: page, turn: turnmill.Turn{Index: turn.Index, Action: *turn.Action, HasAction: true, Observation: turn.Observation, Tool: turn.Tool}}
				one.prompt, one.answer = benchTexts(t, one.turn)
				all = append(all, one)
			}
		}
	}
	return all
}

// benchTexts returns a turn's two texts as a row of AgentWorldBench has them, without a state.
func benchTexts(t *testing.T, turn turnmill.Turn) (prompt, answer string) {
	var row struct{ Prompt, Response []string }
	if err := json.Unmarshal(formats.AppendWorldBench(nil, &turnmill.Trajectory{Turns: []turnmill.Turn{turn}}, 0), &row); err != nil {
		t.Fatal(err)
	}
	return row.Prompt[0], row.Response[0]
}

// TestVariantsOnPublishedTraces counts the turns whose keep changes under other readings of the rule, and holds
// docs/masking.md to it.
func TestVariantsOnPublishedTraces(t *testing.T) {
	turns := publishedTraces(t)
	table := mask.Default()
	keep := func(table *mask.Table, c mask.Counts) turnmill.Ratio {
		_, keep := mask.Classify(table, c)
		return keep
	}
	var out strings.Builder
	categories := [turnmill.NumCategories]int{}
	var chars, kept float64
	for i := range turns {
		c := plainWords(turns[i].turn.Action, turns[i].turn.Observation).counts()
		category, ratio := mask.Classify(&table, c)
		categories[category]++
		chars += float64(c.ObservationChars)
		kept += float64(c.ObservationChars) * ratio.Float()
	}
	out.WriteString("| | turns | retrieval | action | other | echo | transform | boilerplate | expansion | kept characters |\n|---|---|---|---|---|---|---|---|---|---|\n" +
		"| as the rule's study found it | 1,956 | 1,425 | 335 | 143 | 29 | 12 | 9 | 3 | 98.8% |\n")
	fmt.Fprintf(&out, "| here | %s |", stats.Thousands(int64(len(turns))))
	for _, c := range []turnmill.Category{turnmill.CategoryRetrieval, turnmill.CategoryAction, turnmill.CategoryOther, turnmill.CategoryEcho, turnmill.CategoryTransform, turnmill.CategoryBoilerplate, turnmill.CategoryExpansion} {
		fmt.Fprintf(&out, " %d |", categories[c])
	}
	fmt.Fprintf(&out, " %.1f%% |\n\n| variant | turns whose keep changes, study | here |\n|---|---|---|\n", 100*kept/chars)
	for _, o := range lowerOrders {
		other, n := reordered(o.first), 0
		for i := range turns {
			c := plainWords(turns[i].turn.Action, turns[i].turn.Observation).counts()
			if keep(&table, c) != keep(&other, c) {
				n++
			}
		}
		fmt.Fprintf(&out, "| %s | %s | %d |\n", o.name, o.study, n)
	}
	for _, v := range variants {
		n, of, moved := 0, 0, 0
		for i := range turns {
			was, is, ok := v.of(&turns[i])
			if !ok {
				continue
			}
			of++
			if was != is {
				moved++
			}
			if keep(&table, was) != keep(&table, is) {
				n++
			}
		}
		here := fmt.Sprintf("%d; a count moves in %s", n, stats.Thousands(int64(moved)))
		if of < len(turns) {
			here = fmt.Sprintf("%d of %d; a count moves in %d", n, of, moved)
		}
		fmt.Fprintf(&out, "| %s | %s | %s |\n", v.name, v.study, here)
	}
	const path, begin, end = "../docs/masking.md", "<!-- counted by TestVariantsOnPublishedTraces -->\n", "<!-- end -->\n"
	page, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	before, rest, found := strings.Cut(string(page), begin)
	block, after, closed := strings.Cut(rest, end)
	if !found || !closed {
		t.Fatalf("%s has no block between %q and %q", path, begin, end)
	}
	if *update {
		write(t, path, []byte(before+begin+out.String()+end+after))
	} else if diff := cmp.Diff(block, out.String()); diff != "" {
		t.Errorf("%s (-page +counted); go test ./pipelines -run Variants -update writes it:\n%s", path, diff)
	}
}
