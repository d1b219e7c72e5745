package hub

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"strings"
	"syscall"
)

// cache is one file of a repository in the cache, at one revision.
type cache struct {
	name     string // of the file
	dir      string // of the repository; "" where there is no cache
	root     string // of the cache, for messages
	ref      Ref
	limit    int64
	noLinks  bool
	unusable func(error) // told what keeps the cache from being read
}

func newCache(o *Options, ref Ref, name string) *cache {
	c := &cache{name: name, root: o.Cache, ref: ref, limit: o.limit(), noLinks: o.NoLinks}
	if o.Cache != "" {
		c.dir = filepath.Join(o.Cache, "models--"+strings.ReplaceAll(ref.Repo, "/", "--"))
	}
	c.unusable = func(err error) { o.logger().Warn("cache not read", "error", err) }
	return c
}

func (c *cache) refPath() string {
	return filepath.Join(c.dir, "refs", filepath.FromSlash(c.ref.revision()))
}

func (c *cache) blobPath(etag string) string { return filepath.Join(c.dir, "blobs", etag) }

func (c *cache) snapshotPath(commit string) string {
	return filepath.Join(c.dir, "snapshots", commit, c.name)
}

// absentPath is an empty file that says, as in huggingface_hub, that a commit has no file of this name.
func (c *cache) absentPath(commit string) string {
	return filepath.Join(c.dir, ".no_exist", commit, c.name)
}

// commit returns the commit that the revision was when it was fetched last, or "".
func (c *cache) commit() string {
	if r := c.ref.revision(); commitHash.MatchString(r) {
		return r
	}
	data, err := readFile(c.refPath(), 1<<10)
	if err != nil {
		c.missed(err)
		return ""
	}
	if commit := strings.TrimSpace(string(data)); commitHash.MatchString(commit) {
		return commit
	}
	return "" // it is written anew when the file is fetched
}

// lookup returns the file where the cache has it, and nil where it has not. An error is a file that changed
// after it was fetched.
func (c *cache) lookup() (*File, error) {
	if c.dir == "" {
		return nil, nil
	}
	commit := c.commit()
	if commit == "" {
		return nil, nil
	}
	path := c.snapshotPath(commit)
	data, err := readFile(path, c.limit)
	if err != nil {
		c.missed(err)
		return nil, nil
	}
	blob, _ := os.Readlink(path) // a copy has no name of its own to be compared with
	if !matches(filepath.Base(blob), c.name, data) {
		return nil, &Error{Kind: Damaged, Ref: c.ref, what: fmt.Sprintf("%s is not what was fetched: its checksum is not its name", path),
			try: "delete the file that it links to, to have it fetched again, or name the file itself"}
	}
	return &File{Data: data, Commit: commit}, nil
}

// blob returns the bytes of an ETag that the cache has already, from another commit, or nil.
func (c *cache) blob(etag string) []byte {
	if c.dir == "" || !checksum.MatchString(etag) {
		return nil
	}
	data, err := readFile(c.blobPath(etag), c.limit)
	if err != nil || !matches(etag, c.name, data) {
		return nil
	}
	return data
}

func (c *cache) missed(err error) {
	if !isMissing(err) {
		c.unusable(err)
	}
}

// isMissing tells that nothing is at a path, from what keeps it from being read.
func isMissing(err error) bool {
	return errors.Is(err, fs.ErrNotExist) || errors.Is(err, syscall.ENOTDIR)
}

// readFile reads a file that is no larger than limit.
func readFile(path string, limit int64) ([]byte, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, err
	}
	defer f.Close()
	info, err := f.Stat()
	if err != nil {
		return nil, err
	}
	if !info.Mode().IsRegular() {
		return nil, fmt.Errorf("%s: not a regular file", path)
	}
	if info.Size() > limit {
		return nil, fmt.Errorf("%s: %d bytes, more than the %d that are read", path, info.Size(), limit)
	}
	data := make([]byte, info.Size())
	_, err = io.ReadFull(f, data)
	return data, err
}
