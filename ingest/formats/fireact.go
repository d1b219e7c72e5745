package formats

import (
	"strings"

	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const fireActName = "fireact"

func fireActFormat() Format {
	return Format{
		Name:      fireActName,
		Title:     "trajectory files of FireAct: runs in the ReAct protocol by the question's number, with their scores",
		Layouts:   []frame.Layout{frame.Values, frame.Lines, frame.Array},
		Recognise: recogniseFireAct,
		New:       func(o Options) Decoder { return &fireAct{newReact(o)} },
		Doc: Doc{
			Fields: "An object of runs: {reward, em, f1, gt, pred, prompt, traj}. traj is a list of messages, as react-chat\n" +
				"reads them, or one text; an Alpaca header before it (\"### Instruction:\", \"### Response:\") gives the task.\n" +
				"reward, f1 and, as reference_answer, gt, the gold answer, go to meta. pred and traj_by_line, which\n" +
				"repeats the text, are passed over.",
			Pairing:  "As in react-chat; in one text as in react-alpaca. A run that is broken is rejected by itself.",
			State:    "none",
			Domain:   "as in react-chat",
			ID:       "none: a run goes by its content. The run's number is the task_id.",
			Stripped: "thoughts, unless they are to be kept",
			Sample: `{"17":{"reward":true,"em":true,"f1":1.0,"gt":"4A","pred":"4A","prompt":[],"traj":[{"role":"user","content":"Which seat is free?"},` +
				`{"role":"assistant","content":"Thought: I look.\nAction: search[free seat]"},{"role":"user","content":"Observation: Seat 4A is free ..."}]}}`,
		},
	}
}

func recogniseFireAct(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, run := range v.Members() {
		for _, name := range [...]string{"reward", "em", "pred", "gt"} {
			if run.Get(name).Kind() != jsonscan.Invalid {
				marks++
			}
		}
		switch traj := run.Get("traj"); {
		case traj.Kind() != jsonscan.Array && traj.Kind() != jsonscan.String:
			return "no traj by a question's number", marks / 2
		case marks < 2:
			return "not two of reward, em, pred and gt beside traj", marks
		}
		return "", marks + 2 // the first run tells
	}
	return "no runs", 0
}

// fireAct decodes trajectory files of FireAct: one trajectory a run.
type fireAct struct{ react }

func (f *fireAct) Decode(raw []byte, out *Decoded) error {
	v, err := out.parse(raw)
	if err == nil {
		if why, _ := recogniseFireAct(v); why != "" {
			err = wrongFormat(fireActName, why)
		}
	}
	if err != nil {
		out.reset()
		return err
	}
	for k, run := range v.Members() {
		n := len(out.Trajectories)
		if err := f.run(k, run, out); err != nil {
			out.refuse(n, under(k.RawStr(), err))
		}
	}
	return nil
}

func (f *fireAct) run(k, run jsonscan.Value, out *Decoded) error {
	traj := run.Get("traj")
	f.start()
	switch traj.Kind() {
	case jsonscan.Array:
		if _, err := f.open(&chatRecord{name: fireActName, messages: traj}, out); err != nil {
			return err
		}
		if err := f.messages(traj); err != nil {
			return err
		}
	case jsonscan.String:
		f.begin(out.trajectory(fireActName, ""), out)
		task, text := splitAlpaca(traj.Str(&out.arena))
		if task != "" {
			f.instruct(task)
		}
		f.whole(text, false)
	default:
		return badField("traj", "an array or a string", traj)
	}
	f.close()
	f.t.TaskID = out.key(k)
	reward := member{}
	if r := run.Get("reward"); r.Kind() == jsonscan.True || r.Kind() == jsonscan.False {
		reward = member{"reward", r.RawStr(), true}
	} else {
		reward = number("reward", r)
	}
	f.t.Meta = out.object(reward, number("f1", run.Get("f1")), member{name: metaAnswer, text: run.Get("gt").Str(&out.arena)})
	out.finish(f.t, f.opts)
	return nil
}

// splitAlpaca cuts an Alpaca prompt off a text: its instruction is the task.
func splitAlpaca(text string) (task, rest string) {
	header, rest, ok := strings.Cut(text, "### Response:")
	if !ok {
		return "", text
	}
	if _, task, ok = strings.Cut(header, "### Instruction:"); !ok {
		task = header
	}
	return strings.Trim(task, blanks), strings.TrimLeft(rest, blanks)
}
