package jsonscan

import (
	"fmt"
	"strings"
	"testing"
	"unsafe"

	"pgregory.net/rapid"
)

// kept pairs a string of an arena with a copy that the arena cannot touch.
type kept struct{ got, want string }

func check(t failer, all []kept) {
	t.Helper()
	for i, k := range all {
		if k.got != k.want {
			t.Fatalf("text %d of %d is %.40q now, want %.40q", i, len(all), k.got, k.want)
		}
	}
}

func TestArenaKeepsTexts(t *testing.T) {
	var a Arena
	for _, size := range []int{0, 1, 7, 255, 256, 257, 3000, 4096, 4097, 100_000} {
		for round := range 3 {
			var all []kept
			block := unsafe.SliceData(a.block)
			for i := range 40 {
				want := strings.Repeat(fmt.Sprint(i%10), size+i)
				b := a.Open()
				for _, part := range []string{want[:len(want)/3], want[len(want)/3:]} { // one text in two appends
					b = append(b, part...)
				}
				all = append(all, kept{a.Close(b), want}, kept{a.Copy("copy " + want), "copy " + want})
				check(t, all)
			}
			if one := unsafe.SliceData(a.block) == block; round > 0 && (!one || a.spilled) {
				t.Errorf("size %d, round %d: one block was enough: %t, and the arena says spilled: %t", size, round, one, a.spilled)
			}
			a.Reset()
		}
	}
}

// TestArenaAgainstModel opens, closes, abandons, copies and decodes in any order; all texts since the last
// Reset stay what they were.
func TestArenaAgainstModel(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var a Arena
		var d Doc
		var all []kept
		size := rapid.OneOf(rapid.IntRange(0, 40), rapid.IntRange(200, 300), rapid.IntRange(0, 9000))
		n := 0
		text := func() string {
			n++
			return strings.Repeat(string(rune('a'+n%26)), size.Draw(t, "size"))
		}
		t.Repeat(map[string]func(*rapid.T){
			"close": func(*rapid.T) {
				want := text()
				all = append(all, kept{a.Close(append(a.Open(), want...)), want})
			},
			"abandon": func(*rapid.T) { _ = append(a.Open(), text()...) },
			"copy": func(*rapid.T) {
				want := text()
				all = append(all, kept{a.Copy(want), want})
			},
			"decode": func(t *rapid.T) {
				want := text() + "\n" + text()
				v, err := d.Parse(AppendQuoted(nil, want))
				if err != nil {
					t.Fatal(err)
				}
				all = append(all, kept{v.Str(&a), want})
			},
			"cut the front": func(*rapid.T) { // a caller may trim what it appended
				want := text()
				all = append(all, kept{a.Close(append(a.Open(), "  "+want...)[2:]), want})
			},
			"reset": func(*rapid.T) {
				a.Reset()
				all = all[:0]
			},
			"": func(t *rapid.T) { check(t, all) },
		})
	})
}

func TestArenaEmptyTexts(t *testing.T) {
	var a Arena
	if a.Close(a.Open()) != "" || a.Close(nil) != "" || a.Copy("") != "" || a.total != 0 {
		t.Error("an empty text is not empty")
	}
	a.Reset()
	first := a.Copy("x")
	if a.Close(a.Open()[:0]) != "" || first != "x" {
		t.Error("an empty text changed another")
	}
}

func TestArenaSteadyState(t *testing.T) {
	for _, record := range [][]int{{5}, {4096}, {4097}, {300, 300, 300}, {1, 9000, 1, 9000, 20}, {50_000, 200, 50_000}, {3 << 20, 100, 1 << 20}} {
		var texts []string
		for _, n := range record {
			texts = append(texts, strings.Repeat("x", n))
		}
		var a Arena
		run := func() {
			a.Reset()
			for _, s := range texts {
				b := a.Open()
				a.Close(append(append(b, s...), "\n"...))
				a.Copy(s)
			}
		}
		for range 2 { // the arena learns the size of a record
			run()
		}
		if n := testing.AllocsPerRun(20, run); n != 0 {
			t.Errorf("a record of texts of %v bytes takes %v allocations, want none", record, n)
		}
	}
}

// TestArenaSmallTextsShareBlocks bounds the cost of the first, unknown record.
func TestArenaSmallTextsShareBlocks(t *testing.T) {
	n := testing.AllocsPerRun(5, func() {
		var a Arena
		for range 20_000 { // 1 MB
			a.Copy("fifty bytes of text, more or less, in a small call")
		}
	})
	if n > 12 {
		t.Errorf("20,000 small texts in a new arena take %v blocks, want about log2(1 MB / 4 KB)", n)
	}
}

func TestArenaLetsHugeRecordsGo(t *testing.T) {
	huge := strings.Repeat("x", keepBytes+keepBytes/2)
	var a Arena
	for _, fill := range []func(){
		func() { a.Copy(huge) },
		func() { a.Close(append(a.Open(), huge...)) },
		func() { a.Copy(huge[:keepBytes-100]); a.Copy(huge[:keepBytes-100]) },
		func() {
			for range 3 * keepBytes / 1000 {
				a.Copy(huge[:1000])
			}
		},
	} {
		fill()
		a.Reset()
		if cap(a.block) > keepBytes || a.total != 0 || a.need != 0 || a.spilled {
			t.Errorf("after Reset: block of %d bytes, want at most %d", cap(a.block), keepBytes)
		}
		if got := a.Copy("next"); got != "next" || cap(a.block) > keepBytes {
			t.Errorf("next text is %q", got)
		}
	}
	// A stream of records just under the limit settles on one block.
	fill := func() {
		a.Reset()
		for range 15 {
			a.Copy(huge[:1<<20])
		}
	}
	for range 3 {
		fill()
	}
	if n := testing.AllocsPerRun(3, fill); n != 0 {
		t.Errorf("records of 15 MiB take %v allocations each, want none", n)
	}
}
