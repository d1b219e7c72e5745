package formats

import (
	"os"
	"path/filepath"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
)

// TestGolden reads the blocks of testdata/*.txt:
//
//	# what the block shows
//	a record
//	----
//	what its format makes of it
//
// The file's name is the format's; "+thought" after it keeps reasoning. Each block is a subtest by its title.
func TestGolden(t *testing.T) {
	files, err := filepath.Glob("testdata/*.txt")
	if err != nil || len(files) < 4 {
		t.Fatalf("%d files of blocks, %v", len(files), err)
	}
	for _, path := range files {
		base := strings.TrimSuffix(filepath.Base(path), ".txt")
		name, thought := strings.CutSuffix(base, "+thought")
		t.Run(base, func(t *testing.T) {
			text, err := os.ReadFile(path)
			if err != nil {
				t.Fatal(err)
			}
			d := mustFormat(t, name).New(Options{KeepThought: thought})
			var out strings.Builder
			for block := range strings.SplitSeq(strings.TrimSpace(string(text)), "\n\n") {
				record, want, ok := strings.Cut(block+"\n", "\n----\n")
				title, record, titled := strings.Cut(record, "\n")
				if !ok && !*update || !titled || !strings.HasPrefix(title, "# ") {
					t.Fatalf("not a block: %q", block)
				}
				record = strings.TrimSuffix(record, "\n")
				got := decoded(d, []byte(record))
				t.Run(title[2:], func(t *testing.T) {
					if diff := cmp.Diff(strings.TrimRight(want, "\n"), strings.TrimRight(got, "\n")); diff != "" && !*update {
						t.Errorf("%s (-want +got):\n%s", base, diff)
					}
				})
				out.WriteString(title + "\n" + record + "\n----\n" + got + "\n")
			}
			if *update {
				golden(t, filepath.Base(path), strings.TrimSuffix(out.String(), "\n"))
			}
		})
	}
}
