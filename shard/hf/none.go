//go:build !hf || !cgo

package hf

// Built tells whether this build has the library.
const Built = false

// library has no value in this build: newLibrary makes none.
type library struct{}

func newLibrary([]byte) (*library, error) { return nil, ErrNotBuilt }

// offset is where a token stands in the text, in bytes: first and one past the last.
type offset [2]uint

func (*library) encode([]byte) ([]uint32, []offset) {
	panic("hf: an encoder in a build that cannot make one")
}
