package bpe

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/hex"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

// TestOracleCases compares ids with those that the Hugging Face library gave, text by text.
func TestOracleCases(t *testing.T) {
	f, err := os.Open(filepath.Join("testdata", "cases.jsonl"))
	if err != nil {
		t.Fatal(err)
	}
	defer f.Close()
	encoders := map[string]*Encoder{}
	lines := bufio.NewScanner(f)
	lines.Buffer(nil, 1<<20)
	n := 0
	for lines.Scan() {
		var c struct {
			Tokenizer, Shape string
			Control          []string
			Text             string
			IDs              []int32
		}
		if err := json.Unmarshal(lines.Bytes(), &c); err != nil {
			t.Fatal(err)
		}
		key := c.Tokenizer + c.Shape + strings.Join(c.Control, "\x00")
		if encoders[key] == nil {
			encoders[key] = loadShaped(t, c.Tokenizer, c.Shape).NewEncoder(c.Control)
		}
		got := encode(t, encoders[key], c.Text)
		if diff := cmp.Diff(c.IDs, append([]int32{}, got.IDs...)); diff != "" {
			t.Errorf("%s %s control %q text %q: ids (-library +ours)\n%s", c.Tokenizer, c.Shape, c.Control, c.Text, diff)
		}
		n++
	}
	if lines.Err() != nil || n < 500 {
		t.Fatalf("%d cases read, error %v", n, lines.Err())
	}
}

type digest struct {
	Tokenizer, Shape, Set string
	Texts                 int
	IDs                   int
	SHA256                string
}

// TestOracleDigests does the same for more texts than one would store: generated ones, and every code
// point in a context that shows its class.
func TestOracleDigests(t *testing.T) {
	data, err := os.ReadFile(filepath.Join("testdata", "digests.json"))
	if err != nil {
		t.Fatal(err)
	}
	var want []digest
	if err := json.Unmarshal(data, &want); err != nil {
		t.Fatal(err)
	}
	p := loadParts(t)
	encoders := map[string]*Encoder{}
	for _, w := range want {
		t.Run(w.Tokenizer+"/"+w.Shape+"/"+w.Set, func(t *testing.T) {
			key := w.Tokenizer + w.Shape
			if encoders[key] == nil {
				encoders[key] = loadShaped(t, w.Tokenizer, w.Shape).NewEncoder(nil)
			}
			got := digest{Tokenizer: w.Tokenizer, Shape: w.Shape, Set: w.Set, Texts: w.Texts}
			sum := sha256.New()
			var tokens turnmill.Tokens
			var out []byte
			texts(t, p, w, func(text []byte) {
				tokens.IDs, tokens.Ends = tokens.IDs[:0], tokens.Ends[:0]
				if err := encoders[key].Encode(&tokens, text); err != nil {
					t.Fatalf("%q: %v", text, err)
				}
				out = binary.LittleEndian.AppendUint32(out[:0], uint32(len(tokens.IDs)))
				for _, id := range tokens.IDs {
					out = binary.LittleEndian.AppendUint32(out, uint32(id))
				}
				sum.Write(out)
				got.IDs += len(tokens.IDs)
			})
			got.SHA256 = hex.EncodeToString(sum.Sum(nil))
			if diff := cmp.Diff(w, got); diff != "" {
				t.Errorf("digest (-library +ours)\n%s", diff)
			}
		})
	}
}

// texts calls f with every text of a set of digests.json.
func texts(t *testing.T, p parts, w digest, f func([]byte)) {
	var plane int
	switch n, _ := fmt.Sscanf(w.Set, "plane %d", &plane); {
	case n == 1:
		for r := rune(plane << 16); r < rune(plane+1)<<16; r++ {
			if r < 0xD800 || r >= 0xE000 {
				f(bytes.ReplaceAll([]byte(p.Context), []byte("{}"), []byte(string(r))))
			}
		}
	case w.Set == "fuzz":
		generated(p.Fuzz, w.Texts, f)
	case w.Set == "nfc":
		generated(p.NFC, w.Texts, f)
	default:
		t.Fatalf("unknown set %q", w.Set)
	}
}

// TestTables holds the generated tables to the digests that gen/tables.py printed.
func TestTables(t *testing.T) {
	for name, want := range map[string]string{
		"class_tables.go": "6c7772b56ddacc34d27614041562649de51d0f18fff49431ced79c38ceb0706b",
		"nfc_tables.go":   "9aa33f2a2d4cafdc618f28bc683b98cb121638eab2d6cf62b1b36acff80889fa",
	} {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		if sum := sha256.Sum256(data); hex.EncodeToString(sum[:]) != want {
			t.Errorf("%s has SHA-256 %x, want %s: generate it with gen/tables.py, never by hand", name, sum, want)
		}
	}
}

// TestOracleVersion: the tables, the fixtures and the proofs in Python follow one release of the library.
// When that moves, all of them are made anew, and the difference is read.
func TestOracleVersion(t *testing.T) {
	const release = "0.23.3"
	for name, want := range map[string]string{
		"../../scripts/requirements.txt": "tokenizers==" + release + "\n",
		"gen/tables.py":                  `TOKENIZERS = "` + release + `"`,
		"gen/fixtures.py":                `TOKENIZERS = "` + release + `"`,
		"class_tables.go":                "with tokenizers " + release + ".",
		"nfc_tables.go":                  "with tokenizers " + release + ".",
		"doc.go":                         "tokenizers " + release,
	} {
		data, err := os.ReadFile(filepath.FromSlash(name))
		if err != nil {
			t.Fatal(err)
		}
		if !strings.Contains(string(data), want) {
			t.Errorf("%s does not name %q", name, want)
		}
	}
}
