package pipelines

import (
	"os"
	"path/filepath"
	"testing"
)

// TestEnoughRoom: a run that cannot fit is refused before a partition starts, from plain and from compressed
// inputs; one that fits is not, though less than the most that anything can need is free.
func TestEnoughRoom(t *testing.T) {
	for name, corpus := range map[string]string{"plain": demoCorpus(t), "mixed": mixedCorpus(t)} {
		t.Run(name, func(t *testing.T) {
			o := options(t, corpus)
			o.MaxRejectRate = 1
			m := mustRun(t, o)
			var wrote int64
			for _, f := range m.Files {
				wrote += f.Bytes
			}
			free := int64(0)
			o = with(t, o, func(o *Options) { o.freeBytes = func() (int64, error) { return free, nil } })
			for _, free = range []int64{0, wrote / 8} {
				_, err := CPT(t.Context(), o)
				wantError(t, err, "--output "+o.Output, "are needed", "try")
				if _, err := os.Stat(filepath.Join(o.Output, "commits")); !os.IsNotExist(err) {
					t.Errorf("with %d bytes free a partition was started: %v", free, err)
				}
			}
			free = 2 * wrote
			mustRun(t, o)
		})
	}
}

// TestFree: the free space is that of the nearest directory that is there.
func TestFree(t *testing.T) {
	o := Options{Output: t.TempDir()}
	here, err := o.free()
	if err != nil || here <= 0 {
		t.Fatalf("%d bytes, %v", here, err)
	}
	o.Output = filepath.Join(o.Output, "a", "b", "c")
	if there, err := o.free(); err != nil || there <= 0 || there > 2*here {
		t.Errorf("below it %d bytes, %v; there are %d", there, err, here)
	}
}
