package hub

import (
	"io/fs"
	"net/http"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
)

const tiny = "models--acme--tiny"

// TestLookup: caches as others leave them. What is no whole entry is fetched anew.
func TestLookup(t *testing.T) {
	link := func(t *testing.T, to string, path ...string) {
		t.Helper()
		name := filepath.Join(path...)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.Symlink(to, name); err != nil {
			t.Fatal(err)
		}
	}
	blob := gitSum(content)
	for name, c := range map[string]struct {
		make func(t *testing.T, dir string)
		hit  bool
	}{
		"linked": {func(t *testing.T, dir string) {
			write(t, string(content), dir, "blobs", blob)
			link(t, "../../blobs/"+blob, dir, "snapshots", commit, fileName)
			write(t, commit, dir, "refs", "main")
		}, true},
		"linked twice": {func(t *testing.T, dir string) { // blobs that several repositories share
			write(t, string(content), dir, "shared")
			link(t, "../shared", dir, "blobs", blob)
			link(t, "../../blobs/"+blob, dir, "snapshots", commit, fileName)
			write(t, commit, dir, "refs", "main")
		}, true},
		"copied, with a line feed": {func(t *testing.T, dir string) {
			write(t, string(content), dir, "snapshots", commit, fileName)
			write(t, commit+"\n", dir, "refs", "main")
		}, true},
		"a link to nothing": {func(t *testing.T, dir string) {
			link(t, "../../blobs/"+blob, dir, "snapshots", commit, fileName)
			write(t, commit, dir, "refs", "main")
		}, false},
		"other files": {func(t *testing.T, dir string) {
			write(t, "{}", dir, "snapshots", commit, "config.json")
			write(t, commit, dir, "refs", "main")
		}, false},
		"another revision": {func(t *testing.T, dir string) {
			write(t, string(content), dir, "snapshots", other, fileName)
			write(t, other, dir, "refs", "v2")
		}, false},
		"a ref that is none": {func(t *testing.T, dir string) {
			write(t, string(content), dir, "escape", fileName)
			write(t, "../escape", dir, "refs", "main")
		}, false},
		"an empty ref":    {func(t *testing.T, dir string) { write(t, "", dir, "refs", "main") }, false},
		"a ref too large": {func(t *testing.T, dir string) { write(t, strings.Repeat(" ", 2000), dir, "refs", "main") }, false},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, small)
			o, _, _ := setup(t, s.URL)
			c.make(t, filepath.Join(o.Cache, tiny))
			offline := o
			offline.Offline = true
			if c.hit {
				mustGet(t, offline, "acme/tiny")
			} else {
				mustFail(t, offline, "acme/tiny", NotCached)
			}
			mustGet(t, o, "acme/tiny")
			if n := len(s.requests()); n != 0 == c.hit {
				t.Errorf("%d requests, hit %v", n, c.hit)
			}
			mustGet(t, offline, "acme/tiny")
		})
	}
}

// TestLookupChanged: a file that was changed in the cache would train on other tokens than its name says.
func TestLookupChanged(t *testing.T) {
	s := serve(t, small)
	o, _, _ := setup(t, s.URL)
	mustGet(t, o, "acme/tiny")
	blob := filepath.Join(o.Cache, tiny, "blobs", gitSum(content))
	write(t, "{}", blob)
	mustFail(t, o, "acme/tiny", Damaged, filepath.Join(tiny, "snapshots", commit, fileName), "checksum", "delete")
	if err := os.Remove(blob); err != nil {
		t.Fatal(err)
	}
	mustGet(t, o, "acme/tiny")

	write(t, "{}", blob)
	if err := os.Remove(filepath.Join(o.Cache, tiny, "refs", "main")); err != nil {
		t.Fatal(err)
	}
	mustGet(t, o, "acme/tiny") // fetched, and the blob mended
	if got := read(t, blob); got != string(content) {
		t.Errorf("the blob still has %d bytes", len(got))
	}
}

// TestLookupTooLarge: the limit holds for the cache as well.
func TestLookupTooLarge(t *testing.T) {
	o, _, logged := setup(t, serve(t, small).URL)
	mustGet(t, o, "acme/tiny")
	o.Limit, o.Offline = 5039, true
	mustFail(t, o, "acme/tiny", NotCached)
	if !strings.Contains(logged.String(), "5040 bytes, more than the 5039 that are read") {
		t.Errorf("log %s", logged)
	}
}

// TestStoreFails: a cache that cannot be written costs a line in the log.
func TestStoreFails(t *testing.T) {
	file := filepath.Join(t.TempDir(), "file")
	write(t, "", file)
	for name, make := range map[string]func(o *Options){
		"no cache":            func(o *Options) { o.Cache = "" },
		"the cache is a file": func(o *Options) { o.Cache = file },
		"no blobs":            func(o *Options) { write(t, "", o.Cache, tiny, "blobs") },
		"no snapshots":        func(o *Options) { write(t, "", o.Cache, tiny, "snapshots") },
		"no refs":             func(o *Options) { write(t, "", o.Cache, tiny, "refs") },
		"a directory":         func(o *Options) { write(t, "", o.Cache, tiny, "refs", "main", "x") },
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, small)
			o, _, logged := setup(t, s.URL)
			make(&o)
			mustGet(t, o, "acme/tiny")
			mustGet(t, o, "acme/tiny")
			if n := len(s.requests()); n != 2 {
				t.Errorf("%d requests, want 2", n)
			}
			if n := strings.Count(logged.String(), `level=WARN msg="tokenizer not kept in the cache"`); n != 2 {
				t.Errorf("log %s", logged)
			}
			if o.Cache != "" {
				left := tree(t, o.Cache)
				if slices.ContainsFunc(left, func(name string) bool { return strings.Contains(name, "incomplete") }) {
					t.Errorf("left behind: %q", left)
				}
			}
		})
	}
}

func TestNoLinks(t *testing.T) {
	s := serve(t, small)
	o, _, _ := setup(t, s.URL)
	o.NoLinks = true
	mustGet(t, o, "acme/tiny")
	path := filepath.Join(o.Cache, tiny, "snapshots", commit, fileName)
	if info, err := os.Lstat(path); err != nil || !info.Mode().IsRegular() {
		t.Errorf("%v, %v, want a copy", info, err)
	}
	mustGet(t, o, "acme/tiny")
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1", n)
	}
}

// TestKnownBlob: a new commit with the same file takes the headers of the answer alone.
func TestKnownBlob(t *testing.T) {
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.Contains(r.URL.Path, "/v2/") {
			half(w, r) // a reader of the body would wait for ever
			return
		}
		small(w, r)
	})
	o, _, _ := setup(t, s.URL)
	mustGet(t, o, "acme/tiny@v1")
	mustGet(t, o, "acme/tiny@v2")
	if got := read(t, o.Cache, tiny, "refs", "v2"); got != commit {
		t.Errorf("refs/v2 is %q", got)
	}
	write(t, "{}", o.Cache, tiny, "blobs", gitSum(content)) // what is damaged is no use
	mustGet(t, o, "acme/tiny@v3")
}

// TestWhole: temporary names that others hold are passed over, and nothing is left of a failure.
func TestWhole(t *testing.T) {
	dir := t.TempDir()
	path := filepath.Join(dir, "file")
	taken := 0
	err := whole(path, func(temp string) error {
		if taken++; taken < 4 {
			return &fs.PathError{Op: "open", Path: temp, Err: fs.ErrExist}
		}
		return os.WriteFile(temp, []byte("x"), 0o666)
	})
	if err != nil || taken != 4 || read(t, path) != "x" {
		t.Errorf("error %v after %d names", err, taken)
	}
	err = whole(path, func(temp string) error {
		write(t, "half", temp)
		return fs.ErrInvalid
	})
	if err != fs.ErrInvalid || read(t, path) != "x" {
		t.Errorf("error %v, file %q", err, read(t, path))
	}
	if got := tree(t, dir); !slices.Equal(got, []string{"file"}) {
		t.Errorf("left behind: %q", got)
	}
}
