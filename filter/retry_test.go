package filter

import (
	"testing"

	"github.com/turnmill/turnmill"
)

const (
	garbled = "Previous response had parsing errors:\nERROR: No valid JSON found"
	gone    = `Attempt to perfom "click" on element "[12]" but no matching element found. Please check the observation more carefully.`
)

func TestRetryCycle(t *testing.T) {
	for _, c := range []struct {
		name       string
		domain     turnmill.Domain
		trajectory []([3]string) // state, action, observation
		want       string        // reasons
		states     string        // afterwards, each with a semicolon
	}{
		{"one", turnmill.DomainTerminal, [][3]string{{"$", "{oops", garbled}, {"$", "ls", "a.txt"}}, "retry_cycle,", "$;$;"},
		{"the state is carried over", turnmill.DomainTerminal, [][3]string{{"$", "{oops", garbled}, {"", "ls", "a.txt"}}, "retry_cycle,", "$;$;"},
		{"the refusal is no state", turnmill.DomainTerminal, [][3]string{{"$", "{oops", garbled}, {garbled, "ls", "a.txt"}, {"a.txt", "x", "y"}}, "retry_cycle,,", "$;$;a.txt;"},
		{"several in a row", turnmill.DomainTerminal, [][3]string{{"$", "{", garbled}, {garbled, "{{", garbled}, {garbled, "ls", "a"}}, "retry_cycle,retry_cycle,", "$;$;$;"},
		{"without states", turnmill.DomainSWE, [][3]string{{"", "{", garbled}, {"", "ls", "a"}}, "retry_cycle,", ";;"},
		{"a refusal that is the only state", turnmill.DomainSWE, [][3]string{{"", "{", garbled}, {garbled, "ls", "a"}}, "retry_cycle,", ";;"},
		{"another state: something happened", turnmill.DomainWeb, [][3]string{{"page", "click [12]", gone}, {"other page", "x", "y"}}, ",", "page;other page;"},
		{"the same screen but for its clock", turnmill.DomainAndroid, [][3]string{{`TextView "9:01"`, "tap", "Can not parse the output to a valid action. Pick one."}, {`TextView "9:02"`, "x", "y"}},
			"retry_cycle,", `TextView "9:01";TextView "9:02";`},
		{"nobody tries again", turnmill.DomainTerminal, [][3]string{{"$", "ls", "a"}, {"$", "{", garbled}}, ",", "$;$;"},
		{"an element that is gone", turnmill.DomainWeb, [][3]string{{"page", "click [12]", gone}, {"page", "click [13]", "next"}}, "retry_cycle,", "page;page;"},

		{"a command that is not found", turnmill.DomainTerminal, [][3]string{{"$", "lss", "bash: lss: command not found"}, {"$", "ls", "a"}}, ",", "$;$;"},
		{"a failing program", turnmill.DomainSWE, [][3]string{{"", "make", "make: *** [all] Error 1\n(exit 1)"}, {"", "ls", "a"}}, ",", ";;"},
		{"a program that speaks of parsing", turnmill.DomainSWE, [][3]string{{"", "jq . x", "jq: error: could not parse input: Previous response had parsing errors: 3"}, {"", "ls", "a"}}, ",", ";;"},
		{"a file that holds a refusal", turnmill.DomainSWE, [][3]string{{"", "cat log", "12:01 agent: " + gone}, {"", "ls", "a"}}, ",", ";;"},
		{"a tool's own validation", turnmill.DomainMCP, [][3]string{{"", "x", "MCP error -32602: Invalid arguments for tool x"}, {"", "y", "z"}}, ",", ";;"},
		{"an edit that does not match", turnmill.DomainSWE, [][3]string{{"", "edit", "<tool_use_error>String to replace not found in file.</tool_use_error>"}, {"", "y", "z"}}, ",", ";;"},
		{"a tool that is not there", turnmill.DomainSWE, [][3]string{{"", "zap", "<tool_use_error>Error: No such tool available: zap</tool_use_error>"}, {"", "y", "z"}}, "retry_cycle,", ";;"},
	} {
		t.Run(c.name, func(t *testing.T) {
			trajectory := screens(c.domain, c.trajectory...)
			got, _ := reasonsOf(t, trajectory, "no-action", "retry-cycle")
			if got != c.want {
				t.Errorf("reasons %q, want %q", got, c.want)
			}
			states := ""
			for i, turn := range trajectory.Turns {
				if states += turn.State + ";"; turn.Index != i {
					t.Errorf("turn %d has index %d now", i, turn.Index)
				}
			}
			if states != c.states {
				t.Errorf("states %q, want %q", states, c.states)
			}
		})
	}
}

// A pause is passed over on the way to the retry, and a person's word breaks the cycle.
func TestRetryCyclePauses(t *testing.T) {
	build := func() *turnmill.Trajectory {
		return screens(turnmill.DomainTerminal, [3]string{"$", "{", garbled}, [3]string{"", "", ""}, [3]string{garbled, "ls", "a"})
	}
	pause := build()
	pause.Turns[1].HasAction = false
	if got, _ := reasonsOf(t, pause, "no-action", "retry-cycle"); got != "retry_cycle,no_action," || pause.Turns[2].State != "$" {
		t.Errorf("reasons %q, state %q", got, pause.Turns[2].State)
	}
	person := build()
	person.Turns[1].Dialogue = true
	if got, _ := reasonsOf(t, person, "retry-cycle"); got != ",dialogue," || person.Turns[2].State != garbled {
		t.Errorf("reasons %q, state %q", got, person.Turns[2].State)
	}
}

// Without the filter no state changes.
func TestRetryCycleOff(t *testing.T) {
	trajectory := screens(turnmill.DomainTerminal, [3]string{"$", "{", garbled}, [3]string{garbled, "ls", "a"})
	if got, _ := reasonsOf(t, trajectory, "all", "-retry-cycle"); got != "," || trajectory.Turns[1].State != garbled {
		t.Errorf("reasons %q, state %q", got, trajectory.Turns[1].State)
	}
}
