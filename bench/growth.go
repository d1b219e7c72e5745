package main

import (
	"fmt"
	"runtime"
	"slices"
	"strings"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/bpe"
)

// worst is a text that asks much of a tokenizer, at 1, 2 and 4 MB.
type worst struct {
	what string
	make func(size int) []byte
	ms   [3]float64
}

// hardTexts are those at which a tokenizer goes wrong when its merging or its cutting is square: one
// pre-token of any length, runs of one character, and texts that no cache remembers.
func hardTexts() []worst {
	repeat := func(s string) func(int) []byte {
		return func(size int) []byte { return []byte(strings.Repeat(s, size/len(s)+1)[:size/len(s)*len(s)]) }
	}
	from := func(alphabet string) func(int) []byte {
		letters := []rune(alphabet)
		return func(size int) []byte {
			text, state := make([]byte, 0, size+4), uint64(1)
			for len(text) < size {
				state = next(state)
				text = append(text, string(letters[state>>33%uint64(len(letters))])...)
			}
			return text
		}
	}
	const small = "abcdefghijklmnopqrstuvwxyz"
	cjk := make([]rune, 0, 0x5200)
	for c := rune(0x4e00); c < 0xa000; c++ {
		cjk = append(cjk, c)
	}
	return []worst{
		{what: "one letter, one pre-token", make: repeat("a")},
		{what: "random letters, one pre-token", make: from(small)},
		{what: "base64", make: from(small + strings.ToUpper(small) + "0123456789+/")},
		{what: "hexadecimal", make: from("0123456789abcdef")},
		{what: "digits", make: from("0123456789")},
		{what: "`=`, one pre-token", make: repeat("=")},
		{what: "random punctuation, one pre-token", make: from("!#$%&()*+,-./:;=?@[]^_{}~")},
		{what: "blanks", make: repeat(" ")},
		{what: "line feeds", make: repeat("\n")},
		{what: "99 blanks and a line feed, one pre-token", make: repeat(strings.Repeat(" ", 99) + "\n")},
		{what: "one Chinese character", make: repeat("界")},
		{what: "random Chinese characters, one pre-token", make: from(string(cjk))},
		{what: "combining marks of two classes, one cluster", make: repeat("\u0301\u0323")},
		{what: "`<`", make: repeat("<")},
		{what: "beginnings of a control token", make: repeat("<|im_st")},
		{what: "contractions", make: repeat("'S'll'Re")},
	}
}

func measureGrowth(tokenizer []byte, runs int) ([]worst, error) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(1))
	model, err := bpe.Load(tokenizer)
	if err != nil {
		return nil, err
	}
	all := hardTexts()
	for i := range all {
		for k := range all[i].ms {
			text := all[i].make(1_000_000 << k)
			if all[i].ms[k], err = encodeOnce(model, text, runs); err != nil {
				return nil, fmt.Errorf("%s: %w", all[i].what, err)
			}
		}
	}
	return all, nil
}

// encodeOnce returns the median time of the first text of an encoder, in milliseconds.
func encodeOnce(model *bpe.Model, text []byte, runs int) (float64, error) {
	var all []float64
	for range runs {
		e := model.NewEncoder(nil)
		var tokens turnmill.Tokens
		runtime.GC()
		began := cpu()
		if err := e.Encode(&tokens, text); err != nil {
			return 0, err
		}
		all = append(all, float64(cpu()-began)/float64(time.Millisecond))
	}
	slices.Sort(all)
	return all[len(all)/2], nil
}
