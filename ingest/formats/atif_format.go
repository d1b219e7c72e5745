package formats

import (
	"bytes"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const atifName = "atif"

func atifFormat() Format {
	return Format{
		Name:      atifName,
		Title:     "Agent Trajectory Interchange Format, 1.0 to 1.8: Harbor, NeMo, ADP",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseATIF,
		New:       func(o Options) Decoder { return &atif{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "steps: source (user, agent, system), message (a text or parts), reasoning_content, tool_calls\n" +
				"(tool_call_id, function_name, arguments), observation.results (source_call_id, content),\n" +
				"is_copied_context. agent: name, model_name (to meta), tool_definitions (the action space as it stands).\n" +
				"System steps before the first user step, and user steps before the first agent step, are the task.\n" +
				"extra.task_id, extra.instance_id or extra.adp_details.source_id is the task_id; extra.source_dataset or\n" +
				"extra.adp_details.source the source. subagent_trajectories are trajectories of their own.",
			Pairing: "A step of the agent is a turn: its calls and its results, by source_call_id within the step, and by\n" +
				"order where ids repeat or are null. Results without ids that are fewer than the calls answer all of\n" +
				"them (Terminus: several keystrokes, one screen). Without a call the message is the action, and a text\n" +
				"without an observation that a user step answers is a turn of dialogue. Steps copied from another\n" +
				"document are passed over and counted: they are turns there. A document that continues another, and\n" +
				"a sub-agent's in a file of its own, are trajectories of their own; continued_trajectory_ref goes to\n" +
				"meta. Terminus: with the reply as message, the action is its JSON without analysis and plan; neither\n" +
				"commands nor completion is a wait; what answers a reply that did not parse is the harness. ADP: the\n" +
				"page in extra.web is the observation; a page without a call is what the next action saw; a\n" +
				"second pair of quotes around string arguments is taken off. Runs of nnetnav-live are refused: their\n" +
				"pages follow other actions than the ones beside them.",
			State: "the page before the action, where observations are pages; else none",
			Domain: "web where an observation is a page; else as openai-chat, by the tools called and declared; the text\n" +
				"protocol of Terminus is terminal",
			ID: "trajectory_id, else session_id, which several documents of one run may share",
			Stripped: "reasoning_content, <think> blocks, messages beside calls, Terminus' analysis and plan, unless thoughts\n" +
				"are to be kept; images and audio; metrics",
			Sample: `{"schema_version":"ATIF-v1.7","session_id":"s1","agent":{"name":"demo","version":"1"},"steps":[` +
				`{"step_id":1,"source":"user","message":"Which files are there?"},` +
				`{"step_id":2,"source":"agent","message":"I look.","tool_calls":[{"tool_call_id":"c1","function_name":"bash","arguments":{"command":"ls"}}],` +
				`"observation":{"results":[{"source_call_id":"c1","content":"a.txt"}]}}]}`,
		},
	}
}

func recogniseATIF(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	version, _ := v.Get("schema_version").Plain()
	named := bytes.HasPrefix(version, []byte("ATIF-"))
	if named {
		marks += 2
	}
	steps := v.Get("steps")
	if steps.Kind() != jsonscan.Array {
		return "no steps", marks
	}
	step := steps.At(0)
	source := step.Get("source")
	switch {
	case source.Present() && stepSource(source) == roleNone || step.Present() && step.Kind() != jsonscan.Object:
		return "steps[0] has no source (system, user, agent)", marks
	case !named && !(source.Present() && step.Get("step_id").Present() && v.Get("agent").Kind() == jsonscan.Object):
		return "no ATIF schema_version, nor a step_id, a source and an agent", marks + 1
	}
	return "", marks + 2
}

// stepSource maps a step's source to the role of a chat.
func stepSource(v jsonscan.Value) role {
	switch {
	case v.Is("agent"):
		return roleAgent
	case v.Is("user"):
		return roleUser
	case v.Is("system"):
		return roleSystem
	}
	return roleNone
}
