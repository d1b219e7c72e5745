package prompt

import (
	"fmt"
	"maps"
	"regexp"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// full is a trajectory with something in every slot.
func full() *turnmill.Trajectory {
	return &turnmill.Trajectory{
		ID: "t", Meta: `{"target_query":"@TARGET@","reference_answer":"@REFERENCE@","environment_summary":"@SUMMARY@","turn_instructions":[null,null,"HINT 0",7]}`,
		System: turnmill.SystemPrompt{TaskDescription: "@TASK@", ActionSpace: `[{"name":"@SPACE@"}]`, InitialState: "@INITIAL@", Demonstrations: "@DEMO@", SimulationInstruction: "@INSTRUCTION@"},
		Turns: []turnmill.Turn{
			{Index: 2, HasAction: true, State: "STATE 0", Action: `{"name":"act","arguments":{}}`, Observation: "OBSERVATION 0"},
			{Index: 3, HasAction: true, State: "STATE 1", Action: "act 1", Observation: "OBSERVATION 1"},
		},
	}
}

func bare() *turnmill.Trajectory {
	return &turnmill.Trajectory{ID: "t", Turns: []turnmill.Turn{{HasAction: true, Action: "act", Observation: "seen"}}}
}

// Each template shows every part of a trajectory once, and asks for its domain's form of answer.
func TestTemplatesAreComplete(t *testing.T) {
	if len(All()) != 8*12 {
		t.Fatalf("%d templates", len(All()))
	}
	sums := map[string]string{}
	for _, tmpl := range All() {
		t.Run(tmpl.Name(), func(t *testing.T) {
			out := tmpl.Render(full(), Options{})
			want := []string{"@TASK@", `[{"name":"@SPACE@"}]`, "@INITIAL@", "@DEMO@", "@INSTRUCTION@"}
			if tmpl.Domain == turnmill.DomainSearch {
				want = append(want, "@TARGET@", "@REFERENCE@")
			}
			if tmpl.Domain == turnmill.DomainMCP {
				want = append(want, "@SUMMARY@")
			}
			for _, part := range want {
				if n := strings.Count(out.System.TaskDescription, part); n != 1 {
					t.Errorf("%s stands %d times in the system message", part, n)
				}
			}
			for i := range out.Turns {
				user := out.Turns[i].Action
				hint := map[int]string{0: "HINT 0", 1: "7"}[i]
				for _, part := range []string{fmt.Sprint("STATE ", i), full().Turns[i].Action, fmt.Sprint(i + 1)} {
					if strings.Count(user, part) < 1 {
						t.Errorf("%q is not in %q", part, user)
					}
				}
				if tmpl.Domain == turnmill.DomainMCP && !strings.Contains(user, hint) {
					t.Errorf("%q is not in %q", hint, user)
				}
				if fenced := strings.Contains(user, "\n```json\n"+full().Turns[i].Action+"\n```"); fenced != (i == 0) {
					t.Errorf("JSON in a fence: %v, %q", fenced, user)
				}
				if out.Turns[i].State != "" {
					t.Error("a state is left beside the action")
				}
			}
			if got := out.Turns[0].Observation; got != answers(tmpl) {
				t.Errorf("observation %q, want %q", got, answers(tmpl))
			}
			if strings.Contains(tmpl.Text, "\r") || strings.Contains(tmpl.Text, " \n") || !strings.HasSuffix(tmpl.Text, "\n") {
				t.Error("the file has blanks at line ends, or no line feed at its end")
			}
		})
		if other, twice := sums[tmpl.SHA256]; twice {
			t.Errorf("%s and %s have one hash", tmpl.Name(), other)
		}
		sums[tmpl.SHA256] = tmpl.Name()
	}
}

// answers is the form that the system message asks for, told from its words, with the first observation in it.
func answers(tmpl *Template) string {
	asked, _, _ := strings.Cut(tmpl.Text, "\n=== user\n")
	switch {
	case strings.Contains(asked, "`<predicted_observation>`"):
		return "<predicted_observation>\nOBSERVATION 0\n</predicted_observation>"
	case strings.Contains(asked, "`**Environment Observation:**`"):
		return "**Environment Observation:**\nOBSERVATION 0"
	}
	return "OBSERVATION 0"
}

// Screens are answered in tags, the desktop after reasoning, text without tags.
func TestAnswerForms(t *testing.T) {
	for _, tmpl := range All() {
		screen := slices.Contains([]turnmill.Domain{"android", "web", "os"}, tmpl.Domain)
		if tags := strings.Contains(answers(tmpl), "<predicted_observation>"); tags != screen {
			t.Errorf("%s: tags: %v", tmpl.Name(), tags)
		}
		if reasons := regexp.MustCompile(`(?i)\b(reason|reasoning|think|work it out|take your time)\b`).MatchString(tmpl.Text); tmpl.Domain == turnmill.DomainOS && !reasons {
			t.Errorf("%s does not ask for reasoning", tmpl.Name())
		}
		if tmpl.Domain == turnmill.DomainSearch && !regexp.MustCompile(`(?i)leak|confidential|secret|seal|not to be handed|MUST NOT occur|do not tell`).MatchString(tmpl.Text) {
			t.Errorf("%s has no clause against leakage", tmpl.Name())
		}
	}
}

// Nothing is left of a part that is missing: no heading, no gap, no line at the ends.
func TestMissingPartsLeaveNothing(t *testing.T) {
	for _, tmpl := range All() {
		out := tmpl.Render(bare(), Options{})
		for _, text := range []string{out.System.TaskDescription, out.Turns[0].Action} {
			if strings.Contains(text, "\n\n\n") || strings.TrimSpace(text) != text || strings.Contains(text, "{{") {
				t.Errorf("%s: %q", tmpl.Name(), text)
			}
			lines := strings.Split(text, "\n")
			for i, line := range lines {
				heading := regexp.MustCompile(`^(#+ .*|\*\*[^*]*\*\*|\*Attached.*|\[[a-z' ]+\]|=+ .* =+|[A-Z' ]+:|[A-Z].*:)$`).MatchString(line)
				next := slices.IndexFunc(lines[i+1:], func(s string) bool { return s != "" })
				if heading && !strings.HasSuffix(strings.Trim(line, "*"), " 1") && (next < 0 || regexp.MustCompile(`^(#|\*Attached|\[[a-z' ]+\]$|=+ )`).MatchString(lines[i+1+next])) {
					t.Errorf("%s: %q stands over nothing", tmpl.Name(), line)
				}
			}
		}
	}
}

// The twelve of a domain differ: no two share many runs of four words, and every layout is its own.
func TestTemplatesDiffer(t *testing.T) {
	grams := func(text string) map[string]bool {
		words := strings.Fields(regexp.MustCompile(`\{\{[^}]*\}\}|[^\w\s]`).ReplaceAllString(text, " "))
		out := map[string]bool{}
		for i := range len(words) - 3 {
			out[strings.Join(words[i:i+4], " ")] = true
		}
		return out
	}
	worst := 0.0
	for _, d := range Domains() {
		for i := range versions {
			for j := range i {
				a, _ := Find(d, fmt.Sprint("v", i))
				b, _ := Find(d, fmt.Sprint("v", j))
				x, y, same := grams(a.Text), grams(b.Text), 0
				for g := range maps.Keys(x) {
					if y[g] {
						same++
					}
				}
				if share := float64(same) / float64(len(x)+len(y)-same); share > 0.1 {
					t.Errorf("%s and %s share %.0f %% of their runs of four words", a.Name(), b.Name(), 100*share)
				} else {
					worst = max(worst, share)
				}
				if strings.Join(layout(a.Text), "\n") == strings.Join(layout(b.Text), "\n") {
					t.Errorf("%s and %s have one layout", a.Name(), b.Name())
				}
			}
		}
	}
	t.Logf("at most %.1f %% of the runs of four words are shared", 100*worst)
}

// layout is the order of the slots.
func layout(text string) (out []string) {
	for line := range strings.Lines(text) {
		if m := slotForm.FindStringSubmatchIndex(line); m != nil {
			out = append(out, line[m[2]:m[3]])
		}
	}
	return out
}

func TestFind(t *testing.T) {
	a, err := Find("kitchen", "v3")
	if err != nil || a.Name() != "general/v3" {
		t.Errorf("%v, %v", a, err)
	}
	if b, err := Find(turnmill.DomainOS, "v11"); err != nil || b.Name() != "os/v11" || b.ID() != (turnmill.Template{Version: "v11", SHA256: b.SHA256}) {
		t.Errorf("%v, %v", b, err)
	}
	for _, v := range []string{"v12", "", "3", "V3"} {
		if _, err := Find(turnmill.DomainOS, v); err == nil {
			t.Errorf("%q was found", v)
		}
		if _, err := SetSHA256(v); err == nil {
			t.Errorf("%q has a hash", v)
		}
	}
	one, _ := SetSHA256("v1")
	two, _ := SetSHA256("v2")
	if len(one) != 64 || one == two {
		t.Errorf("hashes %s and %s", one, two)
	}
}

// The draws were computed apart, from the bytes that Choose names.
func TestChoose(t *testing.T) {
	for _, c := range []struct{ seed, id, pool, want string }{
		{"0", "a", "sft", "v11"}, {"0", "b", "sft", "v11"}, {"7", "a", "sft", "v6"},
		{"0", "django__django-11099", "sft", "v9"}, {"0", "é#2", "sft", "v8"},
		{"0", "a", "rl", "v0"}, {"9", "b", "rl", "v0"}, {"0", "a", "cpt", "v1"},
	} {
		got, err := Choose(c.seed, c.id, turnmill.DomainWeb, c.pool)
		if err != nil || got.Version != c.want {
			t.Errorf("%q, %q, %s: %v, %v, want %s", c.seed, c.id, c.pool, got, err, c.want)
		}
	}
	if _, err := Choose("0", "a", turnmill.DomainWeb, "eval"); err == nil {
		t.Error("pool eval was found")
	}
}

// Pools never share a template, and those of sft come equally often.
func TestPoolsShareNothing(t *testing.T) {
	const ids = 20_000
	used := map[string]map[string]int{}
	for _, pool := range Pools() {
		used[pool] = map[string]int{}
		for i := range ids {
			tmpl, err := Choose("0", fmt.Sprint("run-", i), turnmill.DomainSWE, pool)
			if err != nil {
				t.Fatal(err)
			}
			used[pool][tmpl.Version]++
		}
	}
	if len(used["rl"]) != 1 || used["rl"]["v0"] != ids || len(used["cpt"]) != 1 || used["cpt"]["v1"] != ids {
		t.Errorf("rl %v, cpt %v", used["rl"], used["cpt"])
	}
	if len(used["sft"]) != 10 || used["sft"]["v0"]+used["sft"]["v1"] != 0 {
		t.Fatalf("sft %v", used["sft"])
	}
	for v, n := range used["sft"] {
		if n < ids/10-200 || n > ids/10+200 { // more than four deviations
			t.Errorf("%s came %d times in %d", v, n, ids)
		}
	}
}

func TestParseRefuses(t *testing.T) {
	for name, text := range map[string]string{
		"nothing":                "",
		"no user":                "=== system\nx\n=== assistant\n{{observation}}\n",
		"another's slot":         "=== system\n{{action}}\n=== user\nx\n=== assistant\n{{observation}}\n",
		"an unknown slot":        "=== system\n{{weather}}\n=== user\nx\n=== assistant\n{{observation}}\n",
		"a slot twice":           "=== system\n{{action_space}} {{action_space}}\n=== user\nx\n=== assistant\n{{observation}}\n",
		"a slot twice, parted":   "=== system\n{{action_space}}\n{{action_space|fence}}\n=== user\nx\n=== assistant\n{{observation}}\n",
		"an open condition":      "=== system\n{{#if action_space}}\n=== user\nx\n=== assistant\n{{observation}}\n",
		"a lone end":             "=== system\n{{/if}}\n=== user\nx\n=== assistant\n{{observation}}\n",
		"a condition of nothing": "=== system\n{{#if weather}}\n{{/if}}\n=== user\nx\n=== assistant\n{{observation}}\n",
		"half a slot":            "=== system\n{{action_space\n=== user\nx\n=== assistant\n{{observation}}\n",
	} {
		if _, err := parse(text); err == nil {
			t.Errorf("%s: no error", name)
		}
	}
}
