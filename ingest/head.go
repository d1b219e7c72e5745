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
	var h Head
	file, err := os.Open(path)
	if err != nil {
		return h, fmt.Errorf("%w; try to check its permissions", err)
	}
	defer file.Close()
	stored := make([]byte, sniffBytes)
	n, err := io.ReadFull(file, stored)
	if err != nil && err != io.EOF && err != io.ErrUnexpectedEOF {
		return h, err
	}
	stored = stored[:n]
	h.Compression, h.Window = frame.Sniff(stored), frame.Window(stored)
	text, err := frame.Decompress(io.MultiReader(bytes.NewReader(stored), file), h.Compression, maxWindow)
	if err != nil {
		return h, err
	}
	defer text.Close()
	h.Data, err = io.ReadAll(io.LimitReader(text, HeadBytes+1))
	if err != nil {
		return h, fmt.Errorf("%s: %w", path, err)
	}
	if h.Complete = len(h.Data) <= HeadBytes; !h.Complete {
		h.Data = h.Data[:HeadBytes]
	}
	return h, nil
}

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
