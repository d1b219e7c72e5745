package hub

import (
	"net/http"
	"slices"
	"strings"
	"testing"
)

// TestBeside: a file of the tokenizer's commit is fetched once, and that there is none is asked once, and kept as
// huggingface_hub keeps it.
func TestBeside(t *testing.T) {
	const jinja = "{{ messages }}\n"
	s := serve(t, func(w http.ResponseWriter, r *http.Request) {
		w.Header().Set("X-Repo-Commit", commit)
		switch {
		case strings.HasSuffix(r.URL.Path, "/tokenizer.json"):
			small(w, r)
		case strings.HasSuffix(r.URL.Path, "/chat_template.jinja"):
			w.Header().Set("ETag", `"`+gitSum([]byte(jinja))+`"`)
			w.Write([]byte(jinja))
		default:
			w.Header().Set("X-Error-Code", "EntryNotFound")
			w.WriteHeader(http.StatusNotFound)
		}
	})
	o, _, logged := setup(t, s.URL)
	mustGet(t, o, "acme/tiny")
	at := Ref{Repo: "acme/tiny", Revision: commit}
	for range 2 {
		if data, err := Beside(t.Context(), o, at, "chat_template.jinja"); err != nil || string(data) != jinja {
			t.Errorf("%q, %v", data, err)
		}
		if data, err := Beside(t.Context(), o, at, "tokenizer_config.json"); err != nil || data != nil {
			t.Errorf("%q, %v", data, err)
		}
		o.Offline = true // the second time
	}
	o.Offline = false
	if data, err := Beside(t.Context(), o, at, "tokenizer_config.json"); err != nil || data != nil {
		t.Errorf("%q, %v", data, err)
	}
	base := "/acme/tiny/resolve/"
	want := []string{base + "main/tokenizer.json", base + commit + "/chat_template.jinja", base + commit + "/tokenizer_config.json"}
	if got := s.requests(); !slices.Equal(got, want) {
		t.Errorf("requests\n%q, want\n%q", got, want)
	}
	if got := tree(t, o.Cache); !slices.Contains(got, "models--acme--tiny/.no_exist/"+commit+"/tokenizer_config.json") {
		t.Errorf("cache %q", got)
	}
	if !strings.Contains(logged.String(), `msg="file beside a tokenizer fetched"`) || strings.Contains(logged.String(), "WARN") {
		t.Errorf("log %q", logged)
	}
}

// TestBesideFails: a 404 of any kind says that there is no such file; a hub that fails, or sends something else, is
// an error.
func TestBesideFails(t *testing.T) {
	at := Ref{Repo: "acme/tiny", Revision: commit}
	for _, c := range []struct {
		name   string
		answer http.HandlerFunc
		kind   Kind // 0: there is no such file
	}{
		{"a mirror's 404", http.NotFound, 0},
		{"out of order", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusServiceUnavailable) }, Unreachable},
		{"access lost", func(w http.ResponseWriter, _ *http.Request) { w.WriteHeader(http.StatusForbidden) }, Denied},
		{"a page", func(w http.ResponseWriter, _ *http.Request) {
			w.Header().Set("X-Repo-Commit", commit)
			w.Header().Set("ETag", `"7"`)
			w.Write([]byte("\n<!DOCTYPE html><title>Log in</title>"))
		}, Damaged},
	} {
		o, _, _ := setup(t, serve(t, c.answer).URL)
		data, err := Beside(t.Context(), o, at, "chat_template.jinja")
		e, _ := err.(*Error)
		if data != nil || (err == nil) != (c.kind == 0) || e != nil && e.Kind != c.kind {
			t.Errorf("%s: %q, %v", c.name, data, err)
		}
		if got := tree(t, o.Cache); len(got) != 0 {
			t.Errorf("%s: cache %q", c.name, got)
		}
	}
}
