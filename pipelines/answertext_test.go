package pipelines

import (
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/shard/prompt"
)

// TestAnswerText: whatever form a rollout was recorded in, what a row trains is written as its template writes the
// observations before it, and says to a judge what the rollout said.
func TestAnswerText(t *testing.T) {
	const said = "$ ls\n  a.txt\n  <tool>{{observation}}</tool>"
	for form, text := range map[string]string{
		"plain":         said,
		"marker":        "**Environment Observation:**\n" + said,
		"tags":          "<predicted_observation>\n" + said + "\n</predicted_observation>",
		"words around":  "Sure.\n<predicted_observation>\n" + said + "\n</predicted_observation>\nDone.",
		"no end":        "Here:\n<predicted_observation>\n" + said,
		"more thinking": "<think>or else</think>\n" + said + "\n",
	} {
		for _, tmpl := range prompt.All() {
			got := answerText(tmpl, &turnmill.Reply{Text: text})
			if want := tmpl.Wrap(said); got != want {
				t.Errorf("%s under %s: %q, want %q", form, tmpl.Name(), got, want)
			}
			if again := judge.Extract(got).Text; again != said {
				t.Errorf("%s under %s: a judge sees %q", form, tmpl.Name(), again)
			}
		}
	}
}
