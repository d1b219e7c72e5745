package mask

import (
	"crypto/sha256"
	"encoding/binary"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

func TestDrawVectors(t *testing.T) {
	for _, c := range []struct {
		id    string
		index int
		want  uint64
	}{
		{"t1", 0, 0x54a578e2f78013ce},
		{"t1", 1, 0xfd598d7bb61a558c},
		{"t1", 2, 0x43feb9d24390525e},
		{"t1", 3, 0x7a7d04bd5ac28f6a},
		{"t2", 0, 0x5b61e34458249c70},
		{"t2", 1, 0xbf1380f4b64387bf},
	} {
		if got := Draw("s", c.id, c.index); got != c.want {
			t.Errorf("Draw(s, %s, %d) = %016x, want %016x", c.id, c.index, got, c.want)
		}
	}
}

// TestDrawInput holds both draws against the text of their definition, long ids included.
func TestDrawInput(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		seed, id := rapid.String().Draw(t, "seed"), rapid.String().Draw(t, "id")
		id += strings.Repeat("x", rapid.SampledFrom([]int{0, 1, 500, 512, 5000}).Draw(t, "more"))
		index, token := rapid.IntRange(0, 1e9).Draw(t, "index"), rapid.IntRange(0, 1e6).Draw(t, "token")
		sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", seed, id, index))
		if got, want := Draw(seed, id, index), binary.BigEndian.Uint64(sum[:]); got != want {
			t.Fatalf("Draw = %016x, want %016x", got, want)
		}
		sum = sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d\x00%d", seed, id, index, token))
		if got, want := DrawToken(seed, id, index, token), binary.BigEndian.Uint64(sum[:]); got != want {
			t.Fatalf("DrawToken = %016x, want %016x", got, want)
		}
	})
}

// TestKeeps compares with exact fractions at and around every border.
func TestKeeps(t *testing.T) {
	whole := new(big.Int).Lsh(big.NewInt(1), 64)
	check := func(t interface{ Fatalf(string, ...any) }, u uint64, p turnmill.Ratio) {
		share := new(big.Rat).SetFrac(new(big.Int).SetUint64(p.Num), new(big.Int).SetUint64(p.Den))
		bound := share.Mul(share, new(big.Rat).SetInt(whole))
		want := new(big.Rat).SetInt(new(big.Int).SetUint64(u)).Cmp(bound) < 0
		if got := Keeps(u, p); got != want {
			t.Fatalf("Keeps(%d, %d/%d) = %v, want %v", u, p.Num, p.Den, got, want)
		}
	}
	for _, p := range []turnmill.Ratio{{Num: 0, Den: 1}, {Num: 1, Den: 20}, {Num: 1, Den: 10}, {Num: 1, Den: 2}, {Num: 1, Den: 1}, {Num: 1, Den: 3}, {Num: 7, Den: 1 << 40}} {
		border := new(big.Int).Div(new(big.Int).Mul(whole, new(big.Int).SetUint64(p.Num)), new(big.Int).SetUint64(p.Den))
		for d := int64(-2); d <= 2; d++ {
			if u := new(big.Int).Add(border, big.NewInt(d)); u.IsUint64() {
				check(t, u.Uint64(), p)
			}
		}
	}
	rapid.Check(t, func(t *rapid.T) {
		den := rapid.Uint64Range(1, 1e15).Draw(t, "den")
		p := turnmill.Ratio{Num: rapid.Uint64Range(0, den).Draw(t, "num"), Den: den}
		u := rapid.Uint64().Draw(t, "u")
		check(t, u, p)
		if q := (turnmill.Ratio{Num: rapid.Uint64Range(p.Num, den).Draw(t, "more"), Den: den}); Keeps(u, p) && !Keeps(u, q) {
			t.Fatalf("kept at %v and not at %v", p, q)
		}
	})
}

// TestDrawShare checks that a ratio is met: of 100,000 draws at 5% about 5,000 are kept, within five
// standard deviations (69 each).
func TestDrawShare(t *testing.T) {
	kept := 0
	for i := range 100_000 {
		if Keeps(Draw("0", "run", i), turnmill.Ratio{Num: 1, Den: 20}) {
			kept++
		}
	}
	if kept < 5000-5*69 || kept > 5000+5*69 {
		t.Errorf("%d of 100000 kept, want about 5000", kept)
	}
}

func TestDrawAllocates(t *testing.T) {
	id := strings.Repeat("long/path/", 4000)
	for name, f := range map[string]func(){
		"turn":  func() { sink = Draw("0", id, 12345) },
		"token": func() { sink = DrawToken("0", id, 12345, 678) },
	} {
		if n := testing.AllocsPerRun(100, f); n != 0 {
			t.Errorf("%s: %v allocations a draw, want 0", name, n)
		}
	}
}

var sink uint64
