package secrets

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/planted"
)

// cleanText is text of an agent's day without a secret: code, listings, prose, hashes.
func cleanText() string {
	const page = `$ git log --oneline -3
4f9d2c1e fix: the token count of a page is of its own
$ python -m pytest tests/test_auth.py -q
tests/test_auth.py::test_password_is_hashed PASSED                                   [ 50%]
tests/test_auth.py::test_token_expires PASSED                                        [100%]
def api_key_header(self, request):
    key = request.headers.get("X-Api-Key")
    return self.secret_store.lookup(key) if key else None
The page https://docs.example.org/en/latest/guide.html#tokens says that access tokens expire after an hour.
drwxr-xr-x 2 dev dev 4096 Mar  3 10:15 node_modules   sha512-9cKTfE0/bVdFYw1pQ3wFcJkFxE6S1Yt0aBvDq==
{"status":"ok","items":[{"id":"0b5c6d1e-58c2-4f7a-9e39-0d5f3f7e9a61","name":"linear layer","price":12.5}]}
`
	return strings.Repeat(page, 100)
}

// BenchmarkClean: at least 200 MB/s, and nothing allocated.
func BenchmarkClean(b *testing.B) {
	s := New(Scrub)
	t := &turnmill.Trajectory{ID: "a", Turns: []turnmill.Turn{{Action: "ls", Observation: cleanText()}}}
	b.SetBytes(int64(len(t.Turns[0].Observation)))
	b.ReportAllocs()
	for b.Loop() {
		if c := s.Trajectory(t); len(c) > 0 {
			b.Fatal(c)
		}
	}
}

// BenchmarkHostile: texts made to be slow: keywords beside keywords, and secrets beside secrets.
func BenchmarkHostile(b *testing.B) {
	m := planted.Maker(3)
	var tokens strings.Builder
	for range 2000 {
		tokens.WriteString(planted.Shapes[0].Make(&m) + " " + planted.Shapes[25].Make(&m) + "\n")
	}
	var words strings.Builder
	for words.Len() < 200_000 {
		for _, w := range all().grams.words {
			words.WriteString(w.text + "=1aA")
		}
	}
	for name, text := range map[string]string{
		"prefix": strings.Repeat("gh"+"p_", 50_000), "jwt": strings.Repeat("ey"+"J", 70_000), "begin": strings.Repeat("-----BEGIN PRIVATE "+"KEY-----\n", 6_000),
		"escapes": strings.Repeat(`\u0041\x1b[1m`, 15_000), "esc": strings.Repeat("\x1b[1ma", 40_000), "names": strings.Repeat("token=a1 ", 20_000), "users": strings.Repeat("://a:b", 30_000),
		"tokens": tokens.String(), "words": words.String(), "lines": strings.Repeat(strings.Repeat("a", 79)+"\n", 2_500), "curl": strings.Repeat("curl -u a", 20_000), "basic": strings.Repeat("Basic YTpiYTpi", 15_000),
	} {
		b.Run(name, func(b *testing.B) {
			s := New(Report)
			b.SetBytes(int64(len(text)))
			for b.Loop() {
				s.Document(&turnmill.Document{Text: text})
			}
		})
	}
}
