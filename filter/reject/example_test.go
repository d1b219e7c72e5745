package reject_test

import (
	"fmt"
	"os"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"github.com/turnmill/turnmill/filter/reject"
)

// The whole way of one query: two rollouts, their scores, both orders of their pair, the choice, the account.
func Example() {
	query := &turnmill.Query{
		ID:         "run-1@0",
		Trajectory: &turnmill.Trajectory{ID: "run-1", Domain: turnmill.DomainTerminal, Turns: []turnmill.Turn{{Action: "ls", HasAction: true, Observation: "a.txt"}}},
		Messages:   []turnmill.Message{{Role: "system", Content: "You are a terminal."}, {Role: "user", Content: "ls"}},
	}
	rollouts := []turnmill.Reply{{Text: "<think>One file.</think>a.txt"}, {Sample: 1, Text: "<predicted_observation>b.txt</predicted_observation>"}}
	answers := map[string]string{ // of a judge, by the id of the question
		"run-1@0/scores/0": "<final_evaluation>{\"scores\":{\"format\":5,\"factuality\":4,\"consistency\":5,\"realism\":4,\"quality\":4}}</final_evaluation>",
		"run-1@0/scores/1": "<final_evaluation>{\"scores\":{\"format\":5,\"factuality\":4,\"consistency\":4,\"realism\":4,\"quality\":4}}</final_evaluation>",
		"run-1@0/pair/0-1": `The second names a file that is there. \boxed{B}`,
		"run-1@0/pair/1-0": `\boxed{A}`,
	}
	ask := func(r turnmill.Request) *turnmill.Reply { return &turnmill.Reply{ID: r.ID, Text: answers[r.ID]} }

	asker := judge.Asker{Model: "judge"}
	subject := &judge.Subject{Query: query}
	c := &reject.Case{Domain: query.Trajectory.Domain}
	var predictions []judge.Prediction
	for i, r := range rollouts {
		predictions = append(predictions, judge.Extract(r.Text))
		j := judge.ParseScores(ask(asker.Scores(subject, i, predictions[i])), judge.Options{})
		c.Rollouts = append(c.Rollouts, reject.Rollout{Answered: true, State: r.State, Judgement: j.State, Scores: j.Scores})
	}
	options := reject.Options{Threshold: turnmill.Ratio{Num: 4, Den: 1}}
	for _, pair := range options.Ask(c) {
		for _, id := range judge.Orders("0", query.ID, pair[0], pair[1]) {
			p := judge.ParsePair(ask(asker.Pair(subject, id, predictions[id.First], predictions[id.Second])))
			c.Pairs = append(c.Pairs, reject.Pair{First: id.First, Second: id.Second, Preference: p})
		}
	}
	out := options.Choose(c)
	fmt.Println(out.State, out.Winner, "by", out.Decider)

	accounts := reject.Accounts{}
	accounts.Add(c, &out)
	if err := reject.WriteRetention(os.Stdout, accounts.Retention()); err != nil {
		fmt.Println(err)
	}
	// Output:
	// selected 1 by wins
	// domain    candidates  kept    share
	// terminal           1     1  100.0 %
	// total              1     1  100.0 %
}
