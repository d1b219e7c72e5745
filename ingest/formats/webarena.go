package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
)

// webArena decodes the HTML files into which WebArena renders a run:
//
//	<pre>task_id: 7 intent: ...</pre>
//	<div class='state_obv'><pre>  page          -> state, and the observation of the action before it
//	<div class='prev_action'      what ran      -> action that led to the page
//	<div class='predict_action'>  reply, action -> thought, and what the agent proposes
type webArena struct {
	nnetnav
	known bool // the page before is known
}

const (
	pageMark  = "<div class='state_obv'><pre>"
	endPre    = "</pre>"
	prevMark  = "<div class='prev_action'"
	replyMark = "<div class='predict_action'>"
	newPage   = "<h2>New Page</h2>"
)

func (w *webArena) Decode(raw []byte, out *Decoded) error {
	out.reset()
	text := out.text(raw)
	head, _, ok := strings.Cut(text, pageMark)
	if !ok {
		out.reset()
		return wrongFormat(webArenaName, "no page in a div of class state_obv")
	}
	w.begin(out.trajectory(webArenaName, ""), out)
	w.t.Observed, w.proposed, w.known = turnmill.ObservedTrue, "", false
	task, intent := configuration(head)
	w.t.TaskID = task
	w.person(words{text: intent, mute: true})
	w.started = true
	w.pages(text, len(head), len(raw))
	w.close()
	return nil
}

// configuration returns the task's number and words, from lines of "key: value".
func configuration(head string) (task, intent string) {
	_, head, _ = strings.Cut(head, "<pre>")
	head, _, _ = strings.Cut(head, endPre)
	for line := range strings.Lines(head) {
		line = strings.TrimRight(line, "\r\n")
		if v, ok := strings.CutPrefix(line, "task_id: "); ok {
			task = v
		}
		if v, ok := strings.CutPrefix(line, "intent: "); ok {
			intent = v
		}
	}
	return task, intent
}

// pages takes the steps of a run, the first of which begins at from. A page may speak of pages, so a step ends
// where the next one has its heading and its address. The record has size bytes, more or fewer than text where
// bytes were mended.
func (w *webArena) pages(text string, from, size int) {
	const head = newPage + "\n<h3 class='url'>"
	for from < len(text) {
		to := len(text)
		if i := strings.Index(text[from+1:], head); i >= 0 {
			to = from + 1 + i
		}
		if !w.one(text[from:to]) {
			w.say(w.proposed)
			w.end()
			w.proposed, w.known = "", false
			at := min(from, size-1)
			w.out.lost(int64(at), int64(min(to, size)-at), reject(turnmill.ReasonBadField, "a step without its page, or without the action before it"))
		}
		from = to
	}
}

// one takes a step: the page, what ran before it, and the reply.
func (w *webArena) one(step string) bool {
	_, step, found := strings.Cut(step, pageMark)
	page, after, ok := cutLast(step, prevMark)
	page, _, closed := cutLast(page, endPre)
	if !found || !ok || !closed {
		return false
	}
	before, reply, _ := strings.Cut(after, replyMark)
	_, before, _ = strings.Cut(before, ">")
	if before, _, _ = cutLast(before, "</div>"); before == "" {
		before = w.proposed
	}
	if w.known {
		w.ran(before, page)
	}
	w.end()
	w.state, w.known = page, true
	w.proposed = w.reply(reply)
	return true
}

// reply takes the agent's reply: its reasoning, and what it proposes.
func (w *webArena) reply(text string) string {
	const raw, parsed = "<div class='raw_parsed_prediction'", "<div class='parsed_action'"
	if i := strings.Index(text, raw); i >= 0 {
		_, words, _ := strings.Cut(text[i:], "<pre>")
		words, _, _ = strings.Cut(words, endPre+"</div><div class='")
		if action := w.propose(words); action != "" {
			return action
		}
	}
	if i := strings.LastIndex(text, parsed); i >= 0 {
		_, action, _ := strings.Cut(text[i:], "<pre>")
		action, _, _ = strings.Cut(action, endPre)
		return withoutElement(action)
	}
	action, _, _ := strings.Cut(text, "</div>")
	return strings.Trim(action, blanks) // code for Playwright
}

// cutLast is strings.Cut at the last sep.
func cutLast(s, sep string) (before, after string, found bool) {
	if i := strings.LastIndex(s, sep); i >= 0 {
		return s[:i], s[i+len(sep):], true
	}
	return s, "", false
}
