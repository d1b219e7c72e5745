package pipelines

import (
	"context"
	"os"
	"testing"
)

// BenchmarkAudit audits the mixed corpus, or the file that TURNMILL_BENCH_INPUT names, with one worker.
func BenchmarkAudit(b *testing.B) {
	input := os.Getenv("TURNMILL_BENCH_INPUT")
	if input == "" {
		input = mixedCorpus(b)
	}
	var bytes int64
	b.ReportAllocs()
	for b.Loop() {
		o := auditOptions(b, input)
		o.Workers = 1
		m, err := Audit(context.Background(), o)
		if err != nil {
			b.Fatal(err)
		}
		bytes = 0
		for i := range m.Inputs {
			bytes += m.Inputs[i].Bytes
		}
	}
	b.SetBytes(bytes)
}
