package filter

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// calling builds a trajectory that declares space and calls each name in a turn of its own.
func calling(domain turnmill.Domain, space string, names ...string) *turnmill.Trajectory {
	t := &turnmill.Trajectory{Domain: domain, System: turnmill.SystemPrompt{ActionSpace: space}}
	for i, n := range names {
		t.Turns = append(t.Turns, turnmill.Turn{Index: i, HasAction: true, Action: `{"name":"` + n + `","arguments":{}}`, Tool: n, Observation: "ok"})
	}
	return t
}

// Every dialect in which a source declares tools, with calls that it knows and calls that it does not.
func TestUndeclaredTool(t *testing.T) {
	const openAI = `[{"type":"function","function":{"name":"read_file","parameters":{"properties":{"name":{"type":"string"}}}}},{"type":"function","function":{"name":"list"}}]`
	for _, c := range []struct {
		name, space string
		calls       string // comma-joined: one turn
		drop        bool
		unjudged    bool
	}{
		{name: "OpenAI", space: openAI, calls: "read_file"},
		{name: "OpenAI, unknown", space: openAI, calls: "write_file", drop: true},
		{name: "a parameter is no tool", space: openAI, calls: "name", drop: true},
		{name: "several calls in a turn", space: openAI, calls: "read_file,list"},
		{name: "the second of several", space: openAI, calls: "read_file,rm", drop: true},
		{name: "OpenAI legacy", space: `{"functions":[{"name":"a","parameters":{}}]}`, calls: "b", drop: true},
		{name: "Responses", space: `[{"type":"function","name":"a","parameters":{}}]`, calls: "b", drop: true},
		{name: "Responses, hosted", space: `[{"type":"function","name":"a"},{"type":"web_search_preview"}]`, calls: "web_search,a"},
		{name: "Responses, beside a hosted one", space: `[{"type":"function","name":"a"},{"type":"web_search_preview"}]`, calls: "b", drop: true},
		{name: "Responses, a server that lists nothing", space: `[{"type":"function","name":"a"},{"type":"mcp","server_label":"x"}]`, calls: "b", unjudged: true},
		{name: "Anthropic", space: `[{"name":"a","description":"d","input_schema":{"type":"object"}}]`, calls: "b", drop: true},
		{name: "Anthropic, of its own", space: `[{"type":"bash_20250124","name":"bash"}]`, calls: "bash"},
		{name: "Gemini", space: `[{"functionDeclarations":[{"name":"a"},{"name":"b"}]}]`, calls: "b"},
		{name: "Gemini, unknown", space: `[{"function_declarations":[{"name":"a"}]}]`, calls: "b", drop: true},
		{name: "Gemini, of its own", space: `[{"functionDeclarations":[{"name":"a"}]},{"googleSearch":{}}]`, calls: "b", unjudged: true},
		{name: "MCP", space: `{"tools":[{"name":"a","inputSchema":{"type":"object"}}]}`, calls: "b", drop: true},
		{name: "MCP, by server", space: `[{"server_name":"s","tools":[{"tool_name":"a"}]},{"server_name":"t","tools":[{"name":"b"}]}]`, calls: "a,b"},
		{name: "MCP, servers alone", space: `{"mcpServers":{"s":{"command":"npx"}}}`, calls: "mcpServers,b", drop: true},
		{name: "Bedrock", space: `{"tools":[{"toolSpec":{"name":"a","inputSchema":{"json":{}}}}]}`, calls: "b", drop: true},
		{name: "names", space: `["Bash","Read"]`, calls: "Bash"},
		{name: "names, unknown", space: `["Bash","Read"]`, calls: "Write", drop: true},
		{name: "JSON in strings", space: `["{\"type\":\"function\",\"name\":\"a\"}","{\"type\":\"function\",\"name\":\"c\"}"]`, calls: "a,c"},
		{name: "JSON in strings, unknown", space: `["{\"type\":\"function\",\"name\":\"a\"}"]`, calls: "b", drop: true},
		{name: "a list in a string", space: `"[{\"name\":\"a\"}]"`, calls: "b", drop: true},
		{name: "damaged JSON in a string", space: `["{\"name\":\"a\""]`, calls: "b", unjudged: true},
		{name: "lines", space: "{\"name\":\"a\"}\n{\"name\":\"b\"}", calls: "a,b"},
		{name: "definitions by name", space: `{"a":{"description":"d"},"b":{"description":"d"}}`, calls: "c", drop: true},
		{name: "an escape in a name", space: `[{"name":"a\u0062"}]`, calls: "ab"},
		{name: "prose", space: "You can call search(query) and stop().", calls: "b", unjudged: true},
		{name: "prose that begins as JSON does", space: `[search] finds a page`, calls: "b", unjudged: true},
		{name: "an empty list", space: `[]`, calls: "b", unjudged: true},
		{name: "numbers", space: `[1,2]`, calls: "b", unjudged: true},
		{name: "no name anywhere", space: `[{"description":"d"}]`, calls: "b", unjudged: true},
		{name: "a kind without a word", space: `[{"type":""}]`, calls: "b", unjudged: true},
		{name: "nothing declared", space: "", calls: "b"},
		{name: "a server's prefix at the call", space: `[{"name":"search"}]`, calls: "mcp__exa__search,exa.search,functions.search,default_api:search"},
		{name: "a server's prefix at the declaration", space: `["mcp__exa__web_search"]`, calls: "web_search,exa__web_search"},
		{name: "other servers' tools", space: `["mcp__exa__search"]`, calls: "mcp__brave__search", drop: true},
		{name: "part of a word is no prefix", space: `["search"]`, calls: "research", drop: true},
		{name: "a single low line parts no server", space: `["search"]`, calls: "web_search", drop: true},
		{name: "case and signs", space: `["web_search"]`, calls: "Web-Search,webSearch"},
		{name: "the wrapper of calls side by side", space: `["a"]`, calls: "multi_tool_use.parallel"},
	} {
		t.Run(c.name, func(t *testing.T) {
			chain, err := New([]string{"undeclared-tool"}, Options{})
			if err != nil {
				t.Fatal(err)
			}
			_, reason := chain.Apply(calling(turnmill.DomainMCP, c.space, c.calls), nil)
			if drop := reason == turnmill.ReasonUndeclaredTool; drop != c.drop || reason != "" && !drop {
				t.Errorf("reason %q, want a drop: %v", reason, c.drop)
			}
			if n := chain.Notes()[turnmill.NoteToolsNotJudged]; n > 0 != c.unjudged {
				t.Errorf("tools_not_judged %d, want it: %v", n, c.unjudged)
			}
		})
	}
}

// TestUndeclaredToolScope: where the filter looks, and at what.
func TestUndeclaredToolScope(t *testing.T) {
	chain, _ := New([]string{"undeclared-tool"}, Options{})
	for domain, drop := range map[turnmill.Domain]bool{
		turnmill.DomainMCP: true, turnmill.DomainSWE: true, turnmill.DomainSearch: false, turnmill.DomainTerminal: false, turnmill.DomainWeb: false,
	} {
		if _, reason := chain.Apply(calling(domain, `["a"]`, "a", "b"), nil); (reason != "") != drop {
			t.Errorf("%s: reason %q, want a drop: %v", domain, reason, drop)
		}
	}
	for _, c := range []struct {
		name string
		set  func(*turnmill.Turn)
		drop bool
	}{
		{"a tool's name with a comma", func(u *turnmill.Turn) { u.Tool = "a, then b" }, false},
		{"a shell command", func(u *turnmill.Turn) { u.Tool, u.Action = "", "ls -l" }, false},
		{"a call's own name where the turn has none", func(u *turnmill.Turn) { u.Tool, u.Action = "", `{"name":"zap","arguments":{}}` }, true},
		{"of several calls", func(u *turnmill.Turn) {
			u.Tool, u.Action = "", "{\"name\":\"a\",\"arguments\":{\n}}\n{\"name\":\"zap\",\"arguments\":{}}"
		}, true},
		{"an object that is no call", func(u *turnmill.Turn) { u.Tool, u.Action = "", `{"name":"zap"}` }, false},
		{"a person's reply", func(u *turnmill.Turn) { u.Tool, u.Dialogue = "zap", true }, false},
		{"no action", func(u *turnmill.Turn) { u.Tool, u.HasAction = "zap", false }, false},
	} {
		trajectory := calling(turnmill.DomainSWE, `["a","a, then b"]`, "a", "a")
		c.set(&trajectory.Turns[1])
		if _, reason := chain.Apply(trajectory, nil); (reason != "") != c.drop {
			t.Errorf("%s: reason %q, want a drop: %v", c.name, reason, c.drop)
		}
	}
}

// A call that is known by a name in another spelling lends that name to no other, where names stand in the
// actions alone. The names are long because maps look at the bytes of such keys before their hash.
func TestUndeclaredToolRemembersNames(t *testing.T) {
	chain, _ := New([]string{"undeclared-tool"}, Options{})
	long := strings.Repeat("x", 80)
	for _, c := range []struct {
		second string
		reason turnmill.Reason
	}{
		{"Del-Search-" + long, turnmill.ReasonUndeclaredTool},
		{"WEB_SEARCH_" + long, ""},
	} {
		trajectory := calling(turnmill.DomainMCP, `["web_search_`+long+`"]`, "Web-Search-"+long, c.second)
		for i := range trajectory.Turns {
			trajectory.Turns[i].Tool = ""
		}
		if _, reason := chain.Apply(trajectory, nil); reason != c.reason {
			t.Errorf("%q: reason %q, want %q", c.second, reason, c.reason)
		}
	}
}

// What one trajectory declares is forgotten before the next.
func TestUndeclaredToolForgets(t *testing.T) {
	chain, _ := New([]string{"undeclared-tool"}, Options{})
	for i := range 3 {
		space, other := `["a"]`, `["{\"name\":\"b\"}"]`
		if _, reason := chain.Apply(calling(turnmill.DomainMCP, space, "a"), nil); reason != "" {
			t.Errorf("round %d: a is declared, %q", i, reason)
		}
		if _, reason := chain.Apply(calling(turnmill.DomainMCP, other, "a"), nil); reason == "" {
			t.Errorf("round %d: a was declared by the trajectory before", i)
		}
	}
}

func FuzzUndeclaredTool(f *testing.F) {
	f.Add(`[{"type":"function","function":{"name":"a"}}]`, "a,b")
	f.Add(`["{\"name\":\"a\"}", "[[[[[[[[[[[1]]]]]]]]]]]"]`, "mcp__x__a")
	f.Add(`{"tools":{"a":{}}}`, "::")
	chain, _ := New([]string{"undeclared-tool"}, Options{})
	f.Fuzz(func(t *testing.T, space, names string) {
		trajectory := calling(turnmill.DomainMCP, space, names, names)
		_, first := chain.Apply(trajectory, nil)
		if _, again := chain.Fork().Apply(trajectory, nil); first != again {
			t.Errorf("%q, then %q", first, again)
		}
		if first != "" && !strings.ContainsAny(space, `[{"`) {
			t.Errorf("%q was judged", space)
		}
	})
}
