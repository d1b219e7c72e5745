package pipelines

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

func TestPrices(t *testing.T) {
	for _, c := range []struct {
		text   string
		usage  UsageSum
		want   string
		refuse string
	}{
		{"0.60,2.40", UsageSum{Prompt: 1_000_000, Completion: 500_000}, "1.8", ""},
		{"0.000001,0", UsageSum{Prompt: 1, Completion: 9}, "0.000000000001", ""},
		{"0,3", UsageSum{Prompt: 7}, "0", ""},
		{"9999,9999", UsageSum{Prompt: 1 << 50, Completion: 1 << 50}, "22515746337038.794752", ""},
		{"1", UsageSum{}, "", "want two prices"},
		{"-1,1", UsageSum{}, "", "want two prices"},
	} {
		p, err := prices(c.text)
		if c.refuse != "" {
			if err == nil || !strings.Contains(err.Error(), c.refuse) {
				t.Errorf("%s: %v, want %q", c.text, err, c.refuse)
			}
			continue
		}
		if err != nil {
			t.Errorf("%s: %v", c.text, err)
		} else if got := cost(p, c.usage); got != c.want {
			t.Errorf("%s of %+v: %s, want %s", c.text, c.usage, got, c.want)
		}
	}
}

// TestCostInManifest: the manifest says what the used answers cost, and a budget of cost ends the asking.
func TestCostInManifest(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 7)
	o.SFT.RolloutPrice, o.SFT.JudgePrice = "1,2", "0.5,0.5"
	m := mustRun(t, o)
	p, _ := prices("1,2")
	if got, want := m.SFT.Cost["rollouts"], cost(p, m.SFT.Usage["rollouts"]); got != want || got == "0" || m.SFT.Cost["judges"] == "" {
		t.Errorf("cost %v, want rollouts %s", m.SFT.Cost, want)
	}
	mustCheck(t, o)
	few := with(t, o, func(o *Options) { o.Ask.Budget.Cost = 30_000_000 }) // 0.00003
	if q := mustRun(t, few).Ledger.Total.Queries; q.Rejected[turnmill.ReasonBudget] == 0 {
		t.Errorf("queries %+v: want some beyond the budget", q)
	}
}
