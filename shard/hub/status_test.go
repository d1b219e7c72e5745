package hub

import (
	"net/http"
	"os"
	"path/filepath"
	"strings"
	"testing"
)

// TestStatus: each refusal says what is missing and what to try; none is asked for twice.
func TestStatus(t *testing.T) {
	for name, c := range map[string]struct {
		status        int
		code, message string
		token         string
		kind          Kind
		says          []string
	}{
		"no repository": {404, "RepoNotFound", "Repository not found", "hf_secret", NotFound,
			[]string{"/acme/tiny is no repository, or a private one (404, \"Repository not found\")", "spelling", "the token of HF_TOKEN needs access"}},
		"no repository, no token": {401, "RepoNotFound", "", "", NotFound, []string{"(401)", "spelling", "set HF_TOKEN"}},
		"no one knows":            {401, "", "Invalid username or password.", "", Denied, []string{"private or gated", "spelling", "licence", "HF_TOKEN"}},
		"no such file":            {404, "EntryNotFound", "Entry not found", "hf_secret", NotFound, []string{"/acme/tiny has no tokenizer.json at main", "base model", "save_pretrained"}},
		"no such revision":        {404, "RevisionNotFound", "", "hf_secret", NotFound, []string{"has no revision main", "acme/tiny@main"}},
		"another place":           {404, "", "", "hf_secret", NotFound, []string{"is no repository"}},
		"gated, no token":         {401, "GatedRepo", "Access to model is restricted.", "", Denied, []string{"/acme/tiny is gated", "accept its licence", "set HF_TOKEN"}},
		"gated":                   {403, "GatedRepo", "", "hf_secret", Denied, []string{"is gated", "accept its licence", "the account of the token of HF_TOKEN"}},
		"a bad token":             {401, "", "Invalid credentials in Authorization header", "hf_secret", Denied, []string{"does not take the token of HF_TOKEN", "/settings/tokens"}},
		"a weak token":            {403, "", "fine-grained", "hf_secret", Denied, []string{"refuses access to acme/tiny (403, \"fine-grained\")"}},
		"controls in the message": {403, "", "a\u009b2Jb", "", Denied, []string{`a\u009b2Jb`}},
		"another answer":          {418, "", "", "", BadSetting, []string{"answers 418", "HF_ENDPOINT"}},
		"no content":              {204, "", "", "", BadSetting, []string{"answers 204"}},
		"never built":             {501, "", "", "", BadSetting, []string{"answers 501"}},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Error-Code", c.code)
				w.Header().Set("X-Error-Message", c.message)
				w.WriteHeader(c.status)
			})
			o, slept, _ := setup(t, s.URL)
			o.Token = c.token
			mustFail(t, o, "acme/tiny", c.kind, append(c.says, "not in the cache "+o.Cache)...)
			if n := len(s.requests()); n != 1 || len(slept.pauses) != 0 {
				t.Errorf("%d requests, pauses %v, want one request", n, slept.pauses)
			}
			if got := tree(t, o.Cache); len(got) != 0 {
				t.Errorf("cache %q", got)
			}
		})
	}
}

// TestToken: what is sent, and what a refusal names.
func TestToken(t *testing.T) {
	file := filepath.Join(t.TempDir(), "token")
	write(t, " hf_secret_file\r\n", file)
	directory := t.TempDir()
	for name, c := range map[string]struct {
		o      Options
		sent   string
		says   string
		logged string
	}{
		"given":      {Options{Token: "hf_secret", TokenPath: file}, "Bearer hf_secret", "the token of HF_TOKEN", ""},
		"in a file":  {Options{TokenPath: file}, "Bearer hf_secret_file", "the token of " + file, ""},
		"held back":  {Options{Token: "hf_secret", TokenPath: file, NoToken: true}, "", "HF_HUB_DISABLE_IMPLICIT_TOKEN", ""},
		"absent":     {Options{TokenPath: file + "x"}, "", "set HF_TOKEN", ""},
		"unreadable": {Options{TokenPath: directory}, "", "set HF_TOKEN", "token not read"},
		"none":       {Options{}, "", "set HF_TOKEN", ""},
	} {
		t.Run(name, func(t *testing.T) {
			s := serve(t, func(w http.ResponseWriter, r *http.Request) {
				w.Header().Set("X-Error-Code", "GatedRepo")
				w.WriteHeader(http.StatusForbidden)
			})
			o, _, logged := setup(t, s.URL)
			o.Token, o.TokenPath, o.NoToken = c.o.Token, c.o.TokenPath, c.o.NoToken
			mustFail(t, o, "acme/tiny", Denied, c.says)
			if got := s.tokens(); got[0] != c.sent {
				t.Errorf("Authorization %q, want %q", got, c.sent)
			}
			if !strings.Contains(logged.String(), c.logged) || c.logged == "" && logged.String() != "" {
				t.Errorf("log %q, want %q", logged, c.logged)
			}
		})
	}
	if os.Remove(file) != nil {
		t.Error("the token's file is gone")
	}
}
