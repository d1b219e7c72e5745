package hf

import (
	"bytes"
	"errors"
	"fmt"
	"math"
	"slices"
	"unicode"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

// MaxText is the length of the longest text in bytes: ends are 32 bits.
const MaxText = math.MaxInt32

// errNoTokens says that the library answered with nothing, as it does for all its errors: its regular
// expressions give up after ten million steps, which a run of as many blanks takes.
var errNoTokens = errors.New("the library found no tokens in the text: its regular expression gave up " +
	"(a run of about 10 MB of blanks does that), or the tokenizer drops such text")

// The kinds of ids in one encoder.
const (
	kindText     = iota
	kindReserved // special, or a control token of the chat format: never in content
	kindAdded    // another added token
)

// Encoder turns text into tokens through one tokenizer of the library. It is safe for concurrent use, and
// takes 0.3 to 2 s and most of Model.Bytes to make: make one and share it.
type Encoder struct {
	model   *Model
	library *library
	kinds   []uint8 // by id
	texts   textSet // added tokens and control tokens; true for those that are plain text here
}

// NewEncoder returns an encoder to which special tokens, and those named in control, are plain text: in
// content that was recorded nothing becomes a control token. Other added tokens (<think> in Qwen3) are one
// token each, as at inference. The error is the library's, when it cannot read the file, or names a control
// token that takes blanks beside it, which rows could not have as the library writes them.
func (m *Model) NewEncoder(control []string) (*Encoder, error) {
	e := &Encoder{model: m, kinds: make([]uint8, m.size)}
	special := make([]bool, len(m.added))
	for i, t := range m.added {
		named := slices.Contains(control, t.text)
		if named && t.strips {
			return nil, refused("added_tokens: "+t.text, "a token with lstrip, rstrip or single_word",
				"control tokens stand beside text as it is", "another --chat, or a tokenizer without these flags")
		}
		special[i] = t.special || named
		e.texts.add(t.text, special[i])
		e.kinds[t.id] = kindAdded
		if special[i] && t.id != m.unknown {
			e.kinds[t.id] = kindReserved
		}
	}
	for _, name := range control { // entries of the vocabulary that the file does not list as added
		if id, ok := m.ids[name]; ok && e.kinds[id] == kindText {
			e.texts.add(name, true)
			e.kinds[id] = kindReserved
		}
	}
	e.texts.finish()
	var err error
	if e.library, err = newLibrary(m.config.with(special)); err != nil {
		return nil, fmt.Errorf("tokenizer.json: the Hugging Face library says: %w", err)
	}
	return e, nil
}

// Encode appends the tokens of text to dst. The package comment says what Ends are. Forged counts where the
// texts of special and control tokens stand in the text as it came in. An error leaves dst as it was: the
// text is not UTF-8, too long, the library gave up on it, or it would have made a control token of it.
func (e *Encoder) Encode(dst *turnmill.Tokens, text []byte) error {
	switch {
	case len(text) == 0:
		return nil
	case len(text) > MaxText:
		return fmt.Errorf("text of %d bytes is longer than the %d that are encoded at once", len(text), MaxText)
	case !utf8.Valid(text):
		return fmt.Errorf("text is not valid UTF-8 at byte %d", badByte(text))
	}
	ids, offsets := e.library.encode(text)
	if len(ids) == 0 {
		return errNoTokens
	}
	added := 0
	for _, id := range ids {
		switch e.kinds[id] {
		case kindAdded:
			added++
		case kindReserved:
			return fmt.Errorf("the tokenizer makes its control token %q (id %d) of plain text, and content must not become control",
				e.model.AppendText(nil, int32(id)), id)
		}
	}
	dst.IDs = slices.Grow(dst.IDs, len(ids))
	for _, id := range ids {
		dst.IDs = append(dst.IDs, int32(id))
	}
	dst.Ends = appendEnds(dst.Ends, offsets, text)
	dst.Added += added
	dst.Forged += e.texts.count(text)
	return nil
}

// appendEnds makes ends of offsets. They never decrease, though a normalizer may change the order of marks.
// What lies between two tokens was composed into the one before (an accent), and belongs to it, or was
// dropped: that begins with a blank, and belongs to none.
func appendEnds(dst []int32, offsets []offset, text []byte) []int32 {
	dst = slices.Grow(dst, len(offsets))
	end := 0
	for i, o := range offsets {
		end = max(end, int(o[1]))
		next := len(text)
		if i+1 < len(offsets) {
			next = int(offsets[i+1][0])
		}
		if end < next {
			if gap := bytes.IndexFunc(text[end:next], unicode.IsSpace); gap >= 0 {
				next = end + gap
			}
			end = next
		}
		dst = append(dst, int32(end))
	}
	return dst
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
