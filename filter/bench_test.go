package filter

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// tree is a page of n elements as BrowserGym writes it, with ids from first on.
func tree(n, first int, title string) string {
	b := &strings.Builder{}
	fmt.Fprintf(b, "RootWebArea '%s', focused, url='https://shop.example/list?page=1'\n", title)
	for i := range n {
		fmt.Fprintf(b, "\t[%d] link 'Item %d', clickable, visible, url='https://shop.example/i/%d.html'\n\t\tStaticText 'Item %d'\n", first+i, i, i, i)
	}
	return b.String()
}

// browsing is a run of n turns, each on another page but for every fourth, which changes nothing but ids.
func browsing(n int) *turnmill.Trajectory {
	t := &turnmill.Trajectory{Domain: turnmill.DomainWeb}
	now := tree(100, 10, "Shop 0")
	for i := range n {
		next := tree(100, 10+i, fmt.Sprint("Shop ", i-i%4/3))
		t.Turns = append(t.Turns, turnmill.Turn{Index: i, HasAction: true, State: now, Action: `{"name":"click","arguments":{"bid":"7"}}`, Tool: "click", Observation: next})
		now = next
	}
	return t
}

// BenchmarkApply measures all filters over trajectories of 20 turns, in bytes of their texts.
func BenchmarkApply(b *testing.B) {
	schemas := &strings.Builder{}
	for i := range 60 {
		fmt.Fprintf(schemas, `,{"type":"function","function":{"name":"tool_%d","description":"%s","parameters":{"type":"object","properties":{"path":{"type":"string"}}}}}`, i, strings.Repeat("What it does. ", 60))
	}
	terminal := &turnmill.Trajectory{Domain: turnmill.DomainTerminal}
	tools := &turnmill.Trajectory{Domain: turnmill.DomainMCP, System: turnmill.SystemPrompt{ActionSpace: "[" + schemas.String()[1:] + "]"}}
	for i := range 20 {
		turn := turnmill.Turn{Index: i, HasAction: true, Action: `{"name":"tool_3","arguments":{"path":"x"}}`, Tool: "tool_3", Observation: strings.Repeat("a line of output\n", 100)}
		terminal.Turns, tools.Turns = append(terminal.Turns, turn), append(tools.Turns, turn)
	}
	for _, c := range []struct {
		name string
		t    *turnmill.Trajectory
	}{{"terminal", terminal}, {"mcp", tools}, {"web", browsing(20)}} {
		b.Run(c.name, func(b *testing.B) {
			chain, err := New(nil, Options{})
			if err != nil {
				b.Fatal(err)
			}
			n := len(c.t.System.ActionSpace)
			for i := range c.t.Turns {
				n += len(c.t.Turns[i].State) + len(c.t.Turns[i].Action) + len(c.t.Turns[i].Observation)
			}
			var verdicts []turnmill.Verdict
			b.SetBytes(int64(n))
			b.ReportAllocs()
			for b.Loop() {
				var reason turnmill.Reason
				if verdicts, reason = chain.Apply(c.t, verdicts); reason != "" {
					b.Fatal(reason)
				}
			}
		})
	}
}

// Filters allocate nothing for a trajectory once their memory has grown.
func TestApplyAllocates(t *testing.T) {
	chain, _ := New(nil, Options{})
	web, mcp := browsing(8), calling(turnmill.DomainMCP, `[{"name":"a"},{"name":"mcp__x__b"},{"name":"caf\u00e9"}]`, "a", "b", "a")
	terminal := screens(turnmill.DomainTerminal, [3]string{"$", "{", garbled}, [3]string{"$", "ls", "a"}, [3]string{"$", "ls", "b"})
	failed := screens(turnmill.DomainWeb, [3]string{"page", "click", "RootWebArea 'x'\n\t[1] link 'y'\n\tStaticText \"can't\""}, [3]string{"page", "click", "other"})
	for name, trajectory := range map[string]*turnmill.Trajectory{"web": web, "mcp": mcp, "terminal": terminal, "short pages": failed} {
		var verdicts []turnmill.Verdict
		verdicts, _ = chain.Apply(trajectory, verdicts)
		if n := testing.AllocsPerRun(20, func() { verdicts, _ = chain.Apply(trajectory, verdicts) }); n > 0 {
			t.Errorf("%s: %v allocations a trajectory", name, n)
		}
	}
}

// A line above longestLine is not searched for what is volatile in it.
func TestLongLinesAreComparedAsTheyAre(t *testing.T) {
	for _, part := range []string{"'", `"`, "Phone ", "http://", "it's ", "10 hours ", "9:59 "} {
		a := strings.Repeat(part, longestLine)
		if got, _ := reasonsOf(t, screens(turnmill.DomainWeb, [3]string{a + "x", "click", a + "y"}), "no-change"); got != "" {
			t.Errorf("%q: %q", part, got)
		}
		if got, _ := reasonsOf(t, screens(turnmill.DomainWeb, [3]string{a, "click", a}), "no-change"); got != "no_change" {
			t.Errorf("%q: equal screens give %q", part, got)
		}
	}
}
