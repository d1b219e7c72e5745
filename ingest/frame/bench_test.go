package frame

import (
	"fmt"
	"io"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// records returns about n bytes of records like those of agents: long escaped texts between short members.
func records(n int, sep string) string {
	var b strings.Builder
	for i := 0; b.Len() < n; i++ {
		if i > 0 {
			b.WriteString(sep)
		}
		fmt.Fprintf(&b, `{"id":"run-%d","messages":[`, i)
		for j := range 1 + i%12 {
			if j > 0 {
				b.WriteByte(',')
			}
			text := strings.Repeat(`$ ls -l src\n\tmain.go  1,204 bytes of \"code\" and some prose beside it. `, 10+(i*7+j*13)%60)
			fmt.Fprintf(&b, `{"role":"tool","tool_call_id":"c%d","content":"%s","n":%d}`, j, text, j)
		}
		b.WriteString(`]}`)
	}
	return b.String()
}

func benchmarkFrame(b *testing.B, layout Layout, in string) {
	r := strings.NewReader(in)
	b.ReportAllocs()
	b.SetBytes(int64(len(in)))
	for b.Loop() {
		r.Reset(in)
		f := New(layout, r, Options{})
		for {
			if _, err := f.Next(); err == io.EOF {
				break
			} else if err != nil {
				b.Fatal(err)
			}
		}
	}
}

const benchBytes = 32 << 20

func BenchmarkLines(b *testing.B)  { benchmarkFrame(b, Lines, records(benchBytes, "\n")) }
func BenchmarkValues(b *testing.B) { benchmarkFrame(b, Values, records(benchBytes, "\n")) }
func BenchmarkArray(b *testing.B)  { benchmarkFrame(b, Array, "["+records(benchBytes, ",\n")+"]") }
func BenchmarkWhole(b *testing.B)  { benchmarkFrame(b, Whole, records(benchBytes, "\n")) }

// BenchmarkLinesShort has lines of 9 bytes, where the work for each record shows.
func BenchmarkLinesShort(b *testing.B) {
	benchmarkFrame(b, Lines, strings.Repeat("{\"id\":1}\n", benchBytes/9))
}

func BenchmarkSplit(b *testing.B) {
	line := []byte(`{"id":"cut","messages":["` + records(1<<20, ""))
	var doc jsonscan.Doc
	var parts []Part
	b.ReportAllocs()
	b.SetBytes(int64(len(line)))
	for b.Loop() {
		var notes turnmill.Notes
		parts = Split(parts[:0], line, &doc, &notes)
	}
}

func BenchmarkDecompress(b *testing.B) {
	in := records(benchBytes, "\n")
	for kind, stored := range map[Compression]string{None: in, Gzip: gzipped(b, in), Zstd: zstded(b, in)} {
		b.Run(kind.String(), func(b *testing.B) {
			r := strings.NewReader(stored)
			b.ReportAllocs()
			b.SetBytes(int64(len(in)))
			for b.Loop() {
				r.Reset(stored)
				d, err := Decompress(r, kind, 0)
				if err != nil {
					b.Fatal(err)
				}
				f := New(Lines, d, Options{})
				for err == nil {
					_, err = f.Next()
				}
				if err != io.EOF {
					b.Fatal(err)
				}
			}
		})
	}
}
