package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const (
	browserGymName      = "browsergym"
	browserGymStepsName = "browsergym-steps"
)

const browserGymPairing = "The tree of the next step answers an action, which is text as BrowserGym takes it (click('12')), or a call. A\n" +
	"step without an action is a last look. Which tree is read the first step decides, axtree_txt, axtree or\n" +
	"axtree_pruned, and all steps of the run keep to it. Where step numbers leave a gap the action is unanswered."

func browserGymFormat() Format {
	return Format{
		Name:      browserGymName,
		Title:     "runs of BrowserGym's agents as JSON, one object a run: steps with accessibility trees (AgentRewardBench)",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseBrowserGym,
		New:       func(o Options) Decoder { return &browserGym{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "goal (the task), steps: action, reasoning (the thought), num, and the page as an accessibility tree in\n" +
				"axtree_txt, axtree or axtree_pruned, also inside obs or observation. agent, else model, is the agent;\n" +
				"benchmark, experiment and seed go to meta.",
			Pairing:  browserGymPairing,
			State:    "the tree of the step",
			Domain:   "web",
			ID:       "id, else by content; task_id, else task_name, is the task_id",
			Stripped: "reasoning, unless thoughts are to be kept; chat_messages, screenshots, last_action_error, axtree_obj, boxes, URLs",
			Sample: `{"benchmark":"webarena","goal":"Open the cart.","agent":"demo","steps":[` +
				`{"num":0,"action":"click('12')","reasoning":"The cart is there.","url":"http://a","axtree":"RootWebArea 'Shop'\n\t[12] link 'Cart'"},` +
				`{"num":1,"action":null,"reasoning":null,"url":"http://a/cart","axtree":"RootWebArea 'Cart'\n\t[3] heading 'Your cart'"}]}`,
		},
	}
}

func browserGymStepsFormat() Format {
	return Format{
		Name:      browserGymStepsName,
		Title:     "steps of BrowserGym's agents as JSON, one object a step, runs one after another",
		Layouts:   []frame.Layout{frame.Whole},
		Recognise: recogniseBrowserGymStep,
		New:       func(o Options) Decoder { return &browserGymSteps{browserGym: browserGym{acts: acts{opts: o}}} },
		Doc: Doc{
			Fields: "A step as in browsergym: action beside obs or observation, or beside the tree itself. goal, or the text\n" +
				"of goal_object, stands in the step or its obs, and is the task.",
			Pairing: browserGymPairing + "\nA run ends where task, episode, seed or goal change, where a step number does not\n" +
				"go on, and after a step that is terminated or truncated.",
			State:    "the tree of the step",
			Domain:   "web",
			ID:       "episode_id, else by content; where an episode breaks, #2, #3 are appended; task_id, else task_name, is the task_id",
			Stripped: "as in browsergym; rewards and stats",
			Sample: `[{"step":0,"obs":{"goal":"Open the cart.","axtree_txt":"RootWebArea 'Shop'\n\t[12] link 'Cart'"},"action":"click('12')"},` +
				`{"step":1,"obs":{"goal":"Open the cart.","axtree_txt":"RootWebArea 'Cart'"},"action":null}]`,
		},
	}
}

func recogniseBrowserGym(v jsonscan.Value) (why string, marks int) {
	for _, name := range [...]string{"goal", "benchmark", "summary_info"} {
		if v.Get(name).Present() {
			marks++
		}
	}
	step := v.Get("steps").At(0)
	switch {
	case v.Kind() != jsonscan.Object || v.Get("steps").Kind() != jsonscan.Array:
		return "no list of steps", 0
	case step.Get("action").Kind() == jsonscan.Invalid:
		return "a step without an action", marks / 2
	case treeOf(step) == noTree:
		return "a step without an accessibility tree", marks
	}
	return "", marks + 3
}

// recogniseBrowserGymStep takes a step, or a list that begins with one.
func recogniseBrowserGymStep(v jsonscan.Value) (why string, marks int) {
	if v.Kind() == jsonscan.Array {
		v = v.At(0)
	}
	for _, name := range [...]string{"step", "reward", "terminated", "truncated", "goal"} {
		if v.Get(name).Kind() != jsonscan.Invalid {
			marks++
		}
	}
	for _, name := range [...]string{"obs", "observation"} {
		if v.Get(name).Kind() == jsonscan.Object {
			marks++
		}
	}
	switch {
	case v.Kind() != jsonscan.Object:
		return "no step of a run", 0
	case treeOf(v) == noTree:
		return "a step without an accessibility tree", min(marks, 1)
	case v.Get("action").Kind() == jsonscan.Invalid && marks < 2:
		return "a tree without an action", 2
	case v.Get("messages").Present() || v.Get("steps").Present():
		return "a tree beside messages or steps", 1
	}
	return "", marks + 3
}
