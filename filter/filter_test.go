package filter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

// turns builds a trajectory from words: each is a turn of that kind.
func turns(kinds string) *turnmill.Trajectory {
	t := &turnmill.Trajectory{Domain: turnmill.DomainMCP}
	for i, k := range strings.Fields(kinds) {
		turn := turnmill.Turn{Index: i, Action: "act", HasAction: true, Observation: "obs"}
		switch k {
		case "wait":
			turn.Action = ""
		case "done":
			turn.Action = "[]"
		case "pause":
			turn.HasAction = false
		case "reply":
			turn.Dialogue = true
		case "elided":
			turn.Observation = `{"a":"<max-depth>"}`
		}
		t.Turns = append(t.Turns, turn)
	}
	return t
}

func TestApply(t *testing.T) {
	target := turnmill.Verdict{Status: turnmill.StatusTarget}
	dialogue := turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonDialogue}
	elided := turnmill.Verdict{Status: turnmill.StatusContext, Reason: turnmill.ReasonElided}
	pause := turnmill.Verdict{Status: turnmill.StatusDropped, Reason: turnmill.ReasonNoAction}
	for _, c := range []struct {
		name, turns string
		names       []string
		options     Options
		want        []turnmill.Verdict
		reason      turnmill.Reason
	}{
		{name: "ordinary", turns: "call call", want: []turnmill.Verdict{target, target}},
		{name: "R14 a wait and the empty array stay", turns: "wait done", want: []turnmill.Verdict{target, target}},
		{name: "R14 a pause goes", turns: "call pause call", want: []turnmill.Verdict{target, pause, target}},
		{name: "R11 fewer than two", turns: "call", want: []turnmill.Verdict{target}, reason: turnmill.ReasonTooFewTurns},
		{name: "R17 looked at again after the turn filters", turns: "call pause", want: []turnmill.Verdict{target, pause}, reason: turnmill.ReasonTooFewTurns},
		{name: "min-turns 1", turns: "call", options: Options{MinTurns: 1}, want: []turnmill.Verdict{target}},
		{name: "customer", turns: "call reply", want: []turnmill.Verdict{target, dialogue}},
		{name: "customer trained", turns: "call reply", options: Options{TrainDialogue: true}, want: []turnmill.Verdict{target, target}},
		{name: "pure chat", turns: "reply reply", want: []turnmill.Verdict{dialogue, dialogue}, reason: turnmill.ReasonNoEnvironment},
		{name: "pure chat, trained or not", turns: "reply reply", options: Options{TrainDialogue: true}, want: []turnmill.Verdict{target, target}, reason: turnmill.ReasonNoEnvironment},
		{name: "B19 nothing at all", turns: "", reason: turnmill.ReasonNoTarget},
		{name: "only pauses", turns: "pause pause", want: []turnmill.Verdict{pause, pause}, reason: turnmill.ReasonTooFewTurns},
		{name: "R14 placeholder", turns: "elided call", want: []turnmill.Verdict{elided, target}},
		{name: "none", turns: "pause", names: []string{"none"}, want: []turnmill.Verdict{target}},
		{name: "one by name", turns: "pause", names: []string{"no-action"}, want: []turnmill.Verdict{pause}},
	} {
		t.Run(c.name, func(t *testing.T) {
			chain, err := New(c.names, c.options)
			if err != nil {
				t.Fatal(err)
			}
			got, reason := chain.Apply(turns(c.turns), nil)
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("verdicts (-want +got):\n%s", diff)
			}
			if reason != c.reason {
				t.Errorf("reason %q, want %q", reason, c.reason)
			}
		})
	}
}

func TestNewRefuses(t *testing.T) {
	if _, err := New([]string{"capcha"}, Options{}); err == nil || !strings.Contains(err.Error(), "min-turns") {
		t.Errorf("an unknown filter does not list the known: %v", err)
	}
	if _, err := New([]string{"none", "min-turns"}, Options{}); err == nil {
		t.Error("none beside another name was taken")
	}
	for _, names := range [][]string{{"min-turns", "all"}, {"min-turns", "-captcha"}, {"all", "captcha"}, {"-captcha"}, {"all", "-"}, {""}} {
		if _, err := New(names, Options{}); err == nil {
			t.Errorf("%q was taken", names)
		}
	}
	for _, names := range [][]string{{"-captcha"}, {"-captcha", "min-turns"}} {
		if _, err := New(names, Options{}); err == nil || !strings.Contains(err.Error(), "begin with all, as in all,-captcha") || strings.Contains(err.Error(), "beside") {
			t.Errorf("%q: the error does not say how to begin: %v", names, err)
		}
	}
	if _, err := New(nil, Options{MinTurns: -1}); err == nil {
		t.Error("a negative least number was taken")
	}
}

func TestNames(t *testing.T) {
	all, _ := New(nil, Options{})
	every := strings.Join(all.Names(), ",")
	for list, want := range map[string]string{
		"all":                  every,
		"all,-captcha":         strings.Replace(every, "captcha,", "", 1),
		"elided,no-action":     "no-action,elided",
		"all,-min-turns":       strings.TrimSuffix(every, ",min-turns"),
		"none":                 "",
		"http-error,min-turns": "http-error,min-turns",
	} {
		c, err := New(strings.Split(list, ","), Options{})
		if err != nil {
			t.Fatalf("%s: %v", list, err)
		}
		if got := strings.Join(c.Names(), ","); got != want {
			t.Errorf("%s: %s, want %s", list, got, want)
		}
	}
}

func TestElided(t *testing.T) {
	for _, c := range []struct {
		observation string
		want        bool
	}{
		{`{"ok":"<max-depth>","rows":[{"id":1}]}`, true},
		{"  [ 1, \"[Object]\" ]", true},
		{`{"rows":[{"owner":{"name" : "[MaxDepth]" }}]}`, true},
		{`{"<max-depth>":1}`, false},                                // a key
		{`{"note":"exporter writes \"<max-depth>\" there"}`, false}, // inside a longer string
		{`{"note":"<max-depth> is a marker"}`, false},
		{`exporter.py:12: REPLACEMENT = '<max-depth>'`, false},
		{`x = ["[Object]", 1]`, false}, // not JSON
		{`{"ok":true,"rows":[]}`, false},
		{"", false},
	} {
		if got := Elided(c.observation); got != c.want {
			t.Errorf("Elided(%q) = %v, want %v", c.observation, got, c.want)
		}
	}
}

func TestTableIsWhole(t *testing.T) {
	seen := map[string]bool{}
	for _, f := range All() {
		if seen[f.Name] || f.Name == "" || f.Reason == "" || f.Summary == "" {
			t.Errorf("filter %+v: a name twice, or a field is empty", f)
		}
		seen[f.Name] = true
		if f.Level == "turn" && f.Status == turnmill.StatusTarget {
			t.Errorf("filter %s refuses turns and keeps them", f.Name)
		}
		if (f.turn == nil) == (f.trajectory == nil) || (f.Level == "turn") != (f.turn != nil) {
			t.Errorf("filter %s: looks at a turn or at a trajectory, and says which", f.Name)
		}
	}
}
