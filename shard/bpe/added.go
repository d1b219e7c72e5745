package bpe

import (
	"bytes"
	"encoding/binary"
	"math/bits"
)

// matcher finds the leftmost of a set of texts, and of several that begin there the longest. It is a trie
// whose nodes list their children; places where one may begin are searched for, not looked at byte by byte.
type matcher struct {
	root  [256]int32 // node of each first byte, 0 for none
	nodes []trieNode // nodes[0] is unused
	first []byte     // the first bytes of all texts, when they are few; else empty
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

// fewFirsts is the number of first bytes up to which a search for them beats a look at every byte.
const fewFirsts = 4

// finish makes the matcher ready.
func (t *matcher) finish() {
	t.first = nil
	for b, n := range t.root {
		if n != 0 {
			t.first = append(t.first, byte(b))
		}
	}
	if len(t.first) > fewFirsts {
		t.first = nil
	}
}

// find returns the first match at or after from: its range and the number of its text, or number -1.
func (t *matcher) find(text []byte, from int) (start, end int, number int32) {
	if len(t.nodes) == 0 {
		return len(text), len(text), -1
	}
	for i := t.candidate(text, from); i < len(text); i = t.candidate(text, i+1) {
		if n := t.root[text[i]]; n != 0 {
			if end, number = t.longest(text, i, n); number >= 0 {
				return i, end, number
			}
		}
	}
	return len(text), len(text), -1
}

// candidate returns the first place at or after i where a text may begin, or len(text).
func (t *matcher) candidate(text []byte, i int) int {
	switch len(t.first) {
	case 0:
		return i
	case 1:
		if n := bytes.IndexByte(text[i:], t.first[0]); n >= 0 {
			return i + n
		}
		return len(text)
	}
	const ones, highs = 0x0101010101010101, 0x8080808080808080
	for ; i+8 <= len(text); i += 8 {
		w := binary.LittleEndian.Uint64(text[i:])
		var hits uint64 // the high bit of each byte that is one of first, and perhaps of bytes behind it
		for _, b := range t.first {
			x := w ^ ones*uint64(b)
			hits |= (x - ones) &^ x & highs
		}
		if hits != 0 {
			return i + bits.TrailingZeros64(hits)>>3
		}
	}
	for i < len(text) && t.root[text[i]] == 0 {
		i++
	}
	return i
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
