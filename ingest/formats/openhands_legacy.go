package formats

import (
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const openHandsLegacyName = "openhands-legacy"

func openHandsLegacyFormat() Format {
	return Format{
		Name:      openHandsLegacyName,
		Title:     "outputs of OpenHands' issue resolver: actions and observations without ids",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseOpenHandsLegacy,
		New:       func(o Options) Decoder { return &openHandsLegacy{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "history: a flat list of actions (action, with command, code or content, and thought) and observations\n" +
				"(observation, content, the command or code again). The first message is the task; a later one that\n" +
				"waits for a response is the agent's. success, error and the exit codes, as exit_codes, go to meta.",
			Pairing: "An observation answers the action right before it, unless it repeats another command or code: then it\n" +
				"answers nobody. Carriage returns and the shell's prompt in an output stay. A finish has no observation.\n" +
				"A message that answers the agent's is dialogue.",
			State:    "none",
			Domain:   "swe",
			ID:       "none: a run goes by its content. issue, as owner/repo#number, is the task_id.",
			Stripped: "thought, unless thoughts are to be kept; the harness's members of an action; git_patch",
			Sample: `{"issue":{"owner":"ada","repo":"demo","number":5},"instruction":"Add a licence.","history":[` +
				`{"action":"message","content":"Add a licence."},{"action":"run","command":"touch LICENSE","thought":"Create it."},` +
				`{"observation":"run","command":"touch LICENSE","content":"\r\n$ ","exit_code":0}],"success":true}`,
		},
	}
}

func recogniseOpenHandsLegacy(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, name := range [...]string{"issue", "instruction", "git_patch", "base_commit"} {
		if v.Get(name).Kind() != jsonscan.Invalid {
			marks++
		}
	}
	first := v.Get("history").At(0)
	switch {
	case first.Kind() != jsonscan.Object:
		return "no list of actions in history", marks / 2
	case first.Get("id").Present() || first.Get("source").Present() || first.Get("role").Present():
		return "history[0] has an id, a source or a role", marks / 2
	case first.Get("action").Kind() != jsonscan.String && first.Get("observation").Kind() != jsonscan.String && v.Get("history").At(1).Present():
		return "history[0] is neither an action nor an observation", marks
	case marks < 2:
		return "not two of issue, instruction, git_patch and base_commit", marks + 1
	}
	return "", marks + 3
}

// openHandsLegacy decodes outputs of the resolver.
type openHandsLegacy struct {
	acts
	doing jsonscan.Value // the action that waits for its observation
	codes []string
}

func (h *openHandsLegacy) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, h.record)
}

func (h *openHandsLegacy) record(v jsonscan.Value, out *Decoded) error {
	history := v.Get("history")
	switch {
	case history.Kind() == jsonscan.Invalid:
		why, _ := recogniseOpenHandsLegacy(v)
		return wrongFormat(openHandsLegacyName, why)
	case history.Kind() != jsonscan.Array:
		return badField("history", "an array", history)
	case history.At(0).Kind() == jsonscan.Invalid:
		return reject(turnmill.ReasonEmptyMessages, "history is empty")
	}
	h.begin(out.trajectory(openHandsLegacyName, ""), out)
	h.codes, h.doing = h.codes[:0], jsonscan.Value{}
	i := 0
	for e := range history.Elems() {
		if err := h.event(e); err != nil {
			return inside("history", i, err)
		}
		i++
	}
	h.finish()
	h.t.TaskID = issueID(out, v.Get("issue"))
	success := member{}
	if k := v.Get("success").Kind(); k == jsonscan.True || k == jsonscan.False {
		success = member{"success", v.Get("success").RawStr(), true}
	}
	h.t.Meta = out.object(success, member{name: "error", text: v.Get("error").Str(&out.arena)}, out.listed("exit_codes", h.codes))
	h.t.Observed = turnmill.ObservedTrue
	h.t.Domain = turnmill.DomainSWE
	out.finish(h.t, h.opts)
	return nil
}

// issueID is the name of an issue as people write it.
func issueID(out *Decoded, issue jsonscan.Value) string {
	number, ok := issue.Get("number").Int()
	if !ok {
		return ""
	}
	b := issue.Get("owner").AppendString(out.arena.Open())
	b = issue.Get("repo").AppendString(append(b, '/'))
	return out.arena.Close(strconv.AppendInt(append(b, '#'), number, 10))
}

func (h *openHandsLegacy) event(e jsonscan.Value) error {
	action, observation := e.Get("action"), e.Get("observation")
	f := fields{out: h.out}
	switch {
	case e.Kind() != jsonscan.Object:
		return badField("", "an object", e)
	case observation.Kind() == jsonscan.String:
		if ofHarness(observation) {
			return nil
		}
		text := f.text("content", e.Get("content"))
		if h.doing.Kind() == jsonscan.Invalid || !sameWork(h.doing, e) {
			h.out.note(turnmill.NoteOrphanObservation)
			return f.err
		}
		h.doing = jsonscan.Value{}
		h.results = append(h.results, result{text: text})
		if code := e.Get("exit_code"); isInteger(code.RawStr()) {
			h.codes = append(h.codes, code.RawStr())
		}
	case action.Kind() != jsonscan.String:
		return badField("action", "a string", action)
	case action.Is("null"), action.Is("change_agent_state"):
	case action.Is("message"):
		h.message(f.text("content", e.Get("content")), e.Get("wait_for_response").Kind() == jsonscan.True)
	default:
		h.act(action, e, f.text("thought", e.Get("thought")))
	}
	return f.err
}

func (h *openHandsLegacy) message(text string, agent bool) {
	h.doing = jsonscan.Value{}
	if agent {
		h.end()
		h.started = true
		h.say(text)
	} else {
		h.person(words{text: text})
	}
}

func (h *openHandsLegacy) act(action, e jsonscan.Value, thought string) {
	h.end()
	h.started, h.doing = true, e
	thinks := action.Is("think")
	if !thinks {
		h.think.add(thought)
	}
	name := action.Str(&h.out.arena)
	h.call(call{name: name, text: h.out.actionText(name, e, thinks), answer: -1})
}

// sameWork tells whether an observation repeats the command or code of the action.
func sameWork(action, observation jsonscan.Value) bool {
	for _, name := range [...]string{"command", "code"} {
		a, b := action.Get(name), observation.Get(name)
		if a.Present() && b.Present() && string(a.Raw()) != string(b.Raw()) {
			return false
		}
	}
	return true
}
