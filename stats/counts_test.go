package stats

import (
	"bytes"
	"encoding/json"
	"errors"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/google/go-cmp/cmp/cmpopts"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

var update = golden.Update()

// drawCounts makes balanced counts of a few domains.
func drawCounts(t *rapid.T) *Counts {
	c := NewCounts()
	domains := rapid.SampledFrom([]turnmill.Domain{turnmill.DomainMCP, turnmill.DomainSWE, turnmill.DomainUnknown})
	reasons := rapid.SampledFrom([]turnmill.Reason{turnmill.ReasonTooFewTurns, turnmill.ReasonMasked, turnmill.ReasonBadJSON})
	few := rapid.Int64Range(0, 1<<40)
	for range rapid.IntRange(0, 4).Draw(t, "entries") {
		d, r, n := domains.Draw(t, "domain"), reasons.Draw(t, "reason"), few.Draw(t, "n")
		c.Each(d, func(l *Ledger) {
			for _, a := range []*Account{&l.Records, &l.Trajectories, &l.Turns, &l.LossTokens} {
				a.In += 3 * n
				a.Repeated += n
				a.Out += 2 * n
				a.Drop(r, n)
				a.Reject(r, n)
			}
		})
		notes := turnmill.Notes{turnmill.NoteBOM: few.Draw(t, "bom"), turnmill.NoteNoTools: few.Draw(t, "no tools")}
		c.AddNotes(d, &notes)
		c.AddTurn(d, "echo", MaskCount{Turns: n, KeptTurns: n / 3, ObservationTokens: n / 2, TargetTokens: n, KeptTokens: n / 4, ExpectedShare: 0.05})
		c.Tokens.Rows, c.Tokens.All = c.Tokens.Rows+n, c.Tokens.All+3*n
		c.Tokens.Trained, c.Tokens.Context = c.Tokens.Trained+n, c.Tokens.Context+2*n
	}
	return c
}

func encode(t interface{ Fatal(...any) }, c *Counts) []byte {
	b, err := json.Marshal(c)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// merged adds counts in their order to empty ones.
func merged(all ...*Counts) *Counts {
	sum := NewCounts()
	for _, c := range all {
		sum.Add(c)
	}
	return sum
}

// Workers and partitions may be added in any order and grouping, and what balances stays balanced.
func TestCountsMerge(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		a, b, c := drawCounts(t), drawCounts(t), drawCounts(t)
		want := encode(t, merged(a, b, c))
		for name, got := range map[string]*Counts{
			"order":    merged(c, a, b),
			"grouping": merged(a, merged(b, c)),
			"empty":    merged(NewCounts(), a, b, NewCounts(), c),
		} {
			if g := encode(t, got); !bytes.Equal(g, want) {
				t.Errorf("another %s gives\n%s\nwant\n%s", name, g, want)
			}
		}
		if err := merged(a, b, c).Balanced(); err != nil {
			t.Error(err)
		}
		// What was added must not be shared: a worker's counts are used again.
		sum := merged(a)
		a.Reset()
		a.Each(turnmill.DomainMCP, func(l *Ledger) { l.Records.Drop(turnmill.ReasonNoLoss, 7) })
		sum.Add(b)
		sum.Add(c)
		if g := encode(t, sum); !bytes.Equal(g, want) {
			t.Errorf("after the first part was used again\n%s\nwant\n%s", g, want)
		}
	})
}

func TestCountsReset(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCounts(t)
		c.Reset()
		if got, want := encode(t, c), encode(t, NewCounts()); !bytes.Equal(got, want) {
			t.Errorf("after Reset\n%s\nwant\n%s", got, want)
		}
	})
}

func TestCountsJSON(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		c := drawCounts(t)
		var back Counts
		first := encode(t, c)
		if err := json.Unmarshal(first, &back); err != nil {
			t.Fatal(err)
		}
		if diff := cmp.Diff(c, &back, cmpopts.EquateEmpty()); diff != "" {
			t.Errorf("(-written +read):\n%s", diff)
		}
		if again := encode(t, &back); !bytes.Equal(first, again) {
			t.Errorf("written again\n%s\nwant\n%s", again, first)
		}
		if err := back.Balanced(); err != nil {
			t.Error(err)
		}
	})
	b, err := json.MarshalIndent(sampleCounts(), "", " ")
	if err != nil {
		t.Fatal(err)
	}
	golden.Check(t, *update, "counts.json", append(b, '\n'))
}

func TestCountsBalanced(t *testing.T) {
	tests := []struct {
		name   string
		damage func(*Counts)
		want   string
	}{
		{"sound", func(*Counts) {}, ""},
		{"total", func(c *Counts) { c.Ledger.Total.Turns.Out++ }, "total turns: in "},
		{"the first of two", func(c *Counts) { c.Ledger.Total.LossTokens.In++; c.Ledger.Total.Records.In-- }, "total records: in "},
		{"domain", func(c *Counts) { c.Domain(turnmill.DomainSWE).LossTokens.Drop(turnmill.ReasonMasked, 1) }, "swe loss_tokens: in "},
		{"repeated", func(c *Counts) { c.Domain(turnmill.DomainSWE).Trajectories.Repeated++ }, "swe trajectories: in "},
		{"rejected", func(c *Counts) { c.Domain(turnmill.DomainSWE).Records.Reject(turnmill.ReasonBadField, 2) }, "swe records: in "},
		{"no total", func(c *Counts) { c.Ledger.Total = nil }, "lack a part"},
		{"no ledger", func(c *Counts) { c.Ledger.Domains[turnmill.DomainOS] = nil }, "lack the ledger of os"},
		{"no mask statistics", func(c *Counts) { c.Mask[turnmill.DomainSWE]["echo"] = nil }, "lack the mask statistics of swe, echo"},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			c := sampleCounts()
			tt.damage(c)
			err := c.Balanced()
			if tt.want == "" && err != nil || tt.want != "" && (err == nil || !strings.Contains(err.Error(), tt.want)) {
				t.Errorf("Balanced() = %v, want %q", err, tt.want)
			}
		})
	}
	var none *Counts
	if none.Balanced() == nil {
		t.Error("no counts at all are balanced")
	}
}

// FuzzDecodeCounts decodes what a damaged commit may hold: Balanced tells, and then all else works.
func FuzzDecodeCounts(f *testing.F) {
	f.Add(encode(f, sampleCounts()))
	f.Add([]byte(`{"ledger":{"total":{},"domains":{"swe":null}},"repairs":{"swe":null},"notices":{},"mask_statistics":{}}`))
	f.Fuzz(func(t *testing.T, b []byte) {
		var c Counts
		if json.Unmarshal(b, &c) != nil || c.Balanced() != nil {
			return
		}
		sum := sampleCounts()
		sum.Add(&c)
		if err := WriteTable(new(bytes.Buffer), sum); err != nil {
			t.Fatal(err)
		}
		encode(t, sum)
	})
}

// sampleCounts makes the counts of a large run, with everything in them.
func sampleCounts() *Counts {
	c := NewCounts()
	fill := func(d turnmill.Domain, n int64) {
		c.Each(d, func(l *Ledger) {
			l.Records = Account{In: 10 * n, Out: 9*n + 3, Dropped: map[turnmill.Reason]int64{turnmill.ReasonTooFewTurns: n - 3}}
			l.Trajectories = Account{In: 10 * n, Repeated: n, Out: 10 * n, Dropped: map[turnmill.Reason]int64{turnmill.ReasonTooFewTurns: n}}
			l.Turns = Account{In: 200 * n, Out: 150 * n, Dropped: map[turnmill.Reason]int64{"no_change": 45 * n, turnmill.ReasonNoAction: 5 * n}}
			l.LossTokens = Account{In: 100_000 * n, Out: 60_000 * n, Dropped: map[turnmill.Reason]int64{
				turnmill.ReasonMasked: 39_000 * n, turnmill.ReasonTurnTooLong: 900 * n, turnmill.ReasonRowStart: 50 * n, "duplicate_turns": 50 * n}}
		})
	}
	fill(turnmill.DomainSWE, 1_000_000)
	fill("robotics", 5) // a name from a recipe
	c.Domain(turnmill.DomainKnowledge)
	whole := NewCounts()
	for _, l := range c.Ledger.Domains {
		whole.Ledger.Total.Add(l)
	}
	c.Ledger.Total = whole.Ledger.Total
	c.Ledger.Total.Records.In += 1234
	c.Ledger.Total.Records.Reject(turnmill.ReasonBadJSON, 1200)
	c.Ledger.Total.Records.Reject(turnmill.ReasonUnknownFormat, 34)
	c.Tokens = Tokens{Rows: 9_000_018, All: 250_000_000_000, Trained: 60_000_300_000, Context: 189_999_700_000}
	c.AddNotes(turnmill.DomainSWE, &turnmill.Notes{turnmill.NoteBadUTF8: 12, turnmill.NoteForgedControl: 3_456, turnmill.NoteUnansweredAction: 77, turnmill.NoteNoTools: 1_000_000})
	c.AddNotes(InputNotes, &turnmill.Notes{turnmill.NoteBOM: 2})
	c.AddTurn(turnmill.DomainSWE, "echo", MaskCount{Turns: 1_000_000, KeptTurns: 49_871, ObservationTokens: 10_000_000, TargetTokens: 11_000_000, KeptTokens: 550_000, ExpectedShare: 0.05})
	return c
}

func TestWriteTable(t *testing.T) {
	tests := []struct {
		name   string
		counts *Counts
	}{
		{"large", sampleCounts()},
		{"empty", NewCounts()},
		{"long-name", longName()},
		{"small", smallCounts()},
	}
	for _, tt := range tests {
		t.Run(tt.name, func(t *testing.T) {
			var b bytes.Buffer
			if err := WriteTable(&b, tt.counts); err != nil {
				t.Fatal(err)
			}
			for line := range strings.Lines(b.String()) {
				if n := len(strings.TrimRight(line, "\n")); n > 80 && tt.name != "long-name" {
					t.Errorf("%d columns: %s", n, line)
				}
			}
			golden.Check(t, *update, tt.name+".table", b.Bytes())
		})
	}
	if err := WriteTable(&failingWriter{left: 100}, sampleCounts()); !errors.Is(err, errDiskFull) {
		t.Errorf("WriteTable to a full disk: %v", err)
	}
}

// longName makes counts of a domain whose name is longer than its column.
func longName() *Counts {
	c := smallCounts()
	c.Each("robotics-and-drones", func(l *Ledger) { l.Records = Account{In: 1, Out: 1} })
	return c
}

// smallCounts makes the counts of a first try.
func smallCounts() *Counts {
	c := NewCounts()
	c.Each(turnmill.DomainTerminal, func(l *Ledger) {
		l.Records = Account{In: 2, Out: 2}
		l.Trajectories = Account{In: 2, Out: 2}
		l.Turns = Account{In: 9, Out: 9}
		l.LossTokens = Account{In: 1203, Out: 1003}
		l.LossTokens.Drop(turnmill.ReasonMasked, 200)
	})
	return c
}

func TestCounted(t *testing.T) {
	for n, want := range map[int64]string{0: "0 rows", 1: "1 row", 2: "2 rows", 1234567: "1,234,567 rows"} {
		if got := Counted(n, "row", "rows"); got != want {
			t.Errorf("%d: %q, want %q", n, got, want)
		}
	}
}

func TestThousands(t *testing.T) {
	for n, want := range map[int64]string{0: "0", 999: "999", 1000: "1,000", 123456: "123,456", 1234567: "1,234,567", -1: "-1", -999: "-999", -1000: "-1,000"} {
		if got := Thousands(n); got != want {
			t.Errorf("Thousands(%d) = %q, want %q", n, got, want)
		}
	}
}
