package ingest

import (
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// Input is one file to read.
type Input struct {
	Arg   int    // ordinal of the argument that named it, from 0
	Path  string // absolute, as the system opens it
	Name  string // ordinal and path below the argument, with slashes: "0/a/b.jsonl"; unique in one Discover
	Bytes int64  // stored size
}

// Discover lists the files that the arguments name, argument by argument, in the order of their names'
// bytes. An argument is a file, a directory, which is walked, or a glob pattern, if no file has that very
// name. Files of a glob are named by their path below its fixed part.
//
// Hidden (.x) and temporary names (x.tmp, x.part, x~, #x#) are skipped in directories, and by globs that do
// not ask for them. Symbolic links are followed, but a link to what the same argument yields already is no
// second input: "latest" beside the run it points to would double that run, and a link to a parent would
// never end. Devices, pipes and sockets are passed over.
func Discover(args []string) ([]Input, error) {
	var all []Input
	for i, arg := range args {
		w := walk{arg: i, files: map[string]bool{}, dirs: map[string]bool{}}
		if err := w.argument(arg); err != nil {
			return nil, fmt.Errorf("input %q: %w", arg, err)
		}
		slices.SortFunc(w.found, func(a, b Input) int { return strings.Compare(a.Name, b.Name) })
		all = append(all, w.found...)
	}
	return all, nil
}

// walk collects what one argument names.
type walk struct {
	arg   int
	found []Input
	links []link
	files map[string]bool // real paths of found
	dirs  map[string]bool // real paths of walked directories
}

// link is a symbolic link, looked at when all that is no link has been found.
type link struct{ path, name string }

func (w *walk) argument(arg string) error {
	if arg == "" {
		return errors.New("an empty name; name files, directories or globs")
	}
	if arg == "-" {
		return errors.New("standard input cannot be listed; try to write it to a file first")
	}
	info, err := os.Stat(arg)
	switch {
	case errors.Is(err, fs.ErrNotExist) && special(arg):
		return w.glob(arg)
	case errors.Is(err, fs.ErrNotExist):
		if _, lerr := os.Lstat(arg); lerr == nil {
			return errors.New("the symbolic link leads nowhere; try to restore what it points to")
		}
		return errors.New("no such file or directory; try to check the spelling and the working directory, or to quote a pattern")
	case err != nil:
		return fmt.Errorf("%w; try to check the spelling and the permissions", err)
	case !info.IsDir() && !info.Mode().IsRegular():
		return errors.New("neither a file nor a directory, and it cannot be read twice; try to write it to a file first")
	}
	real, err := realPath(arg)
	if err != nil {
		return err
	}
	if info.Mode().IsRegular() {
		return w.file(arg, filepath.Base(arg), real)
	}
	if err := w.dir(arg, "", real); err != nil {
		return err
	}
	if err := w.follow(); err != nil {
		return err
	}
	if len(w.found) == 0 {
		return errors.New("no file below it (hidden and temporary names are skipped); try to name the files themselves")
	}
	return nil
}

// temporary tells whether a file name, or a pattern for one, is hidden or that of a file being written.
func temporary(name string) bool {
	return strings.HasPrefix(name, ".") && name != "." && name != ".." ||
		strings.HasSuffix(name, ".tmp") || strings.HasSuffix(name, ".part") || strings.HasSuffix(name, "~") ||
		len(name) > 1 && strings.HasPrefix(name, "#") && strings.HasSuffix(name, "#")
}

// dir walks a directory once, whatever leads to it. real is its path without links.
func (w *walk) dir(dir, name, real string) error {
	if w.dirs[real] {
		return nil
	}
	w.dirs[real] = true
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w; try to check its permissions", err)
	}
	for _, e := range entries {
		if temporary(e.Name()) {
			continue
		}
		err := w.entry(filepath.Join(dir, e.Name()), path.Join(name, e.Name()), filepath.Join(real, e.Name()), e.Type())
		if err != nil {
			return err
		}
	}
	return nil
}

// entry adds what lies at file. real is its path without links, unless it is one itself.
func (w *walk) entry(file, name, real string, mode fs.FileMode) error {
	switch {
	case mode.IsDir():
		return w.dir(file, name, real)
	case mode.IsRegular():
		return w.file(file, name, real)
	case mode&fs.ModeSymlink != 0:
		w.links = append(w.links, link{file, name})
	}
	return nil
}

// file adds a regular file once.
func (w *walk) file(file, name, real string) error {
	if w.files[real] {
		return nil
	}
	w.files[real] = true
	info, err := os.Stat(file)
	if err != nil {
		return err
	}
	abs, err := filepath.Abs(file)
	if err != nil {
		return err
	}
	w.found = append(w.found, Input{Arg: w.arg, Path: abs, Name: fmt.Sprintf("%d/%s", w.arg, name), Bytes: info.Size()})
	return nil
}

// follow resolves the links that were met, and those met on the way.
func (w *walk) follow() error {
	for len(w.links) > 0 {
		links := w.links
		w.links = nil
		slices.SortFunc(links, func(a, b link) int { return strings.Compare(a.name, b.name) })
		for _, l := range links {
			if err := w.followOne(l); err != nil {
				return err
			}
		}
	}
	return nil
}

func (w *walk) followOne(l link) error {
	info, err := os.Stat(l.path)
	if errors.Is(err, fs.ErrNotExist) {
		return fmt.Errorf("%s: the symbolic link leads nowhere; try to restore what it points to, or to remove it", l.path)
	}
	if err != nil {
		return err
	}
	target, err := realPath(l.path)
	if err != nil {
		return err
	}
	home, err := realPath(filepath.Dir(l.path))
	if err != nil {
		return err
	}
	sep := string(filepath.Separator)
	if strings.HasPrefix(home+sep, strings.TrimSuffix(target, sep)+sep) {
		return nil // to a directory that it lies below: a loop
	}
	return w.entry(l.path, l.name, target, info.Mode().Type())
}

// realPath returns an absolute path without symbolic links: one for each file and directory.
func realPath(name string) (string, error) {
	abs, err := filepath.Abs(name)
	if err != nil {
		return "", err
	}
	return filepath.EvalSymlinks(abs)
}
