package hub

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/hex"
	"io/fs"
	"log/slog"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"
)

const (
	commit = "0123456789abcdef0123456789abcdef01234567"
	other  = "89abcdef0123456789abcdef0123456789abcdef"
)

var content = []byte(`{"version":"1.0","model":{"type":"BPE"}}` + strings.Repeat("\n", 5000))

func sha256Of(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// server answers on the loopback interface and keeps what it was asked.
type server struct {
	*httptest.Server
	mu    sync.Mutex
	asked []*http.Request
}

func serve(t *testing.T, answer http.HandlerFunc) *server {
	t.Helper()
	s := &server{}
	s.Server = httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		s.mu.Lock()
		s.asked = append(s.asked, r)
		s.mu.Unlock()
		answer(w, r)
	}))
	t.Cleanup(s.Close)
	return s
}

// requests returns the path of every request so far, as it was sent.
func (s *server) requests() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var paths []string
	for _, r := range s.asked {
		paths = append(paths, r.RequestURI)
	}
	return paths
}

// tokens returns the Authorization header of every request so far.
func (s *server) tokens() []string {
	s.mu.Lock()
	defer s.mu.Unlock()
	var tokens []string
	for _, r := range s.asked {
		tokens = append(tokens, r.Header.Get("Authorization"))
	}
	return tokens
}

// small answers as the hub does with a small file.
func small(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Repo-Commit", commit)
	w.Header().Set("ETag", `"`+gitSum(content)+`"`)
	w.Write(content)
}

// cut answers as small does and closes the connection in the middle.
func cut(w http.ResponseWriter, _ *http.Request) {
	w.Header().Set("X-Repo-Commit", commit)
	w.Header().Set("ETag", `"`+gitSum(content)+`"`)
	w.Header().Set("Content-Length", "5040")
	w.Write(content[:1000])
	w.(http.Flusher).Flush()
	panic(http.ErrAbortHandler)
}

// logs collects what is logged.
type logs struct {
	mu sync.Mutex
	b  bytes.Buffer
}

func (l *logs) Write(p []byte) (int, error) {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.Write(p)
}

func (l *logs) String() string {
	l.mu.Lock()
	defer l.mu.Unlock()
	return l.b.String()
}

// sleeper counts the pauses and takes none.
type sleeper struct{ pauses []time.Duration }

func (s *sleeper) sleep(ctx context.Context, d time.Duration) error {
	s.pauses = append(s.pauses, d)
	return ctx.Err()
}

// setup returns options that ask endpoint, with a cache of their own.
func setup(t *testing.T, endpoint string) (Options, *sleeper, *logs) {
	t.Helper()
	s, l := &sleeper{}, &logs{}
	return Options{
		Endpoint: endpoint, Cache: filepath.Join(t.TempDir(), "hub"), Token: "hf_secret",
		Sleep: s.sleep, Logger: slog.New(slog.NewTextHandler(l, nil)),
	}, s, l
}

// tree lists the files below a directory, links with what they lead to.
func tree(t *testing.T, root string) []string {
	t.Helper()
	var found []string
	err := filepath.WalkDir(root, func(path string, d fs.DirEntry, err error) error {
		if err != nil || d.IsDir() {
			return err
		}
		rel, err := filepath.Rel(root, path)
		if err != nil {
			return err
		}
		if to, err := os.Readlink(path); err == nil {
			rel += " -> " + to
		}
		found = append(found, filepath.ToSlash(rel))
		return nil
	})
	if err != nil && !isMissing(err) {
		t.Fatal(err)
	}
	slices.Sort(found)
	return found
}

func write(t *testing.T, data string, path ...string) {
	t.Helper()
	name := filepath.Join(path...)
	if err := os.MkdirAll(filepath.Dir(name), 0o777); err != nil {
		t.Fatal(err)
	}
	if err := os.WriteFile(name, []byte(data), 0o666); err != nil {
		t.Fatal(err)
	}
}

func read(t *testing.T, path ...string) string {
	t.Helper()
	data, err := os.ReadFile(filepath.Join(path...))
	if err != nil {
		t.Fatal(err)
	}
	return string(data)
}

// mustGet fetches what has to be the content at the commit.
func mustGet(t *testing.T, o Options, name string) {
	t.Helper()
	ref, err := ParseRef(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Get(t.Context(), o, ref)
	if err != nil {
		t.Fatalf("%s: %v", name, err)
	}
	if !bytes.Equal(f.Data, content) || f.Commit != commit {
		t.Fatalf("%s: %d bytes of commit %s, want %d of %s", name, len(f.Data), f.Commit, len(content), commit)
	}
}

// mustFail fetches acme/tiny, in vain, and checks kind and words of the error.
func mustFail(t *testing.T, o Options, name string, kind Kind, says ...string) {
	t.Helper()
	ref, err := ParseRef(name)
	if err != nil {
		t.Fatal(err)
	}
	f, err := Get(t.Context(), o, ref)
	e, ok := err.(*Error)
	if !ok || e.Kind != kind || e.Ref != ref {
		t.Fatalf("%s: %v, error %#v, want one of kind %d", name, f, err, kind)
	}
	for _, s := range append(says, "; ") {
		if !strings.Contains(err.Error(), s) {
			t.Errorf("error %q lacks %q", err, s)
		}
	}
	if strings.Contains(err.Error(), "hf_secret") {
		t.Errorf("error %q shows the token", err)
	}
}
