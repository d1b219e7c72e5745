package parquet

import (
	"fmt"
	"io"
	"strings"
	"testing"

	pq "github.com/parquet-go/parquet-go"
)

// BenchmarkRows reads chats as data sets hold them, a row of some tens of kilobytes. Its bytes are those of
// the JSON that comes out.
func BenchmarkRows(b *testing.B) {
	type message struct {
		Role    string  `parquet:"role,dict"`
		Content *string `parquet:"content,optional"`
		Call    *string `parquet:"tool_call_id,optional"`
	}
	type row struct {
		ID       string    `parquet:"id"`
		Messages []message `parquet:"messages,list"`
	}
	var file strings.Builder
	w := pq.NewGenericWriter[row](&file, pq.MaxRowsPerRowGroup(500), pq.Compression(&pq.Snappy))
	for i := range 1500 {
		r := row{ID: fmt.Sprint("run-", i)}
		for j := range 1 + i%12 {
			text := strings.Repeat("$ ls -l src\n\tmain.go  1,204 bytes of \"code\" and some prose beside it. ", 10+(i*7+j*13)%60)
			call := fmt.Sprint("c", j)
			r.Messages = append(r.Messages, message{"tool", &text, &call}, message{Role: "assistant", Call: &call})
		}
		if _, err := w.Write([]row{r}); err != nil {
			b.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		b.Fatal(err)
	}
	f := opening(b, kept(b, []byte(file.String())))
	size := int64(0)
	b.ReportAllocs()
	for b.Loop() {
		r := f.NewReader(Options{To: f.size})
		size = 0
		for {
			rec, err := r.Next()
			if err == io.EOF {
				break
			}
			if err != nil {
				b.Fatal(err)
			}
			size += int64(len(rec.Data))
		}
	}
	b.SetBytes(size)
}
