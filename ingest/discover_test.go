package ingest

import (
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"syscall"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// tree makes files, each holding its own name, and links ("name -> target") in a fresh directory, and goes
// there.
func tree(t *testing.T, names ...string) string {
	t.Helper()
	root, err := filepath.EvalSymlinks(t.TempDir())
	if err != nil {
		t.Fatal(err)
	}
	t.Chdir(root)
	for _, name := range names {
		name, target, isLink := strings.Cut(name, " -> ")
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if isLink {
			err = os.Symlink(target, name)
		} else {
			err = os.WriteFile(name, []byte(name), 0o666)
		}
		if err != nil {
			t.Fatal(err)
		}
	}
	return root
}

func TestDiscover(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		args  []string
		want  string // NAME=PATH below the root, where the path is another one
	}{
		{"file", []string{"runs/a.jsonl"}, []string{"runs/a.jsonl"}, "0/a.jsonl=runs/a.jsonl"},
		{"dot-file-by-name", []string{".a", "b.tmp"}, []string{".a", "b.tmp"}, "0/.a=.a 1/b.tmp=b.tmp"},
		{"directory", []string{"runs/b", "runs/a/c", "runs/a.jsonl", "runs/B"}, []string{"runs/"}, "0/B=runs/B 0/a.jsonl=runs/a.jsonl 0/a/c=runs/a/c 0/b=runs/b"},
		{"here", []string{"b", "a"}, []string{"."}, "0/a=a 0/b=b"},
		{"bytes-order", []string{"r/a-", "r/a/z", "r/a0", "r/é", "r/z"}, []string{"r"}, "0/a-=r/a- 0/a/z=r/a/z 0/a0=r/a0 0/z=r/z 0/é=r/é"},
		{"skipped-names", []string{"r/a", "r/.h", "r/.d/x", "r/b.tmp", "r/c.part", "r/d~", "r/#e#", "r/t.tmp/x", "r/#", "r/tmp", "r/a.tmp.jsonl"}, []string{"r"},
			"0/#=r/# 0/a=r/a 0/a.tmp.jsonl=r/a.tmp.jsonl 0/tmp=r/tmp"},
		{"two-arguments", []string{"r/a", "s/a"}, []string{"s", "r", "r/a"}, "0/a=s/a 1/a=r/a 2/a=r/a"},
		{"glob", []string{"r/b.jsonl", "r/a.jsonl", "r/a.txt", "r/.h.jsonl", "r/x.jsonl.tmp"}, []string{"r/*.jsonl"}, "0/a.jsonl=r/a.jsonl 0/b.jsonl=r/b.jsonl"},
		{"glob-here", []string{"b.jsonl", "a.jsonl"}, []string{"*.jsonl"}, "0/a.jsonl=a.jsonl 0/b.jsonl=b.jsonl"},
		{"glob-equal-names", []string{"r/x/out", "r/y/out", "r/y/other", "r/.z/out"}, []string{"r/*/out"}, "0/x/out=r/x/out 0/y/out=r/y/out"},
		{"glob-directories", []string{"r/x/1", "r/x/2", "r/y/1", "r/f"}, []string{"r/?"}, "0/f=r/f 0/x/1=r/x/1 0/x/2=r/x/2 0/y/1=r/y/1"},
		{"glob-asks-for-hidden", []string{"r/.a", "r/b", "r/c.tmp"}, []string{"r/.*", "r/*.tmp"}, "0/.a=r/.a 1/c.tmp=r/c.tmp"},
		{"glob-class", []string{"r/a1", "r/a2", "r/a3"}, []string{"r/a[12]"}, "0/a1=r/a1 0/a2=r/a2"},
		{"file-with-special-name", []string{"r/a[1]", "r/a1"}, []string{"r/a[1]"}, "0/a[1]=r/a[1]"},
		{"escaped", []string{"r/a[1]", "r/a1"}, []string{`r/a\[?]`}, "0/a[1]=r/a[1]"},
		{"link-to-file-outside", []string{"blobs/1", "r/a -> ../blobs/1"}, []string{"r"}, "0/a=r/a"},
		{"link-to-file-inside", []string{"r/b", "r/latest -> b", "r/a -> b"}, []string{"r"}, "0/b=r/b"},
		{"link-to-hidden-file", []string{"r/.store/1", "r/a -> .store/1", "r/b -> .store/1"}, []string{"r"}, "0/a=r/a"},
		{"link-to-directory-outside", []string{"o/x", "o/y", "r/a -> ../o", "r/b -> ../o"}, []string{"r"}, "0/a/x=r/a/x 0/a/y=r/a/y"},
		{"link-to-directory-inside", []string{"r/run-1/x", "r/run-2/x", "r/latest -> run-2"}, []string{"r"}, "0/run-1/x=r/run-1/x 0/run-2/x=r/run-2/x"},
		{"link-to-parent", []string{"other/x", "r/a/x", "r/a/up -> ..", "r/a/root -> ../.."}, []string{"r"}, "0/a/x=r/a/x"},
		{"links-in-a-circle", []string{"r/a/x", "o/back -> ../r", "o/y", "r/o -> ../o"}, []string{"r"}, "0/a/x=r/a/x 0/o/y=r/o/y"},
		{"link-as-argument", []string{"o/x", "r -> o", "f -> o/x"}, []string{"r", "f"}, "0/x=r/x 1/f=f"},
		{"glob-over-links", []string{"r/run-1/out", "r/latest -> run-1"}, []string{"r/*/out"}, "0/run-1/out=r/run-1/out"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			root := tree(t, tt.files...)
			inputs, err := Discover(tt.args)
			if err != nil {
				t.Fatal(err)
			}
			var got []string
			for _, in := range inputs {
				rel, err := filepath.Rel(root, in.Path)
				if err != nil || !filepath.IsAbs(in.Path) || !strings.HasPrefix(in.Name, fmt.Sprintf("%d/", in.Arg)) {
					t.Errorf("%+v, %v", in, err)
				}
				if info, err := os.Stat(in.Path); err != nil || info.Size() != in.Bytes {
					t.Errorf("%+v: %v", in, err)
				}
				got = append(got, in.Name+"="+rel)
			}
			if diff := cmp.Diff(tt.want, strings.Join(got, " ")); diff != "" {
				t.Errorf("(-want +got):\n%s", diff)
			}
		})
	}
}

func TestDiscoverErrors(t *testing.T) {
	tests := []struct {
		name  string
		files []string
		arg   string
		want  []string
	}{
		{"stdin", nil, "-", []string{"standard input", "try"}},
		{"absent", nil, "nope.jsonl", []string{`"nope.jsonl"`, "no such file", "try"}},
		{"empty", nil, "", []string{"an empty name", "name files"}},
		{"url", nil, "https://example.com/a.jsonl", []string{"no such file"}},
		{"glob-without-match", []string{"r/a.txt"}, "r/*.jsonl", []string{`"r/*.jsonl"`, "matches no file", "try"}},
		{"glob-only-hidden", []string{"r/.a"}, "r/*", []string{"hidden"}},
		{"glob-malformed", nil, "r/[a", []string{"syntax error", "try"}},
		{"directory-without-file", []string{"r/.a", "r/b.tmp"}, "r", []string{"no file below", "try"}},
		{"dangling-argument", []string{"a -> nowhere"}, "a", []string{"leads nowhere", "try"}},
		{"dangling-below", []string{"r/x", "r/a -> nowhere"}, "r", []string{"r/a", "leads nowhere", "try"}},
		{"file-as-directory", []string{"a"}, "a/b", []string{`"a/b"`, "try"}},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			tree(t, tt.files...)
			inputs, err := Discover([]string{tt.arg})
			if err == nil {
				t.Fatalf("no error, %d inputs", len(inputs))
			}
			for _, want := range tt.want {
				if !strings.Contains(err.Error(), want) {
					t.Errorf("%q does not say %q", err, want)
				}
			}
		})
	}
}

// Links are resolved alike whether they and the argument are absolute or not.
func TestDiscoverAbsoluteLinks(t *testing.T) {
	root := tree(t, "r/b", "r/d/x", "o/y")
	for name, target := range map[string]string{"r/a": "r/b", "r/c": "r/d", "r/e": "o", "r/up": "r", "r/top": ""} {
		if err := os.Symlink(filepath.Join(root, target), name); err != nil {
			t.Fatal(err)
		}
	}
	for _, arg := range []string{"r", filepath.Join(root, "r"), "./r/", "r/d/.."} {
		inputs, err := Discover([]string{arg})
		var got []string
		for _, in := range inputs {
			got = append(got, in.Name)
		}
		if diff := cmp.Diff([]string{"0/b", "0/d/x", "0/e/y"}, got); err != nil || diff != "" {
			t.Errorf("%s: %v (-want +got):\n%s", arg, err, diff)
		}
	}
}

func TestDiscoverPipe(t *testing.T) {
	tree(t, "r/a")
	if err := syscall.Mkfifo("r/pipe", 0o666); err != nil {
		t.Fatal(err)
	}
	if _, err := Discover([]string{"r/pipe"}); err == nil || !strings.Contains(err.Error(), "cannot be read twice") {
		t.Errorf("a pipe as argument: %v", err)
	}
	inputs, err := Discover([]string{"r"})
	if err != nil || len(inputs) != 1 {
		t.Errorf("a pipe in a directory: %v, %v", inputs, err)
	}
}

// Names are unique in a plan, however the arguments overlap.
func TestDiscoverUniqueNames(t *testing.T) {
	tree(t, "r/x/a", "r/y/a", "r/a", "s/a", "r/l -> ../s", "r/x/k -> ../y")
	inputs, err := Discover([]string{"r", "r/*", "r/*/a", "*/a", "r/a", "s/a", "."})
	if err != nil {
		t.Fatal(err)
	}
	seen := map[string]bool{}
	for _, in := range inputs {
		if seen[in.Name] {
			t.Errorf("%s twice", in.Name)
		}
		seen[in.Name] = true
	}
}
