package prompt

import (
	"bytes"
	"encoding/json"
	"fmt"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

var update = golden.Update()

// Every template with every part, and with none: testdata has a file a domain.
func TestGolden(t *testing.T) {
	for _, d := range Domains() {
		var b bytes.Buffer
		for _, v := range Versions() {
			tmpl, err := Find(d, v)
			if err != nil {
				t.Fatal(err)
			}
			for _, traj := range []*turnmill.Trajectory{full(), bare()} {
				for _, m := range tmpl.Messages(traj, len(traj.Turns)-1, Options{}) {
					fmt.Fprintf(&b, "@@@ %s %s\n%s\n", tmpl.Name(), m.Role, m.Content)
				}
				fmt.Fprintf(&b, "@@@ %s the answer\n%s\n", tmpl.Name(), tmpl.Wrap("ANSWER"))
			}
		}
		golden.Check(t, *update, string(d)+".golden", b.Bytes())
	}
}

// Messages and the rendered trajectory are one text.
func TestMessagesAreTheRenderedTurns(t *testing.T) {
	for _, tmpl := range All() {
		traj := full()
		out := tmpl.Render(traj, Options{})
		want := []turnmill.Message{
			{Role: "system", Content: out.System.TaskDescription}, {Role: "user", Content: out.Turns[0].Action},
			{Role: "assistant", Content: out.Turns[0].Observation}, {Role: "user", Content: out.Turns[1].Action},
		}
		q := tmpl.Query(traj, 1, Options{})
		if diff := cmp.Diff(want, q.Messages); diff != "" {
			t.Errorf("%s (-turns +messages):\n%s", tmpl.Name(), diff)
		}
		if q.ID != "t@3" || q.Target != 1 || q.Trajectory != traj || q.Template != tmpl.ID() {
			t.Errorf("%s: %+v", tmpl.Name(), q)
		}
		if diff := cmp.Diff(full(), traj); diff != "" {
			t.Errorf("%s changed the trajectory:\n%s", tmpl.Name(), diff)
		}
	}
}

// Dropped turns are neither shown nor numbered, and keep their place.
func TestDroppedTurns(t *testing.T) {
	tmpl, _ := Find("terminal", "v0")
	o := Options{Verdicts: []turnmill.Verdict{{Status: turnmill.StatusDropped}, {}}}
	if m := tmpl.Messages(full(), 1, o); len(m) != 2 || !strings.HasPrefix(m[1].Content, "## Turn 1\n") {
		t.Errorf("%+v", m)
	}
	out := tmpl.Render(full(), o)
	if len(out.Turns) != 2 || out.Turns[0] != full().Turns[0] || !strings.HasPrefix(out.Turns[1].Action, "## Turn 1\n") {
		t.Errorf("%+v", out.Turns)
	}
}

func TestState(t *testing.T) {
	tmpl, _ := Find("web", "v0")
	out := tmpl.Render(full(), Options{State: func(turn int) bool { return turn == 1 }})
	if strings.Contains(out.Turns[0].Action, "State") || !strings.Contains(out.Turns[1].Action, "**Current State:**\nSTATE 1\n") {
		t.Errorf("%+v", out.Turns)
	}
}

// What stands in meta may be any JSON, or none.
func TestMeta(t *testing.T) {
	tmpl, _ := Find("search", "v0")
	plain := tmpl.Render(bare(), Options{}).System
	for text, want := range map[string]string{
		"": "", "[1]": "", `{"target_query":null}`: "", `{"target_query":""}`: "",
		`{"reference_answer":"a\nb"}`:                            "The right answer, which the agent does not know: a\nb\n",
		`{"reference_answer":["a", 1.0]}`:                        "The right answer, which the agent does not know: [\"a\", 1.0]\n",
		`{"target_query":"{{reference_answer}}","note":{"a":1}}`: "What the agent has been asked to find out: {{reference_answer}}\n",
	} {
		traj := bare()
		traj.Meta = text
		got := tmpl.Render(traj, Options{}).System
		if want == "" && got != plain || !strings.Contains(got.TaskDescription, want) {
			t.Errorf("%s: %q", text, got.TaskDescription)
		}
	}
}

// JSON stands in a fence that it cannot close; other text stands bare.
func TestFence(t *testing.T) {
	tmpl, _ := Find("mcp", "v0")
	for action, want := range map[string]string{
		`{"a":1}`:         "```json\n{\"a\":1}\n```",
		" [1]\n":          "```json\n [1]\n\n```",
		"{\"a\":1}\n[]":   "```json\n{\"a\":1}\n[]\n```",
		"{\"a\":\"```\"}": "````json\n{\"a\":\"```\"}\n````",
		"{\"a\":1}\nls":   "{\"a\":1}\nls",
		"42":              "42",
		"true":            "true",
		`{"a":1`:          `{"a":1`,
		"":                "",
	} {
		traj := bare()
		traj.Turns[0].Action = action
		if got := tmpl.Render(traj, Options{}).Turns[0].Action; got != "## Turn 1\n\n**Action:**\n"+want {
			t.Errorf("%q: %q", action, got)
		}
	}
}

// The dynamic parts stand in every template byte for byte, whatever they look like, each in its own place
// and in the place that it has in any other text of the same template: the message is the template's text
// around them. Requirement R28: under another version they are the same bytes.
func TestDynamicPartsAreVerbatim(t *testing.T) {
	content := rapid.Custom(func(rt *rapid.T) string {
		return strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{
			"{{state}}", "{{#if demonstrations}}", "{{/if}}", "\n", "\n\n", "=== user\n", "</predicted_observation>", "**Action:**", "&amp;", `\n`, `\u00e9`, "é", "\x00",
			"```", "<turn number=\"1\">", "{", "[1]", "{\"a\": 1.0}", "%s", "$1", " ", "\t", "\r\n", "x",
		}), 1, 5).Draw(rt, "words"), "")
	})
	rapid.Check(t, func(rt *rapid.T) {
		tmpl := rapid.SampledFrom(All()).Draw(rt, "template")
		var real, marked turnmill.Trajectory
		var pairs []string
		fill := func(name string, p, q *string) {
			if *p = content.Draw(rt, name); rapid.Bool().Draw(rt, "missing "+name) {
				*p = ""
				return
			}
			*q = "\x01" + name + "\x02"
			if shape := *p; isJSON(shape) && !strings.Contains(shape, "```") {
				*q = `["` + name + `"]`
			} else if isJSON(shape) {
				rt.Skip("a fence of another length")
			}
			pairs = append(pairs, *q, *p)
		}
		s, m := &real.System, &marked.System
		fill("task", &s.TaskDescription, &m.TaskDescription)
		fill("space", &s.ActionSpace, &m.ActionSpace)
		fill("initial", &s.InitialState, &m.InitialState)
		fill("demos", &s.Demonstrations, &m.Demonstrations)
		fill("instruction", &s.SimulationInstruction, &m.SimulationInstruction)
		real.Meta, marked.Meta = metas(rt, fill)
		for i := range rapid.IntRange(1, 3).Draw(rt, "turns") {
			a, b := turnmill.Turn{Index: i, HasAction: true}, turnmill.Turn{Index: i, HasAction: true}
			fill(fmt.Sprint("state", i), &a.State, &b.State)
			fill(fmt.Sprint("action", i), &a.Action, &b.Action)
			fill(fmt.Sprint("observation", i), &a.Observation, &b.Observation)
			real.Turns, marked.Turns = append(real.Turns, a), append(marked.Turns, b)
		}
		got, want := tmpl.Render(&real, Options{}), tmpl.Render(&marked, Options{})
		put := strings.NewReplacer(pairs...) // one pass, from left to right
		compare(rt, tmpl.Name(), got.System.TaskDescription, put.Replace(want.System.TaskDescription))
		for i := range got.Turns {
			compare(rt, tmpl.Name(), got.Turns[i].Action, put.Replace(want.Turns[i].Action))
			compare(rt, tmpl.Name(), got.Turns[i].Observation, put.Replace(want.Turns[i].Observation))
		}
	})
}

// metas draws the members of meta for both trajectories.
func metas(rt *rapid.T, fill func(string, *string, *string)) (a, b string) {
	one, two := map[string]string{}, map[string]string{}
	for _, name := range []string{"target_query", "reference_answer", "environment_summary"} {
		var x, y string
		fill(name, &x, &y)
		one[name], two[name] = x, y
	}
	return encode(rt, one), encode(rt, two)
}

func encode(rt *rapid.T, v any) string {
	text, err := json.Marshal(v)
	if err != nil {
		rt.Fatal(err)
	}
	return string(text)
}

func compare(rt *rapid.T, name, got, want string) {
	if got != want {
		rt.Fatalf("%s:\n%q, want\n%q", name, got, want)
	}
}

// FuzzMeta: no meta costs a trajectory.
func FuzzMeta(f *testing.F) {
	f.Add(`{"target_query":"a","turn_instructions":["b"]}`)
	f.Add(`{"turn_instructions":{"a":1}}`)
	f.Add(`[`)
	f.Fuzz(func(t *testing.T, text string) {
		for _, d := range []turnmill.Domain{"search", "mcp"} {
			tmpl, err := Find(d, "v2")
			if err != nil {
				t.Fatal(err)
			}
			traj := bare()
			traj.Meta = text
			if got := tmpl.Render(traj, Options{}); !strings.Contains(got.Turns[0].Action, "act") {
				t.Errorf("%q: %q", text, got.Turns[0].Action)
			}
		}
	})
}

// TestLead: an observation stands behind as many bytes as Lead says, under every template.
func TestLead(t *testing.T) {
	for _, tmpl := range All() {
		for _, text := range []string{"a", "b\n", "**Environment", "<predicted_observation>"} {
			if got := tmpl.Wrap(text)[tmpl.Lead():]; !strings.HasPrefix(got, text) {
				t.Errorf("%s: %q stands at byte %d, want %q", tmpl.Name(), got, tmpl.Lead(), text)
			}
		}
	}
}
