package jsonscan

import "fmt"

// SyntaxError says what is not JSON, and where.
type SyntaxError struct {
	Offset int // of the byte that is wrong; the document's length when Short, and only then
	Msg    string
	Deep   bool // the nesting limit was passed
	Short  bool // the document ends too early: some continuation of it is JSON
}

func (e *SyntaxError) Error() string { return fmt.Sprintf("byte %d: %s", e.Offset, e.Msg) }

// short is the error of a document that ends at its last byte while more is due.
func (d *Doc) short(where string) error {
	return &SyntaxError{Offset: len(d.data), Msg: "the text ends " + where, Short: true}
}

// unexpected is the error of byte i, which stands where something else is due.
func (d *Doc) unexpected(i int, due string) error {
	return &SyntaxError{Offset: i, Msg: byteName(d.data[i]) + " where " + due + " is due"}
}

func (d *Doc) tooDeep(i int) error {
	return &SyntaxError{Offset: i, Msg: fmt.Sprintf("more than %d arrays and objects open", d.limit), Deep: true}
}

func badControl(i int, c byte) error {
	return &SyntaxError{Offset: i, Msg: fmt.Sprintf("raw control character U+%04X in a string", c)}
}

// byteName shows a byte without printing what is no graphic ASCII.
func byteName(c byte) string {
	if c >= 0x20 && c < 0x7F {
		return string([]byte{'\'', c, '\''})
	}
	return fmt.Sprintf("byte 0x%02X", c)
}
