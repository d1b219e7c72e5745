package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// adp decodes trajectories of the Agent Data Protocol.
//
//	text, web, image  -->  an answer to the calls before it; else the task, or the page that the next action sees
//	api, code         -->  calls                                                            adp_item.go
//	message           -->  words: of the task when it comes first, else of the agent
type adp struct {
	acts
	page  string // the last page or shows
	react bool   // the act is a message in the ReAct protocol: what answers it is the environment
	seen  shows
}

// shows is a set of what a run's observations and actions are.
type shows uint8

const (
	screenWeb     shows = 1 << iota // pages
	screenAndroid                   // elements of Android's classes
	screenOther                     // elements of other screens
	screenShell                     // code for a shell
	screenCode                      // other code
)

func (a *adp) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, a.record)
}

func (a *adp) record(v jsonscan.Value, out *Decoded) error {
	content, details := v.Get("content"), v.Get("details")
	switch {
	case content.Kind() == jsonscan.Invalid || v.Kind() != jsonscan.Object:
		why, _ := recogniseADP(v)
		return wrongFormat(adpName, why)
	case content.Kind() != jsonscan.Array:
		return badField("content", "an array", content)
	case details.Get("source").Is("nnetnav-live"):
		return reject(turnmill.ReasonWrongFormat, unpairedRun)
	}
	a.begin(out.trajectory(adpName, ""), out)
	a.page, a.react, a.seen = "", false, 0
	declared, err := a.about(v, details)
	if err != nil {
		return err
	}
	i := 0
	for item := range content.Elems() {
		if err := a.item(item, i); err != nil {
			return inside("content", i, err)
		}
		i++
	}
	a.finish()
	a.t.Domain = a.domain(declared)
	out.finish(a.t, a.opts)
	return nil
}

// about reads what the record says of the run.
func (a *adp) about(v, details jsonscan.Value) (toolKinds, error) {
	out := a.out
	a.t.TaskID = out.id(v.Get("id"))
	if name := details.Get("source").Str(&out.arena); name != "" {
		a.t.Source = name
	}
	var kept member
	if details.Kind() == jsonscan.Object && details.Len() > 0 {
		kept = member{"details", out.meta(details), true}
	}
	a.t.Meta = out.object(member{name: "schema_version", text: v.Get("schema_version").Str(&out.arena)}, kept)
	for _, name := range [...]string{"available_custom_tools", "available_apis"} {
		if tools := v.Get(name); declares(tools) {
			return a.declare(name, tools)
		}
	}
	return 0, nil
}

// item takes content[i].
func (a *adp) item(v jsonscan.Value, i int) error {
	if v.Kind() != jsonscan.Object {
		return badField("", "an object", v)
	}
	switch adpClass(v.Get("class_")) {
	case classAPI:
		return a.api(v)
	case classCode:
		return a.code(v)
	case classMessage:
		return a.message(v, i == 0)
	case classText:
		return a.text(v)
	case classWeb:
		return a.web(v)
	case classImage:
		return a.image(v)
	}
	return reject(turnmill.ReasonBadMessage, "content[%d]: no class_ of the protocol (api_action, text_observation and so on)", i)
}

// domain settles the domain by what was seen, then by what was done.
func (a *adp) domain(declared toolKinds) turnmill.Domain {
	switch {
	case a.seen&screenWeb != 0:
		return turnmill.DomainWeb
	case a.seen&screenAndroid != 0:
		return turnmill.DomainAndroid
	case a.seen&screenOther != 0 && a.seen&screenCode != 0:
		return turnmill.DomainOS
	case a.seen&screenCode != 0 && a.kinds == 0:
		return turnmill.DomainUnknown
	}
	called := a.kinds
	if a.seen&screenShell != 0 {
		called |= toolShell
	}
	return domainOf(called, declared)
}

// unwrapTools returns the declaration of tools that a system text of Kimi's template holds, and whether it
// holds one.
func unwrapTools(text string) (string, bool) {
	const open, end = "<|im_system|>tool_declare<|im_middle|>", "<|im_end|>"
	if !strings.HasPrefix(text, open) || !strings.HasSuffix(text, end) {
		return text, false
	}
	return text[len(open) : len(text)-len(end)], true
}

// language tells what code is for.
func (a *adp) language(v jsonscan.Value) error {
	text, plain := v.Plain()
	if v.Kind() != jsonscan.String || !plain && len(text) == 0 {
		return badField("language", "a string", v)
	}
	switch string(text) {
	case "bash", "sh", "shell", "zsh", "console", "powershell", "batchfile", "terminal":
		a.seen |= screenShell
	default:
		a.seen |= screenCode
	}
	return nil
}
