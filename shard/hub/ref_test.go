package hub

import (
	"path/filepath"
	"strings"
	"testing"
)

func TestParseRef(t *testing.T) {
	long := strings.Repeat("a", 96)
	for _, c := range []struct {
		name string
		want Ref
	}{
		{"gpt2", Ref{"gpt2", ""}},
		{"Qwen/Qwen3-8B", Ref{"Qwen/Qwen3-8B", ""}},
		{"Qwen/Qwen3-8B@main", Ref{"Qwen/Qwen3-8B", "main"}},
		{"a/b@refs/pr/1", Ref{"a/b", "refs/pr/1"}},
		{"a/b@v1.0+x", Ref{"a/b", "v1.0+x"}},
		{"_a_/b.c_1@" + commit, Ref{"_a_/b.c_1", commit}},
		{long + "/" + long, Ref{long + "/" + long, ""}},
		{"a", Ref{"a", ""}},
	} {
		got, err := ParseRef(c.name)
		if err != nil || got != c.want {
			t.Errorf("ParseRef(%q) = %+v, %v, want %+v", c.name, got, err, c.want)
		}
		if got.String() != c.name {
			t.Errorf("ParseRef(%q).String() = %q", c.name, got)
		}
	}
	for name, says := range map[string]string{
		"":                                  `"" is no part`,
		".":                                 `"." is no part`,
		"..":                                "..",
		"../x":                              "..",
		"a/../b":                            "3 parts",
		"/":                                 `"" is no part`,
		"/etc":                              `"" is no part`,
		"./tiny":                            `"." is no part`,
		"a/b/c":                             "3 parts",
		"a/":                                `"" is no part`,
		"a//b":                              "3 parts",
		"a--b":                              "--",
		"a..b":                              "..",
		"-a":                                `"-a" is no part`,
		"a/b.":                              `"b." is no part`,
		"a b":                               `"a b" is no part`,
		"a\\b":                              "is no part",
		"caf\u00e9":                         "is no part",
		"a\x00":                             "is no part",
		"~/x":                               `"~" is no part`,
		long + "a":                          "1 to 96",
		"a.git":                             ".git",
		"qwen3/tokenizer.json":              "not a file",
		"https://huggingface.co/Qwen/Qwen3": "without its address",
		"a@":                                `"" after @`,
		"a@/x":                              "no revision",
		"a@x/":                              "no revision",
		"a@..":                              "no revision",
		"a@x/../../y":                       "no revision",
		"a@.x":                              "no revision",
		"a@x y":                             "no revision",
		"a@b@c":                             "no revision",
		"a@x?y":                             "no revision",
		"a@" + strings.Repeat("r", 201):     "up to 200",
	} {
		if got, err := ParseRef(name); err == nil || !strings.Contains(err.Error(), says) {
			t.Errorf("ParseRef(%q) = %+v, %v, want an error with %q", name, got, err, says)
		}
	}
}

// FuzzParseRef: what is taken stays below the cache and below the endpoint, and reads back the same.
func FuzzParseRef(f *testing.F) {
	for _, seed := range []string{"gpt2", "Qwen/Qwen3-8B@main", "a/b@refs/pr/1", "../a", "a@../b", "a@%2e%2e/b", "a/b.json", "a?b#c", "a\x00b"} {
		f.Add(seed)
	}
	f.Fuzz(func(t *testing.T, name string) {
		ref, err := ParseRef(name)
		if err != nil {
			if strings.ContainsAny(err.Error(), "\r\n\x1b") {
				t.Errorf("%q: error %q has controls", name, err)
			}
			return
		}
		if ref.String() != name {
			t.Errorf("%q reads back as %q", name, ref)
		}
		c := newCache(&Options{Cache: "/cache"}, ref, fileName)
		if filepath.Dir(c.dir) != "/cache" || !strings.HasPrefix(filepath.Base(c.dir), "models--") {
			t.Errorf("%q lies in %s", name, c.dir)
		}
		if rel, err := filepath.Rel(filepath.Join(c.dir, "refs"), c.refPath()); err != nil || rel != filepath.FromSlash(ref.revision()) {
			t.Errorf("%q has its ref at %s", name, c.refPath())
		}
		h, fails := newFetcher(&Options{Endpoint: "https://hub.example/x"}, ref, c)
		if fails != nil {
			t.Fatalf("%q: %v", name, fails)
		}
		if want := "/x/" + ref.Repo + "/resolve/" + ref.revision() + "/tokenizer.json"; h.file.Path != want || h.file.Host != "hub.example" || h.file.RawQuery+h.file.Fragment != "" {
			t.Errorf("%q is asked for at %s, want %s", name, h.file, want)
		}
		if n := strings.Count(h.file.EscapedPath(), "/"); n != strings.Count(ref.Repo, "/")+5 {
			t.Errorf("%q is asked for at %s: the revision is to be one part", name, h.file)
		}
	})
}
