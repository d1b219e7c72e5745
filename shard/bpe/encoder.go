package bpe

import (
	"encoding/binary"
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// MaxText is the length of the longest text in bytes: NFC may treble it, and ends are 32 bits.
const MaxText = math.MaxInt32 / 3

// caches remember the ids of pre-tokens.
type caches struct {
	near  nearCache
	short shortCache
	long  longCache
}

// Encoder turns text into tokens. It holds about EncoderBytes of caches and scratch and serves one
// goroutine; ids never depend on what was encoded before.
type Encoder struct {
	m     *Model
	plain []bool // by number of added token: its text is plain text here
	caches
	merge merger
	batch batch
	nfc   normalizer
	ascii bool   // the text has no byte above U+007F
	norm  []byte // the normalized piece, where NFC changes it
}

// NewEncoder returns an encoder to which special tokens, and the added tokens named in control, are plain
// text: in content that was recorded nothing becomes a control token. A name that is no added token
// has no effect. Other added tokens (<think> in Qwen3) are one token each, as at inference.
func (m *Model) NewEncoder(control []string) *Encoder {
	c := caches{newNearCache(nearBits), newShortCache(shortBits), newLongCache(longBits, keyBytes, keyIDs)}
	*c.near.entries = *m.warm
	return m.newEncoder(control, c)
}

func (m *Model) newEncoder(control []string, c caches) *Encoder {
	e := &Encoder{m: m, plain: make([]bool, len(m.added)), caches: c, merge: merger{m: m}}
	e.batch.masks = keyMasks()
	for i, t := range m.added {
		e.plain[i] = t.Special || slices.Contains(control, t.Text)
	}
	return e
}

// Encode appends the tokens of text to dst. The package comment says what Ends are. An error leaves dst as
// it was: the text is not UTF-8, or longer than MaxText.
func (e *Encoder) Encode(dst *turnmill.Tokens, text []byte) error {
	if err := checkLength(len(text)); err != nil {
		return err
	}
	e.ascii = isASCII(text)
	if !e.ascii && !utf8.Valid(text) {
		return fmt.Errorf("text is not valid UTF-8 at byte %d", badByte(text))
	}
	from := 0
	for from < len(text) {
		start, end, id := e.next(dst, &e.m.raw, text, from)
		e.piece(dst, text[from:start], from)
		if id < 0 {
			break
		}
		dst.IDs, dst.Ends = append(dst.IDs, id), append(dst.Ends, int32(end))
		from = end
	}
	e.shrink()
	return nil
}

func checkLength(n int) error {
	if n > MaxText {
		return fmt.Errorf("text of %d bytes is longer than the %d that are encoded at once", n, MaxText)
	}
	return nil
}

// next finds the first added token at or after from that is a token here, and its id, or -1. Those that
// are plain text here are counted and passed over whole: nothing is looked for inside them.
func (e *Encoder) next(dst *turnmill.Tokens, set *matcher, text []byte, from int) (start, end int, id int32) {
	end = from
	for {
		var number int32
		start, end, number = set.find(text, end)
		if number < 0 {
			return start, end, -1
		}
		if !e.plain[number] {
			dst.Added++
			return start, end, e.m.added[number].ID
		}
		dst.Forged++
	}
}

// piece encodes what stands between two added tokens, from byte offset base of the text on.
func (e *Encoder) piece(dst *turnmill.Tokens, text []byte, base int) {
	if len(text) == 0 {
		return
	}
	var first stretch
	changed := false
	if e.m.nfc && !e.ascii {
		first, changed = e.nfc.changed(text, 0)
	}
	if !changed {
		e.normalized(dst, text, base)
		return
	}
	e.norm = append(append(e.norm[:0], text[:first.from]...), first.norm...)
	e.norm = e.nfc.append(e.norm, text[first.to:])
	n := len(dst.Ends)
	e.normalized(dst, e.norm, 0)
	e.originalEnds(dst.Ends[n:], text, base)
}

// originalEnds turns ends in the normalized text into ends in the text that it came from. It walks the
// stretches a second time rather than keep them: no memory for texts that change everywhere.
func (e *Encoder) originalEnds(ends []int32, text []byte, base int) {
	from, shift := 0, 0 // text[from:] is what follows the last stretch; original offset less normalized one
	i := 0
	for i < len(ends) {
		s, ok := e.nfc.changed(text, from)
		if !ok {
			break
		}
		begin := s.from - shift
		for ; i < len(ends) && int(ends[i]) <= begin; i++ {
			ends[i] += int32(shift + base)
		}
		end := begin + len(s.norm)
		for ; i < len(ends) && int(ends[i]) <= end; i++ {
			ends[i] = int32(s.to + base)
		}
		from, shift = s.to, s.to-end
	}
	for ; i < len(ends); i++ {
		ends[i] += int32(shift + base)
	}
}

// normalized encodes text that is in NFC: added tokens of the second kind, and what is between them.
func (e *Encoder) normalized(dst *turnmill.Tokens, text []byte, base int) {
	for from := 0; from < len(text); {
		start, end, id := e.next(dst, &e.m.normal, text, from)
		e.words(dst, text[from:start], base+from)
		if id < 0 {
			break
		}
		dst.IDs, dst.Ends = append(dst.IDs, id), append(dst.Ends, int32(base+end))
		from = end
	}
}

// shrink lets go of what only an unusually large text needed.
func (e *Encoder) shrink() {
	const keep = 1 << 20
	e.merge.shrink()
	e.nfc.shrink()
	if cap(e.batch.spill) > keepSymbols {
		e.batch.spill = nil
	}
	if cap(e.norm) > keep {
		e.norm = nil
	}
}

// isASCII tells whether no byte of text is above U+007F, 32 at a time.
func isASCII(text []byte) bool {
	var all uint64
	for ; len(text) >= 32; text = text[32:] {
		p := text[:32]
		all = binary.LittleEndian.Uint64(p) | binary.LittleEndian.Uint64(p[8:]) |
			binary.LittleEndian.Uint64(p[16:]) | binary.LittleEndian.Uint64(p[24:])
		if all&0x8080808080808080 != 0 {
			return false
		}
	}
	rest := byte(0)
	for _, b := range text {
		rest |= b
	}
	return rest < utf8.RuneSelf
}

// badByte returns the offset of the first byte that is not UTF-8.
func badByte(text []byte) int {
	i := 0
	for i < len(text) {
		r, n := utf8.DecodeRune(text[i:])
		if r == utf8.RuneError && n == 1 {
			break
		}
		i += n
	}
	return i
}
