package bpe

import (
	"fmt"
	"os"
	"slices"
	"testing"
)

// TestCharactersFirst: merges that begin with whole characters end like those that begin with bytes.
func TestCharactersFirst(t *testing.T) {
	models := testModels(t)
	for name, m := range models {
		if name == "tiny" && m.chars.ids == nil {
			t.Error("tiny.json has no characters that are tokens")
		}
		g := merger{m: m}
		chars := []rune("今天下午我们去公园散步然后回家做饭。，日は朝から会議オ오늘은날씨가в тихоéèaüße ' a")
		var s stream
		for range 1_000 {
			var word []byte
			for range 1 + s.draw(40) {
				word = append(word, string(chars[s.draw(len(chars))])...)
			}
			if got, want := g.merge(word), referenceMerge(m, g.initial(word)); !slices.Equal(got, want) {
				t.Fatalf("%s: %q: ids %v, from bytes %v", name, word, got, want)
			}
		}
	}
}

// TestReachable: a token is marked exactly when its text, merged alone, gives it.
func TestReachable(t *testing.T) {
	for name, m := range testModels(t) {
		if m.reach == nil {
			t.Errorf("%s: no marks, though training wrote its merges", name)
			continue
		}
		makes := map[int32]bool{}
		for _, id := range slices.Concat(m.merges.products, m.byteID[:]) {
			makes[id] = true
		}
		unreachable := 0
		for id := range min(int32(m.Size()), int32(64*len(m.reach))) {
			word := m.textOf(id)
			if len(word) == 0 {
				continue
			}
			g := merger{m: m}
			got := g.merge(word)
			marked := m.reach[id>>6]>>(id&63)&1 == 1
			if whole := len(got) == 1 && got[0] == id; whole != marked {
				t.Errorf("%s: token %d %q is marked %v, merges give %v", name, id, word, marked, got)
			}
			if makes[id] && !marked {
				unreachable++
			}
		}
		t.Logf("%s: %d of %d tokens cannot be reached", name, unreachable, len(makes))
	}
}

// testModels returns tokenizers with merges in one way each: those of testdata, one whose later merges take
// what earlier ones need, and the one that TURNMILL_TOKENIZER names.
func testModels(t *testing.T) map[string]*Model {
	models := map[string]*Model{"tiny": loadFile(t, "tiny.json"), "odd": loadFile(t, "odd.json"), "edges": loadFile(t, "edges.json")}
	var s stream
	for i := range 30 {
		m, err := Load(edited(t, func(r map[string]any) { randomMerges(r, &s) }))
		if err != nil {
			t.Fatal(err)
		}
		models[fmt.Sprint("random ", i)] = m
	}
	if path := os.Getenv("TURNMILL_TOKENIZER"); path != "" {
		data, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		m, err := Load(data)
		if err != nil {
			t.Fatal(err)
		}
		if m.reach != nil {
			models[path] = m
		}
	}
	return models
}

// randomMerges puts in merges of any two tokens of a few letters, so that many tokens are not reachable.
func randomMerges(r map[string]any, s *stream) {
	vocab := model(r)["vocab"].(map[string]any)
	clear(vocab)
	for b, c := range byteAlphabet() {
		vocab[string(c)] = b
	}
	delete(r, "added_tokens")
	tokens, pairs := []string{"a", "b", "c"}, map[string]bool{}
	var merges []any
	for len(tokens) < 60 {
		left, right := tokens[s.draw(len(tokens))], tokens[s.draw(len(tokens))]
		if _, ok := vocab[left+right]; ok || pairs[left+" "+right] {
			continue
		}
		pairs[left+" "+right] = true
		vocab[left+right] = len(vocab)
		tokens, merges = append(tokens, left+right), append(merges, left+" "+right)
	}
	model(r)["merges"] = merges
}
