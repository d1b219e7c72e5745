package turnmill

// IgnoreIndex is the label of a token without loss, in every trainer that reads labels.
const IgnoreIndex int32 = -100

// Span is a half-open range of tokens in a row, or of bytes in a text.
type Span struct {
	Start int32 `json:"start"`
	End   int32 `json:"end"`
}

// Len returns the number of tokens or bytes.
func (s Span) Len() int32 { return s.End - s.Start }

// Tokens is an encoded text: len(IDs) == len(Ends).
type Tokens struct {
	IDs    []int32
	Ends   []int32 // byte offset in the text just after each token's last byte; never decreasing
	Forged int     // occurrences of special and control tokens' texts, encoded as text
	Added  int     // occurrences of other added tokens, each one token
}

// Encoder turns text into tokens. One encoder serves one goroutine; many may share a vocabulary.
type Encoder interface {
	// Encode appends the tokens of text to dst and adds to its counts. text is valid UTF-8 and is not kept.
	// Special tokens, and those named as control when the encoder was made, are plain text here; other added
	// tokens are one token each. An error means that the text cannot be encoded, never that it was cut.
	Encode(dst *Tokens, text []byte) error
}

// Vocabulary is what a tokenizer knows about its ids. It is safe for concurrent use.
type Vocabulary interface {
	// Size is one above the largest id, added tokens included.
	Size() int
	// ID returns the id of a token by its text as it stands in the tokenizer's file.
	ID(token string) (int32, bool)
	// AppendText appends the bytes that id stands for; a lone token may be a part of a character.
	AppendText(dst []byte, id int32) []byte
}

// TurnTokens says where one turn stands in a row. Both ranges include the end token of their message.
type TurnTokens struct {
	Turn        int  // position in Trajectory.Turns; the window's number for a document
	Action      Span // empty for a document
	Observation Span
	EndTokens   int32 // end tokens counted in Observation: 1, or 0 for an inner window of a document
	Trained     int32 // tokens of the target span whose label is not IgnoreIndex
}

// Row is what a trainer reads: one trajectory, or one window of it. Labels are unshifted: the trainer
// shifts. len(IDs) == len(Labels), and len(Weights) is the same or zero.
type Row struct {
	IDs     []int32
	Labels  []int32   // the id where the token carries loss, else IgnoreIndex
	Weights []float32 // mode weight only: the keep ratio where Labels carries loss, else 0
	Turns   []TurnTokens
}
