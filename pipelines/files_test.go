package pipelines

import (
	"bytes"
	"errors"
	"os"
	"path/filepath"
	"testing"
)

// TestFileSum: a file is what was written to it, in whatever portions, and its sum is of just that.
func TestFileSum(t *testing.T) {
	data := bytes.Repeat([]byte("0123456789abcdef-"), writeBytes/8)
	for _, n := range []int{0, 1, writeBytes - 1, writeBytes, writeBytes + 1, 2 * writeBytes, len(data)} {
		root := t.TempDir()
		f, err := dirSink{root, machine{}}.create("train/x.arrow")
		if err != nil {
			t.Fatal(err)
		}
		for _, part := range [][]byte{data[:n], nil, data[:7]} {
			if got, err := f.Write(part); got != len(part) || err != nil {
				t.Fatalf("Write of %d bytes = %d, %v", len(part), got, err)
			}
		}
		sum, err := f.commit()
		if err != nil {
			t.Fatal(err)
		}
		want := append(bytes.Clone(data[:n]), data[:7]...)
		got, err := os.ReadFile(filepath.Join(root, "train", "x.arrow"))
		if err != nil || !bytes.Equal(got, want) {
			t.Errorf("%d bytes: the file holds %d others, %v", n, len(got), err)
		}
		if sum.Bytes != int64(len(want)) || sum.SHA256 != hexSum(want) {
			t.Errorf("%d bytes: sum %+v, want %d bytes and %s", n, sum, len(want), hexSum(want))
		}
	}
}

// shortDisk has room for some bytes.
type shortDisk struct {
	machine
	left *int
}

type shortFile struct {
	diskFile
	left *int
}

var errShort = errors.New("no room")

func (s shortDisk) create(name string) (diskFile, error) {
	f, err := s.machine.create(name)
	return shortFile{f, s.left}, err
}

func (s shortFile) Write(p []byte) (int, error) {
	n, err := s.diskFile.Write(p[:min(len(p), *s.left)])
	if *s.left -= n; err == nil && n < len(p) {
		err = errShort
	}
	return n, err
}

// TestFileWriteFails: Write says how far it came.
func TestFileWriteFails(t *testing.T) {
	data := make([]byte, 3*writeBytes)
	for _, room := range []int{0, 1, writeBytes, writeBytes + 5, 3*writeBytes - 1} {
		left := room
		f, err := dirSink{t.TempDir(), shortDisk{left: &left}}.create("x")
		if err != nil {
			t.Fatal(err)
		}
		if n, err := f.Write(data); n != room || !errors.Is(err, errShort) {
			t.Errorf("room for %d bytes: Write = %d, %v", room, n, err)
		}
		f.abort()
	}
}
