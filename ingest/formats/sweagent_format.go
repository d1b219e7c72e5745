package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const sweAgentName = "swe-agent"

func sweAgentFormat() Format {
	return Format{
		Name:      sweAgentName,
		Title:     "SWE-agent's .traj files: trajectory, history, info",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseSWEAgent,
		New:       func(o Options) Decoder { return &sweAgent{opts: o} },
		Doc: Doc{
			Fields: "trajectory: the steps {action, observation, thought, response, state}. history: the messages; from it\n" +
				"come the task (system and user messages before the first answer) and the demonstrations (is_demo).\n" +
				"info.exit_status goes to meta. The model's name in replay_config.agent is the agent.",
			Pairing: "A step is a turn, its action and observation as they stand, blanks at the end included. A submit that\n" +
				"ends the run without an observation, and a step that the harness ended (\"Exited\"), are counted and\n" +
				"left out. A step without a command goes to the turn filter. A file that has history only is read\n" +
				"from it: an assistant's action and the message after it, with the prompt's footer as the agent saw it.",
			State: "none. state holds the open file and the working directory, before the step in old files and after it\n" +
				"in new ones: neither is what the agent saw.",
			Domain: "swe; terminal for capture-the-flag runs, whose system prompt, or first line of the task, says CTF and\n" +
				"which ask for a flag",
			ID: "id, which the harness does not write; its runs go by their content. replay_config.problem_statement.id,\n" +
				"else instance_id, is the task_id.",
			Stripped: "thought, unless it is to be kept; demonstrations, kept apart; response, state, execution_time",
			Sample: `{"environment":"main","trajectory":[{"action":"ls\n","observation":"main.py\n","response":"Look.\nls","thought":"Look.","state":"{}"}],` +
				`"history":[{"role":"system","content":"You program.","agent":"main"},{"role":"user","content":"Fix the bug.","agent":"main"}],"info":{"exit_status":"submitted"}}`,
		},
	}
}

func recogniseSWEAgent(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	steps, history := v.Get("trajectory"), v.Get("history")
	for _, name := range [...]string{"environment", "info", "replay_config"} {
		if v.Get(name).Present() {
			marks++
		}
	}
	if step := steps.At(0); step.Kind() == jsonscan.Object {
		if why := recogniseStep(v, step); why != "" {
			return why, marks + 1
		}
		return "", marks + 3
	}
	message := history.At(0)
	switch {
	case history.Kind() != jsonscan.Array && steps.Kind() != jsonscan.Array:
		return "neither trajectory nor history", 0
	case message.Kind() != jsonscan.Object:
		return "neither a step in trajectory nor a message in history", marks
	case message.Get("role").Kind() != jsonscan.String:
		return "history[0] has no role", marks + 1
	case !message.Get("agent").Present() && !message.Get("message_type").Present():
		return "history[0] has neither agent nor message_type", marks + 2
	}
	return "", marks + 3
}

// recogniseStep takes a step by its action and by something that only this harness writes beside it.
func recogniseStep(v, step jsonscan.Value) string {
	if step.Get("action").Kind() == jsonscan.Invalid {
		return "trajectory[0] has no action"
	}
	for _, name := range [...]string{"response", "thought", "state"} {
		if step.Get(name).Kind() != jsonscan.Invalid {
			return ""
		}
	}
	if v.Get("history").Kind() == jsonscan.Array {
		return ""
	}
	if v.Get("environment").Kind() == jsonscan.String && !v.Get("query").Present() {
		return "" // the head ends inside the first observation
	}
	return "trajectory[0] has neither response, thought nor state"
}
