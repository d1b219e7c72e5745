package endpoint

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// BenchmarkOpenJournal reads ten thousand entries of two kilobytes.
func BenchmarkOpenJournal(b *testing.B) {
	f := &memFile{}
	text := strings.Repeat("a line of an observation\n", 80)
	for i := range 10_000 {
		e := entry(fmt.Sprint(i), turnmill.ReplyComplete, text)
		f.data = e.append(f.data)
	}
	b.SetBytes(int64(len(f.data)))
	b.ReportAllocs()
	for b.Loop() {
		j, err := ReadJournal(f, "j")
		if err != nil || j.Stats().Entries != 10_000 {
			b.Fatal(err)
		}
	}
}
