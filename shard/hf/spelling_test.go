package hf

import (
	"testing"

	"github.com/google/go-cmp/cmp"
)

func TestAppendText(t *testing.T) {
	of := func(parts ...any) object { return object{"type": "Sequence", "decoders": parts} }
	replace := object{"type": "Replace", "pattern": object{"String": "▁"}, "content": " "}
	for name, c := range map[string]struct {
		file  object
		names []string
		want  []string
	}{
		"byte-level": {object{"decoder": object{"type": "ByteLevel"}},
			[]string{"Ġthe", "Ċ", "æĹ", "¥", "Ń", "ł", "ġ", "日本"}, []string{" the", "\n", "\xe6\x97", "\xa5", "\xad", "\xa0", "\x7f", "日本"}},
		"byte fallback": {object{"decoder": of(replace, object{"type": "ByteFallback"}, object{"type": "Fuse"})},
			[]string{"▁the", "<0xE6>", "<0x0G>", "<0xe6>"}, []string{" the", "\xe6", "<0x0G>", "<0xe6>"}},
		"no byte fallback": {object{"decoder": replace}, []string{"<0xE6>"}, []string{"<0xE6>"}},
		"metaspace":        {object{"decoder": object{"type": "Metaspace", "replacement": "_"}}, []string{"_a", "▁a"}, []string{" a", "▁a"}},
		"word pieces":      {object{"decoder": object{"type": "WordPiece", "prefix": "##"}}, []string{"##ing", "run"}, []string{"ing", " run"}},
		"word ends":        {object{"decoder": object{"type": "BPEDecoder", "suffix": "</w>"}}, []string{"ing</w>", "run"}, []string{"ing ", "run"}},
		"no decoder, a normalizer": {object{"normalizer": object{"type": "Replace", "pattern": object{"String": " "}, "content": "▁"}},
			[]string{"▁the", "the"}, []string{" the", "the"}},
		"no decoder, pre-tokenizers": {object{"pre_tokenizer": object{"type": "Sequence", "pretokenizers": list{object{"type": "Digits"}, object{"type": "ByteLevel"}}}},
			[]string{"Ġa"}, []string{" a"}},
		"nothing tells": {object{}, []string{"Ġa"}, []string{"Ġa"}},
	} {
		t.Run(name, func(t *testing.T) {
			vocab := object{}
			for i, n := range c.names {
				vocab[n] = i
			}
			c.file["model"] = object{"vocab": vocab}
			c.file["added_tokens"] = list{added(len(c.names), "Ġ▁<0xE6>##</w>")}
			m := mustRead(t, encoded(t, c.file))
			var got []string
			for id := range c.names {
				got = append(got, string(m.AppendText(nil, int32(id))))
			}
			if diff := cmp.Diff(c.want, got); diff != "" {
				t.Errorf("(-want +got)\n%s", diff)
			}
			if got := string(m.AppendText([]byte("x"), int32(len(c.names)))); got != "xĠ▁<0xE6>##</w>" {
				t.Errorf("an added token stands for %q", got)
			}
			for _, id := range []int32{-1, int32(m.Size())} {
				if got := m.AppendText(nil, id); len(got) != 0 {
					t.Errorf("id %d stands for %q", id, got)
				}
			}
		})
	}
	metaspace := object{"type": "Metaspace", "replacement": "▁"}
	both := object{"model": object{"vocab": object{"▁▁": 0, "▁s": 1}}, "decoder": metaspace,
		"added_tokens": list{added(0, "▁▁"), added(1, "▁s", "special"), added(2, "▁▁▁")}}
	m := mustRead(t, encoded(t, both))
	for id, want := range []string{"  ", "▁s", "▁▁▁"} {
		if got := string(m.AppendText(nil, int32(id))); got != want {
			t.Errorf("added token %d stands for %q, want %q", id, got, want)
		}
	}
	file := object{"model": object{"vocab": object{"<0x41>": 0}, "byte_fallback": true}}
	if got := string(mustRead(t, encoded(t, file)).AppendText(nil, 0)); got != "A" {
		t.Errorf("without a decoder the model's byte fallback gives %q", got)
	}
}

// TestByteLevelAlphabet: 256 characters stand for 256 bytes.
func TestByteLevelAlphabet(t *testing.T) {
	seen := map[byte]rune{}
	for r := rune(0); r < 0x400; r++ {
		b := appendByteLevel(nil, string(r))
		if string(b) == string(r) && (r >= 0x7F || r <= ' ') { // no letter of the alphabet
			continue
		}
		if len(b) != 1 {
			t.Fatalf("%+q stands for % x", r, b)
		}
		if other, twice := seen[b[0]]; twice {
			t.Errorf("%+q and %+q stand for %02x", r, other, b[0])
		}
		seen[b[0]] = r
	}
	if len(seen) != 256 {
		t.Errorf("%d bytes have a character", len(seen))
	}
}
