package judge

import (
	"strings"
	"testing"
)

// BenchmarkParseScores: an answer of 8 KB that ends as asked, and one that needs repairs.
func BenchmarkParseScores(b *testing.B) {
	before := strings.Repeat("The listing has three files, and the second one is newer than {the first}. ", 100)
	for name, object := range map[string]string{"asked": "```json\n" + good + "\n```", "repaired": strings.ReplaceAll(good, `"`, "'")} {
		b.Run(name, func(b *testing.B) {
			r := complete(before + "<final_evaluation>\n" + object + "\n</final_evaluation>")
			b.SetBytes(int64(len(r.Text)))
			b.ReportAllocs()
			for b.Loop() {
				if j := ParseScores(r, Options{}); j.State != Valid {
					b.Fatal(j)
				}
			}
		})
	}
}
