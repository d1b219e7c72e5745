package judge

import (
	"testing"

	"pgregory.net/rapid"
)

// TestIDRoundTrip: whatever a query's id holds, what was written is read.
func TestIDRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		id := ID{
			Kind:  Kind(rapid.IntRange(0, numKinds-1).Draw(t, "kind")),
			Query: rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "/", "q/pair/1-2", "q/scores/0", "run@3", "-"})).Draw(t, "query"),
			First: rapid.IntRange(0, 1000).Draw(t, "first"),
		}
		if id.Kind == KindPair {
			id.Second = rapid.IntRange(0, 1000).Draw(t, "second")
		}
		if got, ok := ParseID(id.String()); !ok || got != id {
			t.Fatalf("%q: got %+v %v, want %+v", id.String(), got, ok, id)
		}
	})
}

func TestParseIDRefuses(t *testing.T) {
	for _, s := range []string{"", "q", "q/scores", "q/scores/", "q/scores/-1", "q/scores/+1", "q/scores/01", "q/scores/1-2", "q/pair/1", "q/pair/1-", "q/pair/1-2-3", "q/other/1", "/1"} {
		if id, ok := ParseID(s); ok {
			t.Errorf("%q is read as %+v", s, id)
		}
	}
}

// TestOrders: both orders, the same for (i, j) and (j, i), and over many queries either sample comes first
// about as often. The bound is five standard deviations of 10,000 fair draws.
func TestOrders(t *testing.T) {
	low, same := 0, 0
	for i := range 10_000 {
		query := "q" + string(rune('a'+i%26)) + ID{First: i}.String()
		a, b := Orders("0", query, 2, 0), Orders("0", query, 0, 2)
		if a != b {
			t.Fatalf("%s: %v and %v", query, a, b)
		}
		if a[0].First != a[1].Second || a[0].Second != a[1].First || a[0].First == a[0].Second {
			t.Fatalf("%s: not two orders of one pair: %v", query, a)
		}
		if a[0].First == 0 {
			low++
		}
		if a == Orders("1", query, 0, 2) {
			same++
		}
	}
	if low < 4750 || low > 5250 {
		t.Errorf("the lower sample comes first %d times of 10,000", low)
	}
	if same == 10_000 {
		t.Error("the seed changes nothing")
	}
}
