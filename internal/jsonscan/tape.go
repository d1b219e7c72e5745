package jsonscan

// DefaultDepth is the number of arrays and objects that may be open at once.
const DefaultDepth = 10_000

// MaxBytes is the size of the largest document: tape offsets are 32 bits.
const MaxBytes = 1<<32 - 16

// What a Doc holds on to after a huge document: 16 MiB of nodes, 8 MiB of hashes, 1 MiB for decoding keys.
const keepNodes, keepKeys, keepScratch = 1 << 20, 1 << 20, 1 << 20

// Repairs counts what Parse accepted although it is not strict JSON text, over the whole document.
type Repairs struct {
	BadUTF8       int // bytes
	LoneSurrogate int // \u escapes
	NUL           int // \u0000 escapes, kept
	DuplicateKey  int // members whose key came before in the same object
	NonFinite     int // NaN, Infinity, -Infinity
}

// Kind is the type of a JSON value.
type Kind uint8

// Kinds. Invalid is the kind of the zero Value: an absent member.
const (
	Invalid Kind = iota
	Null
	False
	True
	Number
	String
	Array
	Object
)

// String returns the kind's name as error messages use it.
func (k Kind) String() string {
	return [...]string{"nothing", "null", "boolean", "boolean", "number", "string", "array", "object"}[k]
}

const (
	flagEscape  = 1 << iota // the string has escapes
	flagBadUTF8             // the string has bytes that are not UTF-8
)

// node is one value or key: 16 bytes. For strings, start and end include the quotes.
type node struct {
	start, end uint32
	next       uint32 // index of the first node after this one's subtree
	kind       Kind
	flags      uint8
}

// Doc is a reusable parsed document. The zero value is ready; it is not safe for concurrent use.
type Doc struct {
	// NonFinite allows the literals NaN, Infinity and -Infinity.
	NonFinite bool
	// Depth limits nesting; 0 means DefaultDepth.
	Depth int

	data    []byte
	nodes   []node
	limit   int      // Depth or its default
	open    []uint32 // indices of the containers that are open
	keys    []uint64 // hashes of the keys of open objects
	bases   []int    // where each open object's keys begin
	scratch []byte
	repairs Repairs
}

// Repairs returns what the last parse mended, members that nobody reads included; after an error, what it
// mended up to there.
func (d *Doc) Repairs() Repairs { return d.repairs }

// Parse reads data, which must be one value with nothing but blanks around it. data must not change while
// the document is in use. The error is a *SyntaxError; after an error the document is empty.
func (d *Doc) Parse(data []byte) (Value, error) {
	v, i, err := d.ParsePrefix(data)
	if err != nil {
		return v, err
	}
	if i = skipBlanks(data, i); i < len(data) {
		return Value{}, d.fail(&SyntaxError{Offset: i, Msg: "text after the value"})
	}
	return v, nil
}

// ParsePrefix reads the value at the start of data, blanks before it allowed, and returns the offset just
// after it, or that of the error. What follows a number or literal is not looked at.
func (d *Doc) ParsePrefix(data []byte) (Value, int, error) {
	if err := d.reset(data); err != nil {
		return Value{}, 0, err
	}
	i, err := d.value(skipBlanks(data, 0))
	if err != nil {
		return Value{}, i, d.fail(err)
	}
	return Value{d, 0}, i, nil
}

// ParseMany reads one or more values, each two with at least one blank between them. Value.Next walks
// from the first value, which it returns, to the others.
func (d *Doc) ParseMany(data []byte) (Value, error) {
	v, i, err := d.ParsePrefix(data)
	for err == nil {
		j := skipBlanks(data, i)
		if j == len(data) {
			return v, nil
		}
		if j == i {
			return Value{}, d.fail(&SyntaxError{Offset: i, Msg: "no blank between two values"})
		}
		if i, err = d.value(j); err != nil {
			d.fail(err)
		}
	}
	return Value{}, err
}

// reset empties the document for data. Memory that a huge document took and this one cannot fill goes.
func (d *Doc) reset(data []byte) error {
	if cap(d.nodes) > max(keepNodes, len(data)) {
		d.nodes = nil
	}
	if cap(d.keys) > max(keepKeys, len(data)) {
		d.keys = nil
	}
	if cap(d.scratch) > max(keepScratch, len(data)) {
		d.scratch = nil
	}
	d.data, d.nodes, d.repairs = data, d.nodes[:0], Repairs{}
	d.open, d.keys, d.bases = d.open[:0], d.keys[:0], d.bases[:0]
	if d.limit = d.Depth; d.limit <= 0 {
		d.limit = DefaultDepth
	}
	return checkSize(uint64(len(data)))
}

func checkSize(n uint64) error {
	if n > MaxBytes {
		return &SyntaxError{Offset: 0, Msg: "document of 4 GiB or more; cut it into records"}
	}
	return nil
}

// fail empties the document, so that no Value of a half-read one is left, and returns err.
func (d *Doc) fail(err error) error {
	d.nodes = d.nodes[:0]
	return err
}
