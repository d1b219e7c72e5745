package formats

import (
	"bytes"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// toolKinds is a set of what tools are for.
type toolKinds uint8

const (
	toolShell  toolKinds = 1 << iota // runs shell commands or sends keystrokes
	toolSearch                       // searches, opens or extracts pages
	toolEdit                         // changes files
	toolAside                        // thinks, plans or ends the run: says nothing about the environment
	toolOther
)

// domainOf settles the domain of a run by the tools that were called and those that were declared: a
// software task when files can be edited, else by what every called tool does.
func domainOf(called, declared toolKinds) turnmill.Domain {
	acting := called &^ toolAside
	switch {
	case (called|declared)&toolEdit != 0:
		return turnmill.DomainSWE
	case acting == toolShell:
		return turnmill.DomainTerminal
	case acting == toolSearch:
		return turnmill.DomainSearch
	case called != 0:
		return turnmill.DomainMCP
	}
	return turnmill.DomainUnknown
}

// declares tells whether a member holds tools: a list, an object or a string with one of them.
func declares(v jsonscan.Value) bool {
	if text, ok := v.Plain(); ok {
		return string(text) != "" && string(text) != "[]" && string(text) != "{}" && string(text) != "null"
	}
	switch v.Kind() {
	case jsonscan.Invalid, jsonscan.Null:
		return false
	case jsonscan.Array, jsonscan.Object:
		return v.Len() > 0
	}
	return true
}

// declare keeps the declared tools, which the record has under name, as they stand, and returns what they
// are for.
func (a *acts) declare(name string, v jsonscan.Value) (toolKinds, error) {
	if !declares(v) {
		return 0, nil
	}
	switch v.Kind() {
	case jsonscan.Array, jsonscan.Object:
		a.t.System.ActionSpace = a.out.verbatim(v)
		return a.out.declaredKinds(v), nil
	case jsonscan.String:
		a.t.System.ActionSpace = v.Str(&a.out.arena)
		list, err := a.out.parseInner(a.t.System.ActionSpace)
		if err != nil {
			return 0, nil // prose about the tools: kept, and nothing more is known
		}
		return a.out.declaredKinds(list), nil
	}
	return 0, badField(name, "an array", v)
}

// declaredKinds looks through a list of declared tools, in the form {function: {name}} or {name}, and
// in Gemini's lists of such.
func (d *Decoded) declaredKinds(list jsonscan.Value) toolKinds {
	var kinds toolKinds
	for tool := range list.Elems() {
		kinds |= d.declaredKind(tool)
		for inner := range eitherName(tool, "functionDeclarations", "function_declarations").Elems() {
			kinds |= d.declaredKind(inner)
		}
	}
	return kinds
}

func (d *Decoded) declaredKind(tool jsonscan.Value) toolKinds {
	name := tool.Get("function").Get("name")
	if !name.Present() {
		name = tool.Get("name")
	}
	if name.Kind() != jsonscan.String {
		return 0
	}
	return toolKind(name.Str(&d.arena))
}

// toolKind classes a tool by its name, written in any of the usual ways ("WebSearch", "web_search",
// "mcp__exa__web_search", "browser.search").
func toolKind(name string) toolKinds {
	if k := namedKind(name); k != toolOther {
		return k
	}
	for _, sep := range [...]string{"__", ".", "/", ":"} {
		if i := strings.LastIndex(name, sep); i >= 0 {
			if k := namedKind(name[i+len(sep):]); k != toolOther {
				return k
			}
		}
	}
	return toolOther
}

// namedKind looks up a name by its letters and digits alone, in lower case.
func namedKind(name string) toolKinds {
	var buf [64]byte
	n := 0
	for i := 0; i < len(name); i++ {
		c := name[i]
		switch {
		case c >= 'A' && c <= 'Z':
			c += 'a' - 'A'
		case c >= 'a' && c <= 'z' || c >= '0' && c <= '9':
		case c == '_' || c == '-' || c == '.' || c == ' ' || c == '/' || c == ':':
			continue
		default:
			return toolOther
		}
		if n == len(buf) {
			return toolOther
		}
		buf[n] = c
		n++
	}
	key := buf[:n]
	if kind := exactKind(key); kind != toolOther {
		return kind
	}
	for _, engine := range [...]string{"websearch", "searchweb", "googlesearch", "bingsearch", "duckduckgo", "wikipedia"} {
		if bytes.Contains(key, []byte(engine)) {
			return toolSearch
		}
	}
	return toolOther
}

// exactKind is the table of names.
func exactKind(key []byte) toolKinds {
	switch string(key) {
	case "bash", "sh", "zsh", "shell", "terminal", "console", "cmd", "powershell", "tmux",
		"exec", "executecommand", "executebash", "executebashcommand", "executeshell", "executeshellcommand",
		"execcommand", "containerexec", "runcommand", "runcommands", "runcmd", "runbash", "runshell",
		"runshellcommand", "runterminalcmd", "runterminalcommand", "runinterminal", "bashcommand", "bashtool", "bashsession", "shellcommand",
		"shelltool", "localshell", "terminalexecute", "keystrokes", "sendkeys", "sendkeystrokes", "writestdin",
		"bashoutput", "killbash", "killshell":
		return toolShell
	case "search", "searchengine", "exasearch", "bravesearch", "tavilysearch", "serpersearch", "serpapi", "retrieve",
		"browsersearch", "browseropen", "browserfind", "webextractor", "webextract", "extractpage", "extractpages",
		"webfetch", "fetchurl", "fetchpage", "fetchwebpage", "openpage", "openurl", "openwebpage", "visit", "visitpage",
		"visiturl", "visitwebpage", "visitwebsite", "readpage", "readurl", "readwebpage", "browse", "browsepage",
		"scrape", "scrapepage", "scrapeurl", "scrapewebpage", "crawl", "crawlpage", "getwebpage", "dictmemory":
		return toolSearch
	case "edit", "editfile", "fileedit", "editor", "fileeditor", "texteditor", "multiedit", "multieditfile", "write", "writefile",
		"writetofile", "createfile", "strreplace", "strreplaceeditor", "strreplacebasededittool", "strreplaceinfile",
		"replaceinfile", "searchreplace", "searchandreplace", "applypatch", "applydiff", "applyedit", "insertedit",
		"inserteditintofile", "notebookedit", "editnotebook", "editblock", "patchfile":
		return toolEdit
	case "think", "sequentialthinking", "plan", "updateplan", "todo", "todowrite", "todoread", "tasktracker", "finish", "submit", "done",
		"complete", "attemptcompletion", "taskdone", "taskcomplete", "marktaskcomplete", "finalanswer", "finaloutput", "giveanswer", "answer":
		return toolAside
	}
	return toolOther
}
