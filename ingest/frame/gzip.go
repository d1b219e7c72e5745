package frame

import (
	"bufio"
	"io"
	"os"

	"github.com/klauspost/compress/gzip"
)

// gzipReader reads members one after another, with NUL bytes between or after them as tapes and crashed
// writers leave them.
type gzipReader struct {
	stored *stored
	buf    *bufio.Reader
	dec    *gzip.Reader
	open   bool // inside a member
	end    error
}

func (g *gzipReader) Read(p []byte) (int, error) {
	for g.end == nil {
		if !g.open {
			g.end = g.member()
			continue
		}
		n, err := g.dec.Read(p)
		if err == io.EOF {
			g.open, err = false, nil
		}
		if err != nil {
			g.end = g.damage(err)
		}
		if n > 0 {
			return n, nil
		}
	}
	return 0, g.end
}

// member starts the next member.
func (g *gzipReader) member() error {
	for {
		head, err := g.buf.Peek(1)
		if len(head) == 0 {
			return err
		}
		if g.dec == nil || head[0] != 0 {
			break
		}
		if _, err := g.buf.Discard(1); err != nil {
			return err
		}
	}
	var err error
	if g.dec == nil {
		g.dec, err = gzip.NewReader(g.buf)
	} else {
		err = g.dec.Reset(g.buf)
	}
	if err != nil {
		if err == io.EOF {
			err = io.ErrUnexpectedEOF
		}
		return g.damage(err)
	}
	g.dec.Multistream(false)
	g.open = true
	return nil
}

func (g *gzipReader) damage(err error) error {
	if g.stored.err != nil {
		return g.stored.err
	}
	return &DamageError{Compression: Gzip, Offset: g.stored.n - int64(g.buf.Buffered()), Err: err}
}

// Close frees the decoder.
func (g *gzipReader) Close() error {
	g.dec, g.end = nil, os.ErrClosed
	return nil
}
