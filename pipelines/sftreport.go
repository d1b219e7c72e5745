package pipelines

import (
	"fmt"
	"maps"
	"slices"
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/reject"
	"github.com/turnmill/turnmill/stats"
	"github.com/turnmill/turnmill/stats/report"
)

// answerTables are what a report says of an SFT set: what was kept, how answers and judgements ended, how far judges
// go by place, and what the reasoning of the rows is like. Nil for other runs.
func answerTables(sum *SFTSum) []report.AnswerTable {
	if sum == nil {
		return nil
	}
	return []report.AnswerTable{retentionTable(sum), endsTable("Rollouts, by how they ended", sum, func(a *reject.Account) map[string]int64 { return a.Rollouts }),
		endsTable("Judgements of complete rollouts", sum, func(a *reject.Account) map[string]int64 { return a.Judgements }),
		positionTable(sum), chainTable(sum), usageTable(sum)}
}

func retentionTable(sum *SFTSum) report.AnswerTable {
	t := report.AnswerTable{Title: "Kept of the candidates: queries with complete rollouts that judges have spoken about", Head: []string{"domain", "candidates", "kept", "share"}}
	for _, r := range sum.Retention {
		share := "-"
		if tenths, ok := r.Share(); ok {
			share = fmt.Sprintf("%d.%d %%", tenths/10, tenths%10)
		}
		t.Rows = append(t.Rows, []string{string(r.Domain), stats.Thousands(r.Candidates), stats.Thousands(r.Kept), share})
	}
	return t
}

// domains returns those of the queries, in the order of the retention table.
func (s *SFTSum) domains() (names []turnmill.Domain) {
	for _, r := range s.Retention {
		if s.Queries[r.Domain] != nil {
			names = append(names, r.Domain)
		}
	}
	return names
}

// endsTable has a column for each end that occurs.
func endsTable(title string, sum *SFTSum, of func(*reject.Account) map[string]int64) report.AnswerTable {
	all := map[string]int64{}
	for _, a := range sum.Queries {
		for end, n := range of(a) {
			all[end] += n
		}
	}
	ends := slices.Sorted(maps.Keys(all))
	t := report.AnswerTable{Title: title, Head: append([]string{"domain"}, ends...)}
	line := func(name string, counts map[string]int64) {
		row := []string{name}
		for _, end := range ends {
			row = append(row, stats.Thousands(counts[end]))
		}
		t.Rows = append(t.Rows, row)
	}
	for _, d := range sum.domains() {
		line(string(d), of(sum.Queries[d]))
	}
	line("total", all)
	return t
}

func positionTable(sum *SFTSum) report.AnswerTable {
	t := report.AnswerTable{Title: "Pairs: whether judges go by place", Head: []string{"domain", "pairs in both orders", "one winner in both", "the first in both", "the second in both"}}
	for _, d := range sum.domains() {
		p := &sum.Queries[d].Position
		t.Rows = append(t.Rows, []string{string(d), stats.Thousands(p.Pairs), stats.Thousands(p.Consistent), stats.Thousands(p.FirstTwice), stats.Thousands(p.Pairs - p.Consistent - p.FirstTwice)})
	}
	return t
}

func chainTable(sum *SFTSum) report.AnswerTable {
	t := report.AnswerTable{Title: "Reasoning of the rows", Head: []string{"domain", "rows", "without", "mean characters", "mean tokens", "rows with interrupts", "interrupts in each of these", "most", "rows that speak of the answer"}}
	line := func(name string, c *reject.Reasoning) {
		mean := func(sum, n int64) string {
			if n == 0 {
				return "-"
			}
			return strconv.FormatFloat(float64(sum)/float64(n), 'f', 1, 64)
		}
		t.Rows = append(t.Rows, []string{name, stats.Thousands(c.Turns), stats.Thousands(c.Empty), mean(c.Chars, c.Turns), mean(c.Tokens, c.Turns),
			stats.Thousands(c.InterruptedTurns), mean(c.Interrupts, c.InterruptedTurns), stats.Thousands(c.Peak), stats.Thousands(c.LeakingTurns)})
	}
	for _, d := range sum.domains() {
		if c := sum.Chains[d]; c != nil {
			line(string(d), c)
		}
	}
	total := sum.Chains.Total()
	line("total", &total)
	return t
}

func usageTable(sum *SFTSum) report.AnswerTable {
	t := report.AnswerTable{Title: "Tokens that the answers took, as endpoints reported them", Head: []string{"of", "answers", "prompt", "completion", "reasoning among it"}}
	for _, kind := range slices.Sorted(maps.Keys(sum.Usage)) {
		u := sum.Usage[kind]
		t.Rows = append(t.Rows, []string{kind, stats.Thousands(u.Replies), stats.Thousands(u.Prompt), stats.Thousands(u.Completion), stats.Thousands(u.Reasoning)})
	}
	return t
}
