package formats

import (
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

const worldBenchName = "agentworldbench"

func worldBenchFormat() Format {
	return Format{
		Name:      worldBenchName,
		Title:     "rows of AgentWorldBench: a turn to predict and the turns before it, as prompts and responses",
		Layouts:   []frame.Layout{frame.Lines, frame.Array, frame.Values},
		Recognise: recogniseWorldBench,
		New:       func(o Options) Decoder { return &worldBench{opts: o} },
		Doc: Doc{
			Fields: "task, id, prompt and response (lists of texts, or messages in prompt whose roles are swapped),\n" +
				"current_prompt, system_str, turn_idx, total_turns. A prompt has the heading ### Turn N and the marks Task\n" +
				"Instruction, Current State and Action, each in bold at the start of a line; a response has Environment\n" +
				"Observation. system_str and the instruction are the task. benchmark, turn_idx and total_turns go to meta.",
			Pairing: "prompt[i] and response[i] are a turn, numbered by its heading. An action loses its fence, and JSON that\n" +
				"is laid out over lines its line breaks. What a prompt says behind the fence, or current_prompt leaves\n" +
				"out, is for the model that predicts. A prompt without a response is unanswered.",
			State:    "what stands under Current State",
			Domain:   "the last part of task, when it is one of the seven; else unknown",
			ID:       "id/turn_idx, for the rows of one run share their id, which is the task_id",
			Stripped: "headings, marks and fences",
			Sample: `{"task":"terminal","id":145,"prompt":["### Turn 1\n**Current State:**\n$\n\n**Action:**\n` + "```json" + `\n[{\"keystrokes\":\"ls\\n\"}]\n` + "```" + `"],` +
				`"response":["**Environment Observation:**\n$ ls\na.txt\n$"],"current_prompt":"","system_str":"You are a terminal.","turn_idx":1,"total_turns":4}`,
		},
	}
}

func recogniseWorldBench(v jsonscan.Value) (why string, marks int) {
	if v.Kind() != jsonscan.Object {
		return "a record is " + article(v.Kind()) + ", want an object", 0
	}
	for _, name := range [...]string{"task", "current_prompt", "system_str", "turn_idx", "total_turns"} {
		if v.Get(name).Kind() != jsonscan.Invalid {
			marks++
		}
	}
	switch prompt := v.Get("prompt"); {
	case prompt.Kind() == jsonscan.Invalid:
		return "no prompt", marks / 2
	case marks < 3 && (marks == 0 || v.Get("response").Kind() == jsonscan.Invalid || v.Get("task").Kind() == jsonscan.Invalid):
		return "prompt without task, system_str and turn_idx", marks
	}
	return "", marks + 3
}
