package chat

import "slices"

// definition is the layout of a built-in, as data: its hash stands in the manifest.
type definition struct {
	name      string
	begin     string // control token that begins a row and a document
	endOfText string // control token that ends a document

	system, user, assistant message

	systemAlways bool   // the system message is there even without a prompt
	systemInUser string // between the prompt and a row's first user content; "" where the prompt is its own message
	lastPrefix   string // scaffold before the last observation of a row
	thinkAsked   bool   // the published generation prompt ends with thinkOpen
	trims        trims
}

// message is the layout of one role's messages:
//
//	start role head gap {content} end after
//
// start, head and end are control tokens, the others plain text; each is "" where the family has none.
type message struct {
	start, role, head, gap string
	end, after             string
}

// trims are what the published template does to contents, and we do not.
type trims struct {
	system, turns bool   // white space around the system prompt; around user and assistant contents
	upTo          string // an assistant's content up to this text
	ifToken       bool   // upTo holds only for tokenizers that have it as a token
	lastLines     bool   // line feeds before the last observation of a row
}

// The headers of a user message that shows a state, and what joins the parts of a system prompt.
const (
	stateHeader   = "Current state:\n"
	actionHeader  = "\n\nAction:\n"
	partSeparator = "\n\n"
)

// What stands around the reasoning of an answer, which follows. A tokenizer with these tags as tokens writes
// each as that token, any other as text.
const (
	thinkTag   = "<think>"
	thinkOpen  = thinkTag + "\n"
	thinkClose = "\n</think>\n\n"
)

// definitions returns the built-ins in the order in which Auto tries them: the plain form of a family
// stands before its others.
func definitions(date string) []definition {
	llama3, llama31 := llama(date)
	chatml, qwen3 := qwen()
	return []definition{chatml, qwen3, llama3, llama31, deepseek(), gemma()}
}

func qwen() (chatml, qwen3 definition) {
	role := func(name string) message {
		return message{start: "<|im_start|>", role: name, gap: "\n", end: "<|im_end|>", after: "\n"}
	}
	chatml = definition{
		name: "chatml", endOfText: "<|endoftext|>",
		system: role("system"), user: role("user"), assistant: role("assistant"),
	}
	qwen3 = chatml
	qwen3.name, qwen3.lastPrefix = "qwen3", "<think>\n\n</think>\n\n"
	qwen3.trims = trims{upTo: "</think>", lastLines: true}
	return chatml, qwen3
}

func llama(date string) (llama3, llama31 definition) {
	role := func(name string) message {
		return message{start: "<|start_header_id|>", role: name, head: "<|end_header_id|>", gap: "\n\n", end: "<|eot_id|>"}
	}
	llama3 = definition{
		name: "llama3", begin: "<|begin_of_text|>", endOfText: "<|end_of_text|>",
		system: role("system"), user: role("user"), assistant: role("assistant"),
		trims: trims{system: true, turns: true},
	}
	llama31 = llama3
	llama31.name, llama31.systemAlways = "llama3.1", true
	llama31.system.gap = "\n\nCutting Knowledge Date: December 2023\nToday Date: " + date + "\n\n"
	return llama3, llama31
}

// deepseek's template for R1 cuts answers at </think>, and asks with <think>⏎. V3's does neither, and its
// tokenizer has no such tokens.
func deepseek() definition {
	return definition{
		name: "deepseek", begin: "<｜begin▁of▁sentence｜>", endOfText: "<｜end▁of▁sentence｜>",
		user:      message{start: "<｜User｜>", end: "<｜Assistant｜>"},
		assistant: message{end: "<｜end▁of▁sentence｜>"}, thinkAsked: true,
		trims: trims{upTo: "</think>", ifToken: true},
	}
}

func gemma() definition {
	role := func(name string) message {
		return message{start: "<start_of_turn>", role: name, gap: "\n", end: "<end_of_turn>", after: "\n"}
	}
	return definition{
		name: "gemma", begin: "<bos>", endOfText: "<eos>",
		user: role("user"), assistant: role("model"), systemInUser: "\n\n",
		trims: trims{turns: true},
	}
}

// controls returns the control tokens of the layout, each once.
func (d *definition) controls() []string {
	var all []string
	for _, token := range []string{
		d.begin, d.system.start, d.system.head, d.system.end, d.user.start, d.user.head, d.user.end,
		d.assistant.start, d.assistant.head, d.assistant.end, d.endOfText,
	} {
		if token != "" && !slices.Contains(all, token) {
			all = append(all, token)
		}
	}
	return all
}
