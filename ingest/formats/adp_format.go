package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const adpName = "adp"

func adpFormat() Format {
	return Format{
		Name:      adpName,
		Title:     "Agent Data Protocol, standard form: trajectories of typed actions and observations",
		Layouts:   []frame.Layout{frame.Array, frame.Lines, frame.Values},
		Recognise: recogniseADP,
		New:       func(o Options) Decoder { return &adp{acts: acts{opts: o}} },
		Doc: Doc{
			Fields: "content: items told apart by class_. Actions: api_action (function, kwargs), code_action (language,\n" +
				"content), message_action (content); their description and reasoning_content are thoughts. Observations:\n" +
				"text_observation (content, source, name), web_observation (axtree, else html), image_observation\n" +
				"(annotations, a line an element; the image itself is left out). Both generations: with and without\n" +
				"schema_version and tool_call_id. details.source is the source; details and schema_version go to meta.\n" +
				"available_custom_tools, else available_apis, or the tools that the first text declares, are the action\n" +
				"space. Texts before the first action, and a message that comes first of all, are the task.",
			Pairing: "What stands right behind an api_action or code_action answers it, by tool_call_id where there is one;\n" +
				"actions in a row with ids are parallel, without ids only the last one is answered. source decides\n" +
				"nothing behind an action: much output of environments bears user. A message that a text answers is a\n" +
				"turn of dialogue, or an ordinary turn where the text is the environment's or the message is written in\n" +
				"the ReAct protocol. A message that a page follows, <finish> among them, is unanswered. One pair of\n" +
				"double quotes inside string arguments is taken off where both ends have it, counted. Turns before\n" +
				"\"Now, I will start a new problem\" are a demonstration. Closing answers that converters wrote are left\n" +
				"out. Runs of nnetnav-live are refused: their pages follow other actions than the ones beside them.",
			State: "the page or screen before the action, whichever item showed it last; else none",
			Domain: "web where an observation is a page; android where elements are of Android's classes; os where code\n" +
				"acts on a screen; terminal where every action is a shell's; else as openai-chat, by the tools called",
			ID:       "none: id repeats within and across data sets, so a run goes by its content. id is the task_id.",
			Stripped: "description, reasoning_content, <think> blocks, unless thoughts are to be kept; images; rewards",
			Sample: `{"id":"0","content":[{"class_":"text_observation","content":"How many files are there?","source":"user"},` +
				`{"class_":"code_action","language":"bash","content":"ls | wc -l","description":"I count them."},` +
				`{"class_":"text_observation","content":"3","source":"environment"},` +
				`{"class_":"message_action","content":"<finish> 3 </finish>"}],"details":{}}`,
		},
	}
}

func recogniseADP(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	content := v.Get("content")
	if content.Kind() != jsonscan.Array {
		return "no list of items in content", 0
	}
	first := content.At(0)
	class := first.Get("class_")
	switch {
	case first.Kind() == jsonscan.Invalid:
		return "content is empty", 1
	case !class.Present():
		return "content[0] has no class_", 0
	case adpClass(class) == classNone:
		return "content[0] has a class_ that is none of the protocol's", 3
	}
	return "", 4
}

// class is what an item of content is.
type class uint8

const (
	classNone class = iota
	classAPI
	classCode
	classMessage
	classText
	classWeb
	classImage
)

func adpClass(v jsonscan.Value) class {
	switch {
	case v.Is("api_action"):
		return classAPI
	case v.Is("code_action"):
		return classCode
	case v.Is("message_action"):
		return classMessage
	case v.Is("text_observation"):
		return classText
	case v.Is("web_observation"):
		return classWeb
	case v.Is("image_observation"):
		return classImage
	}
	return classNone
}
