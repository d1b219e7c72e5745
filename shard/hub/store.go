package hub

import (
	"bytes"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill/internal/fsync"
)

// store puts what was fetched into the cache: the blob, then the link to it, then the ref that leads there,
// so that a reader at any moment finds all of it or nothing.
func (c *cache) store(got *fetched) error {
	if c.dir == "" {
		return errors.New("there is none: neither HF_HOME nor a home directory is known")
	}
	blob := c.blobPath(got.etag)
	if old, err := readFile(blob, c.limit); err != nil || !bytes.Equal(old, got.data) {
		if err := writeFile(blob, got.data); err != nil {
			return err
		}
	}
	if err := c.link(got); err != nil {
		return err
	}
	if c.ref.revision() == got.commit {
		return nil
	}
	return writeFile(c.refPath(), []byte(got.commit))
}

// absent tells whether the cache knows that the commit has no such file.
func (c *cache) absent(commit string) bool {
	if c.dir == "" {
		return false
	}
	_, err := os.Stat(c.absentPath(commit))
	return err == nil
}

// storeAbsent keeps that the commit has no such file.
func (c *cache) storeAbsent(commit string) error {
	if c.dir == "" {
		return nil
	}
	return writeFile(c.absentPath(commit), nil)
}

// link makes the snapshot's file: a relative link, so that a cache can be moved, or a copy.
func (c *cache) link(got *fetched) error {
	path := c.snapshotPath(got.commit)
	if c.noLinks {
		return writeFile(path, got.data)
	}
	target := filepath.Join("..", "..", "blobs", got.etag)
	err := whole(path, func(temp string) error { return os.Symlink(target, temp) })
	if err != nil {
		return writeFile(path, got.data)
	}
	return nil
}

// writeFile makes path hold data, whole or not at all.
func writeFile(path string, data []byte) error {
	return whole(path, func(temp string) error {
		f, err := os.OpenFile(temp, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
		if err != nil {
			return err
		}
		_, err = f.Write(data)
		return errors.Join(err, f.Sync(), f.Close())
	})
}

// whole lets create make something under a temporary name and renames it to path. create fails with
// fs.ErrExist where the name is taken. Directories are made as needed.
func whole(path string, create func(temp string) error) error {
	dir := filepath.Dir(path)
	if err := os.MkdirAll(dir, 0o777); err != nil {
		return err
	}
	for n := 0; ; n++ {
		temp := fmt.Sprintf("%s.%d-%d.incomplete", path, os.Getpid(), n)
		err := create(temp)
		if errors.Is(err, fs.ErrExist) {
			continue
		}
		if err == nil {
			err = os.Rename(temp, path)
		}
		if err != nil {
			os.Remove(temp)
			return err
		}
		return fsync.Dir(dir)
	}
}
