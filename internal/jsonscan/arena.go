package jsonscan

import "unsafe"

const (
	firstBytes = 4 << 10 // the first block of an arena
	openBytes  = 256     // least room that Open finds
	// keepBytes is the largest block that an arena keeps over a Reset, so that one huge record does not hold
	// its memory for the rest of a run.
	keepBytes = 16 << 20
)

// Arena holds the texts of one record: strings that it returned stay valid until Reset. The zero value is
// ready. It is not safe for concurrent use.
//
//	b := a.Open()            // nothing yet, room at the block's end
//	b = append(b, "ls"...)   // may outgrow the block
//	s := a.Close(b)          // "ls", in the arena
//
//	block   | text | text | open ...  room |     a full block is left to its strings; the next is larger
//
// Between Open and Close nothing else may ask the arena for memory, Value.Str included: both texts would
// lie in the same place. An Open without Close keeps nothing.
type Arena struct {
	block   []byte
	total   int  // bytes handed out since Reset
	need    int  // size of the block that would have held everything since Reset
	spilled bool // one block was not enough
}

// Reset makes the arena empty. All strings that came from it become invalid. After a record that took
// several blocks the next one of its size takes one.
func (a *Arena) Reset() {
	size := cap(a.block)
	if a.spilled {
		size = max(size, a.need+a.need/4)
	}
	if size = min(size, keepBytes); size != cap(a.block) {
		a.block = make([]byte, 0, size)
	}
	a.block, a.total, a.need, a.spilled = a.block[:0], 0, 0, false
}

// Open returns an empty slice to append one text to. Only one text may be open.
func (a *Arena) Open() []byte { return a.room(openBytes) }

// room is Open with room for n bytes.
func (a *Arena) room(n int) []byte {
	a.need = max(a.need, a.total+n)
	if cap(a.block)-len(a.block) < n {
		a.spilled = cap(a.block) > 0
		a.block = make([]byte, 0, max(n, firstBytes, min(2*cap(a.block), keepBytes)))
	}
	return a.block[len(a.block):len(a.block):cap(a.block)]
}

// Close keeps b, which began as Open's result, and returns it as a string. b may have been cut at either
// end.
func (a *Arena) Close(b []byte) string {
	if len(b) == 0 {
		return ""
	}
	a.total += len(b)
	a.need = max(a.need, a.total)
	at := uintptr(unsafe.Pointer(unsafe.SliceData(b))) - uintptr(unsafe.Pointer(unsafe.SliceData(a.block)))
	switch {
	case at < uintptr(cap(a.block)):
		a.block = a.block[:max(len(a.block), int(at)+len(b))]
	case cap(b)-len(b) > cap(a.block)-len(a.block):
		a.block, a.spilled = b, true // append moved the text to a block of its own, which serves from now on
	default:
		a.spilled = true // it moved, and the old block has more room left
	}
	return unsafe.String(unsafe.SliceData(b), len(b))
}

// Copy keeps a copy of s.
func (a *Arena) Copy(s string) string { return a.Close(append(a.room(len(s)), s...)) }

// CopyBytes keeps a copy of b.
func (a *Arena) CopyBytes(b []byte) string { return a.Close(append(a.room(len(b)), b...)) }
