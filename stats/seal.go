package stats

import (
	"bytes"
	"encoding/binary"
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"io"
)

// A turns table carries a CRC-32C of all its bytes, in hex, as a key and value of its footer:
//
//	PAR1 | row groups | index | footer: ... turnmill.crc32c 18 08 XXXXXXXX ... | its length, 4 bytes | PAR1
//
// The eight digits count as zeros. parquet-go believes the codec, the lengths and the counts that a file
// states; with one bit changed it allocates until the process ends, from which no program recovers. So a
// table is read only after its seal.
const (
	sealKey   = "turnmill.crc32c"
	sealBlank = "00000000"
	sealSkip  = len(sealKey) + 2 // Thrift's field header and length stand between key and value
)

var errNoSeal = errors.New("it carries no seal of turnmill's; it may be cut, or written by something else")

// sealWriter passes on what it is given, and holds the end back until it knows the seal.
type sealWriter struct {
	w    io.Writer
	crc  uint32
	hold bool
	end  []byte
}

func (s *sealWriter) Write(p []byte) (int, error) {
	s.crc = crc32.Update(s.crc, crc32.MakeTable(crc32.Castagnoli), p)
	if s.hold {
		s.end = append(s.end, p...)
		return len(p), nil
	}
	return s.w.Write(p)
}

// seal writes the end, in which the footer is.
func (s *sealWriter) seal() error {
	at := bytes.LastIndex(s.end, []byte(sealKey+"\x18\x08"+sealBlank))
	if at < 0 {
		return errors.New("parquet-go has not written the place of the seal")
	}
	copy(s.end[at+sealSkip:], sealDigits(s.crc))
	_, err := s.w.Write(s.end)
	return err
}

func sealDigits(crc uint32) string {
	return hex.EncodeToString(binary.BigEndian.AppendUint32(nil, crc))
}

// checkSeal reads a whole file and compares it with its seal. It allocates no more than the file holds.
func checkSeal(r io.ReaderAt, size int64) error {
	var tail [8]byte
	if size < 12 {
		return errNoSeal
	}
	if err := readAt(r, tail[:], size-8); err != nil {
		return err
	}
	n := int64(binary.LittleEndian.Uint32(tail[:]))
	if string(tail[4:]) != "PAR1" || n > size-12 {
		return errNoSeal
	}
	footer := make([]byte, n)
	if err := readAt(r, footer, size-8-n); err != nil {
		return err
	}
	at := bytes.LastIndex(footer, []byte(sealKey))
	if at < 0 || at+sealSkip+len(sealBlank) > len(footer) {
		return errNoSeal
	}
	stated := string(footer[at+sealSkip : at+sealSkip+len(sealBlank)])
	copy(footer[at+sealSkip:], sealBlank)

	table, buf := crc32.MakeTable(crc32.Castagnoli), make([]byte, min(size, 256<<10))
	crc, from, end := uint32(0), int64(0), size-8-n
	for from < end {
		part := buf[:min(int64(len(buf)), end-from)]
		if err := readAt(r, part, from); err != nil {
			return err
		}
		crc = crc32.Update(crc, table, part)
		from += int64(len(part))
	}
	crc = crc32.Update(crc32.Update(crc, table, footer), table, tail[:])
	if got := sealDigits(crc); got != stated {
		return fmt.Errorf("its bytes have the CRC-32C %s, and its seal says %q", got, stated)
	}
	return nil
}

// readAt reads all of p, or says that the file is shorter than its size.
func readAt(r io.ReaderAt, p []byte, at int64) error {
	n, err := r.ReadAt(p, at)
	if n == len(p) {
		return nil
	}
	return fmt.Errorf("%d bytes at offset %d of %d: %w", n, at, len(p), err)
}
