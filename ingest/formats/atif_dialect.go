package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// dialect says who wrote an ATIF document, where that changes how it reads.
type dialect uint8

const (
	dialectPlain    dialect = iota
	dialectTerminus         // Harbor's terminal agent: texts are its protocol
	dialectADP              // converted from a data set by the Agent Data Protocol
	dialectUnpaired         // the same, from a data set whose conversion pairs wrongly
)

func dialectOf(v jsonscan.Value) dialect {
	agent, extra := v.Get("agent"), v.Get("extra")
	details := extra.Get("adp_details")
	name, _ := agent.Get("name").Plain()
	switch {
	case details.Get("source").Is("nnetnav-live"), extra.Get("source_dataset").Is("nnetnav-live"):
		return dialectUnpaired
	case agent.Get("name").Is("adp"), extra.Get("adp_schema_version").Present(),
		agent.Get("version").Is("raw") && extra.Get("source_dataset").Present():
		return dialectADP
	case strings.HasPrefix(string(name), "terminus"):
		return dialectTerminus
	}
	return dialectPlain
}

// unpairedRun is why runs of a data set are refused, in whatever form of the protocol they come.
const unpairedRun = "a run of nnetnav-live, whose exports put pages behind actions that did not run"

// webPage returns the page that ADP keeps beside an empty content: the accessibility tree, else the HTML.
func webPage(result jsonscan.Value) jsonscan.Value {
	return pageOf(result.Get("extra").Get("web"))
}

// pageOf returns the page of a web observation.
func pageOf(web jsonscan.Value) jsonscan.Value {
	for _, name := range [...]string{"axtree", "html"} {
		if page := web.Get(name); page.Kind() == jsonscan.String && len(page.Raw()) > len(`""`) {
			return page
		}
	}
	return jsonscan.Value{}
}

// pageText tells pages that are written as text: WebShop's, whose fields are joined by this mark.
func pageText(text string) bool { return strings.Contains(text, " [SEP] ") }

// converterWrote tells the closing answers that ADP's converters invent: one of five, at random.
func converterWrote(text string) bool {
	switch strings.Trim(text, blanks) {
	case "Congratulations! You have successfully solved the task.", "Your solution has been verified as correct.",
		"Well done on successfully completing the task!", "Your implementation satisfies the task requirements.",
		"Task completed successfully.":
		return true
	}
	return false
}

// parseErrors begins what Terminus' harness, not the terminal, answers to a reply that it cannot read.
const parseErrors = "Previous response had parsing errors:"

// reply takes the action out of a reply of Terminus that stands as a message:
//
//	Some words. {"analysis":"a","plan":"p","commands":[C],"task_complete":true}  ->  {"commands":[C],"task_complete":true}
//	<analysis>a</analysis><commands>C</commands>                                 ->  <commands>C</commands>
//	Analysis: a\nPlan: p                                                         ->  a wait: no command was sent
func (a *atif) reply(text string) {
	a.shell = true
	if strings.HasPrefix(a.results[0].text, parseErrors) {
		a.results = a.results[:0]
		a.out.note(turnmill.NoteUnsolicited)
		a.say(text)
		return
	}
	if a.jsonReply(text) || a.xmlReply(text) {
		return
	}
	if text == "" || strings.HasPrefix(text, "Analysis:") || strings.HasPrefix(text, "Plan:") {
		a.think.add(text)
		return
	}
	a.say(text)
}

// replyTries is the number of opening brackets in a reply at which its JSON is looked for.
const replyTries = 8

func (a *atif) jsonReply(text string) bool {
	out, from := a.out, 0
	for range replyTries {
		i := strings.IndexByte(text[from:], '{')
		if i < 0 {
			return false
		}
		from += i
		out.buffer = append(out.buffer[:0], text[from:]...)
		v, end, err := out.inner.ParsePrefix(out.buffer)
		if err == nil && v.Get("commands").Kind() == jsonscan.Array {
			out.noteInner(out.inner.Repairs())
			a.think.add(text[:from])
			a.think.add(text[from+end:])
			a.say(a.withoutReasons(v))
			return true
		}
		from++
	}
	return false
}

// withoutReasons returns the members of a reply that are no reasoning, as they stand.
func (a *atif) withoutReasons(reply jsonscan.Value) string {
	out := a.out
	for k, m := range reply.Members() {
		if isReason(k) && m.Kind() == jsonscan.String {
			a.think.add(out.arena.Copy(m.Str(&out.arena))) // a copy: inner is read anew before it is used
		}
	}
	b := append(out.arena.Open(), '{')
	for k, m := range reply.Members() {
		if isReason(k) {
			continue
		}
		if len(b) > 1 {
			b = append(b, ',')
		}
		b = out.appendVerbatim(append(out.appendVerbatim(b, k), ':'), m)
	}
	return out.arena.Close(append(b, '}'))
}

// isReason tells the members of both versions of the protocol that hold reasoning.
func isReason(k jsonscan.Value) bool {
	return k.Is("analysis") || k.Is("plan") || k.Is("state_analysis") || k.Is("explanation")
}

func (a *atif) xmlReply(text string) bool {
	const open, end = "<commands>", "</commands>"
	from := strings.Index(text, open)
	if from < 0 {
		return false
	}
	n := strings.Index(text[from:], end)
	if n < 0 {
		return false
	}
	a.think.add(text[:from])
	a.say(text[from : from+n+len(end)])
	rest := text[from+n+len(end):]
	if i, j := strings.Index(rest, "<task_complete>"), strings.Index(rest, "</task_complete>"); i >= 0 && i < j {
		a.say(rest[i : j+len("</task_complete>")])
	}
	return true
}
