package hf

import (
	"iter"
	"strings"

	"github.com/turnmill/turnmill/internal/jsonscan"
)

// spelling is how a vocabulary writes bytes, as the file's decoder tells, or, where there is none, what
// stands before the model: undoing that gives the same.
//
//	"Ġthe"     byte-level       " the"      each character stands for one byte
//	"<0xE6>"   byte fallback    E6          a byte of a character that has no entry
//	"▁the"     Metaspace        " the"      ▁ (or another) for a blank; Replace does the same
//	"##ing"    WordPiece        "ing"       entries without the prefix begin a word: " the"
//	"the</w>"  BPEDecoder       "the "
type spelling struct {
	byteLevel    bool
	byteFallback bool
	replace      [][2]string
	prefix       string // of what continues a word
	suffix       string // of what ends one
}

func newSpelling(root jsonscan.Value) spelling {
	s := spelling{byteFallback: root.Get("model").Get("byte_fallback").Kind() == jsonscan.True}
	if decoder := root.Get("decoder"); decoder.Present() {
		for d := range parts(decoder, "decoders") {
			s.decoder(d)
		}
		return s
	}
	for n := range parts(root.Get("normalizer"), "normalizers") {
		if from, to := text(n.Get("pattern").Get("String")), text(n.Get("content")); n.Get("type").Is("Replace") && from != "" && to != "" {
			s.replace = append(s.replace, [2]string{to, from})
		}
	}
	for p := range parts(root.Get("pre_tokenizer"), "pretokenizers") {
		s.decoder(p) // ByteLevel and Metaspace are pre-tokenizers under the same names
	}
	return s
}

func (s *spelling) decoder(d jsonscan.Value) {
	switch text(d.Get("type")) {
	case "ByteLevel":
		s.byteLevel = true
	case "ByteFallback":
		s.byteFallback = true
	case "Metaspace":
		s.replace = append(s.replace, [2]string{text(d.Get("replacement")), " "})
	case "Replace":
		if from := text(d.Get("pattern").Get("String")); from != "" {
			s.replace = append(s.replace, [2]string{from, text(d.Get("content"))})
		}
	case "WordPiece":
		s.prefix = text(d.Get("prefix"))
	case "BPEDecoder":
		s.suffix = text(d.Get("suffix"))
	}
}

// append appends the bytes that a vocabulary entry stands for.
func (s *spelling) append(dst []byte, name string) []byte {
	if b, ok := fallbackByte(name); ok && s.byteFallback {
		return append(dst, b)
	}
	if s.byteLevel {
		return appendByteLevel(dst, name)
	}
	for _, r := range s.replace {
		name = strings.ReplaceAll(name, r[0], r[1])
	}
	switch {
	case s.prefix != "":
		rest, continues := strings.CutPrefix(name, s.prefix)
		if !continues {
			dst = append(dst, ' ')
		}
		name = rest
	case s.suffix != "":
		if rest, ends := strings.CutSuffix(name, s.suffix); ends {
			name = rest + " "
		}
	}
	return append(dst, name...)
}

// fallbackByte reads "<0xNN>".
func fallbackByte(name string) (byte, bool) {
	if len(name) != len("<0xNN>") || name[:3] != "<0x" || name[5] != '>' {
		return 0, false
	}
	high, low := strings.IndexByte(hexDigits, name[3]), strings.IndexByte(hexDigits, name[4])
	return byte(high<<4 | low), high >= 0 && low >= 0
}

const hexDigits = "0123456789ABCDEF"

// appendByteLevel appends the bytes of a name in GPT-2's alphabet, or the name itself when a character of
// it is no letter of that alphabet, as the library's decoder does. Printable characters of Latin-1 stand
// for themselves; the other 68 bytes are, in order, the characters from U+0100 on.
func appendByteLevel(dst []byte, name string) []byte {
	n := len(dst)
	for _, r := range name {
		switch {
		case r >= '!' && r <= '~', r >= 0xA1 && r <= 0xFF && r != 0xAD:
			dst = append(dst, byte(r))
		case r >= 0x100 && r <= 0x120: // controls and the blank
			dst = append(dst, byte(r-0x100))
		case r >= 0x121 && r <= 0x142: // from DEL to the no-break space
			dst = append(dst, byte(r-0x121+0x7F))
		case r == 0x143:
			dst = append(dst, 0xAD)
		default:
			return append(dst[:n], name...)
		}
	}
	return dst
}

// parts walks a component and, where it is a Sequence, what it is made of, at any depth.
func parts(v jsonscan.Value, list string) iter.Seq[jsonscan.Value] {
	return func(yield func(jsonscan.Value) bool) { walk(v, list, yield) }
}

func walk(v jsonscan.Value, list string, yield func(jsonscan.Value) bool) bool {
	if !v.Get("type").Is("Sequence") {
		return !v.Present() || yield(v)
	}
	for p := range v.Get(list).Elems() {
		if !walk(p, list, yield) {
			return false
		}
	}
	return true
}

// text returns a string value, or "" for any other.
func text(v jsonscan.Value) string {
	if v.Kind() != jsonscan.String {
		return ""
	}
	return string(v.AppendString(nil))
}
