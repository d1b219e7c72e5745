package bpe

import (
	"bytes"
	"encoding/json"
	"errors"
	"maps"
	"os"
	"path/filepath"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/internal/demo"
)

// sameModel compares what decides about ids and texts.
func sameModel(t testing.TB, what string, a, b *Model) {
	t.Helper()
	for name, same := range map[string]bool{
		"text": bytes.Equal(a.text, b.text), "starts": slices.Equal(a.starts, b.starts), "lens": slices.Equal(a.lens, b.lens),
		"byteID": a.byteID == b.byteID, "entries": a.entries == b.entries, "names": maps.Equal(a.names, b.names),
		"merges": reflect.DeepEqual(a.merges.pairs(), b.merges.pairs()) && slices.Equal(a.merges.products, b.merges.products),
		"reach":  slices.Equal(a.reach, b.reach), "chars": reflect.DeepEqual(a.chars, b.chars), "split": reflect.DeepEqual(a.split, b.split),
		"nfc": a.nfc == b.nfc, "whole": a.whole == b.whole, "added": slices.Equal(a.added, b.added),
		"raw": reflect.DeepEqual(a.raw, b.raw), "normal": reflect.DeepEqual(a.normal, b.normal),
	} {
		if !same {
			t.Errorf("%s: the two ways to load differ in %s", what, name)
		}
	}
}

// TestLoadFast: the fast way gives the same model, or leaves the file to the other one.
func TestLoadFast(t *testing.T) {
	files := map[string][]byte{"demo": demo.Tokenizer()}
	for _, name := range []string{"tiny.json", "odd.json", "edges.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			t.Fatal(err)
		}
		var indented bytes.Buffer
		if err := json.Indent(&indented, data, " ", "\t"); err != nil {
			t.Fatal(err)
		}
		files[name], files[name+" indented"] = data, indented.Bytes()
	}
	var root any
	if err := json.Unmarshal(files["tiny.json"], &root); err != nil {
		t.Fatal(err)
	}
	var sorted bytes.Buffer
	e := json.NewEncoder(&sorted) // sorts keys: merges come before the vocabulary
	e.SetEscapeHTML(false)
	if err := e.Encode(root); err != nil {
		t.Fatal(err)
	}
	files["merges first"] = sorted.Bytes()
	for name, data := range files {
		fast := loadFast(data)
		if fast == nil {
			t.Errorf("%s: left to the other way", name)
			continue
		}
		slow, err := loadAny(data)
		if err != nil {
			t.Fatal(err)
		}
		sameModel(t, name, fast, slow)
	}
	tiny := string(files["tiny.json"])
	for name, c := range map[string]struct{ old, new string }{
		"escape":        {`"t":`, `"\u0074":`},
		"repeated-name": {`"t":`, `"t":900001,"t":`},
		"repeated-key":  {`"vocab":`, `"vocab":{},"vocab":`},
		"fraction":      {`"t":83`, `"t":83.0`},
		"leading-zero":  {`"t":83`, `"t":083`},
		"negative":      {`"t":83`, `"t":-83`},
		"large":         {`"t":83`, `"t":99999999999`},
		"comma":         {`"t":83,`, `"t":83,,`},
		"no-comma":      {`"t":83,`, `"t":83 `},
		"control":       {`"t":83,`, "\"t\":83,\"\x01\":5000,"},
		"bad-utf8":      {`"t":83,`, "\"t\":83,\"\xff\":5000,"},
		"three-parts":   {`"merges":[`, `"merges":[["t","h","e"],`},
		"one-part":      {`"merges":[`, `"merges":[["t"],`},
		"text-after":    {tiny, tiny + "x"},
		"short":         {tiny, tiny[:len(tiny)/2]},
		"model-twice":   {tiny, strings.TrimSuffix(strings.TrimSpace(tiny), "}") + `,"model":{}}`},
	} {
		data := strings.Replace(tiny, c.old, c.new, 1)
		if data == tiny {
			t.Fatalf("%s: %q is not in tiny.json", name, c.old)
		}
		if loadFast([]byte(data)) != nil {
			t.Errorf("%s was read in the fast way", name)
		}
	}
}

func FuzzLoad(f *testing.F) {
	for _, name := range []string{"tiny.json", "odd.json"} {
		data, err := os.ReadFile(filepath.Join("testdata", name))
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add(byteFallbackFile())
	f.Add([]byte(`{"added_tokens":[{"id":0,"content":"x"}],"model":{"vocab":{"a":0},"merges":[["a","a"]]}}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		m, err := loadAny(data)
		if fast := loadFast(data); fast != nil {
			if err != nil {
				t.Fatalf("read in the fast way, though %v", err)
			}
			sameModel(t, "fuzz", fast, m)
			m = fast
		}
		if err != nil {
			var refused *LoadError
			if !errors.As(err, &refused) {
				t.Errorf("error %v is no *LoadError", err)
			}
			return
		}
		const text = "I'm <think> cafe\u0301\r\n  x<|im_end|>"
		got := decode(m, encode(t, tinyCaches(m), text).IDs)
		if want := nfc(text); len(m.Added()) == 0 && got != want {
			t.Errorf("%q came back as %q, want %q", text, got, want)
		}
	})
}
