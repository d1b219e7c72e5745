package reject

import (
	"bytes"
	"encoding/json"
	"os"
	"strconv"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

var update = golden.Update()

// table4 runs every query of testdata/table4.txt through the choice.
func table4(t *testing.T) Accounts {
	t.Helper()
	b, err := os.ReadFile("testdata/table4.txt")
	if err != nil {
		t.Fatal(err)
	}
	a := Accounts{}
	for line := range strings.Lines(string(b)) {
		if strings.HasPrefix(line, "#") {
			continue
		}
		left, pairs, _ := strings.Cut(line, "|")
		fields := strings.Fields(left)
		n, err := strconv.Atoi(fields[1])
		if err != nil {
			t.Fatal(err)
		}
		for range n {
			c := parseCase(t, strings.Join(fields[2:], " "), pairs)
			c.Domain = turnmill.Domain(fields[0])
			out := Options{Threshold: four}.Choose(c)
			a.Add(c, &out)
		}
	}
	return a
}

// TestRetention: the report's Table 4, row by row, and its total of 69.2 %. Report, section 3.3.
func TestRetention(t *testing.T) {
	a := table4(t)
	want := []Retention{
		{"mcp", 261, 179}, {"search", 1466, 1042}, {"terminal", 1826, 1580}, {"swe", 402, 249},
		{"android", 1975, 1337}, {"web", 2697, 1605}, {"os", 1623, 1102}, {"total", 10250, 7094},
	}
	got := a.Retention()
	if len(got) != len(want) {
		t.Fatalf("%d rows, want %d", len(got), len(want))
	}
	for i := range want {
		if got[i] != want[i] {
			t.Errorf("row %d: got %+v, want %+v", i, got[i], want[i])
		}
	}
	if tenths, ok := got[7].Share(); tenths != 692 || !ok {
		t.Errorf("share %d tenths of a percent, want 692", tenths)
	}
	var text bytes.Buffer
	if err := WriteRetention(&text, got); err != nil {
		t.Fatal(err)
	}
	text.WriteByte('\n')
	if err := a.WritePositions(&text); err != nil {
		t.Fatal(err)
	}
	golden.Check(t, *update, "table4.golden", text.Bytes())
	counts, err := json.MarshalIndent(a, "", "  ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, *update, "table4.json", append(counts, '\n'))
}

// TestRetentionRows: seven domains in the report's order, others after them by name, none without queries.
func TestRetentionRows(t *testing.T) {
	a := Accounts{}
	for _, d := range []turnmill.Domain{"zoo", "os", "aquarium", "mcp"} {
		c := parseCase(t, "!refused", "")
		c.Domain = d
		out := Options{}.Choose(c)
		a.Add(c, &out)
	}
	var text strings.Builder
	if err := WriteRetention(&text, a.Retention()); err != nil {
		t.Fatal(err)
	}
	var names []string
	for line := range strings.Lines(text.String()) {
		f := strings.Fields(line)
		names = append(names, f[0]+f[len(f)-1])
	}
	if got := strings.Join(names, " "); got != "domainshare mcp- os- aquarium- zoo- total-" {
		t.Errorf("got %s", got)
	}
}

func TestShare(t *testing.T) {
	for _, tt := range []struct{ kept, candidates, want int64 }{{0, 7, 0}, {7, 7, 1000}, {1, 3, 333}, {2, 3, 667}, {1, 2000, 1}, {1, 2001, 0}} {
		if got, ok := (Retention{Candidates: tt.candidates, Kept: tt.kept}).Share(); got != tt.want || !ok {
			t.Errorf("%d of %d: got %d tenths of a percent, want %d", tt.kept, tt.candidates, got, tt.want)
		}
	}
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 1234567: "1,234,567", 100000: "100,000"} {
		if got := grouped(n); got != want {
			t.Errorf("%d: got %s, want %s", n, got, want)
		}
	}
}

// TestPosition: a judge that always names the first is told from one that reads.
func TestPosition(t *testing.T) {
	for _, tt := range []struct {
		name, pairs string
		want        Position
		bias        turnmill.Ratio
	}{
		{"always the first", "01A 10A 02A 20A 12A 21A", Position{States: map[string]int64{"valid": 6}, First: 6, Pairs: 3, FirstTwice: 3}, turnmill.Ratio{Num: 3, Den: 3}},
		{"always the second", "01B 10B 02B 20B 12B 21B", Position{States: map[string]int64{"valid": 6}, Pairs: 3}, turnmill.Ratio{Num: 3, Den: 3}},
		{"reads", "01A 10B 02A 20B 12B 21A", Position{States: map[string]int64{"valid": 6}, First: 3, Pairs: 3, Consistent: 3}, turnmill.Ratio{Num: 0, Den: 3}},
		{"in part", "01A 10A 02unparsable 20B 12B 21A", Position{States: map[string]int64{"valid": 5, "unparsable": 1}, First: 3, Pairs: 2, Consistent: 1, FirstTwice: 1}, turnmill.Ratio{Num: 1, Den: 2}},
		{"none", "", Position{}, turnmill.Ratio{}},
	} {
		c := parseCase(t, "44444 44444 44444", tt.pairs)
		out := Options{}.Choose(c)
		a := Accounts{}
		a.Add(c, &out)
		got := a[c.Domain].Position
		if x, y := asJSON(t, got), asJSON(t, tt.want); x != y || got.Bias() != tt.bias {
			t.Errorf("%s: got %s, bias %v, want %s, %v", tt.name, x, got.Bias(), y, tt.bias)
		}
	}
}

func asJSON(t *testing.T, v any) string {
	t.Helper()
	b, err := json.Marshal(v)
	if err != nil {
		t.Fatal(err)
	}
	return string(b)
}
