package pipelines

import (
	"bytes"
	"errors"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/shard/hf"
)

// TestOpenTokenizer: auto takes bpe for what it knows exactly and hf for the rest; a build without hf names
// both the reason and the way out, and never approximates.
func TestOpenTokenizer(t *testing.T) {
	known := demo.Tokenizer()
	other := bytes.Replace(known, []byte(`"byte_fallback":false`), []byte(`"byte_fallback":true`), 1)
	if bytes.Equal(other, known) {
		t.Fatal("the demo tokenizer does not say byte_fallback")
	}
	const way = "make hf"
	for _, c := range []struct {
		name, engine string
		data         []byte
		want         string   // the engine that reads it where hf is built, "" for none
		without      string   // and where it is not
		says         []string // the error, without hf
	}{
		{"known", "auto", known, "bpe", "bpe", nil},
		{"known", "bpe", known, "bpe", "bpe", nil},
		{"known", "hf", known, "hf", "", []string{way}},
		{"other", "auto", other, "hf", "", []string{"byte_fallback", "bpe", way}},
		{"other", "bpe", other, "", "", []string{"byte_fallback", "bpe"}},
		{"other", "hf", other, "hf", "", []string{way}},
		{"broken", "auto", known[:1000], "", "", []string{"one JSON object", "again"}},
		{"known", "sentencepiece", known, "", "", []string{"sentencepiece"}},
	} {
		t.Run(c.name+"/"+c.engine, func(t *testing.T) {
			want := c.without
			if hf.Built {
				want = c.want
			}
			tok, err := openTokenizer(c.data, c.engine)
			if want != "" {
				if err != nil || tok.engine != want {
					t.Fatalf("%+v, error %v, want engine %s", tok, err, want)
				}
				if tok.Size() != 6144 || tok.bytes < 100_000 || tok.each < 1<<20 || tok.charge < 8 {
					t.Errorf("%d ids, %d bytes, %d for each encoder, charge %d", tok.Size(), tok.bytes, tok.each, tok.charge)
				}
				return
			}
			if err == nil {
				t.Fatalf("engine %s reads it", tok.engine)
			}
			for _, says := range c.says {
				if !strings.Contains(err.Error(), says) && !(hf.Built && says == way) {
					t.Errorf("error %q lacks %q", err, says)
				}
			}
			if strings.Contains(err.Error(), way) && (hf.Built || !errors.Is(err, hf.ErrNotBuilt)) {
				t.Errorf("error %q, with hf built: %v", err, hf.Built)
			}
		})
	}
}
