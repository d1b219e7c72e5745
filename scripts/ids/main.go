// Command ids encodes texts with an engine, bpe or hf, for scripts/parity_ids.py, which compares the ids
// with those of the Hugging Face library in Python. All numbers are 32 bits, least byte first.
//
//	ids ENGINE TOKENIZER.JSON [CONTROL TOKEN...]
//	in    | bytes | text |                              until the input ends
//	out   | n | forged | added | n ids | n ends |       one a text, in order
package main

import (
	"bufio"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/bpe"
	"github.com/turnmill/turnmill/shard/hf"
)

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "ids:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) < 2 {
		return errors.New("engine or tokenizer.json missing; try ids ENGINE TOKENIZER.JSON [CONTROL TOKEN...]")
	}
	enc, err := open(args[0], args[1], args[2:])
	if err != nil {
		return err
	}
	r, w := bufio.NewReaderSize(in, 1<<20), bufio.NewWriterSize(out, 1<<20)
	var tokens turnmill.Tokens
	var text, answer []byte
	for {
		if r.Buffered() == 0 { // the other side may wait for what it has asked
			if err := w.Flush(); err != nil {
				return err
			}
		}
		text, err = next(r, text)
		if err == io.EOF {
			return w.Flush()
		}
		if err != nil {
			return err
		}
		tokens = turnmill.Tokens{IDs: tokens.IDs[:0], Ends: tokens.Ends[:0]}
		if err := enc.Encode(&tokens, text); err != nil {
			return err
		}
		answer = reply(answer[:0], &tokens)
		if _, err := w.Write(answer); err != nil {
			return err
		}
	}
}

// open makes an encoder of the named engine.
func open(engine, path string, control []string) (turnmill.Encoder, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	switch engine {
	case "bpe":
		m, err := bpe.Load(data)
		if err != nil {
			return nil, err
		}
		return m.NewEncoder(control), nil
	case "hf":
		m, err := hf.Open(data)
		if err != nil {
			return nil, err
		}
		return m.NewEncoder(control)
	}
	return nil, fmt.Errorf("no engine is called %q; there are bpe and hf", engine)
}

// next reads one text into buf.
func next(r *bufio.Reader, buf []byte) ([]byte, error) {
	var head [4]byte
	if _, err := io.ReadFull(r, head[:]); err != nil {
		return buf, err
	}
	n := int(binary.LittleEndian.Uint32(head[:]))
	if cap(buf) < n {
		buf = make([]byte, n)
	}
	buf = buf[:n]
	if _, err := io.ReadFull(r, buf); err != nil {
		return buf, fmt.Errorf("text of %d bytes: %w", n, err)
	}
	return buf, nil
}

func reply(dst []byte, t *turnmill.Tokens) []byte {
	for _, n := range []int{len(t.IDs), t.Forged, t.Added} {
		dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
	}
	for _, list := range [][]int32{t.IDs, t.Ends} {
		for _, n := range list {
			dst = binary.LittleEndian.AppendUint32(dst, uint32(n))
		}
	}
	return dst
}
