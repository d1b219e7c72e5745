package mask

import (
	"encoding/json"
	"errors"
	"fmt"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// defaultSpec is the built-in table as a person would write it, with names as in a YAML file.
const defaultSpec = `{
	"short": 100, "other": "100%",
	"rows": [
		{"category": "echo", "keep": "5%", "overlap_min": "70%", "novelty_below": "30%"},
		{"category": "boilerplate", "keep": "10%", "overlap_min": "50%", "novelty_below": "50%"},
		{"category": "transform", "keep": "50%", "novelty_below": "50%", "ratio_below": "1"},
		{"category": "retrieval", "keep": "100%", "novelty_min": "60%", "ratio_above": "1"},
		{"category": "expansion", "keep": "100%", "overlap_min": "50%", "novelty_min": "50%", "ratio_above": "1.5"},
		{"category": "action", "keep": "100%", "novelty_min": "50%", "ratio_max": "1", "or_short": true}
	]
}`

func decodeSpec(t *testing.T, text string) Spec {
	t.Helper()
	var spec Spec
	d := json.NewDecoder(strings.NewReader(text))
	d.DisallowUnknownFields()
	if err := d.Decode(&spec); err != nil {
		t.Fatal(err)
	}
	return spec
}

// TestSpecConverts makes sure that a caller's own struct, tagged for another decoder, converts.
func TestSpecConverts(t *testing.T) {
	type row struct {
		Category     string `yaml:"category"`
		Keep         string `yaml:"keep"`
		OverlapMin   string `yaml:"overlap_min"`
		OverlapBelow string `yaml:"overlap_below"`
		NoveltyMin   string `yaml:"novelty_min"`
		NoveltyBelow string `yaml:"novelty_below"`
		RatioAbove   string `yaml:"ratio_above"`
		RatioMin     string `yaml:"ratio_min"`
		RatioBelow   string `yaml:"ratio_below"`
		RatioMax     string `yaml:"ratio_max"`
		OrShort      bool   `yaml:"or_short"`
	}
	got, err := FromSpec(Spec{Rows: []RowSpec{RowSpec(row{Category: "action", Keep: "12.5%", NoveltyMin: "50%", RatioMax: "1", OrShort: true})}})
	want := Table{Short: 100, Other: turnmill.Ratio{Num: 1, Den: 1}, Rows: []Row{{
		Category: turnmill.CategoryAction, Keep: turnmill.Ratio{Num: 1, Den: 8},
		NoveltyMin: turnmill.Ratio{Num: 1, Den: 2}, RatioMax: turnmill.Ratio{Num: 1, Den: 1}, OrShort: true,
	}}}
	if diff := cmp.Diff(want, got); err != nil || diff != "" {
		t.Errorf("%v; want -, got +\n%s", err, diff)
	}
}

func TestDefaultTable(t *testing.T) {
	table := Default()
	if err := table.Validate(); err != nil {
		t.Fatal(err)
	}
	spec := decodeSpec(t, defaultSpec)
	compact, err := json.Marshal(table.Spec())
	if want := strings.Map(func(r rune) rune {
		if r == ' ' || r == '\n' || r == '\t' {
			return -1
		}
		return r
	}, defaultSpec); err != nil || string(compact) != want {
		t.Errorf("JSON of the default table: %v\ngot  %s\nwant %s", err, compact, want)
	}
	if diff := cmp.Diff(spec, table.Spec()); diff != "" {
		t.Errorf("Spec of the default table: want -, got +\n%s", diff)
	}
	fromSpec, err := FromSpec(spec)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(table, fromSpec); diff != "" {
		t.Errorf("FromSpec: want the default table -, got +\n%s", diff)
	}
	// The hash stands in manifests: when it changes, old and new runs count as differently masked.
	if got, want := table.Hash(), "a7641cf8030205d1970d431fa16fd24027b7491f0d2616bb35bc3ba3f12eaf20"; got != want {
		t.Errorf("Hash of the default table is %s, want %s", got, want)
	}
}

func TestHash(t *testing.T) {
	base := Default()
	spelt := decodeSpec(t, strings.NewReplacer(`"70%"`, `"0.70"`, `"1.5"`, `"150.0%"`, `"5%"`, `"00.05"`, `"short": 100, "other": "100%",`, "").Replace(defaultSpec))
	same, err := FromSpec(spelt)
	if err != nil {
		t.Fatal(err)
	}
	if same.Hash() != base.Hash() {
		t.Error("another spelling of the same table has another hash")
	}
	unreduced := Default()
	unreduced.Rows[0].OverlapMin = turnmill.Ratio{Num: 70, Den: 100}
	if unreduced.Hash() != base.Hash() {
		t.Error("the same bound in other terms has another hash")
	}
	seen := map[string]string{base.Hash(): "default"}
	for name, change := range map[string]func(t *Table){
		"short":    func(t *Table) { t.Short = 99 },
		"other":    func(t *Table) { t.Other = turnmill.Ratio{Num: 1, Den: 2} },
		"keep":     func(t *Table) { t.Rows[0].Keep.Num = 2 },
		"bound":    func(t *Table) { t.Rows[0].OverlapMin.Num = 8 },
		"op":       func(t *Table) { t.Rows[2].RatioBelow, t.Rows[2].RatioMax = turnmill.Ratio{}, t.Rows[2].RatioBelow },
		"or_short": func(t *Table) { t.Rows[5].OrShort = false },
		"order":    func(t *Table) { t.Rows[3], t.Rows[4] = t.Rows[4], t.Rows[3] },
		"category": func(t *Table) { t.Rows[0].Category = turnmill.CategoryAction },
		"rows":     func(t *Table) { t.Rows = t.Rows[:5] },
	} {
		table := Default()
		change(&table)
		if other, found := seen[table.Hash()]; found {
			t.Errorf("%s has the hash of %s", name, other)
		}
		seen[table.Hash()] = name
	}
}

func TestParseRatio(t *testing.T) {
	for text, want := range map[string]turnmill.Ratio{
		"70%": {Num: 7, Den: 10}, "12.5%": {Num: 1, Den: 8}, "0.05": {Num: 1, Den: 20}, "1.5": {Num: 3, Den: 2}, "150%": {Num: 3, Den: 2},
		"0": {Num: 0, Den: 1}, "0%": {Num: 0, Den: 1}, "0.000%": {Num: 0, Den: 1}, "1": {Num: 1, Den: 1}, "100 %": {Num: 1, Den: 1}, " 3 ": {Num: 3, Den: 1},
		"33.333333333333%": {Num: 33333333333333, Den: 100000000000000},
	} {
		if got, err := parseRatio(text); err != nil || got != want {
			t.Errorf("parseRatio(%q) = %+v, %v, want %+v", text, got, err, want)
		}
	}
	for _, text := range []string{"", "%", ".", ".5", "5.", "-1", "+1", "1e3", "0x10", "1/2", "1,5", "70%%", "NaN", "1_000", "٣", "0.1234567890123456789", "12345678901234567890"} {
		if got, err := parseRatio(text); err == nil {
			t.Errorf("parseRatio(%q) = %+v, want an error", text, got)
		} else if !strings.HasPrefix(err.Error(), fmt.Sprintf("%q ", text)) {
			t.Errorf("parseRatio(%q): %v: does not begin with the text", text, err)
		}
	}
}

// TestSpecRoundTrip writes random valid numbers down and reads them back.
func TestSpecRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		places := rapid.IntRange(0, 15).Draw(t, "places")
		den := uint64(1)
		for range places {
			den *= 10
		}
		r := reduce(turnmill.Ratio{Num: rapid.Uint64Range(0, 999_999_999_999_999).Draw(t, "digits"), Den: den})
		if err := checkNumber(r); err != nil {
			t.Fatalf("%d/%d: %v", r.Num, r.Den, err)
		}
		for _, text := range []string{decimal(rat(r)), percentage(r)} {
			if got, err := parseRatio(text); err != nil || got != r {
				t.Fatalf("%d/%d is written %s and read as %+v, %v", r.Num, r.Den, text, got, err)
			}
		}
	})
}

// TestFromSpecErrors checks the whole messages: row, what is wrong, what to try.
func TestFromSpecErrors(t *testing.T) {
	for _, c := range []struct{ name, spec, want string }{
		{"printed order", `{"rows": [
			{"category": "retrieval", "keep": "100%", "novelty_min": "60%", "ratio_above": "1"},
			{"category": "transform", "keep": "50%", "novelty_below": "50%", "ratio_below": "1"},
			{"category": "boilerplate", "keep": "10%", "overlap_min": "50%", "novelty_below": "50%"},
			{"category": "echo", "keep": "5%", "overlap_min": "70%", "novelty_below": "30%"}]}`,
			"mask table: row 4 (echo): never reached, row 2 (transform) with row 3 (boilerplate) above it takes every such turn; try moving it up, above row 2 (transform)"},
		{"subset", `{"rows": [
			{"category": "boilerplate", "keep": "10%", "overlap_min": "50%", "novelty_below": "50%"},
			{"category": "echo", "keep": "5%", "overlap_min": "70%", "novelty_below": "30%"}]}`,
			"mask table: row 2 (echo): never reached, row 1 (boilerplate) above it takes every such turn; try moving it up, above row 1 (boilerplate)"},
		{"contradiction", `{"rows": [{"category": "echo", "keep": "5%", "overlap_min": "70%", "overlap_below": "0.7"}]}`,
			"mask table: row 1 (echo): no turn can fulfil its bounds; widen one of them"},
		{"no overlap without novelty below all", `{"rows": [{"category": "echo", "keep": "5%", "overlap_below": "0.000001%", "overlap_min": "0%", "novelty_below": "0.5"}, {"category": "action", "keep": "1", "overlap_min": "0.1%", "novelty_min": "100%"}]}`,
			"mask table: row 2 (action): no turn can fulfil its bounds; widen one of them"},
		{"all at once", `{"short": -1, "other": "101%", "rows": [
			{"category": "echo", "keep": "5%", "overlap_min": "70"},
			{"category": "echo", "keep": "2", "or_short": true}]}`,
			"mask table: short -1 is not between 0 and 10000 code points; the default is 100\n" +
				"mask table: other: keep 1.01 is above 100%; write a share such as 70% or 0.7\n" +
				"mask table: row 1 (echo): overlap_min 70 is above 100%; write a share such as 70% or 0.7\n" +
				"mask table: row 2 (echo): keep 2 is above 100%; write a share such as 70% or 0.7\n" +
				"mask table: row 2 (echo): or_short without a bound on the length ratio changes nothing; add ratio_max, or leave it out\n" +
				"mask table: row 2 (echo): the category has row 1 (echo) already; give each category one row"},
		{"texts", `{"other": "most", "rows": [
			{"category": "Echo", "keep": "5%"},
			{"category": "echo"},
			{"category": "action", "keep": "-5%"},
			{"category": "action", "keep": "5%", "ratio_min": "1/2"}]}`,
			"mask table: other: keep \"most\" is not a decimal number; write it as 70% or 1.5\n" +
				"mask table: row 1 (Echo): no such category; try retrieval, expansion, action, transform, boilerplate or echo\n" +
				"mask table: row 2 (echo): keep is missing; write a share such as keep: 50%\n" +
				"mask table: row 3 (action): keep \"-5%\" is not a decimal number; write it as 70% or 1.5\n" +
				"mask table: row 4 (action): ratio_min \"1/2\" is not a decimal number; write it as 70% or 1.5"},
		{"other as a row", `{"rows": [{"category": "other", "keep": "5%"}]}`,
			"mask table: row 1 (other): not a category for a row; other is what no row takes, and has a keep ratio of its own"},
		{"no rows", `{}`, "mask table: no rows; to train on every turn use the mask mode off"},
		{"too many digits", `{"rows": [{"category": "echo", "keep": "5%", "ratio_max": "123456789.12345678"}]}`,
			"mask table: row 1 (echo): ratio_max 6172839456172839/50000000 has no decimal of at most 15 digits; round it"},
	} {
		t.Run(c.name, func(t *testing.T) {
			_, err := FromSpec(decodeSpec(t, c.spec))
			if err == nil {
				t.Fatalf("no error, want %s", c.want)
			}
			if diff := cmp.Diff(c.want, err.Error()); diff != "" {
				t.Errorf("want -, got +\n%s", diff)
			}
		})
	}
}

// TestValidateByHand checks tables that no spec can spell.
func TestValidateByHand(t *testing.T) {
	for _, c := range []struct {
		name   string
		change func(t *Table)
		want   string
	}{
		{"zero keep denominator", func(t *Table) { t.Rows[1].Keep = turnmill.Ratio{} }, "row 2 (boilerplate): keep 0/0 is not a number"},
		{"zero bound denominator", func(t *Table) { t.Rows[1].RatioMin.Num = 3 }, "row 2 (boilerplate): ratio_min 3/0 is not a number"},
		{"a third", func(t *Table) { t.Rows[1].Keep = turnmill.Ratio{Num: 1, Den: 3} }, "row 2 (boilerplate): keep 1/3 has no decimal of at most 15 digits"},
		{"short", func(t *Table) { t.Short = maxShort + 1 }, "short 10001 is not between 0 and 10000"},
		{"unknown category", func(t *Table) { t.Rows[0].Category = 77 }, "row 1 (category 77): not a category for a row"},
	} {
		table := Default()
		c.change(&table)
		if err := table.Validate(); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%s: %v, want %s", c.name, err, c.want)
		}
		if _, err := New(table, "0", ModeTurn); err == nil {
			t.Errorf("%s: New takes the table", c.name)
		}
	}
}

// TestNewCopies makes sure that a Masker does not follow changes of the caller's table.
func TestNewCopies(t *testing.T) {
	table := Default()
	m, err := New(table, "0", ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	table.Rows[0].Keep = turnmill.Ratio{Num: 1, Den: 1}
	if d := decide(m, "id", &turnmill.Turn{Action: "a b", Observation: "a b"}); d.Keep.Float() != 0.05 {
		t.Errorf("keep %v after the caller changed its table, want 0.05", d.Keep)
	}
}

// TestReachable compares the decision about space cells with a search over all small turns, on random
// tables whose thresholds small numbers can tell apart.
func TestReachable(t *testing.T) {
	values := [numStatistics][]turnmill.Ratio{
		overlap:     {{}, {}, {Num: 0, Den: 1}, {Num: 1, Den: 2}, {Num: 3, Den: 4}, {Num: 1, Den: 1}},
		novelty:     {{}, {}, {Num: 0, Den: 1}, {Num: 1, Den: 2}, {Num: 1, Den: 1}},
		lengthRatio: {{}, {}, {}, {Num: 0, Den: 1}, {Num: 1, Den: 2}, {Num: 1, Den: 1}, {Num: 3, Den: 2}, {Num: 2, Den: 1}},
	}
	turns := smallTurns()
	unreached := 0
	rapid.Check(t, func(t *rapid.T) {
		table := Table{Short: int64(rapid.IntRange(0, 7).Draw(t, "short")), Other: turnmill.Ratio{Num: 1, Den: 1}}
		for i := range rapid.IntRange(1, 4).Draw(t, "rows") {
			row := Row{Category: turnmill.Category(i), Keep: turnmill.Ratio{Num: 1, Den: 2}}
			for k, at := range row.bounds() {
				*at = rapid.SampledFrom(values[boundKinds[k].on]).Draw(t, boundKinds[k].name)
			}
			row.OrShort = rapid.Bool().Draw(t, "or_short")
			table.Rows = append(table.Rows, row)
		}
		want := make([][]int, len(table.Rows))
		for i := range want {
			want[i] = []int{}
		}
		for _, c := range turns {
			rows := Matching(&table, c)
			for k, i := range rows {
				if k == 0 {
					want[i] = nil
				} else if want[i] != nil && !slices.Contains(want[i], rows[0]) {
					want[i] = append(want[i], rows[0])
				}
			}
		}
		for i := range want {
			slices.Sort(want[i])
			if want[i] != nil {
				unreached++
			}
		}
		if diff := cmp.Diff(want, newSpace(&table).hidden()); diff != "" {
			t.Fatalf("short %d, rows %+v: want -, got +\n%s", table.Short, table.Rows, diff)
		}
	})
	if unreached == 0 {
		t.Error("no random table had an unreachable row: the test shows nothing")
	}
}

// smallTurns lists counts as texts can have them, large enough for every cell of those tables: an overlap
// between 3/4 and 1 takes 4 words of 5, with novelty above 1/2 of 9, and a ratio below 1/2 then 19 characters.
func smallTurns() []Counts {
	var all []Counts
	for la := range 20 {
		for lo := range 20 {
			for a := range min(la, 5) + 1 {
				for o := range min(lo, 9) + 1 {
					for b := range min(a, o) + 1 {
						all = append(all, Counts{a, o, b, int64(la), int64(lo)})
					}
				}
			}
		}
	}
	return all
}

// TestReachableByShortOnly asks for rows that only short turns can reach, one character below and at the
// limit that decides. Since no length ratio is below 0, such a row is left to short observations.
func TestReachableByShortOnly(t *testing.T) {
	percent := func(n uint64) turnmill.Ratio { return turnmill.Ratio{Num: n, Den: 100} }
	rows := func(rows ...Row) []Row {
		for i := range rows {
			rows[i].Category, rows[i].Keep = turnmill.Category(i), percent(50)
		}
		last := &rows[len(rows)-1]
		last.OrShort, last.RatioBelow = true, percent(0)
		return rows
	}
	for _, c := range []struct {
		name  string
		least int64
		rows  []Row
	}{
		{"one new word of three takes three characters", 3, rows(Row{NoveltyMin: percent(33), NoveltyBelow: percent(34)})},
		{"one new word of a hundred", 100, rows(Row{NoveltyMin: percent(1), NoveltyBelow: turnmill.Ratio{Num: 101, Den: 10000}})},
		{"any word takes a character", 1, rows(Row{NoveltyMin: percent(100)})},
		{"a ratio of exactly 3/2", 3, rows(Row{RatioBelow: percent(150)}, Row{RatioAbove: percent(150)}, Row{NoveltyMin: percent(0)})},
		{"a ratio between 1 and 1.1 is 12/11 first", 12, rows(Row{RatioMax: percent(100)}, Row{RatioMin: percent(110)}, Row{NoveltyMin: percent(0)})},
		{"a ratio between 1.9 and 2 is 21/11 first", 21, rows(Row{RatioMax: percent(190)}, Row{RatioMin: percent(200)}, Row{NoveltyMin: percent(0)})},
		{"a ratio above 7, some action", 8, rows(Row{RatioMax: percent(700)}, Row{OverlapMin: percent(0)})},
		{"an overlap below 1/10 takes eleven words in the action", 11, rows(Row{RatioBelow: percent(100)}, Row{OverlapMin: turnmill.Ratio{Num: 1, Den: 1000}, OverlapBelow: percent(10)})},
	} {
		for _, short := range []int64{c.least - 1, c.least, c.least + 1, 1000} {
			table := Table{Short: short, Other: percent(100), Rows: c.rows}
			if err := table.Validate(); (err == nil) != (short >= c.least) {
				t.Errorf("%s: short %d: %v, want reachable %v", c.name, short, err, short >= c.least)
			}
		}
	}
}

func TestValidateJoins(t *testing.T) {
	table := Default()
	table.Rows[0].Keep = turnmill.Ratio{Num: 3, Den: 2}
	table.Rows[4].OverlapMin = turnmill.Ratio{Num: 3, Den: 2}
	err := table.Validate()
	var joined interface{ Unwrap() []error }
	if !errors.As(err, &joined) || len(joined.Unwrap()) != 2 {
		t.Errorf("%v, want two joined errors", err)
	}
}
