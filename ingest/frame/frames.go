package frame

import (
	"io"

	"github.com/klauspost/compress/zstd"
)

// Frames returns where the frames of a zstd file of size bytes start, skippable ones left out. It reads
// headers only. Where the structure is damaged the list ends: decoding says how.
func Frames(r io.ReaderAt, size int64) []int64 {
	var starts []int64
	head := make([]byte, zstd.HeaderMaxSize)
	for at := int64(0); at < size; {
		n, _ := r.ReadAt(head, at)
		if skippable(head[:n]) && n >= 8 {
			at += 8 + int64(uint32(head[4])|uint32(head[5])<<8|uint32(head[6])<<16|uint32(head[7])<<24)
			continue
		}
		var h zstd.Header
		if h.Decode(head[:n]) != nil {
			return starts
		}
		end, ok := frameEnd(r, at+int64(h.HeaderSize), h.HasCheckSum)
		if !ok || end > size {
			return starts
		}
		starts = append(starts, at)
		at = end
	}
	return starts
}

// frameEnd returns where the frame whose first block starts at at ends.
func frameEnd(r io.ReaderAt, at int64, checksum bool) (int64, bool) {
	var head [3]byte
	for {
		if n, _ := r.ReadAt(head[:], at); n < len(head) {
			return 0, false
		}
		last, size, known := blockHeader(head[:])
		if !known {
			return 0, false
		}
		at += size
		if last {
			if checksum {
				at += 4
			}
			return at, true
		}
	}
}

// blockHeader reads a block's three bytes: whether it is the frame's last, and how long it is with them.
// RFC 8878, section 3.1.1.2.
func blockHeader(head []byte) (last bool, size int64, known bool) {
	bits := uint32(head[0]) | uint32(head[1])<<8 | uint32(head[2])<<16
	kind := bits >> 1 & 3
	size = int64(bits >> 3)
	if kind == 1 {
		size = 1 // one byte, repeated
	}
	return bits&1 == 1, 3 + size, kind != 3
}

// Sound tells whether a zstd frame starts at an offset of a file of size bytes: its header and its chain of
// blocks are whole. What is in them only decoding tells.
func Sound(r io.ReaderAt, at, size int64) bool {
	head := make([]byte, zstd.HeaderMaxSize)
	n, _ := r.ReadAt(head, at)
	var h zstd.Header
	if h.Decode(head[:n]) != nil || h.Skippable {
		return false
	}
	end, ok := frameEnd(r, at+int64(h.HeaderSize), h.HasCheckSum)
	return ok && end <= size
}
