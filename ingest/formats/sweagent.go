package formats

import (
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// sweAgent decodes a .traj file: the task from history, the turns from trajectory.
type sweAgent struct {
	opts    Options
	out     *Decoded
	t       *turnmill.Trajectory
	task    []string // before the first answer, and demonstrations
	demos   []string
	ctf     bool // the harness's own words, or the task's first line, speak of a CTF
	think   thoughts
	pending historyTurn
	ids     []string
}

func (s *sweAgent) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, s.record)
}

func (s *sweAgent) record(v jsonscan.Value, out *Decoded) error {
	steps, history := v.Get("trajectory"), v.Get("history")
	for _, list := range [...]struct {
		name string
		v    jsonscan.Value
	}{{"trajectory", steps}, {"history", history}} {
		if list.v.Present() && list.v.Kind() != jsonscan.Array {
			return badField(list.name, "an array", list.v)
		}
	}
	if steps.Kind() != jsonscan.Array && history.Kind() != jsonscan.Array {
		why, _ := recogniseSWEAgent(v)
		return wrongFormat(sweAgentName, why)
	}
	s.out, s.t = out, out.trajectory(sweAgentName, out.id(v.Get("id")))
	s.task, s.demos, s.ids, s.ctf = s.task[:0], s.demos[:0], s.ids[:0], false
	s.t.Observed = turnmill.ObservedTrue
	s.about(v)
	prompt := history
	if prompt.Kind() != jsonscan.Array {
		prompt = sentPrompt(steps.At(0))
	}
	if err := s.prompt(prompt); err != nil {
		return err
	}
	var err error
	if steps.At(0).Kind() != jsonscan.Invalid {
		err = s.steps(steps)
	} else {
		err = s.history(history)
	}
	if err != nil {
		return err
	}
	s.t.System.TaskDescription = out.join(s.task, "\n\n")
	s.t.System.Demonstrations = out.join(s.demos, "\n\n")
	s.t.Domain = turnmill.DomainSWE
	if s.ctf && slices.ContainsFunc(s.task, asksFlag) {
		s.t.Domain = turnmill.DomainTerminal
	}
	out.finish(s.t, s.opts)
	return nil
}

// about reads what the file says of the run. replay_config is an object in some releases and a string that
// holds one in others.
func (s *sweAgent) about(v jsonscan.Value) {
	out := s.out
	config := v.Get("replay_config")
	if config.Kind() == jsonscan.String {
		config, _ = out.parseInner(config.Str(&out.arena)) // nothing is known when it is no JSON
	}
	// A copy: inner is read anew before the texts are used.
	s.t.TaskID = out.arena.Copy(out.id(config.Get("problem_statement").Get("id")))
	s.t.Agent = out.arena.Copy(out.id(config.Get("agent").Get("model").Get("name")))
	if s.t.TaskID == "" {
		s.t.TaskID = out.id(v.Get("instance_id"))
	}
	if exit := v.Get("info").Get("exit_status"); exit.Kind() == jsonscan.String {
		s.t.Meta = out.object(member{name: "exit_status", text: exit.Str(&out.arena)})
	}
}

// sentPrompt is the prompt that the first step was made from, which newer releases keep with the step.
func sentPrompt(step jsonscan.Value) jsonscan.Value {
	if m := step.Get("query"); m.Kind() == jsonscan.Array {
		return m
	}
	return step.Get("messages")
}

// prompt reads the messages before the first answer, and all demonstrations.
func (s *sweAgent) prompt(list jsonscan.Value) error {
	i, answered := 0, false
	for m := range list.Elems() {
		demo, agent := isDemo(m), m.Get("role").Is("assistant")
		answered = answered || agent && !demo
		if demo || !answered {
			w, ok := s.out.content(m.Get("content"), &s.think)
			if !ok {
				return reject(turnmill.ReasonBadMessage, "history[%d]: content is neither a text nor a list of parts", i)
			}
			s.promptText(w.text, demo, m.Get("role").Is("system"))
		}
		i++
	}
	return nil
}

func (s *sweAgent) promptText(text string, demo, system bool) {
	if demo {
		s.out.note(turnmill.NoteDemonstration)
	}
	switch {
	case text == "":
	case demo:
		s.demos = append(s.demos, text)
	default:
		s.task = append(s.task, text)
		own := text // the harness's words; below its first line stands the text
		if !system {
			own, _, _ = strings.Cut(text, "\n")
		}
		s.ctf = s.ctf || asksCTF(own)
	}
}

func isDemo(m jsonscan.Value) bool {
	return m.Get("is_demo").Kind() == jsonscan.True || m.Get("message_type").Is("demonstration")
}

func asksCTF(s string) bool {
	return hasWord(s, "ctf") || hasWord(s, "capture the flag") || hasWord(s, "capture-the-flag")
}

func asksFlag(s string) bool { return hasWord(s, "flag") }

// hasWord tells whether words, in lower-case ASCII, stand in s, in any case, with no letter or digit beside
// them.
func hasWord(s, words string) bool {
	for i := 0; i+len(words) <= len(s); i++ {
		if s[i]|0x20 != words[0] || !strings.EqualFold(s[i:i+len(words)], words) {
			continue
		}
		before, after := i == 0 || !wordByte(s[i-1]), i+len(words) == len(s) || !wordByte(s[i+len(words)])
		if before && after {
			return true
		}
	}
	return false
}

func wordByte(c byte) bool {
	return c >= 'a' && c <= 'z' || c >= 'A' && c <= 'Z' || c >= '0' && c <= '9' || c == '_' || c >= 0x80
}
