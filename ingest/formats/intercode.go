package formats

import (
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const interCodeName = "intercode"

func interCodeFormat() Format {
	return Format{
		Name:      interCodeName,
		Title:     "logs of InterCode (Bash, CTF, Python, SQL): parallel arrays of actions and observations by task",
		Layouts:   []frame.Layout{frame.Values, frame.Lines, frame.Array},
		Recognise: recogniseInterCode,
		New:       func(o Options) Decoder { return &interCode{opts: o} },
		Doc: Doc{
			Fields: "An object of tasks by their number, or such an object in logs beside meta (plan and solve), or one task:\n" +
				"{environment, dataset, task_id, query, turn_history, summary}. query is the task. turn_history holds\n" +
				"actions and observations, and thoughts (ReAct) or steps (plan and solve); logs of people have trajectory\n" +
				"instead, a list of {action, observation}. environment, dataset and max_reward, or reward, go to meta.\n" +
				"rewards, valid_action and info and gold, which hold the gold answer, are passed over.",
			Pairing: "By place. An action \"blocked\" has no observation: where there are fewer observations than actions, it is\n" +
				"left out, counted, before places are compared; a task whose lists still differ is rejected by itself.\n" +
				"execute[...] is the command inside; a bare command is one. A bare submit runs nothing and repeats an\n" +
				"output: no turn, counted; one with a flag, which is judged, is one. An empty action goes to the turn\n" +
				"filter.",
			State:    "none",
			Domain:   "terminal; unknown for SQL",
			ID:       "none: a run goes by its content. task_id, else query_idx, is the task_id.",
			Stripped: "thoughts and steps, unless thoughts are to be kept",
			Sample: `{"0":{"environment":"ic_bash","dataset":"./data/demo.json","task_id":0,"query":"Which files are there?",` +
				`"turn_history":{"actions":["ls"],"observations":["a.txt\n"],"rewards":[1.0],"valid_action":[true]},"summary":{"max_reward":1.0}}}`,
		},
	}
}

// interCodeTasks returns the object that holds the tasks by their number.
func interCodeTasks(v jsonscan.Value) jsonscan.Value {
	if logs := v.Get("logs"); logs.Kind() == jsonscan.Object && v.Get("meta").Present() {
		return logs
	}
	return v
}

// oneTask tells whether a record is a task by itself.
func oneTask(v jsonscan.Value) bool {
	return v.Get("turn_history").Present() || v.Get("trajectory").Kind() == jsonscan.Array
}

func recogniseInterCode(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	if oneTask(v) {
		return recogniseTask(v)
	}
	for _, task := range interCodeTasks(v).Members() {
		return recogniseTask(task) // the first one tells
	}
	return "no tasks", 0
}

func recogniseTask(task jsonscan.Value) (why string, marks int) {
	for _, name := range [...]string{"environment", "dataset", "query"} {
		if task.Get(name).Present() {
			marks++
		}
	}
	history := task.Get("turn_history")
	step := task.Get("trajectory").At(0)
	switch {
	case step.Get("action").Present() && !foreignStep(step) && marks > 1 && task.Get("query").Present():
		return "", marks + 2
	case history.Kind() != jsonscan.Object:
		return "no turn_history by task", marks / 2
	case marks < 2:
		return "not two of environment, dataset and query beside turn_history", marks
	case history.Get("actions").Kind() != jsonscan.Array && history.Get("thoughts").Kind() != jsonscan.Array:
		return "no list of actions in turn_history", marks
	}
	return "", marks + 3
}

// foreignStep tells steps of SWE-agent.
func foreignStep(step jsonscan.Value) bool {
	return step.Get("response").Present() || step.Get("thought").Present() || step.Get("state").Present()
}

// interCode decodes logs of InterCode: one trajectory a task.
type interCode struct {
	opts Options
	out  *Decoded
	t    *turnmill.Trajectory
	// Of the task, by place.
	observations, thoughts []jsonscan.Value
}

func (c *interCode) Decode(raw []byte, out *Decoded) error {
	return out.decode(raw, c.record)
}

func (c *interCode) record(v jsonscan.Value, out *Decoded) error {
	if why, _ := recogniseInterCode(v); why != "" {
		return wrongFormat(interCodeName, why)
	}
	c.out = out
	if oneTask(v) {
		c.one(v, "")
		return nil
	}
	for k, task := range interCodeTasks(v).Members() {
		c.one(task, k.RawStr())
	}
	return nil
}

// one decodes a task. One that is broken is rejected by itself.
func (c *interCode) one(task jsonscan.Value, key string) {
	n := len(c.out.Trajectories)
	err := c.task(task)
	if err == nil {
		return
	}
	if key != "" {
		err = under(key, err)
	}
	c.out.refuse(n, err)
}

func (c *interCode) task(task jsonscan.Value) error {
	history, steps := task.Get("turn_history"), task.Get("trajectory")
	if history.Kind() != jsonscan.Object && steps.Kind() != jsonscan.Array {
		return badField("turn_history", "an object", history)
	}
	environment := task.Get("environment").Str(&c.out.arena)
	c.t = c.out.trajectory(interCodeName, "")
	if c.t.TaskID = c.out.id(task.Get("task_id")); c.t.TaskID == "" {
		c.t.TaskID = c.out.id(task.Get("query_idx"))
	}
	c.t.System.TaskDescription = task.Get("query").Str(&c.out.arena)
	err := error(nil)
	if history.Kind() == jsonscan.Object {
		err = c.turns(history)
	} else {
		err = c.steps(steps)
	}
	if err != nil {
		return err
	}
	c.t.Meta = c.out.object(
		member{name: "environment", text: environment},
		member{name: "dataset", text: task.Get("dataset").Str(&c.out.arena)},
		number("max_reward", task.Get("summary").Get("max_reward")),
		number("reward", task.Get("reward")))
	c.t.Observed = turnmill.ObservedTrue
	if !strings.Contains(environment, "sql") {
		c.t.Domain = turnmill.DomainTerminal
	}
	c.out.finish(c.t, c.opts)
	return nil
}
