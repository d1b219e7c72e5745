package bpe

import "math/bits"

// starts finds where pre-tokens begin in the n bytes of a block whose masks are given; n >= 1, and the block
// itself begins with a pre-token, so bit 0 is always set. Each alternative of the family's regular
// expression is a few operations on all bytes at once, because classes of ASCII tell where it begins:
//
//	others      the first of a run, unless a space stands before it
//	word        the first letter of a run, unless the one character before it belongs to the word
//	blanks      the first of a run, what follows its last line end, and the last one before another class
//	line ends   none behind others: they belong to those
//
// With final the text ends after n bytes and all is decided. Without it the byte after the last one is not
// known: the last start is that of a pre-token whose end is not known, and no start that depends on what
// follows is among those before it.
func (s *splitter) starts(m *masks, b *[blockBytes]byte, n int, final bool) uint64 {
	switch s.kind {
	case caseKind:
		return caseStarts(m, b, n, final)
	case gpt2Kind:
		return gpt2Starts(m, b, n, final)
	case deepseekKind:
		return deepseekStarts(m, n, final)
	}
	return wordStarts(m, b, n, final, s.digits)
}

// wordStarts is starts for the families of split_words.go.
func wordStarts(m *masks, b *[blockBytes]byte, n int, final bool, digits int) uint64 {
	attached := flood(m.line, m.line&(m.other<<1))
	alone := m.other &^ (m.other << 1) &^ (m.space << 1) // with a letter behind it, the first of a word
	blank := m.space | m.tab
	st := 1 | alone | blankStarts(m, attached, n, final) | numberStarts(m.digit, digits) |
		m.letter&^(m.letter<<1)&^(blank<<1)&^(alone<<1)
	for q := m.quote & alone & (m.letter >> 1); q != 0; q &= q - 1 {
		p := bits.TrailingZeros64(q)
		if k := contracted(b, p, n); k > 0 { // what follows a contraction begins anew
			st |= uint64(1) << (p + 1 + k) & m.letter
		}
	}
	return st
}

// caseStarts is starts for split_case.go: a word also begins where upper case follows lower case, slashes
// may stand among the line ends behind others, and a contraction belongs to the word before it.
func caseStarts(m *masks, b *[blockBytes]byte, n int, final bool) uint64 {
	slash := m.other & m.upper
	upper := m.letter & m.upper
	attached := flood(m.line|slash, m.line&(m.other<<1))
	other := m.other &^ attached
	alone := other &^ (other << 1) &^ (m.space << 1)
	blank := m.space | m.tab
	st := 1 | alone | blankStarts(m, attached, n, final) | numberStarts(m.digit, 3) |
		m.letter&^(m.letter<<1)&^(blank<<1)&^(alone<<1) | upper&((m.letter&^upper)<<1)
	after := -1 // the end of the last contraction: no word ends there that could have another
	for q := m.quote & alone & (m.letter << 1); q != 0; q &= q - 1 {
		p := bits.TrailingZeros64(q)
		if p == after {
			continue
		}
		k := contracted(b, p, n)
		if k < 0 && !final {
			return st & (1<<p - 1) // the word before may go on
		}
		if k > 0 {
			after = p + 1 + k
			st &^= (1<<(1+k) - 1) << p
			st |= uint64(1) << after & m.letter
		}
	}
	return st
}

// gpt2Starts is starts for split_gpt2.go: line ends are blanks, and only a space joins what follows.
func gpt2Starts(m *masks, b *[blockBytes]byte, n int, final bool) uint64 {
	blank := m.space | m.tab | m.line
	other := m.other &^ (m.other << 1) &^ (m.space << 1)
	last := blank &^ (blank >> 1) &^ (1 << (n - 1))
	st := 1 | other | blank&^(blank<<1) | last | m.letter&^(m.letter<<1)&^(m.space<<1) | m.digit&^(m.digit<<1)&^(m.space<<1)
	for q := m.quote & other & (m.letter >> 1); q != 0; q &= q - 1 {
		p := bits.TrailingZeros64(q)
		k := contracted(b, p, n)
		if k > 0 && (b[p+1] < 'a' || b[p+k] < 'a') { // lower case only
			k = 0
		}
		if k < 0 && !final {
			return st & (2<<p - 1)
		}
		if k > 0 {
			st &^= 2 << p
			st |= uint64(1) << (p + 1 + k) & m.letter
		}
	}
	return st
}

// deepseekStarts is starts for split_deepseek.go: blanks before a number stay whole, and controls are a
// class of their own, the last of which joins a word.
func deepseekStarts(m *masks, n int, final bool) uint64 {
	attached := flood(m.line, m.line&(m.other<<1))
	alone := m.other &^ (m.other << 1) &^ (m.space << 1)
	before := m.space | m.tab | m.control | alone
	return 1 | alone | deepseekBlanks(m, attached, n, final) | numberStarts(m.digit, 3) |
		m.letter&^(m.letter<<1)&^(before<<1) | m.control&^(m.control<<1) | m.control&(m.letter>>1)
}

// flood returns the bits of the runs of in from a seed on; every seed is in in. A carry runs through each.
func flood(in, seeds uint64) uint64 { return in&^(in+seeds) | seeds }

// blankStarts returns where pre-tokens of blanks begin, line ends that belong to others aside.
func blankStarts(m *masks, attached uint64, n int, final bool) uint64 {
	blank := m.space | m.tab
	last := blank &^ ((blank | m.line) >> 1) &^ (1 << (n - 1)) // before another class
	return last | blankRuns(m, attached, n, final)
}

// deepseekBlanks is blankStarts where a number bounds the text.
func deepseekBlanks(m *masks, attached uint64, n int, final bool) uint64 {
	blank := m.space | m.tab
	last := blank &^ ((blank | m.line | m.digit) >> 1) &^ (1 << (n - 1))
	return last | blankRuns(m, attached, n, final)
}

// blankRuns returns the first blank of each run, and the first one behind the last line end of a run.
func blankRuns(m *masks, attached uint64, n int, final bool) uint64 {
	blank := m.space | m.tab
	run := (blank | m.line) &^ attached
	behind := blank & (m.line << 1)
	if !final { // blanks that reach the end may meet another line end there
		open := bits.LeadingZeros64(^(blank << (blockBytes - n)))
		behind &= uint64(1)<<(n-open) - 1
	}
	// The carry of each one stops where the blanks end: at a line end it was not the last one.
	for met := (behind + blank) &^ blank & m.line; met != 0; met &= met - 1 {
		below := behind & (met&-met - 1)
		behind &^= 1 << (bits.Len64(below) - 1)
	}
	return run&^(run<<1) | behind
}

// numberStarts returns where pre-tokens of at most most numbers begin, 1 or 3.
func numberStarts(digit uint64, most int) uint64 {
	if most == 1 {
		return digit
	}
	st := digit &^ (digit << 1)
	four := digit & (digit << 1) & (digit << 2) & (digit << 3) // a number with three before it
	for next := st; four != 0 && next != 0; st |= next {
		next = next << 3 & four
	}
	return st
}

// contracted returns the number of letters of the contraction behind the apostrophe at p, 0 for none, -1
// when the n bytes that are known do not tell.
func contracted(b *[blockBytes]byte, p, n int) int {
	if p+1 >= n {
		return -1
	}
	switch first := b[p+1] | 0x20; first {
	case 's', 't', 'm', 'd':
		return 1
	case 'r', 'v', 'l':
		if p+2 >= n {
			return -1
		}
		second := b[p+2] | 0x20
		if first == 'l' && second == 'l' || first != 'l' && second == 'e' {
			return 2
		}
	}
	return 0
}
