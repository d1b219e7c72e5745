package bpe

import "bytes"

// matcher finds the leftmost of a set of texts, and of several that begin there the longest. It is a trie
// whose nodes list their children; the first byte is looked up directly.
type matcher struct {
	root  [256]int32 // node of each first byte, 0 for none
	nodes []trieNode // nodes[0] is unused
	only  int        // the one first byte of all texts, or -1
}

type trieNode struct {
	b       byte
	token   int32 // number of the text that ends here, or -1
	child   int32 // first child, 0 for none
	sibling int32
}

// add puts text into the set under a number. It reports false when the text is in the set already.
func (t *matcher) add(text string, number int) bool {
	if len(t.nodes) == 0 {
		t.nodes = append(t.nodes, trieNode{token: -1})
	}
	at := &t.root[text[0]]
	n := t.enter(at, text[0])
	for i := 1; i < len(text); i++ {
		n = t.enter(&t.nodes[n].child, text[i])
	}
	if t.nodes[n].token >= 0 {
		return false
	}
	t.nodes[n].token = int32(number)
	return true
}

// enter returns the node for b in the list that begins at *head, a new one where there is none.
func (t *matcher) enter(head *int32, b byte) int32 {
	for n := *head; n != 0; n = t.nodes[n].sibling {
		if t.nodes[n].b == b {
			return n
		}
	}
	n := int32(len(t.nodes))
	old := *head
	*head = n // before append: head may point into nodes
	t.nodes = append(t.nodes, trieNode{b: b, token: -1, sibling: old})
	return n
}

// finish makes the matcher ready.
func (t *matcher) finish() {
	t.only = -1
	firsts := 0
	for b, n := range t.root {
		if n != 0 {
			t.only = b
			firsts++
		}
	}
	if firsts != 1 {
		t.only = -1
	}
}

// find returns the first match at or after from: its range and the number of its text, or number -1.
func (t *matcher) find(text []byte, from int) (start, end int, number int32) {
	if len(t.nodes) == 0 {
		return len(text), len(text), -1
	}
	for i := from; i < len(text); i++ {
		if t.only >= 0 {
			n := bytes.IndexByte(text[i:], byte(t.only))
			if n < 0 {
				break
			}
			i += n
		}
		if n := t.root[text[i]]; n != 0 {
			if end, number = t.longest(text, i, n); number >= 0 {
				return i, end, number
			}
		}
	}
	return len(text), len(text), -1
}

// longest walks down from node n, which holds text[i].
func (t *matcher) longest(text []byte, i int, n int32) (end int, number int32) {
	number = -1
	for {
		i++
		if t.nodes[n].token >= 0 {
			end, number = i, t.nodes[n].token
		}
		if i == len(text) {
			return end, number
		}
		for n = t.nodes[n].child; n != 0 && t.nodes[n].b != text[i]; {
			n = t.nodes[n].sibling
		}
		if n == 0 {
			return end, number
		}
	}
}
