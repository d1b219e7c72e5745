// Package toytoken is a tokenizer for tests that a person can check by eye.
//
//	id       0-255     the byte
//	         256       "\n\n"            257   "\n\n\n"      merges across borders of spans
//	         258       "é" (two bytes)
//	         300..     control tokens, in the order of Control
//
// Longest match from the left. Control texts inside content stay bytes and are counted.
package toytoken

import (
	"bytes"

	"github.com/turnmill/turnmill"
)

// Control are the control tokens of all families, from id 300 on.
var Control = [...]string{
	"<|endoftext|>", "<|im_start|>", "<|im_end|>",
	"<|begin_of_text|>", "<|end_of_text|>", "<|start_header_id|>", "<|end_header_id|>", "<|eot_id|>",
	"<｜begin▁of▁sentence｜>", "<｜end▁of▁sentence｜>", "<｜User｜>", "<｜Assistant｜>",
	"<bos>", "<eos>", "<start_of_turn>", "<end_of_turn>",
}

const firstControl = 300

var merges = [...]struct {
	text string
	id   int32
}{{"\n\n\n", 257}, {"\n\n", 256}, {"é", 258}}

// Tokenizer is vocabulary and encoder in one; it holds no state.
type Tokenizer struct{}

var (
	_ turnmill.Vocabulary = Tokenizer{}
	_ turnmill.Encoder    = Tokenizer{}
)

// Size is one above the largest id.
func (Tokenizer) Size() int { return firstControl + len(Control) }

// ID returns the id of a control token.
func (Tokenizer) ID(token string) (int32, bool) {
	for i, c := range Control {
		if c == token {
			return firstControl + int32(i), true
		}
	}
	return 0, false
}

// AppendText appends what id stands for.
func (Tokenizer) AppendText(dst []byte, id int32) []byte {
	for _, m := range merges {
		if m.id == id {
			return append(dst, m.text...)
		}
	}
	if id >= firstControl {
		return append(dst, Control[id-firstControl]...)
	}
	return append(dst, byte(id))
}

// Encode appends the tokens of text.
func (Tokenizer) Encode(dst *turnmill.Tokens, text []byte) error {
	for _, c := range Control {
		dst.Forged += bytes.Count(text, []byte(c))
	}
	for at := 0; at < len(text); {
		id, n := int32(text[at]), 1
		for _, m := range merges {
			if bytes.HasPrefix(text[at:], []byte(m.text)) {
				id, n = m.id, len(m.text)
				break
			}
		}
		at += n
		dst.IDs = append(dst.IDs, id)
		dst.Ends = append(dst.Ends, int32(at))
	}
	return nil
}
