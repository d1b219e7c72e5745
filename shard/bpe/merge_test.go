package bpe

import (
	"bytes"
	"math/bits"
	"slices"
	"testing"

	"pgregory.net/rapid"
)

// TestMergeFewEqualsMany: both forms of the merge, on words of every length around the border.
func TestMergeFewEqualsMany(t *testing.T) {
	m := loadFile(t, "tiny.json")
	few, many := merger{m: m}, merger{m: m}
	rapid.Check(t, func(r *rapid.T) {
		word := []byte(rapid.StringMatching(`[aehnrt =é日]{1,60}`).Draw(r, "word"))
		for _, g := range []*merger{&few, &many} {
			g.ids = g.ids[:0]
			for _, b := range word {
				g.ids = append(g.ids, m.byteID[b])
			}
		}
		few.few(word, false)
		many.heap = make([]uint64, 0, len(word)) // the least that works: void candidates are thrown out often
		many.many(len(word))
		want := referenceMerge(m, many.initial(word))
		if !slices.Equal(few.ids, want) || !slices.Equal(many.ids, want) {
			r.Fatalf("%q: few %v, many %v, want %v", word, few.ids, many.ids, want)
		}
	})
}

// TestMergeFullHeap merges where every two tokens up to four letters merge, so that candidates come faster
// than they go and the smallest heap runs full.
func TestMergeFullHeap(t *testing.T) {
	m, err := Load(edited(t, func(r map[string]any) {
		vocab := model(r)["vocab"].(map[string]any)
		clear(vocab)
		for b, c := range byteAlphabet() {
			vocab[string(c)] = b
		}
		delete(r, "added_tokens")
		lists := [][]string{nil, {"a", "b", "c"}, nil, nil, nil}
		var merges []any
		for n := 2; n <= 4; n++ {
			for k := 1; k < n; k++ {
				for _, left := range lists[k] {
					for _, right := range lists[n-k] {
						merges = append(merges, left+" "+right)
						if k == 1 {
							lists[n] = append(lists[n], left+right)
							vocab[left+right] = len(vocab)
						}
					}
				}
			}
		}
		model(r)["merges"] = merges
	}))
	if err != nil {
		t.Fatal(err)
	}
	var s stream
	for n := 1; n < 300; n++ {
		word := make([]byte, n)
		for i := range word {
			word[i] = 'a' + byte(s.draw(3))
		}
		g := merger{m: m}
		g.ids, g.heap = g.initial(word), make([]uint64, 0, n)
		g.many(n)
		if want := referenceMerge(m, g.initial(word)); !slices.Equal(g.ids, want) || cap(g.heap) != n {
			t.Fatalf("%s: ids %v in a heap of %d, want %v in one of %d", word, g.ids, cap(g.heap), want, n)
		}
	}
}

func (g *merger) initial(word []byte) []int32 {
	var ids []int32
	for _, b := range word {
		ids = append(ids, g.m.byteID[b])
	}
	return ids
}

// TestMergeGrowth counts what comes to the heap for one pre-token: at most two entries a merge and one a
// pair, each of which costs a logarithm; nothing is quadratic.
func TestMergeGrowth(t *testing.T) {
	m := loadFile(t, "tiny.json")
	var s stream
	random := make([]byte, 1<<18)
	for i := range random {
		random[i] = 'a' + byte(s.draw(26))
	}
	for name, word := range map[string][]byte{
		"a":      bytes.Repeat([]byte("a"), 1<<18),
		"=":      bytes.Repeat([]byte("="), 1<<18),
		"random": random,
		"cjk":    bytes.Repeat([]byte("天气"), 1<<16),
		"blanks": bytes.Repeat([]byte("  \n"), 1<<17),
	} {
		g := merger{m: m}
		got := g.run(word, hashBytes(word))
		if limit := 3 * len(word); g.steps > limit {
			t.Errorf("%s: %d steps for %d bytes, want at most %d", name, g.steps, len(word), limit)
		}
		if decode(m, got) != string(word) {
			t.Errorf("%s: the word came back changed", name)
		}
	}
}

func TestMergeTable(t *testing.T) {
	rapid.Check(t, func(r *rapid.T) {
		n := rapid.IntRange(0, 300).Draw(r, "merges")
		ids := rapid.Int32Range(0, 40)
		if rapid.Bool().Draw(r, "large") {
			ids = rapid.Int32Range(maxID-40, maxID)
		}
		var table mergeTable
		table.init(n)
		want := map[[2]int32]uint32{}
		for range n {
			a, b := ids.Draw(r, "a"), ids.Draw(r, "b")
			_, there := want[[2]int32{a, b}]
			if table.add(a, b, a) == there {
				r.Fatalf("add(%d, %d) with the pair there: %v", a, b, there)
			}
			if !there {
				want[[2]int32{a, b}] = uint32(len(want))
			}
		}
		if size := len(table.slots); bits.OnesCount(uint(size)) != 1 || size*2 < n*3 {
			r.Fatalf("%d slots for %d merges", size, n)
		}
		for pair, rank := range want {
			if got := table.rank(pair[0], pair[1]); got != rank {
				r.Fatalf("rank%v = %d, want %d", pair, got, rank)
			}
			if table.products[rank] != pair[0] || !table.makes(pair[0]) {
				r.Fatalf("product of %v is %d", pair, table.products[rank])
			}
		}
		if got := table.rank(maxID, 41); got != noRank {
			r.Fatalf("rank of an unknown pair is %d", got)
		}
	})
}
