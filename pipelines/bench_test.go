package pipelines

import (
	"math/rand/v2"
	"os"
	"path/filepath"
	"testing"
)

// BenchmarkCPT is the whole path with one worker over copies of the demo corpus, each with texts of its own. With
// -cpuprofile it shows where the time goes.
func BenchmarkCPT(b *testing.B) {
	g := generator{rand.New(rand.NewPCG(1, 2))}
	records := demoRecords()
	path := filepath.Join(b.TempDir(), "runs.jsonl")
	f, err := os.Create(path)
	if err != nil {
		b.Fatal(err)
	}
	size := int64(0)
	for n := 0; size < 30<<20; n++ {
		k, err := f.Write(lines(g.copyOf(records, n)))
		if err != nil {
			b.Fatal(err)
		}
		size += int64(k)
	}
	if err := f.Close(); err != nil {
		b.Fatal(err)
	}
	b.SetBytes(size)
	b.ReportAllocs()
	for b.Loop() {
		o := options(b, path)
		o.SeqLen, o.Workers = 262_144, 1
		mustRun(b, o)
		if err := os.RemoveAll(o.Output); err != nil {
			b.Fatal(err)
		}
	}
}
