package jsonscan

import (
	"iter"
	"math"
	"unsafe"
)

// Value is a handle on one value of a Doc. The zero Value has kind Invalid and stands for absence; every
// method works on it.
type Value struct {
	d *Doc
	i uint32
}

// Kind returns the value's type.
func (v Value) Kind() Kind {
	if v.d == nil {
		return Invalid
	}
	return v.d.nodes[v.i].kind
}

// Present tells an absent value, or null, from any other.
func (v Value) Present() bool { return v.Kind() > Null }

// Raw returns the value's bytes as they stand in the document.
func (v Value) Raw() []byte {
	if v.d == nil {
		return nil
	}
	n := v.d.nodes[v.i]
	return v.d.data[n.start:n.end]
}

// Offset returns the offset of the value's first byte.
func (v Value) Offset() int {
	if v.d == nil {
		return 0
	}
	return int(v.d.nodes[v.i].start)
}

// Next returns the value after v at the top level of a document read by ParseMany.
func (v Value) Next() Value {
	if v.d == nil {
		return Value{}
	}
	n := v.d.nodes[v.i].next
	if int(n) >= len(v.d.nodes) {
		return Value{}
	}
	return Value{v.d, n}
}

// Elems walks an array's elements; other kinds have none.
func (v Value) Elems() iter.Seq[Value] {
	return func(yield func(Value) bool) {
		if v.Kind() != Array {
			return
		}
		end := v.d.nodes[v.i].next
		for i := v.i + 1; i < end; i = v.d.nodes[i].next {
			if !yield(Value{v.d, i}) {
				return
			}
		}
	}
}

// Members walks an object's keys and values in the order of the document, repeated keys included.
func (v Value) Members() iter.Seq2[Value, Value] {
	return func(yield func(Value, Value) bool) {
		if v.Kind() != Object {
			return
		}
		end := v.d.nodes[v.i].next
		for i := v.i + 1; i < end; i = v.d.nodes[i+1].next {
			if !yield(Value{v.d, i}, Value{v.d, i + 1}) {
				return
			}
		}
	}
}

// Len returns the number of elements or members.
func (v Value) Len() int {
	n := 0
	switch v.Kind() {
	case Array:
		for range v.Elems() {
			n++
		}
	case Object:
		for range v.Members() {
			n++
		}
	}
	return n
}

// Get returns the last member with that key, or the zero Value.
func (v Value) Get(key string) Value {
	var found Value
	if v.Kind() != Object {
		return found
	}
	nodes := v.d.nodes
	for i, end := v.i+1, nodes[v.i].next; i < end; i = nodes[i+1].next {
		k := &nodes[i]
		if k.flags == 0 && int(k.end-k.start)-2 != len(key) {
			continue // most keys differ in length
		}
		if (Value{v.d, i}).Is(key) {
			found = Value{v.d, i + 1}
		}
	}
	return found
}

// At returns element i of an array, or the zero Value.
func (v Value) At(i int) Value {
	for e := range v.Elems() {
		if i == 0 {
			return e
		}
		i--
	}
	return Value{}
}

// Is tells whether v is a string that decodes to s.
func (v Value) Is(s string) bool {
	if v.Kind() != String {
		return false
	}
	n := v.d.nodes[v.i]
	text := v.d.data[n.start+1 : n.end-1]
	if n.flags == 0 {
		return string(text) == s
	}
	v.d.scratch = appendDecoded(v.d.scratch[:0], text, n.flags)
	return string(v.d.scratch) == s
}

// Plain returns the string's bytes without copying when it needs no decoding.
func (v Value) Plain() ([]byte, bool) {
	if v.Kind() != String {
		return nil, false
	}
	n := v.d.nodes[v.i]
	return v.d.data[n.start+1 : n.end-1], n.flags == 0
}

// AppendString appends the decoded string to dst; other kinds append nothing. dst must not be a part of
// the document.
func (v Value) AppendString(dst []byte) []byte {
	text, plain := v.Plain()
	if plain || text == nil {
		return append(dst, text...)
	}
	return appendDecoded(dst, text, v.d.nodes[v.i].flags)
}

// Str returns the decoded string. It shares the document's bytes when nothing has to be decoded and lies
// in the arena otherwise. Other kinds give "".
func (v Value) Str(a *Arena) string {
	text, plain := v.Plain()
	if plain || text == nil {
		return unsafe.String(unsafe.SliceData(text), len(text))
	}
	return a.Close(appendDecoded(a.room(len(text)), text, v.d.nodes[v.i].flags))
}

// RawStr returns the value's bytes as a string that shares the document's memory.
func (v Value) RawStr() string {
	raw := v.Raw()
	return unsafe.String(unsafe.SliceData(raw), len(raw))
}

// Int returns a number in the range of int64 that is spelt as a whole one, without fraction or exponent.
func (v Value) Int() (int64, bool) {
	if v.Kind() != Number {
		return 0, false
	}
	raw, limit := v.Raw(), uint64(math.MaxInt64)
	neg := raw[0] == '-'
	if neg {
		raw, limit = raw[1:], 1<<63
	}
	var n uint64
	for _, c := range raw {
		if c < '0' || c > '9' || n > limit/10 {
			return 0, false
		}
		if n = n*10 + uint64(c-'0'); n > limit {
			return 0, false
		}
	}
	if neg {
		return -int64(n), true
	}
	return int64(n), true
}
