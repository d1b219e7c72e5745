package bpe

import (
	"fmt"
	"math"
	"slices"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// MaxText is the length of the longest text in bytes: NFC may treble it, and ends are 32 bits.
const MaxText = math.MaxInt32 / 3

// Encoder turns text into tokens. It holds about EncoderBytes of caches and scratch and serves one
// goroutine; ids never depend on what was encoded before.
type Encoder struct {
	m     *Model
	plain []bool // by number of added token: its text is plain text here
	short shortCache
	long  longCache
	merge merger
	nfc   normalizer
	norm  []byte // the normalized piece, where NFC changes it
}

// NewEncoder returns an encoder to which special tokens, and the added tokens named in control, are plain
// text: in content that was recorded nothing becomes a control token. A name that is no added token
// has no effect. Other added tokens (<think> in Qwen3) are one token each, as at inference.
func (m *Model) NewEncoder(control []string) *Encoder {
	return m.newEncoder(control, newShortCache(shortBits), newLongCache(longBits, keyBytes, keyIDs))
}

func (m *Model) newEncoder(control []string, short shortCache, long longCache) *Encoder {
	e := &Encoder{m: m, plain: make([]bool, len(m.added)), short: short, long: long, merge: merger{m: m}}
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
	if !utf8.Valid(text) {
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
	first, changed := e.nfc.changed(text, 0)
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

// words cuts text into pre-tokens and appends the ids of each.
func (e *Encoder) words(dst *turnmill.Tokens, text []byte, base int) {
	for i := 0; i < len(text); {
		end := nextToken(text, i)
		switch n := end - i; {
		case n == 1:
			dst.IDs = append(dst.IDs, e.m.byteID[text[i]])
			dst.Ends = append(dst.Ends, int32(base+end))
		case n <= shortBytes:
			e.shortWord(dst, text, i, n, base+i)
		default:
			e.longWord(dst, text[i:end], base+i)
		}
		i = end
	}
}

// shortWord encodes text[i:i+n] through the short cache; at is its offset for ends.
func (e *Encoder) shortWord(dst *turnmill.Tokens, text []byte, i, n, at int) {
	lo, hi := shortKey(text, i, n)
	s := e.short.get(lo, hi)
	if s == nil {
		ids := e.merge.run(text[i : i+n])
		e.short.put(e.m, lo, hi, ids)
		e.emit(dst, ids, at)
		return
	}
	dst.IDs = append(dst.IDs, int32(s.ids&idMask))
	lens := s.more >> 21
	at += int(lens & 15)
	dst.Ends = append(dst.Ends, int32(at))
	for k, count := uint64(1), s.more>>37; k < count; k++ {
		id := s.ids >> (21 * k) & idMask
		if k == 3 {
			id = s.more & idMask
		}
		at += int(lens >> (4 * k) & 15)
		dst.IDs, dst.Ends = append(dst.IDs, int32(id)), append(dst.Ends, int32(at))
	}
}

// longWord encodes a pre-token of 16 bytes or more.
func (e *Encoder) longWord(dst *turnmill.Tokens, word []byte, at int) {
	if len(word) > longBytes {
		e.emit(dst, e.merge.run(word), at)
		return
	}
	hash := longHash(word)
	ids := e.long.get(word, hash)
	if ids == nil {
		ids = e.merge.run(word)
		e.long.put(word, hash, ids)
	}
	e.emit(dst, ids, at)
}

// emit appends ids whose first byte stands at offset at.
func (e *Encoder) emit(dst *turnmill.Tokens, ids []int32, at int) {
	dst.IDs = append(dst.IDs, ids...)
	for _, id := range ids {
		at += e.m.tokenLen(id)
		dst.Ends = append(dst.Ends, int32(at))
	}
}

// shrink lets go of what only an unusually large text needed.
func (e *Encoder) shrink() {
	const keep = 1 << 20
	e.merge.shrink()
	e.nfc.shrink()
	if cap(e.norm) > keep {
		e.norm = nil
	}
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
