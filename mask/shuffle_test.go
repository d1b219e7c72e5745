package mask

import "testing"

// TestDrawShuffle: the draws that sha256sum gives for the bytes of the documentation.
func TestDrawShuffle(t *testing.T) {
	for _, c := range []struct {
		seed, id string
		window   int64
		want     uint64
	}{
		{"0", "shop-8", 0, 0xdec418a54293c242},
		{"0", "shop-8", 17, 0xa178ac22436dd44f},
		{"", "", 0, 0x5f39f942584bc354},
		{"a seed", "日本#2", 123456789012, 0xa76e29a4280913eb},
	} {
		if got := DrawShuffle(c.seed, c.id, c.window); got != c.want {
			t.Errorf("seed %q, id %q, window %d: %#x, want %#x", c.seed, c.id, c.window, got, c.want)
		}
	}
}
