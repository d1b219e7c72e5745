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
	text    []byte   // what the ids stand for
	starts  []uint32 // by id: where its text begins
	lens    []uint32 // and its length, 0 for an id that the file does not have
	byteID  [256]int32
	entries int              // of the vocabulary
	words   wordTable        // entries of the vocabulary by their bytes
	names   map[string]int32 // ids of added tokens and of entries with characters outside the alphabet
	merges  mergeTable
	reach   []uint64 // by id, a bit for each token that merges make of its own text; may be nil
	chars   *charTable
	warm    *[1 << nearBits]shortEntry // what the near cache of an encoder begins with
	split   *splitter
	nfc     bool // text is normalized first
	whole   bool // a pre-token that is an entry of the vocabulary is not merged (ignore_merges)
	added   []AddedToken
	raw     matcher // added tokens looked for before NFC; the numbers are indices of added
	normal  matcher // and after it
}

// Size is one above the largest id, added tokens included.
func (m *Model) Size() int { return len(m.lens) }

// ID returns the id of a token by its text as it stands in the file: "Ġthe", "<|im_end|>".
func (m *Model) ID(token string) (int32, bool) {
	if id, ok := m.names[token]; ok {
		return id, true
	}
	var buf [64]byte
	l := loader{byteOf: alphabetBytes()}
	word, plain := l.decode(buf[:0], []byte(token))
	if !plain || len(word) == 0 {
		return 0, false
	}
	id := m.words.get(m, word)
	return max(id, 0), id >= 0
}

// name notes a text that ID cannot find among the words.
func (m *Model) name(text string, id int32) {
	if m.names == nil {
		m.names = map[string]int32{}
	}
	m.names[text] = id
}

// AppendText appends the bytes that id stands for: the decoded bytes of a vocabulary entry, the content of
// an added token, nothing for an id that the file does not have.
func (m *Model) AppendText(dst []byte, id int32) []byte {
	if id < 0 || int(id) >= m.Size() {
		return dst
	}
	return append(dst, m.textOf(id)...)
}

// Added returns the added tokens in the order of the file. The caller must not change the slice.
func (m *Model) Added() []AddedToken { return m.added }

// Bytes estimates the memory that the model holds, for budgets: about 8 MB for Qwen3, 18 for gpt-oss.
func (m *Model) Bytes() int {
	const perName = 100                  // a map entry at the usual load, the name, and its path in a matcher
	const tables = 24<<10 + 32<<nearBits // of the splitter, of the matchers; what caches begin with
	return tables + len(m.names)*perName + cap(m.text) + 4*(cap(m.starts)+cap(m.lens)) +
		8*(len(m.words.slots)+len(m.reach)) + m.merges.bytes() + m.chars.bytes()
}

// textOf returns what id stands for.
func (m *Model) textOf(id int32) []byte {
	from := m.starts[id]
	return m.text[from : from+m.lens[id]]
}

// tokenLen returns the number of bytes that id stands for.
func (m *Model) tokenLen(id int32) int { return int(m.lens[id]) }

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

// alphabetBytes returns the byte that each character of the alphabet stands for, -1 for other characters.
func alphabetBytes() (bytes [alphabetEnd]int16) {
	for r := range bytes {
		bytes[r] = -1
	}
	for b, r := range byteAlphabet() {
		bytes[r] = int16(b)
	}
	return bytes
}
