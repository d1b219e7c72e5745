package hub

import (
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
)

// TestGet: one request, then none, and a cache as Hugging Face's own clients lay it out.
func TestGet(t *testing.T) {
	s := serve(t, small)
	o, _, logged := setup(t, s.URL)
	mustGet(t, o, "acme/tiny")
	if got, want := s.requests(), []string{"/acme/tiny/resolve/main/tokenizer.json"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	if got := s.tokens(); got[0] != "Bearer hf_secret" {
		t.Errorf("Authorization %q", got)
	}
	if got := s.asked[0].Header.Get("Accept-Encoding"); got != "identity" {
		t.Errorf("Accept-Encoding %q", got)
	}
	if got := s.asked[0].UserAgent(); got != "turnmill" {
		t.Errorf("User-Agent %q", got)
	}
	etag := gitSum(content)
	want := []string{
		"models--acme--tiny/blobs/" + etag,
		"models--acme--tiny/refs/main",
		"models--acme--tiny/snapshots/" + commit + "/tokenizer.json -> ../../blobs/" + etag,
	}
	if got := tree(t, o.Cache); !slices.Equal(got, want) {
		t.Errorf("cache\n%q, want\n%q", got, want)
	}
	if got := read(t, o.Cache, "models--acme--tiny", "refs", "main"); got != commit {
		t.Errorf("refs/main is %q, want %q: clients take it as it is", got, commit)
	}
	if got := read(t, o.Cache, "models--acme--tiny", "snapshots", commit, "tokenizer.json"); got != string(content) {
		t.Errorf("the snapshot's file has %d bytes, want %d", len(got), len(content))
	}
	if !strings.Contains(logged.String(), "level=INFO msg=\"tokenizer fetched\" repository=acme/tiny commit="+commit+" bytes=5040") {
		t.Errorf("log %q", logged)
	}

	mustGet(t, o, "acme/tiny")
	mustGet(t, o, "acme/tiny@main")
	mustGet(t, o, "acme/tiny@"+commit)
	o.Offline = true
	mustGet(t, o, "acme/tiny")
	if n := len(s.requests()); n != 1 {
		t.Errorf("%d requests, want 1: what the cache has is not asked for", n)
	}
}

func TestGetRevisions(t *testing.T) {
	const dir = "models--gpt2"
	for _, c := range []struct{ name, path, ref string }{
		{"gpt2", "/gpt2/resolve/main/tokenizer.json", "main"},
		{"gpt2@v1.0", "/gpt2/resolve/v1.0/tokenizer.json", "v1.0"},
		{"gpt2@refs/pr/7", "/gpt2/resolve/refs%2Fpr%2F7/tokenizer.json", "refs/pr/7"},
		{"gpt2@0123456", "/gpt2/resolve/0123456/tokenizer.json", "0123456"},
		{"gpt2@" + commit, "/gpt2/resolve/" + commit + "/tokenizer.json", ""},
	} {
		t.Run(c.name, func(t *testing.T) {
			s := serve(t, small)
			o, _, _ := setup(t, s.URL)
			mustGet(t, o, c.name)
			mustGet(t, o, c.name)
			if got := s.requests(); !slices.Equal(got, []string{c.path}) {
				t.Errorf("requests %q, want %q once", got, c.path)
			}
			if c.ref == "" {
				if _, err := os.Stat(filepath.Join(o.Cache, dir, "refs")); !isMissing(err) {
					t.Errorf("a commit has a ref: %v", err)
				}
			} else if got := read(t, o.Cache, dir, "refs", filepath.FromSlash(c.ref)); got != commit {
				t.Errorf("refs/%s is %q", c.ref, got)
			}
		})
	}
	t.Run("another commit", func(t *testing.T) {
		o, _, _ := setup(t, serve(t, small).URL)
		mustFail(t, o, "gpt2@"+other, Damaged, "answered with the commit "+commit)
	})
}

// TestGetBesidePath: an endpoint may have a path of its own.
func TestGetBesidePath(t *testing.T) {
	s := serve(t, small)
	o, _, _ := setup(t, s.URL+"/mirror/hf")
	mustGet(t, o, "acme/tiny")
	if got, want := s.requests(), []string{"/mirror/hf/acme/tiny/resolve/main/tokenizer.json"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
}

func TestGetNothingToAsk(t *testing.T) {
	s := serve(t, small)
	o, _, _ := setup(t, s.URL)
	o.Offline = true
	mustFail(t, o, "acme/tiny", NotCached, "not in the cache "+o.Cache+", and HF_HUB_OFFLINE", "hf download acme/tiny tokenizer.json")
	if n := len(s.requests()); n != 0 {
		t.Errorf("%d requests offline", n)
	}
	mustFail(t, Options{}, "acme/tiny", NotCached, "no hub is named")
	for _, bad := range []string{"huggingface.co", "ftp://x", "https://", "http://x/?y", "http://[::1", ":"} {
		mustFail(t, Options{Endpoint: bad}, "acme/tiny", BadSetting, "HF_ENDPOINT", bad, DefaultEndpoint)
	}
	o.Offline, o.Token = false, "hf_secret\u00e9"
	mustFail(t, o, "acme/tiny", BadSetting, "HF_TOKEN")
}

// TestGetTogether: many at once leave one sound cache.
func TestGetTogether(t *testing.T) {
	s := serve(t, small)
	o, _, _ := setup(t, s.URL)
	o.Sleep = nil
	var wg sync.WaitGroup
	for range 8 {
		wg.Go(func() { mustGet(t, o, "acme/tiny") })
	}
	wg.Wait()
	if got := tree(t, o.Cache); len(got) != 3 {
		t.Errorf("cache %q, want a blob, a link and a ref", got)
	}
	o.Offline = true
	mustGet(t, o, "acme/tiny")
}

func TestSetting(t *testing.T) {
	for kind, want := range map[Kind]bool{NotFound: true, Denied: true, NotCached: true, BadSetting: true, Unreachable: false, Damaged: false} {
		if got := (&Error{Kind: kind}).Setting(); got != want {
			t.Errorf("kind %d: Setting() = %v, want %v", kind, got, want)
		}
	}
}
