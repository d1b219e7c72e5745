// Package zstdio writes and reads the one kind of zstd file that turnmill makes: a single frame, one
// encoder mode, no concurrency, so that the same text gives the same bytes on every machine.
//
//	| magic | frame header | block ... block | checksum |     blocks of 128 KiB, window of 1 MiB
package zstdio

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// window bounds what a writer and a reader hold, in bytes.
const window = 1 << 20

// NewWriter returns a writer that compresses to w. Close ends the frame and leaves w open.
func NewWriter(w io.Writer) (io.WriteCloser, error) {
	return zstd.NewWriter(w, zstd.WithEncoderConcurrency(1), zstd.WithEncoderLevel(zstd.SpeedDefault),
		zstd.WithWindowSize(window), zstd.WithEncoderCRC(true), zstd.WithZeroFrames(true))
}

// NewReader returns a reader of what NewWriter wrote.
func NewReader(r io.Reader) (io.ReadCloser, error) {
	d, err := zstd.NewReader(r, zstd.WithDecoderConcurrency(1), zstd.WithDecoderMaxWindow(window))
	if err != nil {
		return nil, err
	}
	return d.IOReadCloser(), nil
}
