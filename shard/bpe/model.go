package bpe

import "github.com/turnmill/turnmill"

var (
	_ turnmill.Vocabulary = (*Model)(nil)
	_ turnmill.Encoder    = (*Encoder)(nil)
)

// AddedToken is an entry of the file's added_tokens: a text that is one token wherever it stands, unless
// an encoder takes it as plain text.
type AddedToken struct {
	ID      int32
	Text    string
	Special bool // plain text in every encoder's input

	normalized bool // looked for after NFC, in the normalized text
}

// Model is a loaded tokenizer.json. It is read-only after Load and safe for concurrent use.
type Model struct {
	size   int
	ids    map[string]int32 // by text as in the file
	text   []byte           // what each id stands for, one after the other
	ends   []uint32         // text of id: text[ends[id]:ends[id+1]]
	byteID [256]int32       // the token of each single byte
	merges mergeTable
	added  []AddedToken
	raw    matcher // added tokens looked for before NFC; the numbers are indices of added
	normal matcher // and after it
}

// Size is one above the largest id, added tokens included.
func (m *Model) Size() int { return m.size }

// ID returns the id of a token by its text as it stands in the file: "Ġthe", "<|im_end|>".
func (m *Model) ID(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

// AppendText appends the bytes that id stands for: the decoded bytes of a vocabulary entry, the content of
// an added token, nothing for an id that the file does not have.
func (m *Model) AppendText(dst []byte, id int32) []byte {
	if id < 0 || int(id) >= m.size {
		return dst
	}
	return append(dst, m.text[m.ends[id]:m.ends[id+1]]...)
}

// Added returns the added tokens in the order of the file. The caller must not change the slice.
func (m *Model) Added() []AddedToken { return m.added }

// Bytes estimates the memory that the model holds, for budgets: about 14 MB for Qwen3.
func (m *Model) Bytes() int {
	const perName = 60 // a map entry at the usual load, and the name
	return len(m.ids)*perName + cap(m.text) + 4*cap(m.ends) + 8*len(m.merges.slots) + 4*cap(m.merges.products)
}

// tokenLen returns the number of bytes that id stands for.
func (m *Model) tokenLen(id int32) int { return int(m.ends[id+1] - m.ends[id]) }

// alphabetEnd is one above the last character of byteAlphabet.
const alphabetEnd = 0x144

// byteAlphabet returns the character that stands for each byte in tokenizer files: printable Latin-1
// characters stand for themselves, the other 68 bytes follow from U+0100 in order. The scheme is GPT-2's.
func byteAlphabet() (chars [256]rune) {
	next := rune(0x100)
	for b := range chars {
		if b >= '!' && b <= '~' || b >= 0xA1 && b <= 0xFF && b != 0xAD {
			chars[b] = rune(b)
			continue
		}
		chars[b] = next
		next++
	}
	return chars
}
