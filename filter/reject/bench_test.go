package reject

import (
	"strings"
	"testing"
)

// BenchmarkReasonings: one chain of thought of 64 KB, with an interrupt every kilobyte.
func BenchmarkReasonings(b *testing.B) {
	text := strings.Repeat(strings.Repeat("The directory holds three files and the flag sorts them by time. ", 16)+"Wait! ", 64)
	b.SetBytes(int64(len(text)))
	b.ReportAllocs()
	for b.Loop() {
		r := Reasonings{}
		r.Add("terminal", text, 0)
	}
}
