// Package demo embeds the demo corpus and the tokenizer that was trained on it.
//
//	corpus/*.jsonl    trajectories of the seven domains, chats and documents, written for turnmill
//	tokenizer.json    byte-level BPE of the Qwen2 shape, made from the corpus by train/
//
// Both serve `turnmill demo`, --tokenizer demo, and tests.
package demo

import (
	"embed"
	"io/fs"
)

//go:embed corpus/*.jsonl
var corpus embed.FS

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

// Tokenizer returns the bytes of the tokenizer.json.
func Tokenizer() []byte { return []byte(tokenizer) }
