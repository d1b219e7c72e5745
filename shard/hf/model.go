package hf

import (
	"errors"

	"github.com/turnmill/turnmill"
)

var (
	_ turnmill.Vocabulary = (*Model)(nil)
	_ turnmill.Encoder    = (*Encoder)(nil)
)

// ErrNotBuilt says that this build has no library, and how to get one that has.
var ErrNotBuilt = errors.New("this turnmill is built without the engine hf; `make hf build` in its source tree adds it " +
	"(it needs cargo 1.78 or later, a C++ compiler, patch, and cgo)")

const (
	// ChargeFactor is how many bytes of memory a record is charged with for each of its own. The library keeps
	// each character with its place, and each pre-token and token with its text: JSON and prose take 40 to 160
	// bytes for each byte of the text that is being encoded, digits to 380 where each is a token; but of a
	// record only one message is at any time.
	ChargeFactor = 100

	// WorkerBytes is what stays with a thread that has encoded texts shorter than giveBackFrom.
	WorkerBytes = ChargeFactor * giveBackFrom

	// giveBackFrom is the length of texts whose memory is given back to the system at once, in bytes: above it
	// the millisecond that this takes is nothing beside the encoding.
	giveBackFrom = 128 << 10
)

// Model is what Go knows of a tokenizer.json: ids, and what they stand for. It is read-only and safe for
// concurrent use.
type Model struct {
	size    int
	ids     map[string]int32 // by text as in the file
	text    []byte           // what each id stands for, one after the other
	ends    []uint32         // text of id: text[ends[id]:ends[id+1]]
	added   []addedToken
	unknown int32 // the id of what the vocabulary lacks, or -1
	config  config
}

// addedToken is an entry of the file's added_tokens.
type addedToken struct {
	id      int32
	text    string
	special bool
	strips  bool // takes blanks beside it, or stands as a whole word only
}

// Open reads a tokenizer.json. It does not keep data. In a build without the library the error is
// ErrNotBuilt; another one says what in the file this engine cannot do, or what is broken.
func Open(data []byte) (*Model, error) {
	if !Built {
		return nil, ErrNotBuilt
	}
	return read(data)
}

// Size is one above the largest id, added tokens included.
func (m *Model) Size() int { return m.size }

// ID returns the id of a token by its text as it stands in the file: "Ġthe", "▁the", "<|im_end|>".
func (m *Model) ID(token string) (int32, bool) {
	id, ok := m.ids[token]
	return id, ok
}

// AppendText appends the bytes that id stands for, for people to read: an entry of the vocabulary under the
// file's decoder, the content of a special token and of an added one that is no entry, nothing for an id
// that the file does not have. What a decoder does to a text as a whole (strip its first blank, clean up
// before punctuation) is left out.
func (m *Model) AppendText(dst []byte, id int32) []byte {
	if id < 0 || int(id) >= m.size {
		return dst
	}
	return append(dst, m.text[m.ends[id]:m.ends[id+1]]...)
}

// Bytes estimates the memory that the model and one Encoder hold, the library's part included, for budgets:
// 0.2 GB for Qwen3.
func (m *Model) Bytes() int {
	const (
		perName  = 60 // a map entry at the usual load, and the name
		perInput = 12 // the library's maps of vocabulary and merges, for each byte of the file
	)
	return len(m.ids)*perName + cap(m.text) + 4*cap(m.ends) + (1+perInput)*m.config.bytes()
}
