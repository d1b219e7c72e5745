package ingest

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"fmt"
	"io"
	"os"

	"github.com/turnmill/turnmill/ingest/frame"
)

// HeadBytes is how much of a file, decompressed, its format is told from.
const HeadBytes = 1 << 20

// endBytes is how much of either end HeadTail looks at.
const endBytes = 64 << 10

// sniffBytes is enough for a gzip or zstd header.
const sniffBytes = 32

// Head is the start of a file.
type Head struct {
	Data        []byte // decompressed, at most HeadBytes
	Complete    bool   // Data is the whole file
	Compression frame.Compression
	Window      uint64 // bytes that the decoder holds while it reads the file, as far as the head tells; see frame.Window
}

// ReadHead reads the start of a file through its compression. maxWindow is that of frame.Decompress. On an
// error the Head holds what could be read; frame.Reason names the error.
func ReadHead(path string, maxWindow int64) (Head, error) {
	file, err := os.Open(path)
	if err != nil {
		return Head{}, fmt.Errorf("%w; try to check its permissions", err)
	}
	defer file.Close()
	h, text, err := Peek(file, maxWindow)
	if text != nil {
		text.Close()
	}
	if err != nil && len(h.Data) > 0 {
		err = fmt.Errorf("%s: %w", path, err)
	}
	return h, err
}

// Peek reads the start of what r holds, through its compression, for an input that cannot be read twice. text
// gives all of it, decompressed, from the start on, and the same error where Peek met one; it is nil when
// nothing can be decompressed.
func Peek(r io.Reader, maxWindow int64) (h Head, text io.ReadCloser, err error) {
	stored := make([]byte, sniffBytes)
	n, err := io.ReadFull(r, stored)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return h, nil, err
	}
	stored = stored[:n]
	h.Compression, h.Window = frame.Sniff(stored), frame.Window(stored)
	plain, err := frame.Decompress(io.MultiReader(bytes.NewReader(stored), r), h.Compression, maxWindow)
	if err != nil {
		return h, nil, err
	}
	h.Data, err = io.ReadAll(io.LimitReader(plain, HeadBytes+1))
	rest := io.Reader(plain)
	if err != nil {
		rest = failed{err}
	}
	text = again{io.MultiReader(bytes.NewReader(h.Data), rest), plain}
	if h.Complete = err == nil && len(h.Data) <= HeadBytes; len(h.Data) > HeadBytes {
		h.Data = h.Data[:HeadBytes]
	}
	return h, text, err
}

// again reads a head once more and goes on.
type again struct {
	io.Reader
	io.Closer
}

// failed is a reader that has failed.
type failed struct{ err error }

func (f failed) Read([]byte) (int, error) { return 0, f.err }

// HeadTail returns what the plan knows a file by: its size, and the SHA-256 in hex of the size (8 bytes,
// big-endian), the first 64 KiB and the last 64 KiB, which overlap in a small file. Times do not count.
func HeadTail(path string) (sum string, size int64, err error) {
	file, err := os.Open(path)
	if err != nil {
		return "", 0, fmt.Errorf("%w; try to check its permissions", err)
	}
	defer file.Close()
	info, err := file.Stat()
	if err != nil {
		return "", 0, err
	}
	size = info.Size()
	h := sha256.New()
	h.Write(binary.BigEndian.AppendUint64(nil, uint64(size)))
	n := min(size, endBytes)
	for _, from := range []int64{0, size - n} {
		if _, err := io.Copy(h, io.NewSectionReader(file, from, n)); err != nil {
			return "", 0, err
		}
	}
	return hex.EncodeToString(h.Sum(nil)), size, nil
}
