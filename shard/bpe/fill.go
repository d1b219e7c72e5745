package bpe

import (
	"math/bits"
	"unicode/utf8"
)

const (
	// wordsAtOnce is the number of pre-tokens that are found, then looked up, then written together.
	wordsAtOnce = 256
	// fewASCII is the number of bytes before a longer character below which a block is not worth its masks.
	fewASCII = 8
)

// fill finds the pre-tokens of text from offset i on, where one begins, and writes their ends to ends until
// the text ends, one is longer than longBytes, or there is no room for those of one more block. It returns
// their number.
func (s *splitter) fill(ends *[wordsAtOnce]int32, text []byte, i int) int {
	n := 0
	for i < len(text) && n <= len(ends)-blockBytes {
		if k := s.fillBlock((*[blockBytes]int32)(ends[n:]), text, i); k > 0 {
			n += k
			i = int(ends[n-1])
			continue
		}
		from := i
		i = s.next(text, i)
		ends[n] = int32(i)
		n++
		if i-from > longBytes {
			break
		}
	}
	return n
}

// fillBlock writes the ends of the pre-tokens that the 64 bytes from i on, or those up to a longer
// character, decide. It returns their number, which may be 0.
func (s *splitter) fillBlock(ends *[blockBytes]int32, text []byte, i int) int {
	rest := text[i:]
	for k := range min(fewASCII, len(rest)) {
		if rest[k] >= utf8.RuneSelf {
			return 0
		}
	}
	var pad [blockBytes]byte
	block, n := &pad, blockBytes
	if len(rest) >= blockBytes {
		block = (*[blockBytes]byte)(rest)
	} else {
		n = copy(pad[:], rest)
	}
	var m masks
	classify(&m, s.table, block)
	final := n == len(rest)
	if known := m.ascii(); known < n {
		n, final = known, false
	}
	if n < blockBytes {
		m.cut(n)
	}
	st := s.starts(&m, block, n, final)
	count := bits.OnesCount64(st) - 1
	st &= st - 1 // the first begins the block
	at := int32(i)
	for k := 0; k < count; k += 4 {
		e := (*[4]int32)(ends[k:])
		e[0] = at + int32(bits.TrailingZeros64(st))
		st &= st - 1
		e[1] = at + int32(bits.TrailingZeros64(st))
		st &= st - 1
		e[2] = at + int32(bits.TrailingZeros64(st))
		st &= st - 1
		e[3] = at + int32(bits.TrailingZeros64(st))
		st &= st - 1
	}
	if final {
		ends[count] = at + int32(n)
		count++
	}
	return count
}
