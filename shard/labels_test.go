package shard

import (
	"slices"
	"testing"

	"github.com/turnmill/turnmill"
)

// TestAppendIgnore: what is appended block by block is what one by one gives, also over what lay there before.
func TestAppendIgnore(t *testing.T) {
	for _, n := range []int{0, 1, 15, 16, 17, 31, 32, 33, 63, 64, 65, 1023, 1024, 1025} {
		for _, from := range []int{0, 1, 7} {
			labels := slices.Repeat([]int32{5}, from+n+3)[:from]
			got := appendIgnore(labels, n)
			want := slices.Repeat([]int32{5}, from)
			for range n {
				want = append(want, turnmill.IgnoreIndex)
			}
			if !slices.Equal(got, want) {
				t.Errorf("%d after %d: got %v", n, from, got)
			}
			if rest := got[:cap(got)][len(got):]; n > 0 && !slices.Equal(rest[:3], []int32{5, 5, 5}) {
				t.Errorf("%d after %d: what lies behind is overwritten: %v", n, from, rest[:3])
			}
		}
	}
}
