// Package demo embeds the demo corpus and the tokenizer that was trained on it.
//
//	corpus/*.jsonl    trajectories of the seven domains, chats and documents, written for turnmill
//	sft/*.jsonl       rollouts for a dozen turns of them, and what judges said, written for turnmill too
//	tokenizer.json    byte-level BPE of the Qwen2 shape, made from the corpus by train/
//
// They serve `turnmill demo`, --tokenizer demo, and tests.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed corpus/*.jsonl
var corpus embed.FS

//go:embed sft/*.jsonl
var sft embed.FS

//go:embed tokenizer.json
var tokenizer string

// Corpus returns the corpus: a flat directory of JSON lines.
func Corpus() fs.FS {
	sub, err := fs.Sub(corpus, "corpus")
	if err != nil {
		panic("demo: the embedded corpus lies elsewhere: " + err.Error())
	}
	return sub
}

// Rollouts and Judgements return recorded answers to twelve queries of the corpus, with --targets 1 and --seed 0.
func Rollouts() []byte { return answers("rollouts") }

// Judgements are those of a judge.
func Judgements() []byte { return answers("judgements") }

func answers(name string) []byte {
	data, err := sft.ReadFile("sft/" + name + ".jsonl")
	if err != nil {
		panic("demo: the embedded answers lie elsewhere: " + err.Error())
	}
	return data
}

// Chat names the chat format that the embedded tokenizer was made for.
const Chat = "chatml"

// Tokenizer returns the bytes of the tokenizer.json.
func Tokenizer() []byte { return []byte(tokenizer) }
