package hub

import (
	"net/http"
	"net/url"
	"slices"
	"strings"
	"testing"
)

// TestRedirectToStorage: a large file. The hub's own headers name it; the storage gets no token, although it
// differs from the hub by its port alone; and a storage cannot say which commit it is.
func TestRedirectToStorage(t *testing.T) {
	storage := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("ETag", `"0123456789abcdef0123456789abcdef-2"`)
		w.Header().Set("X-Repo-Commit", other)
		w.Write(content)
	})
	hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/old/") { // a repository that was renamed
			http.Redirect(w, r, "/acme/tiny/resolve/main/tokenizer.json", http.StatusTemporaryRedirect)
			return
		}
		w.Header().Set("X-Repo-Commit", commit)
		w.Header().Set("ETag", `"`+strings.Repeat("0", 40)+`"`)
		w.Header().Set("X-Linked-Etag", `"`+sha256Of(content)+`"`)
		w.Header().Set("X-Linked-Size", "5040")
		http.Redirect(w, r, storage.URL+"/blob?signature=private", http.StatusFound)
	})
	o, _, _ := setup(t, hub.URL)
	mustGet(t, o, "old/name")
	if got, want := hub.tokens(), []string{"Bearer hf_secret", "Bearer hf_secret"}; !slices.Equal(got, want) {
		t.Errorf("the hub got the tokens %q, want %q", got, want)
	}
	if got, want := storage.tokens(), []string{""}; !slices.Equal(got, want) {
		t.Errorf("the storage got the tokens %q, want %q", got, want)
	}
	want := []string{
		"models--old--name/blobs/" + sha256Of(content),
		"models--old--name/refs/main",
		"models--old--name/snapshots/" + commit + "/tokenizer.json -> ../../blobs/" + sha256Of(content),
	}
	if got := tree(t, o.Cache); !slices.Equal(got, want) {
		t.Errorf("cache\n%q, want\n%q", got, want)
	}
}

// TestRedirectToHub: a mirror that sends on to another hub, whose headers are all there is.
func TestRedirectToHub(t *testing.T) {
	behind := serve(t, small)
	mirror := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, behind.URL+r.RequestURI, http.StatusPermanentRedirect)
	})
	o, _, _ := setup(t, mirror.URL)
	mustGet(t, o, "acme/tiny@a/b")
	if got, want := behind.requests(), []string{"/acme/tiny/resolve/a%2Fb/tokenizer.json"}; !slices.Equal(got, want) {
		t.Errorf("requests %q, want %q", got, want)
	}
	if got := behind.tokens(); got[0] != "" {
		t.Errorf("the token went on: %q", got)
	}
}

// TestRedirectBack: a way that left the endpoint and comes back has no token any more.
func TestRedirectBack(t *testing.T) {
	var home string
	outside := serve(t, func(w http.ResponseWriter, r *http.Request) {
		http.Redirect(w, r, home+"/acme/secret/resolve/main/tokenizer.json", http.StatusFound)
	})
	hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
		if strings.HasPrefix(r.URL.Path, "/acme/tiny/") {
			http.Redirect(w, r, outside.URL, http.StatusFound)
			return
		}
		small(w, r)
	})
	home = hub.URL
	o, _, _ := setup(t, hub.URL)
	mustGet(t, o, "acme/tiny")
	if got, want := hub.tokens(), []string{"Bearer hf_secret", ""}; !slices.Equal(got, want) {
		t.Errorf("tokens %q, want %q", got, want)
	}
}

func TestRedirectNowhere(t *testing.T) {
	for name, c := range map[string]struct {
		to   string
		kind Kind
		says string
	}{
		"in a circle":  {"/acme/tiny/resolve/main/tokenizer.json", BadSetting, "more than 10 times"},
		"to a file":    {"file:///etc/passwd", BadSetting, "from http to file"},
		"to no place":  {"", BadSetting, "cannot be followed"},
		"to a refusal": {"http://127.0.0.1:1/x?signature=private", Unreachable, "127.0.0.1:1 gives no answer"},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				if c.to != "" {
					w.Header().Set("Location", c.to)
				}
				w.WriteHeader(http.StatusFound)
			})
			o, _, logged := setup(t, s.URL)
			mustFail(t, o, "acme/tiny", c.kind, c.says)
			if strings.Contains(logged.String(), "signature") {
				t.Errorf("log %q shows a signed address", logged)
			}
			if got := tree(t, o.Cache); len(got) != 0 {
				t.Errorf("cache %q", got)
			}
		})
	}
}

// TestStorageRefuses: what a storage answers says nothing of tokens.
func TestStorageRefuses(t *testing.T) {
	storage := serve(t, func(w http.ResponseWriter, r *http.Request) { w.WriteHeader(http.StatusForbidden) })
	hub := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Repo-Commit", commit)
		w.Header().Set("X-Linked-Etag", `"`+sha256Of(content)+`"`)
		http.Redirect(w, r, storage.URL+"/blob?signature=private", http.StatusFound)
	})
	o, _, _ := setup(t, hub.URL)
	mustFail(t, o, "acme/tiny", Unreachable, "to which the hub redirects, answers 403")
}

func TestTarget(t *testing.T) {
	for _, c := range []struct{ from, to, want string }{
		{"https://a/x/y", "/z?q", "https://a/z?q"},
		{"https://a/x/y", "https://b/z", "https://b/z"},
		{"http://a/x", "https://a/x", "https://a/x"},
		{"http://a/x", "http://b/", "http://b/"},
		{"https://a/x", "http://a/x", ""},
		{"https://a/x", "ftp://a/x", ""},
		{"https://a/x", "data:,x", ""},
	} {
		from, err := url.Parse(c.from)
		if err != nil {
			t.Fatal(err)
		}
		resp := &http.Response{Header: http.Header{"Location": {c.to}}, Request: &http.Request{URL: from}}
		got, err := target(resp)
		if c.want == "" && err == nil || c.want != "" && (err != nil || got.String() != c.want) {
			t.Errorf("target(%s, %s) = %v, %v, want %q", c.from, c.to, got, err, c.want)
		}
	}
}

func TestSameOrigin(t *testing.T) {
	for _, c := range []struct {
		a, b string
		want bool
	}{
		{"https://Hub.example/a", "https://hub.example:443/b?c", true},
		{"http://hub.example", "http://hub.example:80/", true},
		{"https://hub.example", "http://hub.example", false},
		{"https://hub.example", "https://cdn.hub.example", false},
		{"https://hub.example", "https://hub.example.org", false},
		{"http://127.0.0.1:1000", "http://127.0.0.1:1001", false},
		{"https://hub.example", "https://hub.example@evil.example", false},
	} {
		a, _ := url.Parse(c.a)
		b, _ := url.Parse(c.b)
		if got := sameOrigin(a, b); got != c.want {
			t.Errorf("sameOrigin(%s, %s) = %v", c.a, c.b, got)
		}
	}
}
