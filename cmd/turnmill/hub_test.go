package main

import (
	"crypto/sha256"
	"fmt"
	"net/http"
	"net/http/httptest"
	"path/filepath"
	"strings"
	"testing"

	"github.com/rogpeppe/go-internal/testscript"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/bpe"
)

const hubCommit = "0123456789abcdef0123456789abcdef01234567"

// serveHub starts a hub on the loopback interface. It has the demo tokenizer as acme/tiny, at main and at v1,
// and as acme/gated for the token hf_open; it is out of order for acme/broken, and has nothing else.
func serveHub(t *testing.T) *httptest.Server {
	t.Helper()
	data := demo.Tokenizer()
	s := httptest.NewServer(http.HandlerFunc(func(w http.ResponseWriter, r *http.Request) {
		repo, rest, _ := strings.Cut(strings.TrimPrefix(r.URL.Path, "/"), "/resolve/")
		revision, _, _ := strings.Cut(rest, "/")
		refuse := func(status int, code string) {
			w.Header().Set("X-Error-Code", code)
			w.WriteHeader(status)
		}
		switch {
		case repo == "acme/broken":
			w.Header().Set("X-Repo-Commit", hubCommit)
			w.Header().Set("ETag", `"`+strings.Repeat("0", 40)+`"`)
			w.Write(data)
		case repo == "acme/gated" && r.Header.Get("Authorization") != "Bearer hf_open":
			refuse(http.StatusForbidden, "GatedRepo")
		case repo != "acme/tiny" && repo != "acme/gated":
			refuse(http.StatusNotFound, "RepoNotFound")
		case revision != "main" && revision != "v1" && revision != hubCommit:
			refuse(http.StatusNotFound, "RevisionNotFound")
		default:
			w.Header().Set("X-Repo-Commit", hubCommit)
			w.Header().Set("ETag", fmt.Sprintf(`"%x"`, sha256.Sum256(data)))
			w.Write(data)
		}
	}))
	t.Cleanup(s.Close)
	return s
}

// hubEnv keeps scripts off the network: the hub is s, the cache is their own, and nothing is asked until a
// script says so.
func hubEnv(e *testscript.Env, s *httptest.Server) {
	e.Setenv("HUB", s.URL)
	e.Setenv("HF_ENDPOINT", s.URL)
	e.Setenv("HF_HOME", filepath.Join(e.WorkDir, "hf"))
	e.Setenv("HF_HUB_OFFLINE", "1")
}

// TestFamiliesTold: docs/tokenizers.md names the families as the engine's own refusal does.
func TestFamiliesTold(t *testing.T) {
	says := (&bpe.LoadError{Unsupported: true}).Error()
	_, families, ok := strings.Cut(says, " families ")
	if !ok {
		t.Fatalf("%q names no families", says)
	}
	if want := "of the families " + families + ","; !strings.Contains(string(readFile(t, "..", "..", "docs", "tokenizers.md")), want) {
		t.Errorf("docs/tokenizers.md does not say %q", want)
	}
}
