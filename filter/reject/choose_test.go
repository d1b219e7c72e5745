package reject

import (
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge"
	"pgregory.net/rapid"
)

// parseCase reads a case as tests write it.
//
//	rollouts   44444          complete, judged so
//	           unparsable     complete, the judge's answer has this state
//	           !truncated     the rollout has this state; !missing: nothing came back
//	pairs      01A            rollout 0 shown first, 1 second, the first is better
//	           10unparsable   the answer has this state
func parseCase(t testing.TB, rollouts, pairs string) *Case {
	t.Helper()
	c := &Case{Domain: turnmill.DomainSWE}
	for _, text := range strings.Fields(rollouts) {
		r := Rollout{Answered: true}
		state, isState := judge.ParseState(text)
		end, failed := strings.CutPrefix(text, "!")
		switch {
		case end == "missing":
			r.Answered = false
		case failed:
			var ok bool
			if r.State, ok = turnmill.ParseReplyState(end); !ok {
				t.Fatalf("no rollout ends as %q", end)
			}
		case isState:
			r.Judgement = state
		default:
			r.Judgement = judge.Valid
			for i := range r.Scores {
				r.Scores[i] = text[i] - '0'
			}
		}
		c.Rollouts = append(c.Rollouts, r)
	}
	for _, text := range strings.Fields(pairs) {
		p := Pair{First: int(text[0] - '0'), Second: int(text[1] - '0')}
		switch text[2:] {
		case "A", "B":
			p.Preference = judge.Preference{State: judge.Valid, Second: text[2] == 'B'}
		default:
			state, ok := judge.ParseState(text[2:])
			if !ok {
				t.Fatalf("no pair is %q", text)
			}
			p.Preference.State = state
		}
		c.Pairs = append(c.Pairs, p)
	}
	return c
}

// said writes an outcome.
func said(out Outcome) string {
	text := out.State.String()
	if out.State == Selected {
		text += fmt.Sprintf(" %d by %s", out.Winner, out.Decider)
	} else {
		text += " " + string(out.Reason)
	}
	if out.Candidate {
		text += ", candidate"
	}
	if out.Wins != nil {
		text += fmt.Sprint(", wins ", out.Wins)
	}
	return text
}

var four = turnmill.Ratio{Num: 4, Den: 1}

func TestChoose(t *testing.T) {
	for _, tt := range []struct {
		name            string
		rollouts, pairs string
		options         Options
		want            string
	}{
		{"one above", "44444 33333 22222", "", Options{Threshold: four}, "selected 0 by alone, candidate"},
		{"equality stays", "33333 53435 22222", "", Options{Threshold: four}, "selected 1 by alone, candidate"},
		{"a fifth below", "33333 53434 22222", "", Options{Threshold: four}, "dropped below_threshold, candidate"},
		{"a threshold between fifths", "55444 55454 55444", "", Options{Threshold: turnmill.Ratio{Num: 45, Den: 10}}, "selected 1 by alone, candidate"},
		{"no threshold", "11111 11112 11111", "01A 10B 02A 20B 12A 21B", Options{}, "selected 0 by wins, candidate, wins [2 1 0]"},
		{"wins before score", "44444 55555 33333", "01A 10B", Options{Threshold: four}, "selected 0 by wins, candidate, wins [1 0 0]"},
		{"orders disagree, so score", "44444 55555 33333", "01A 10A", Options{Threshold: four}, "selected 1 by score, candidate, wins [0 0 0]"},
		{"orders disagree, same score, so index", "44444 44444 33333", "01B 10B", Options{Threshold: four}, "selected 0 by index, candidate, wins [0 0 0]"},
		{"one order unreadable: nobody wins", "44444 55555 33333", "01A 10unparsable", Options{Threshold: four}, "selected 1 by score, candidate, wins [0 0 0]"},
		{"one order refused: nobody wins", "44444 44444 33333", "01refused 10A", Options{Threshold: four}, "selected 0 by index, candidate, wins [0 0 0]"},
		{"one order not there", "44444 55555 33333", "01A", Options{Threshold: four}, "failed not_judged"},
		{"one order failed", "44444 55555 33333", "01A 10failed", Options{Threshold: four}, "failed judge_failed"},
		{"one order timed out", "44444 55555 33333", "01timeout 10B", Options{Threshold: four}, "failed judge_timeout"},
		{"a cycle, so score", "44444 55444 44445", "01A 10B 12A 21B 20A 02B", Options{Threshold: four}, "selected 1 by score, candidate, wins [1 1 1]"},
		{"two won twice", "44444 44444 55555", "01B 10A 12A 21B 02A 20B", Options{Threshold: four}, "selected 1 by wins, candidate, wins [1 2 0]"},
		{"same order twice: the first counts", "44444 44444 33333", "01B 10A 01A 10B", Options{Threshold: four}, "selected 1 by wins, candidate, wins [0 1 0]"},
		{"pairs of no contender do not count", "44444 33333 44444", "01B 10A 02A 20B", Options{Threshold: four}, "selected 0 by wins, candidate, wins [1 0 0]"},
		{"all pairs, winner below", "44444 33333", "01B 10A", Options{Threshold: four, Pairs: PairsAll}, "dropped below_threshold, candidate, wins [0 1]"},
		{"all pairs, winner above", "44444 33333", "01A 10B", Options{Threshold: four, Pairs: PairsAll}, "selected 0 by wins, candidate, wins [1 0]"},
		{"tied pairs", "44444 44444 44443", "01B 10A", Options{Pairs: PairsTied}, "selected 1 by wins, candidate, wins [0 1 0]"},
		{"tied pairs, nothing tied", "44444 44445 44443", "", Options{Pairs: PairsTied}, "selected 1 by alone, candidate"},
		{"no pairs", "44444 55555 55555", "", Options{Pairs: PairsNone}, "selected 1 by index, candidate"},

		{"an unreadable judgement is no contender", "unparsable 44444 out_of_range", "", Options{Threshold: four}, "selected 1 by alone, candidate"},
		{"all unreadable", "out_of_range unparsable refused", "", Options{}, "dropped judge_out_of_range"},
		{"all missing a dimension", "missing_dimension missing_dimension truncated", "", Options{}, "dropped judge_missing_dimension"},
		{"all refused", "refused refused refused", "", Options{}, "dropped judge_refused"},
		{"all cut", "truncated refused refused", "", Options{}, "dropped judge_truncated"},
		{"all unparsable", "unparsable", "", Options{}, "dropped judge_unparsable"},
		{"a judge that failed might have chosen it", "44444 failed 33333", "", Options{}, "failed judge_failed"},
		{"a judge in time", "timeout 44444 33333", "", Options{}, "failed judge_timeout"},
		{"never judged", "44444 none 33333", "", Options{}, "failed not_judged"},

		{"a rollout was cut", "44444 !truncated 33333", "", Options{}, "dropped incomplete_rollouts"},
		{"a rollout was refused", "44444 !refused 33333", "", Options{}, "dropped incomplete_rollouts"},
		{"a rollout is missing", "44444 !missing 33333", "", Options{}, "dropped incomplete_rollouts"},
		{"a rollout failed", "44444 !failed 33333", "", Options{}, "failed rollout_failed"},
		{"a rollout timed out", "44444 !timeout 33333", "", Options{}, "failed rollout_timeout"},
		{"failed before timed out", "!timeout !failed 33333", "", Options{}, "failed rollout_failed"},
		{"for good before for now", "!timeout !failed !refused", "", Options{}, "dropped incomplete_rollouts"},
		{"no rollouts", "", "", Options{}, "dropped incomplete_rollouts"},
	} {
		if got := said(tt.options.Choose(parseCase(t, tt.rollouts, tt.pairs))); got != tt.want {
			t.Errorf("%s: got %q, want %q", tt.name, got, tt.want)
		}
	}
}

// TestChooseStopped: when the budget is spent, what is not there was not asked, and can be asked again.
func TestChooseStopped(t *testing.T) {
	for _, tt := range []struct{ rollouts, pairs, want string }{
		{"44444 !missing 33333", "", "failed budget"},
		{"44444 none 33333", "", "failed budget"},
		{"44444 55555 33333", "01A", "failed budget"},
		{"44444 !missing !failed", "", "failed rollout_failed"},
		{"44444 !missing !refused", "", "dropped incomplete_rollouts"},
		{"44444 55555 33333", "01A 10B", "selected 0 by wins, candidate, wins [1 0 0]"},
	} {
		c := parseCase(t, tt.rollouts, tt.pairs)
		c.RolloutsStopped, c.JudgesStopped = true, true
		if got := said(Options{Threshold: four}.Choose(c)); got != tt.want {
			t.Errorf("%s, %s: got %q, want %q", tt.rollouts, tt.pairs, got, tt.want)
		}
	}
}

// TestChooseStoppedApart: what is recorded nobody would have asked, whatever budget is spent on the other kind.
func TestChooseStoppedApart(t *testing.T) {
	for _, tt := range []struct{ rollouts, judges, rolls string }{
		{"44444 !missing 33333", "dropped incomplete_rollouts", "failed budget"},
		{"44444 none 33333", "failed budget", "failed not_judged"},
		{"44444 55555 33333", "failed budget", "failed not_judged"},
	} {
		c := parseCase(t, tt.rollouts, "")
		c.JudgesStopped = true
		if got := said(Options{Threshold: four}.Choose(c)); got != tt.judges {
			t.Errorf("%s, judges stopped: got %q, want %q", tt.rollouts, got, tt.judges)
		}
		c.RolloutsStopped, c.JudgesStopped = true, false
		if got := said(Options{Threshold: four}.Choose(c)); got != tt.rolls {
			t.Errorf("%s, rollouts stopped: got %q, want %q", tt.rollouts, got, tt.rolls)
		}
	}
}

func TestAsk(t *testing.T) {
	for _, tt := range []struct {
		rollouts, pairs string
		options         Options
		want            string
	}{
		{"44444 55555 44445", "", Options{Threshold: four}, "[[0 1] [0 2] [1 2]]"},
		{"44444 33333 44445", "", Options{Threshold: four}, "[[0 2]]"},
		{"44444 33333 44445", "02A", Options{Threshold: four}, "[[0 2]]"},
		{"44444 33333 44445", "02A 20A", Options{Threshold: four}, "[]"},
		{"44444 33333 44445", "02failed 20A", Options{Threshold: four}, "[]"},
		{"44444 33333 44445", "", Options{Threshold: four, Pairs: PairsAll}, "[[0 1] [0 2] [1 2]]"},
		{"44444 33333 44444", "", Options{Pairs: PairsTied}, "[[0 2]]"},
		{"44444 33333 44444", "", Options{Pairs: PairsNone}, "[]"},
		{"44444 33333 33333", "", Options{Threshold: four}, "[]"},
		{"44444 unparsable 44444", "", Options{}, "[[0 2]]"},
		{"44444 failed 44444", "", Options{}, "[]"},
		{"44444 !truncated 44444", "", Options{}, "[]"},
	} {
		if got := fmt.Sprint(tt.options.Ask(parseCase(t, tt.rollouts, tt.pairs))); got != tt.want {
			t.Errorf("%s, %s: got %s, want %s", tt.rollouts, tt.pairs, got, tt.want)
		}
	}
}

// drawCase draws any case.
func drawCase(t *rapid.T) *Case {
	c := &Case{Domain: rapid.SampledFrom(turnmill.Domains()).Draw(t, "domain"),
		RolloutsStopped: rapid.Bool().Draw(t, "rollouts stopped"), JudgesStopped: rapid.Bool().Draw(t, "judges stopped")}
	often := func(name string, good, n int) int { // good more often than not
		if rapid.IntRange(0, 9).Draw(t, name+" drawn") < 8 {
			return good
		}
		return rapid.IntRange(0, n-1).Draw(t, name)
	}
	for range rapid.IntRange(0, 4).Draw(t, "rollouts") {
		r := Rollout{Answered: often("answered", 1, 2) == 1, State: turnmill.ReplyState(often("state", 0, 5)), Judgement: judge.State(often("judgement", int(judge.Valid), judge.NumStates))}
		if r.Judgement == judge.Valid {
			for i := range r.Scores {
				r.Scores[i] = uint8(rapid.IntRange(judge.Worst, judge.Best).Draw(t, "score"))
			}
		}
		c.Rollouts = append(c.Rollouts, r)
	}
	for a := range c.Rollouts {
		for b := range c.Rollouts {
			if a != b && often("pair", 1, 2) == 1 {
				c.Pairs = append(c.Pairs, Pair{First: a, Second: b, Preference: judge.Preference{State: judge.State(often("verdict", int(judge.Valid), judge.NumStates)), Second: rapid.Bool().Draw(t, "second")}})
			}
		}
	}
	return c
}

func drawOptions(t *rapid.T) Options {
	return Options{
		Threshold: turnmill.Ratio{Num: uint64(rapid.IntRange(0, 25).Draw(t, "threshold")), Den: uint64(rapid.SampledFrom([]int{0, 5}).Draw(t, "den"))},
		Pairs:     PairRule(rapid.IntRange(0, int(PairsNone)).Draw(t, "rule")),
	}
}

// TestChooseProperties: one end a query; a winner is complete, valid and above the threshold; the order of pairs
// changes nothing; with every pair of Ask answered no answer of a judge is missing; merged accounts are those
// of all cases, and they meet.
func TestChooseProperties(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		whole, parts := Accounts{}, [2]Accounts{{}, {}}
		for i := range rapid.IntRange(1, 6).Draw(t, "cases") {
			c, o := drawCase(t), drawOptions(t)
			out := o.Choose(c)
			whole.Add(c, &out)
			parts[i%2].Add(c, &out)
			if (out.State == Selected) != (out.Reason == "") || (out.State == Selected) != (out.Winner >= 0) || out.Candidate && out.State == Failed {
				t.Fatalf("%+v", out)
			}
			if out.State == Selected {
				r := c.Rollouts[out.Winner]
				if !r.Answered || r.State != turnmill.ReplyComplete || r.Judgement != judge.Valid || !o.above(r.Scores) {
					t.Fatalf("the winner is %+v", r)
				}
			}
			turned := *c
			turned.Pairs = slices.Clone(c.Pairs)
			slices.Reverse(turned.Pairs)
			if again := o.Choose(&turned); said(again) != said(out) {
				t.Fatalf("%s, and %s with the pairs turned round", said(out), said(again))
			}
			for _, p := range o.Ask(c) {
				for _, ordered := range [][2]int{p, {p[1], p[0]}} {
					if c.verdict(ordered[0], ordered[1]) == judge.None {
						c.Pairs = slices.DeleteFunc(c.Pairs, func(old Pair) bool { return old.First == ordered[0] && old.Second == ordered[1] })
						c.Pairs = append(c.Pairs, Pair{First: ordered[0], Second: ordered[1], Preference: judge.Preference{State: judge.Valid}})
					}
				}
			}
			if left := o.Ask(c); len(left) > 0 {
				t.Fatalf("%v are asked again", left)
			}
		}
		parts[0].Merge(parts[1])
		if a, b := fmt.Sprint(parts[0].plain()), fmt.Sprint(whole.plain()); a != b {
			t.Fatalf("merged %s, whole %s", a, b)
		}
		for domain, a := range whole {
			sum := a.Selected
			for _, n := range a.Dropped {
				sum += n
			}
			for _, n := range a.Failed {
				sum += n
			}
			if sum != a.Queries || a.Position.Consistent > a.Position.Pairs || a.Selected > a.Candidates {
				t.Fatalf("%s: %+v does not meet", domain, a)
			}
		}
	})
}

// plain returns the accounts by value, for printing.
func (a Accounts) plain() map[turnmill.Domain]Account {
	m := map[turnmill.Domain]Account{}
	for d, account := range a {
		m[d] = *account
	}
	return m
}

// TestDropLeaking: a leaking rollout is chosen among no more than one that the judge could not score; the reason says
// when it would have been good enough.
func TestDropLeaking(t *testing.T) {
	for _, c := range []struct {
		rollouts, pairs string
		leaking         []int
		rule            PairRule
		want, ask       string
	}{
		{"55555 44444 22222", "", []int{0}, PairsAbove, "selected 1 by alone, candidate", "[]"},
		{"55555 44444 44444", "12A 21B", []int{0}, PairsAbove, "selected 1 by wins, candidate, wins [0 1 0]", "[]"},
		{"55555 22222 22222", "", []int{0}, PairsAbove, "dropped leaking_reasoning, candidate", "[]"},
		{"55555 22222 22222", "12A 21B", []int{0}, PairsAll, "dropped leaking_reasoning, candidate, wins [0 1 0]", "[]"},
		{"33333 22222 22222", "", []int{0}, PairsAbove, "dropped below_threshold, candidate", "[]"},
		{"55555 44444 44444", "", []int{1}, PairsAbove, "failed not_judged", "[[0 2]]"},
	} {
		in := parseCase(t, c.rollouts, c.pairs)
		for _, i := range c.leaking {
			in.Rollouts[i].Leaking = true
		}
		o := Options{Threshold: four, Pairs: c.rule, DropLeaking: true}
		if got := said(o.Choose(in)); got != c.want {
			t.Errorf("%s, leaking %v: %s, want %s", c.rollouts, c.leaking, got, c.want)
		}
		if got := fmt.Sprint(o.Ask(in)); got != c.ask {
			t.Errorf("%s, leaking %v: asks %s, want %s", c.rollouts, c.leaking, got, c.ask)
		}
	}
}
