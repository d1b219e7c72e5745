package frame

import (
	"bufio"
	"encoding/binary"
	"io"
	"os"

	"github.com/klauspost/compress/zstd"
)

// zstdReader decodes frames on the calling goroutine.
type zstdReader struct {
	stored *stored
	frames *zstdFrames
	dec    *zstd.Decoder
	end    error
}

func (z *zstdReader) Read(p []byte) (int, error) {
	if z.end != nil {
		return 0, z.end
	}
	n, err := z.dec.Read(p)
	switch {
	case err == nil || err == io.EOF:
		z.end = err
	case z.frames.refused != nil:
		z.end = z.frames.refused
	case z.stored.err != nil:
		z.end = z.stored.err
	default:
		z.end = &DamageError{Compression: Zstd, Offset: z.frames.part, Err: err}
	}
	if n > 0 {
		return n, nil
	}
	return 0, z.end
}

// Close frees the decoder.
func (z *zstdReader) Close() error {
	if z.dec != nil {
		z.dec.Close()
	}
	z.dec, z.end = nil, os.ErrClosed // the decoder holds the window
	return nil
}

// zstdFrames passes stored bytes on to the decoder and follows their structure: to read each frame's
// header before the decoder makes room for its window, and to know where damage lies. The decoder has a
// limit of its own, but it names no figures and does not hold for single-segment frames, whose window is
// their whole content. RFC 8878, section 3.1.1.
//
//	| magic, header | size<<3, type, last | block | ... | checksum, if any |     skippable: | magic | size | bytes |
type zstdFrames struct {
	buf     *bufio.Reader
	limit   uint64
	refused error // a *WindowError
	offset  int64 // stored bytes passed on
	part    int64 // where the current header, block or checksum starts
	left    int64 // bytes of it to pass on
	due     framePart
	check   bool // the frame ends with a checksum
}

type framePart uint8

const (
	dueFrame framePart = iota
	dueBlock
	dueChecksum
	lost // the structure is damaged: the decoder says how
)

func (z *zstdFrames) Read(p []byte) (int, error) {
	if z.left == 0 && z.due != lost {
		z.part = z.offset
		z.follow()
	}
	if z.refused != nil {
		return 0, z.refused
	}
	if z.due != lost && int64(len(p)) > z.left {
		p = p[:z.left]
	}
	n, err := z.buf.Read(p)
	z.offset += int64(n)
	z.left = max(0, z.left-int64(n))
	return n, err
}

// follow looks at the part that starts here and says how long it is.
func (z *zstdFrames) follow() {
	switch z.due {
	case dueFrame:
		z.frame()
	case dueChecksum:
		z.left, z.due = 4, dueFrame
	case dueBlock:
		head, _ := z.buf.Peek(3)
		if len(head) < 3 {
			z.due = lost
			return
		}
		last, size, _ := blockHeader(head)
		z.left = size
		switch {
		case last && z.check:
			z.due = dueChecksum
		case last:
			z.due = dueFrame
		}
	}
}

func (z *zstdFrames) frame() {
	head, _ := z.buf.Peek(zstd.HeaderMaxSize)
	if skippable(head) && len(head) >= 8 {
		z.left = 8 + int64(binary.LittleEndian.Uint32(head[4:]))
		return
	}
	var h zstd.Header
	if err := h.Decode(head); err != nil {
		z.due = lost
		return
	}
	if w := window(&h); w > z.limit {
		z.refused = &WindowError{Offset: z.offset, Window: w, Limit: z.limit}
		return
	}
	z.left, z.due, z.check = int64(h.HeaderSize), dueBlock, h.HasCheckSum
}

// window returns how many decompressed bytes a frame's decoder must keep. A single-segment frame states no
// window: it is the content.
func window(h *zstd.Header) uint64 {
	if h.SingleSegment {
		return h.FrameContentSize
	}
	return h.WindowSize
}

// Window returns the memory in bytes that decoding will take at least, given the first bytes of a stored
// file: the decoder makes room for the whole window of a zstd frame at its first block, however small the
// content is. It is 0 for other files and for a zstd file that starts with a skippable frame.
func Window(head []byte) uint64 {
	var h zstd.Header
	if h.Decode(head) != nil || h.Skippable {
		return 0
	}
	return window(&h)
}

// skippable tells whether b starts a frame that decoders skip; its first byte is 0x50 to 0x5F.
func skippable(b []byte) bool {
	return len(b) >= 4 && b[0]&0xF0 == 0x50 && b[1] == 0x2A && b[2] == 0x4D && b[3] == 0x18
}
