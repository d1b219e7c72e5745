package formats

import (
	"crypto/sha256"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestSWEAgentRealFiles counts the turns of the published runs and hashes their unified form.
func TestSWEAgentRealFiles(t *testing.T) {
	files := realFiles(t, "swe-agent")
	var names []string
	for name := range files {
		names = append(names, name)
	}
	slices.Sort(names)
	var out strings.Builder
	for _, name := range names {
		found, err := Detect(files[name], true)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		d := found.Format.New(Options{})
		for _, raw := range records(t, found.Layout, files[name]) {
			var got Decoded
			if err := d.Decode(raw, &got); err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			run := &got.Trajectories[0]
			tools := map[string]int{}
			for _, turn := range run.Turns {
				tools[turn.Tool]++
			}
			line := AppendUnified(nil, run)
			id, _ := ContentID(run, nil)
			fmt.Fprintf(&out, "%s\tturns=%d\tdomain=%s\ttask_id=%s\ttools=%v\tunified=%x\tid=%s\t%s", name, len(run.Turns), run.Domain,
				run.TaskID, tools, sha256.Sum256(line), id, noteLine(&got.Notes))
		}
	}
	golden(t, "real/swe-agent.tsv", out.String())
}

func TestFirstWord(t *testing.T) {
	for command, want := range map[string]string{
		"ls -a\n":                       "ls",
		"  edit 1:1\nfoo":               "edit",
		"submit":                        "submit",
		"":                              "",
		"A=1 B_2=x python x.py":         "python",
		"A=1":                           "",
		"1=2 x":                         "1=2",
		"a==b":                          "",
		"./run=fast x":                  "./run=fast",
		strings.Repeat("x", 65) + " -a": "",
	} {
		if got := firstWord(command); got != want {
			t.Errorf("%q: got %q, want %q", command, got, want)
		}
	}
}

func TestHasWord(t *testing.T) {
	for _, tt := range []struct {
		text, words string
		want        bool
	}{
		{"find the flag.", "flag", true}, {"Flag{x}", "flag", true}, {"FLAGS", "flag", false}, {"my_flag", "flag", false},
		{"unflag", "flag", false}, {"flagé", "flag", false}, {"", "flag", false}, {"a CTF challenge", "ctf", true},
		{"CTFd", "ctf", false}, {"Capture The Flag", "capture the flag", true}, {"flags flag", "flag", true},
	} {
		if got := hasWord(tt.text, tt.words); got != tt.want {
			t.Errorf("%q in %q: %v", tt.words, tt.text, got)
		}
	}
}

func TestToolKind(t *testing.T) {
	for name, want := range map[string]toolKinds{
		"bash": toolShell, "Bash": toolShell, "execute_bash": toolShell, "run_terminal_cmd": toolShell, "functions.exec_command": toolShell,
		"web_search": toolSearch, "WebSearch": toolSearch, "exa-search-web_search_exa": toolSearch, "browser.open": toolSearch,
		"mcp__exa__web_search": toolSearch, "google_search_results": toolSearch, "search": toolSearch,
		"str_replace_based_edit_tool": toolEdit, "Edit": toolEdit, "mcp__filesystem__edit_file": toolEdit, "apply_patch": toolEdit,
		"think": toolAside, "finish": toolAside,
		"search_flights": toolOther, "research": toolOther, "create_event": toolOther, "": toolOther, "crédit": toolOther,
		strings.Repeat("bash", 20): toolOther,
	} {
		if got := toolKind(name); got != want {
			t.Errorf("%q: %b, want %b", name, got, want)
		}
	}
}

func TestDomainOf(t *testing.T) {
	for _, tt := range []struct {
		called, declared toolKinds
		want             turnmill.Domain
	}{
		{0, 0, "unknown"}, {0, toolShell, "unknown"}, {toolShell, 0, "terminal"}, {toolShell | toolAside, toolOther, "terminal"},
		{toolShell, toolShell | toolEdit, "swe"}, {toolEdit, 0, "swe"}, {toolSearch, toolOther, "search"},
		{toolSearch | toolOther, 0, "mcp"}, {toolSearch | toolShell, 0, "mcp"}, {toolAside, 0, "mcp"}, {toolOther, 0, "mcp"},
	} {
		if got := domainOf(tt.called, tt.declared); got != tt.want {
			t.Errorf("called %b, declared %b: %s, want %s", tt.called, tt.declared, got, tt.want)
		}
	}
}
