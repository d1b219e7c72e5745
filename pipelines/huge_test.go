package pipelines

import (
	"fmt"
	"strings"
	"testing"

	"github.com/turnmill/turnmill/shard"
)

// hugeCorpus holds records whose rows go out in parts, between others of the same job.
func hugeCorpus(t testing.TB) string {
	small := demoRecords()[:4]
	var b strings.Builder
	b.Write(lines(small))
	for r := range 2 {
		fmt.Fprintf(&b, `{"id":"huge-%d","domain":"terminal","source":"test","turns":[`, r)
		for i := range 24 {
			if i > 0 {
				b.WriteByte(',')
			}
			text := strings.Repeat(fmt.Sprintf("line %d of %d reads q7 x%d\\n", i, r, i*31), 9_000)
			fmt.Fprintf(&b, `{"index":%d,"action":"cat part-%d","observation":"%s"}`, i, i, text)
		}
		b.WriteString("]}\n")
	}
	fmt.Fprintf(&b, `{"id":"book","kind":"document","domain":"knowledge","source":"test","text":"%s"}`+"\n", strings.Repeat("A line of the book.\\n", 200_000))
	b.Write(lines(small))
	dir := t.TempDir()
	write(t, dir+"/huge.jsonl", []byte(b.String()))
	return dir
}

// TestHugeRecords: rows that leave before their record is done stand where they would, and are proven.
func TestHugeRecords(t *testing.T) {
	o := options(t, hugeCorpus(t))
	o.SeqLen, o.Validation, o.MaxRejectRate = 200_000, "0.5", 1
	m := mustRun(t, o)
	if m.Tokens.All < 3*shard.FullTokens {
		t.Fatalf("%d tokens: nothing here goes out in parts", m.Tokens.All)
	}
	mustCheck(t, o)
	want := digest(t, o.Output)
	again := with(t, o, func(o *Options) { o.Workers = 5 })
	mustRun(t, again)
	sameFiles(t, "five workers", want, digest(t, again.Output))
}
