package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// miniSWE decodes runs of mini-swe-agent. What is not the harness's own is read as a chat.
type miniSWE struct {
	chat
	codes []string // of the results, in their order
}

func (s *miniSWE) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, s.record)
}

func (s *miniSWE) record(v jsonscan.Value, out *Decoded) error {
	r := chatRecord{name: miniSWEName, messages: v}
	if v.Kind() == jsonscan.Object {
		r.messages = v.Get("messages")
		r.task.v = v.Get("instance_id")
		r.agent.v = v.Get("info").Get("config").Get("model").Get("model_name")
	}
	if k := v.Kind(); k != jsonscan.Array && r.messages.Kind() == jsonscan.Invalid {
		why, _ := recogniseMiniSWE(v)
		return wrongFormat(miniSWEName, why)
	}
	if _, err := s.open(&r, out); err != nil {
		return err
	}
	s.codes = s.codes[:0]
	i := 0
	for m := range r.messages.Elems() {
		if err := s.message(m, i); err != nil {
			return err
		}
		i++
	}
	s.finish()
	info := v.Get("info")
	s.t.Meta = out.object(
		member{name: "exit_status", text: info.Get("exit_status").Str(&out.arena)},
		member{name: "mini_version", text: info.Get("mini_version").Str(&out.arena)},
		out.listed("returncodes", s.codes))
	s.t.Observed = turnmill.ObservedTrue
	s.t.Domain = turnmill.DomainSWE
	out.finish(s.t, s.opts)
	return nil
}

func (s *miniSWE) message(v jsonscan.Value, i int) error {
	role := v.Get("role")
	switch who := chatRole(role); {
	case role.Is("exit"):
		return s.exit(v, i)
	case who == roleTool:
		return s.output(v, i)
	case who == roleUser && s.started:
		return s.reply(v, i)
	case who == roleAgent && !v.Get("tool_calls").Present():
		return s.command(v, i)
	}
	return s.chat.message(v, i)
}

// command takes a text of the agent: the command in it, and what stands around it as thoughts.
func (s *miniSWE) command(v jsonscan.Value, i int) error {
	m := s.readMessage(v)
	s.agent()
	w, ok := s.out.content(m.content, &s.think)
	if !ok {
		return s.badMessage(i, "content is neither a text nor a list of parts")
	}
	s.reasonings(&m)
	text := s.out.withoutThinking(w.text, &s.think)
	before, command, after, ok := fencedCommand(text)
	switch {
	case ok:
		s.think.add(before)
		s.think.add(after)
		s.call(call{name: "bash", text: command, answer: -1})
	case !s.say(text):
		s.out.note(turnmill.NoteEmptiedMessage)
	}
	return nil
}

// reply takes what the harness says under the user's role: the output of a fenced command, or its own words.
func (s *miniSWE) reply(v jsonscan.Value, i int) error {
	if len(s.calls) > 0 && len(s.results) == 0 && s.calls[len(s.calls)-1].text != "" {
		return s.output(v, i)
	}
	s.out.note(turnmill.NoteUnsolicited)
	return nil
}

// output takes the output of a command.
func (s *miniSWE) output(v jsonscan.Value, i int) error {
	w, ok := s.out.content(v.Get("content"), &s.aside)
	if !ok {
		return s.badMessage(i, "content is neither a text nor a list of parts")
	}
	text, code := unwrapOutput(w.text)
	extra := v.Get("extra")
	if raw := extra.Get("raw_output"); raw.Kind() == jsonscan.String && !hasText(extra.Get("exception_info")) {
		text = raw.Str(&s.out.arena)
		w.mute = false
	}
	if number := extra.Get("returncode"); isInteger(number.RawStr()) {
		code = number.RawStr()
	}
	if refusedByPerson(w.text) {
		w.mute = true
	}
	s.result(result{id: s.out.id(v.Get("tool_call_id")), text: text, mute: w.mute}, code)
	return nil
}

// exit takes the message that ends a run of version 2. After a submission it holds what the command printed.
func (s *miniSWE) exit(v jsonscan.Value, i int) error {
	w, ok := s.out.content(v.Get("content"), &s.aside)
	switch {
	case !ok:
		return s.badMessage(i, "content is neither a text nor a list of parts")
	case len(s.calls) > len(s.results) && v.Get("extra").Get("exit_status").Is("Submitted"):
		s.result(result{text: w.text}, "null")
		return nil
	}
	s.out.note(turnmill.NoteUnsolicited)
	return nil
}

func (s *miniSWE) result(r result, code string) {
	if len(s.calls) > 0 && !r.mute {
		s.codes = append(s.codes, code)
	}
	s.answer(r)
}

func hasText(v jsonscan.Value) bool {
	text, plain := v.Plain()
	return v.Kind() == jsonscan.String && (!plain || len(text) > 0)
}

// refusedByPerson tells the words by which the harness says that a person refused the command.
func refusedByPerson(text string) bool { return strings.HasPrefix(text, "Command not executed.") }

const (
	codeOpen  = "<returncode>"
	codeClose = "</returncode>"
)

// unwrapOutput returns what a command printed and its code, or the text itself and "null" where it has no
// code. Output that the harness shortened keeps its marks.
//
//	<returncode>1</returncode>\n<output>\nno such file\n</output>  ->  no such file\n
func unwrapOutput(text string) (output, code string) {
	rest, ok := strings.CutPrefix(text, codeOpen)
	code, rest, closed := strings.Cut(rest, codeClose)
	if !ok || !closed || !isInteger(code) {
		return text, "null"
	}
	rest = strings.TrimPrefix(rest, "\n")
	if inside, ok := strings.CutPrefix(rest, "<output>\n"); ok {
		if body, ok := strings.CutSuffix(strings.TrimRight(inside, blanks), "</output>"); ok {
			return body, code
		}
	}
	return rest, code
}

// isInteger tells a number that JSON can hold as it stands.
func isInteger(s string) bool {
	s = strings.TrimPrefix(s, "-")
	if s == "" || len(s) > 9 || s[0] == '0' && len(s) > 1 {
		return false
	}
	return strings.Trim(s, "0123456789") == ""
}

const fence = "```"

// fencedCommand finds the only command of a text, as the harness does: blocks tagged mswea_bash_command
// where there are any, else those tagged bash, else all. ok is false when there is none, or several.
func fencedCommand(text string) (before, command, after string, ok bool) {
	for _, tag := range [...]string{"mswea_bash_command", "bash", ""} {
		from, found := 0, 0
		for {
			b, ok := nextFence(text, from, tag)
			if !ok {
				break
			}
			if found++; found == 1 {
				before, command, after = text[:b.open], text[b.from:b.to], text[b.end:]
			}
			from = b.end
		}
		if found > 0 {
			command = strings.Trim(command, blanks)
			return before, command, after, found == 1 && command != ""
		}
	}
	return "", "", "", false
}

// fenced is a block of a text: it opens, holds from-to, and ends.
type fenced struct{ open, from, to, end int }

// nextFence finds the next block that has the tag; "" is any.
func nextFence(text string, from int, tag string) (b fenced, ok bool) {
	for {
		i := strings.Index(text[from:], fence)
		if i < 0 {
			return b, false
		}
		b.open = from + i
		from = b.open + len(fence)
		name, _, more := strings.Cut(text[from:], "\n")
		if !more {
			return b, false
		}
		b.from = from + len(name) + 1
		if name = strings.Trim(name, blanks); tag != "" && name != tag {
			continue
		}
		end := strings.Index(text[b.from-1:], "\n"+fence)
		if end < 0 {
			return b, false
		}
		b.to, b.end = max(b.from, b.from-1+end), b.from+end+len(fence)
		return b, true
	}
}
