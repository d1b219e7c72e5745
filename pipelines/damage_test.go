package pipelines

import (
	"fmt"
	"slices"
	"strings"
	"testing"
)

// TestDamagedFrame: damage in a zstd file of many frames costs the frame that it lies in and the lines that
// reach into it, however many partitions there are; what is sound after it is read.
func TestDamagedFrame(t *testing.T) {
	const frames, perFrame = 6, 20
	var parts [][]byte
	id := func(f, k int) string { return fmt.Sprintf("f%d-%02d", f, k) }
	for f := range frames {
		var b strings.Builder
		for k := range perFrame {
			fmt.Fprintf(&b, `{"id":%q,"domain":"terminal","turns":[{"action":"ls %d","observation":"one two %d"},{"action":"pwd","observation":"/home/%d"}]}`+"\n", id(f, k), k*7, k*k*31, k+f)
		}
		text := b.String()
		if f > 0 { // the first line of a frame begins in the frame before
			text = text[40:]
		}
		if f < frames-1 {
			next := fmt.Sprintf(`{"id":%q,"domain":"terminal","turns":[{"action":"ls %d",`, id(f+1, 0), 0)
			text += next[:40]
		}
		parts = append(parts, zstdFrame([]byte(text)))
	}
	for damaged := 1; damaged < frames; damaged++ { // what a file is shows in its first frame
		for _, where := range []string{"start", "middle", "end"} {
			t.Run(fmt.Sprintf("frame %d, %s", damaged, where), func(t *testing.T) {
				dir := t.TempDir()
				var file []byte
				for f, part := range parts {
					part = slices.Clone(part)
					if f == damaged {
						at := map[string]int{"start": 0, "middle": len(part) / 2, "end": len(part) - 2}[where]
						part[at] ^= 0x55
					}
					file = append(file, part...)
				}
				write(t, dir+"/a.jsonl.zst", file)
				var first []string
				for _, partitions := range []int{1, 3, frames} {
					o := options(t, dir)
					o.Partitions, o.MaxRejectRate = partitions, 1
					mustRun(t, o)
					mustCheck(t, o)
					var ids []string
					for _, row := range allTurns(t, o.Output, partitions) {
						if row.Turn == 0 {
							ids = append(ids, row.ID)
						}
					}
					for f := range frames {
						for k := range perFrame {
							near := f == damaged || f == damaged+1 && k == 0
							if !near && !slices.Contains(ids, id(f, k)) {
								t.Errorf("%d partitions: %s is lost", partitions, id(f, k))
							}
						}
					}
					sorted := slices.Clone(ids)
					slices.Sort(sorted)
					if len(slices.Compact(sorted)) != len(ids) {
						t.Errorf("%d partitions: an id comes twice in %v", partitions, ids)
					}
					if first == nil {
						first = ids
					} else if !slices.Equal(first, ids) {
						t.Errorf("%d partitions give %v, one gives %v", partitions, ids, first)
					}
				}
			})
		}
	}
}
