package ingest

import (
	"cmp"
	"errors"
	"fmt"
	"io/fs"
	"os"
	"path"
	"path/filepath"
	"slices"
	"strings"
)

// special tells whether a text may be a pattern.
func special(s string) bool { return strings.ContainsAny(s, "*?[") }

// glob adds what a pattern matches; names count from the last slash before its first special character.
// The standard library's Glob passes over directories that it cannot read, and hidden names are ordinary
// to it; both would surprise here.
func (w *walk) glob(pattern string) error {
	fixed := pattern[:strings.IndexAny(pattern, "*?[")]
	fixed = fixed[:strings.LastIndexByte(fixed, filepath.Separator)+1]
	parts := strings.FieldsFunc(pattern[len(fixed):], func(r rune) bool { return r == filepath.Separator })
	for _, p := range parts {
		if _, err := filepath.Match(p, ""); err != nil {
			return fmt.Errorf("%w; try to escape [ with a backslash", err)
		}
	}
	if err := w.match(cmp.Or(fixed, "."), "", parts); err != nil {
		return err
	}
	if err := w.follow(); err != nil {
		return err
	}
	if len(w.found) == 0 {
		return errors.New("the pattern matches no file (hidden and temporary names need a pattern that shows it, ** is no more than *); try the directory itself")
	}
	return nil
}

// match goes from dir, which is name below the fixed part, on along the rest of a pattern.
func (w *walk) match(dir, name string, parts []string) error {
	if len(parts) == 0 {
		info, err := os.Lstat(dir)
		if err != nil {
			return err
		}
		real := ""
		if info.Mode()&fs.ModeSymlink == 0 {
			if real, err = realPath(dir); err != nil {
				return err
			}
		}
		return w.entry(dir, name, real, info.Mode().Type())
	}
	info, err := os.Stat(dir)
	if errors.Is(err, fs.ErrNotExist) || err == nil && !info.IsDir() {
		return nil
	}
	if err != nil {
		return err
	}
	entries, err := os.ReadDir(dir)
	if err != nil {
		return fmt.Errorf("%w; try to check its permissions", err)
	}
	// What is no link comes first: of two ways to a file, the straight one names it.
	slices.SortStableFunc(entries, func(a, b os.DirEntry) int {
		return int(a.Type()&fs.ModeSymlink) - int(b.Type()&fs.ModeSymlink)
	})
	for _, e := range entries {
		if ok, err := filepath.Match(parts[0], e.Name()); err != nil || !ok || temporary(e.Name()) && !temporary(parts[0]) {
			continue
		}
		if err := w.match(filepath.Join(dir, e.Name()), path.Join(name, e.Name()), parts[1:]); err != nil {
			return err
		}
	}
	return nil
}
