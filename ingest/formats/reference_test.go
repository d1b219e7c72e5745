package formats

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

func TestReferenceOf(t *testing.T) {
	bench := func(task string) turnmill.Trajectory {
		return turnmill.Trajectory{Source: worldBenchName, System: turnmill.SystemPrompt{TaskDescription: task}}
	}
	told := func(text string) turnmill.Trajectory {
		return turnmill.Trajectory{System: turnmill.SystemPrompt{SimulationInstruction: text}}
	}
	meta := func(text string) turnmill.Trajectory {
		return turnmill.Trajectory{Meta: text, System: turnmill.SystemPrompt{TaskDescription: "Who?"}}
	}
	for _, c := range []struct {
		name string
		t    turnmill.Trajectory
		want Reference
	}{
		{"labelled lines", told("Target query: Who?\nReference answer: Ada; in 1843.\nDo not say it."), Reference{"Who?", []string{"Ada; in 1843."}}},
		{"bold, in a list", told("Rules\n- **Target Query:** Who?\r\n- **REFERENCE ANSWER**: Ada\r\n"), Reference{"Who?", []string{"Ada"}}},
		{"headings", told("## Target query\n\nWho?\n\n## Reference answer\n\nAda\n\nDo not say it."), Reference{"Who?", []string{"Ada"}}},
		{"Chinese", told("目标问题：谁？\n参考答案：埃达；一八四三年。\n"), Reference{"谁？", []string{"埃达；一八四三年。"}}},
		{"a sentence that begins so", told("Reference answers are secret.\nTarget query of the agent"), Reference{}},
		{"no answer below the label", told("Reference answer:\n"), Reference{}},
		{"a benchmark's row", bench("You are the web.\n\nTarget query: Who?\nReference answer: Ada"), Reference{"Who?", []string{"Ada"}}},
		{"another's task", turnmill.Trajectory{Domain: "swe", System: turnmill.SystemPrompt{TaskDescription: "Reference answer: Ada"}}, Reference{}},
		{"meta", meta(`{"target_query":"What?","reference_answer":"Ada"}`), Reference{"What?", []string{"Ada"}}},
		{"meta, several", meta(`{"reference_answer":["Ada","Ada \u004covelace",7]}`), Reference{"Who?", []string{"Ada", "Ada Lovelace"}}},
		{"meta of another kind", meta(`{"reference_answer":{"a":1}}`), Reference{}},
		{"meta that names the member elsewhere", meta(`{"a":"\"reference_answer\""}`), Reference{}},
		{"meta before the instruction", turnmill.Trajectory{Meta: `{"reference_answer":"Ada"}`, System: turnmill.SystemPrompt{SimulationInstruction: "Reference answer: Mary"}}, Reference{"", []string{"Ada"}}},
		{"nothing", turnmill.Trajectory{}, Reference{}},
	} {
		t.Run(c.name, func(t *testing.T) {
			if diff := cmp.Diff(c.want, ReferenceOf(&c.t)); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

// FuzzReferenceOf: whatever meta and instruction hold, an answer that is named is a text, and none is invented.
func FuzzReferenceOf(f *testing.F) {
	f.Add(`{"reference_answer":["Ada"],"target_query":"Who?"}`, "Target query: Who?\nReference answer: Ada")
	f.Add(`{"perturbation":{}}`, "## 参考答案\n\n**x**")
	f.Fuzz(func(t *testing.T, meta, text string) {
		r := ReferenceOf(&turnmill.Trajectory{Meta: meta, System: turnmill.SystemPrompt{SimulationInstruction: text}})
		for _, a := range r.Answers {
			if !strings.Contains(meta, "reference_answer") && (a == "" || !strings.Contains(text, a)) {
				t.Errorf("%q is no part of the instruction", a)
			}
		}
		if Perturbed(meta) && !strings.Contains(meta, "perturbation") {
			t.Error("a perturbation that meta does not name")
		}
	})
}

func TestPerturbed(t *testing.T) {
	for meta, want := range map[string]bool{
		"": false, `{}`: false, `{"perturbation":null}`: false, `{"perturbation":false}`: false, `{"perturbation":""}`: false,
		`{"perturbation":[]}`: false, `{"perturbation":{}}`: false, `{"note":"perturbation"}`: false, `{"note":{"perturbation":true}}`: false,
		`{"perturbation":true}`: true, `{"perturbation":"slow network"}`: true, `{"perturbation":["a"]}`: true, `{"perturbation":{"kind":"a"}}`: true, `{"perturbation":3}`: true,
		`{"perturbation":`: false,
	} {
		if got := Perturbed(meta); got != want {
			t.Errorf("%s: %v, want %v", meta, got, want)
		}
	}
}
