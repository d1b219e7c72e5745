package pipelines

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"regexp"
	"syscall"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/fsync"
)

// FileSum names one file of a run and what it holds.
type FileSum struct {
	Path   string `json:"path"` // below OUT, with slashes
	Bytes  int64  `json:"bytes"`
	Rows   int64  `json:"rows"`
	SHA256 string `json:"sha256"`
}

// sink is where the files of a partition go: a directory, or a comparison with one.
type sink interface {
	// create starts the file at path below OUT.
	create(path string) (sinkFile, error)
}

// sinkFile is a file that becomes visible whole, or not at all.
type sinkFile interface {
	io.Writer
	// commit makes the file visible and returns its sum.
	commit() (FileSum, error)
	// abort leaves nothing behind; after commit it does nothing.
	abort()
}

// tempSuffix ends the names of unfinished files. They start with a dot and are never read.
const tempSuffix = ".tmp"

// disk is what of a file system a run writes through.
type disk interface {
	fileMaker
	rename(from, to string) error
	syncDir(name string) error
}

// fileMaker makes new files for writing; fs.ErrExist when there is one.
type fileMaker interface {
	create(name string) (diskFile, error)
	scratch(name string) (diskFile, error) // of what this process soon reads again
}

type diskFile interface {
	io.WriteCloser
	Name() string
	Sync() error
}

// machine is the disk of this machine.
type machine struct{}

func (machine) create(name string) (diskFile, error) {
	f, err := create(name)
	if err != nil {
		return nil, err
	}
	return newDiskFile(f), nil
}

func (machine) scratch(name string) (diskFile, error) { return create(name) }

func create(name string) (*os.File, error) {
	return os.OpenFile(name, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
}

func (machine) rename(from, to string) error { return os.Rename(from, to) }

func (machine) syncDir(name string) error { return fsync.Dir(name) }

// sink returns where the run's files go.
func (o *Options) sink() dirSink {
	if o.disk != nil {
		return dirSink{o.Output, o.disk}
	}
	return dirSink{o.Output, machine{}}
}

// dirSink writes below a directory: temporary name, fsync, rename.
type dirSink struct {
	root string
	disk disk
}

type dirFile struct {
	disk disk
	f    diskFile
	path string // below root
	name string // the final name
	sum  hash.Hash
	size int64
	done bool
}

func (s dirSink) create(path string) (sinkFile, error) {
	name := filepath.Join(s.root, filepath.FromSlash(path))
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		return nil, fmt.Errorf("%w; try another --output, or make room", err)
	}
	f, err := createTemp(name, s.disk.create)
	if err != nil {
		return nil, unwritten(path, err)
	}
	return &dirFile{disk: s.disk, f: f, path: path, name: name, sum: sha256.New()}, nil
}

// createTemp creates an unfinished file beside name, under a name that no other process has.
func createTemp(name string, create func(string) (diskFile, error)) (diskFile, error) {
	for n := 0; ; n++ {
		temp := filepath.Join(filepath.Dir(name), fmt.Sprintf(".%s.%d-%d%s", filepath.Base(name), os.Getpid(), n, tempSuffix))
		f, err := create(temp)
		if !errors.Is(err, fs.ErrExist) {
			return f, err
		}
	}
}

// writeBytes is how much is written and hashed in one go: what the disk has just read is in the cache still.
const writeBytes = 256 << 10

func (d *dirFile) Write(p []byte) (int, error) {
	done := 0
	for {
		q := p[done:min(done+writeBytes, len(p))]
		n, err := d.f.Write(q)
		d.sum.Write(q[:n])
		d.size += int64(n)
		done += n
		if err != nil {
			return done, unwritten(d.path, err)
		}
		if done == len(p) {
			return done, nil
		}
	}
}

func (d *dirFile) commit() (FileSum, error) {
	d.done = true
	err := errors.Join(d.f.Sync(), d.f.Close())
	if err == nil {
		err = d.disk.rename(d.f.Name(), d.name)
	}
	if err == nil {
		err = d.disk.syncDir(filepath.Dir(d.name))
	}
	if err != nil {
		err = errors.Join(err, ignoreMissing(os.Remove(d.f.Name())))
		return FileSum{}, unwritten(d.path, err)
	}
	return FileSum{Path: d.path, Bytes: d.size, SHA256: hex.EncodeToString(d.sum.Sum(nil))}, nil
}

// unwritten says what to do about a file that could not be written.
func unwritten(path string, err error) error {
	hint := "try to mend that"
	switch {
	case errors.Is(err, syscall.ENOSPC) || errors.Is(err, syscall.EDQUOT):
		hint = "try to free space there"
	case errors.Is(err, syscall.EFBIG):
		hint = "try a larger limit of file sizes (ulimit -f), or smaller files with --shard-bytes"
	}
	return fmt.Errorf("writing %s: %w; %s, and run the same command again", path, err, hint)
}

func (d *dirFile) abort() {
	if !d.done {
		d.done = true
		d.f.Close()
		os.Remove(d.f.Name())
	}
}

func ignoreMissing(err error) error {
	if errors.Is(err, fs.ErrNotExist) {
		return nil
	}
	return err
}

// nullSink counts and sums what would be written.
type nullSink struct{}

type nullFile struct {
	path string
	sum  hash.Hash
	size int64
}

func (nullSink) create(path string) (sinkFile, error) {
	return &nullFile{path: path, sum: sha256.New()}, nil
}

func (n *nullFile) Write(p []byte) (int, error) {
	n.size += int64(len(p))
	return n.sum.Write(p)
}

func (n *nullFile) commit() (FileSum, error) {
	return FileSum{Path: n.path, Bytes: n.size, SHA256: hex.EncodeToString(n.sum.Sum(nil))}, nil
}

func (n *nullFile) abort() {}

// writeFile writes a small file through a sink.
func writeFile(s sink, path string, data []byte) (FileSum, error) {
	f, err := s.create(path)
	if err != nil {
		return FileSum{}, err
	}
	defer f.abort()
	if _, err := f.Write(data); err != nil {
		return FileSum{}, err
	}
	return f.commit()
}

// compareSink writes nothing: it holds what would be written against what lies in a directory.
type compareSink struct {
	root   string
	faults *[]error
}

type compareFile struct {
	compareSink
	path string
	f    *os.File
	sum  hash.Hash
	size int64
	bad  bool
	buf  []byte
}

func (s compareSink) fault(path, format string, args ...any) {
	*s.faults = append(*s.faults, fmt.Errorf("%s: %w: %s", path, turnmill.ErrCorrupt, fmt.Sprintf(format, args...)))
}

func (s compareSink) create(path string) (sinkFile, error) {
	if path != unstaged(path) { // gone since its rows were shuffled: the commit has its sum
		return nullSink{}.create(path)
	}
	c := &compareFile{compareSink: s, path: path, sum: sha256.New()}
	f, err := os.Open(filepath.Join(s.root, filepath.FromSlash(path)))
	if err != nil {
		c.bad = true
		s.fault(path, "cannot be read: %v", err)
	}
	c.f = f
	return c, nil
}

func (c *compareFile) Write(p []byte) (int, error) {
	c.sum.Write(p)
	if !c.bad {
		c.buf = append(c.buf[:0], p...)
		n, err := io.ReadFull(c.f, c.buf)
		if i := firstDifference(c.buf[:n], p); i < len(p) || err != nil {
			c.bad = true
			c.fault(c.path, "differs from what the inputs give, from byte %d on", c.size+int64(i))
		}
	}
	c.size += int64(len(p))
	return len(p), nil
}

func firstDifference(a, b []byte) int {
	if bytes.Equal(a, b) {
		return len(b)
	}
	i := 0
	for i < len(a) && i < len(b) && a[i] == b[i] {
		i++
	}
	return i
}

func (c *compareFile) commit() (FileSum, error) {
	if !c.bad {
		if n, _ := c.f.Read(make([]byte, 1)); n > 0 {
			c.fault(c.path, "goes on after byte %d, where what the inputs give ends", c.size)
		}
	}
	c.abort()
	return FileSum{Path: c.path, Bytes: c.size, SHA256: hex.EncodeToString(c.sum.Sum(nil))}, nil
}

func (c *compareFile) abort() {
	if c.f != nil {
		c.f.Close()
		c.f = nil
	}
}

// temporary is the shape of the names that createTemp gives.
var temporary = regexp.MustCompile(`^\..+\.[0-9]+-[0-9]+\.tmp$`)

func isTemporary(name string) bool { return temporary.MatchString(name) }

// removeTemporary removes the unfinished files below root that a killed run left. The caller holds the
// exclusive lock.
func removeTemporary(root string) error {
	return filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil {
			return ignoreMissing(err)
		}
		if !d.IsDir() && isTemporary(d.Name()) {
			return ignoreMissing(os.Remove(path))
		}
		return nil
	})
}
