package dedup

import "unicode/utf8"

// The basis and prime of FNV-1a with 64 bits.
const (
	fnvBasis = 14695981039346656037
	fnvPrime = 1099511628211
)

// mix makes every bit of x depend on every other one (the end of MurmurHash3, by Austin Appleby).
func mix(x uint64) uint64 {
	x ^= x >> 33
	x *= 0xff51afd7ed558ccd
	x ^= x >> 33
	x *= 0xc4ceb9fe1a85ec53
	return x ^ x>>33
}

// class says what a character is to a word.
type class uint8

const (
	parts  class = iota // it ends a word and is none
	inside              // it is part of one
	alone               // it is a word
)

// classOf classifies a character above ASCII.
func classOf(r rune) class {
	switch {
	case r < 0xC0, r == 0xD7, r == 0xF7, 0x2000 <= r && r < 0x2070, 0x3000 <= r && r < 0x3040, 0xFF00 <= r && r < 0xFF10:
		return parts // spaces, punctuation
	case 0x2190 <= r && r < 0x2C00: // arrows, boxes, signs
		return parts
	case 0x2E80 <= r && r < 0xA4D0, 0xF900 <= r && r < 0xFB00, 0x20000 <= r && r < 0x40000:
		return alone // ideographs, kana
	}
	return inside
}

// lower returns the small letter of a capital of Latin-1, Greek or Cyrillic.
func lower(r rune) rune {
	switch {
	case 0xC0 <= r && r <= 0xDE, 0x391 <= r && r <= 0x3A9, 0x410 <= r && r <= 0x42F:
		return r + 0x20
	case 0x400 <= r && r <= 0x40F:
		return r + 0x50
	}
	return r
}

// words appends the hash of each word of a text to dst, and 0 for each line feed where lines is set. No word has
// the hash 0.
func words(dst []uint64, text string, lines bool) []uint64 {
	h := uint64(fnvBasis)
	end := func() {
		if h != fnvBasis {
			dst = append(dst, max(mix(h), 1))
			h = fnvBasis
		}
	}
	for i := 0; i < len(text); {
		c := text[i]
		if c < utf8.RuneSelf {
			i++
			switch {
			case 'a' <= c && c <= 'z', '0' <= c && c <= '9':
				h = (h ^ uint64(c)) * fnvPrime
			case 'A' <= c && c <= 'Z':
				h = (h ^ uint64(c|0x20)) * fnvPrime
			default:
				end()
				if c == '\n' && lines {
					dst = append(dst, 0)
				}
			}
			continue
		}
		r, n := utf8.DecodeRuneInString(text[i:])
		i += n
		switch classOf(r) {
		case inside:
			h = (h ^ uint64(lower(r))) * fnvPrime
		case alone:
			end()
			h = (h ^ uint64(r)) * fnvPrime
			end()
		default:
			end()
		}
	}
	end()
	return dst
}

// join hashes words in their order.
func join(words []uint64) uint64 {
	h := uint64(fnvBasis)
	for _, w := range words {
		h = (h ^ w) * fnvPrime
		h ^= h >> 29
	}
	return mix(h)
}
