package formats

import (
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const tauBenchName = "tau-bench"

func tauBenchFormat() Format {
	return Format{
		Name:      tauBenchName,
		Title:     "results of tau-bench: a policy, a simulated customer and tools",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseTauBench,
		New:       func(o Options) Decoder { return &tauBench{chat{acts: acts{opts: o}, list: "traj"}} },
		Doc: Doc{
			Fields: "traj: the messages of an OpenAI chat, read as openai-chat reads them; the policy and the customer's\n" +
				"first message are the task. reward and trial go to meta. info (the gold actions, the customer's\n" +
				"instruction) is passed over: it would tell what the run does not know.",
			Pairing: "As in openai-chat: a call and the result after it are a turn, by id within the turn and by order\n" +
				"where ids repeat, which they do across runs and inside one. \"\" is a silent answer (the tool think).\n" +
				"A reply of the simulated customer to a text of the agent, ###STOP### included, is a turn of dialogue.",
			State:  "none",
			Domain: "mcp",
			ID: "none: task_id and trial say which task was tried, not by whom, so a run goes by its content. task_id\n" +
				"is the task_id.",
			Stripped: "as in openai-chat: reasoning, and texts beside calls, unless thoughts are to be kept",
			Sample: `{"task_id":7,"reward":1.0,"info":{"task":{"user_id":"ada_1"}},"traj":[{"role":"system","content":"You sell tickets."},` +
				`{"role":"user","content":"Which seats are free?"},` +
				`{"role":"assistant","content":null,"tool_calls":[{"id":"c1","type":"function","function":{"name":"list_seats","arguments":"{}"}}]},` +
				`{"role":"tool","tool_call_id":"c1","name":"list_seats","content":"[\"4A\"]"}],"trial":0}`,
		},
	}
}

func recogniseTauBench(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, name := range [...]string{"task_id", "reward", "trial", "info"} {
		if v.Get(name).Present() {
			marks++
		}
	}
	traj := v.Get("traj")
	switch {
	case traj.Kind() != jsonscan.Array:
		return "no list of messages in traj", 0
	case !v.Get("task_id").Present():
		return "traj without task_id", 1
	case marks < 2:
		return "neither reward, trial nor info beside traj", 1
	}
	i, last := 0, traj.Len()-1
	for m := range traj.Elems() {
		if why, n := recogniseMessage("traj", m, i, i == last); why != "" {
			return why, marks + n
		}
		i++
	}
	return "", marks + 3
}

// tauBench decodes tau-bench's results. The messages are a chat's.
type tauBench struct{ chat }

func (t *tauBench) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, t.record)
}

func (t *tauBench) record(v jsonscan.Value, out *Decoded) error {
	traj := v.Get("traj")
	if traj.Kind() == jsonscan.Invalid {
		why, _ := recogniseTauBench(v)
		return wrongFormat(tauBenchName, why)
	}
	if _, err := t.walk(&chatRecord{name: tauBenchName, messages: traj}, out); err != nil {
		return err
	}
	t.t.TaskID = out.id(v.Get("task_id"))
	t.t.Meta = out.object(number("reward", v.Get("reward")), number("trial", v.Get("trial")))
	t.t.Observed = turnmill.ObservedTrue
	t.t.Domain = turnmill.DomainMCP
	out.finish(t.t, t.opts)
	return nil
}
