package pipelines

import (
	"context"
	"errors"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/hub"
)

// TestLoadTokenizer: what stands for a name, the name that goes into the plan, and the one that local.json
// keeps, which leads to the same file from another directory and after the branch has moved.
func TestLoadTokenizer(t *testing.T) {
	const commit = "0123456789abcdef0123456789abcdef01234567"
	work, cache := t.TempDir(), t.TempDir()
	t.Chdir(work)
	put := func(data string, path ...string) {
		t.Helper()
		name := filepath.Join(path...)
		if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
			t.Fatal(err)
		}
		if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
			t.Fatal(err)
		}
	}
	file := string(demo.Tokenizer())
	put(file, "own.json")
	put(file, "dir", "tokenizer.json")
	put(file, "acme", "local", "tokenizer.json")
	for _, repo := range []string{"acme--tiny", "acme--local"} {
		put(commit, cache, "models--"+repo, "refs", "main")
		put(file, cache, "models--"+repo, "snapshots", commit, "tokenizer.json")
	}
	from := hub.Options{Cache: cache}
	for _, c := range []struct{ given, name, place string }{
		{"demo", "demo", "demo"},
		{"own.json", "own.json", filepath.Join(work, "own.json")},
		{"dir", "tokenizer.json", filepath.Join(work, "dir")},
		{"acme/local", "tokenizer.json", filepath.Join(work, "acme", "local")},
		{"acme/tiny", "acme/tiny", "acme/tiny@" + commit},
		{"acme/tiny@main", "acme/tiny@main", "acme/tiny@" + commit},
		{"acme/tiny@" + commit, "acme/tiny@" + commit, "acme/tiny@" + commit},
	} {
		tok, info, err := loadTokenizer(t.Context(), c.given, "auto", from)
		if err != nil {
			t.Errorf("%s: %v", c.given, err)
			continue
		}
		if info.Name != c.name || tok.place != c.place || info.SHA256 != hexSum(demo.Tokenizer()) {
			t.Errorf("%s: name %q, place %q, want %q, %q", c.given, info.Name, tok.place, c.name, c.place)
		}
		if _, again, err := loadTokenizer(t.Context(), tok.place, "auto", from); err != nil || again.SHA256 != info.SHA256 {
			t.Errorf("%s: its place %s leads to %+v, %v", c.given, tok.place, again, err)
		}
	}
}

// TestLoadTokenizerFails: a wrong name is an error of usage; a hub that fails is none, and an interruption
// stays one.
func TestLoadTokenizerFails(t *testing.T) {
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/acme/busy/") {
			w.WriteHeader(http.StatusServiceUnavailable)
			return
		}
		http.NotFound(w, r)
	}))
	defer s.Close()
	stopped := errors.New("stopped")
	ended, cancel := context.WithCancelCause(t.Context())
	cancel(stopped)
	for _, c := range []struct {
		ctx   context.Context
		given string
		usage bool
		says  []string
	}{
		{t.Context(), "acme/none", true, []string{"--tokenizer acme/none: no such file", "no repository"}},
		{t.Context(), "a/b/c", true, []string{"--tokenizer a/b/c: no such file", "3 parts", "or demo"}},
		{t.Context(), "acme/busy", false, []string{"--tokenizer acme/busy: no such file", "answers 503"}},
		{t.Context(), strings.Repeat("a", 5000), true, []string{"too long", "or demo"}},
		{ended, "acme/busy", false, []string{"stopped"}},
	} {
		_, _, err := loadTokenizer(c.ctx, c.given, "auto", hub.Options{Endpoint: s.URL})
		var usage *UsageError
		if err == nil || errors.As(err, &usage) != c.usage {
			t.Errorf("%s: error %v, want one of usage: %v", short(c.given), err, c.usage)
			continue
		}
		for _, says := range c.says {
			if !strings.Contains(err.Error(), says) {
				t.Errorf("%s: error %q lacks %q", short(c.given), short(err.Error()), says)
			}
		}
	}
}

func short(s string) string { return s[:min(len(s), 200)] }
