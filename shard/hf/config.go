package hf

import (
	"slices"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// config is the tokenizer.json that the library gets, in parts: added tokens are marked late, when the
// chat format is known.
//
//	{"version":"1.0", ... "added_tokens":[ {"id":0,"content":"<s>", ... "special":true}, ... ]}
//	|------ head -----------------------| |------- tokens[0] --------|      ^ by the chat format
type config struct {
	head   []byte
	tokens [][]byte
}

// dropped are the members that the library shall not see. truncation and padding would cut and fill texts
// in silence. A post_processor without special tokens to add only moves offsets: trim_offsets takes blanks
// out of tokens.
func dropped() []string { return []string{"truncation", "padding", "post_processor", "added_tokens"} }

// newConfig copies what it needs of a tokenizer.json.
func newConfig(root jsonscan.Value) config {
	c := config{head: make([]byte, 0, len(root.Raw())+64)}
	c.head = append(c.head, '{')
	for k, v := range root.Members() {
		if slices.Contains(dropped(), string(k.AppendString(nil))) {
			continue
		}
		c.head = append(append(c.head, k.Raw()...), ':')
		c.head = append(append(c.head, v.Raw()...), ',')
	}
	c.head = append(c.head, `"added_tokens":[`...)
	for e := range root.Get("added_tokens").Elems() {
		token := []byte{'{'}
		for k, v := range e.Members() {
			if string(k.AppendString(nil)) == "special" {
				continue
			}
			token = append(append(token, k.Raw()...), ':')
			token = append(append(token, v.Raw()...), ',')
		}
		c.tokens = append(c.tokens, append(token, `"special":`...))
	}
	return c
}

// with returns the file with special[i] as the flag of added token i.
func (c *config) with(special []bool) []byte {
	const room = len(",false}")
	n := len(c.head) + len("]}")
	for _, t := range c.tokens {
		n += len(t) + room
	}
	out := append(make([]byte, 0, n), c.head...)
	for i, t := range c.tokens {
		if i > 0 {
			out = append(out, ',')
		}
		out = append(out, t...)
		if special[i] {
			out = append(out, "true}"...)
		} else {
			out = append(out, "false}"...)
		}
	}
	return append(out, "]}"...)
}

// bytes returns the length of the file that the library gets.
func (c *config) bytes() int {
	n := len(c.head)
	for _, t := range c.tokens {
		n += len(t)
	}
	return n
}
