//go:build hf && cgo

package hf

/*
#cgo LDFLAGS: -L${SRCDIR}/../../build/lib
#include <stdlib.h>
#ifdef __GLIBC__
#include <malloc.h>
#endif

extern void turnmill_hf_patch_1(void);
void (*turnmill_hf_patch)(void) = &turnmill_hf_patch_1;

static void give_back(void) {
#ifdef __GLIBC__
	malloc_trim(0);
#endif
}
*/
import "C" // a library without our patch, or with another one, does not link

import (
	"bytes"
	"runtime"

	"github.com/daulet/tokenizers"
)

// Built tells whether this build has the library.
const Built = true

// library is a tokenizer of the Rust library. It is safe for concurrent use: the library shares a cache
// between threads, whose contents never change an id.
type library struct {
	tokenizer *tokenizers.Tokenizer
}

// newLibrary makes a tokenizer of a tokenizer.json, to which special tokens are plain text.
func newLibrary(config []byte) (*library, error) {
	t, err := tokenizers.FromBytes(config, tokenizers.WithEncodeSpecialTokens())
	if err != nil {
		return nil, err
	}
	l := &library{t}
	runtime.AddCleanup(l, func(t *tokenizers.Tokenizer) { t.Close() }, t)
	C.give_back() // of what only reading the file took
	return l, nil
}

// offset is where a token stands in the text, in bytes: first and one past the last.
type offset = tokenizers.Offset

// encode returns the ids of text and where each stands; nothing when the library fails.
func (l *library) encode(text []byte) ([]uint32, []offset) {
	n := len(text)
	if bytes.IndexByte(text, 0) >= 0 {
		text = bytes.ReplaceAll(text, []byte{0}, []byte{0xC0, 0x80}) // see tokenizers.patch
	}
	e := l.tokenizer.EncodeWithOptions(string(text), false, tokenizers.WithReturnOffsets())
	runtime.KeepAlive(l)
	if n >= giveBackFrom { // the C library would keep it for the thread that happened to run
		C.give_back()
	}
	return e.IDs, e.Offsets
}
