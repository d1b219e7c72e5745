package mask

import (
	"fmt"
	"maps"
	"reflect"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// naiveHistory is what History counts, with maps, each text from the start for every turn.
func naiveHistory(t *turnmill.Trajectory, upTo int) Beyond {
	before := wordMap{}
	for _, part := range t.System.Parts() {
		maps.Copy(before, naiveWords(part))
	}
	for i := range t.Turns[:upTo] {
		for _, text := range []string{t.Turns[i].State, t.Turns[i].Action, t.Turns[i].Observation} {
			maps.Copy(before, naiveWords(text))
		}
	}
	turn := &t.Turns[upTo]
	state, hasState := naiveWords(turn.State), turn.State != ""
	screens := []turnmill.Domain{turnmill.DomainAndroid, turnmill.DomainWeb, turnmill.DomainOS, turnmill.DomainTerminal}
	if !hasState && upTo > 0 && slices.Contains(screens, t.Domain) {
		state, hasState = naiveWords(t.Turns[upTo-1].Observation), true
	}
	maps.Copy(before, state)
	action := naiveWords(turn.Action)
	b := Beyond{Counted: true, HasState: hasState, StateWords: len(state)}
	for w := range naiveWords(turn.Observation) {
		if action[w] || hasState && state[w] {
			b.StateShared++
		}
		if !action[w] && !before[w] {
			b.Unseen++
		}
	}
	return b
}

func newTestHistory(t testing.TB) *History {
	t.Helper()
	m, err := New(Default(), "0", ModeOff)
	if err != nil {
		t.Fatal(err)
	}
	return NewHistory(m)
}

// TestHistory: over trajectories one after the other, with prompts that recur, the counts are the naive ones, and the
// decisions are those of a Masker alone, in every mode.
func TestHistory(t *testing.T) {
	words := rapid.SampledFrom([]string{"a", "B", "b", "list", "файл", "Файл", "订单已发", "read_file", "7", "0x1f", "\\n", "{", "\"q\"", "extraordinarily_long_word", "ok"})
	text := rapid.Custom(func(t *rapid.T) string {
		text := strings.Join(rapid.SliceOfN(words, 0, 12).Draw(t, "words"), " ")
		if rapid.IntRange(0, 3).Draw(t, "as json") == 0 {
			text = fmt.Sprintf(`{"text":%q}`, text)
		}
		return text
	})
	rapid.Check(t, func(t *rapid.T) {
		mode := rapid.SampledFrom([]Mode{ModeTurn, ModeToken, ModeWeight, ModeSpan, ModeChanged, ModeOff}).Draw(t, "mode")
		m, err := New(Default(), "0", mode)
		alone, err2 := New(Default(), "0", mode)
		if err != nil || err2 != nil {
			t.Fatal(err, err2)
		}
		h := NewHistory(m)
		prompts := rapid.SliceOfN(text, 2, 2).Draw(t, "prompts")
		for range rapid.IntRange(1, 4).Draw(t, "trajectories") {
			tr := turnmill.Trajectory{Domain: rapid.SampledFrom([]turnmill.Domain{"mcp", "web", "terminal", "swe", "os"}).Draw(t, "domain")}
			tr.System.ActionSpace, tr.System.InitialState = rapid.SampledFrom(prompts).Draw(t, "prompt"), rapid.SampledFrom(prompts).Draw(t, "initial")
			observation := ""
			for i := range rapid.IntRange(0, 6).Draw(t, "turns") {
				turn := turnmill.Turn{Index: i, Action: text.Draw(t, "action"), Observation: text.Draw(t, "observation")}
				switch rapid.IntRange(0, 2).Draw(t, "state") {
				case 0:
					turn.State = text.Draw(t, "state")
				case 1:
					turn.State = observation
				}
				observation = turn.Observation
				tr.Turns = append(tr.Turns, turn)
			}
			h.Begin(&tr, "", nil)
			for i := range tr.Turns {
				d, got := h.Decide(&tr, i)
				if want := naiveHistory(&tr, i); got != want {
					t.Fatalf("turn %d of %+v\n got %+v\nwant %+v", i, tr, got, want)
				}
				if want := alone.Decide(&tr, i); !reflect.DeepEqual(d, want) {
					t.Fatalf("decision %+v, alone %+v", d, want)
				}
			}
		}
	})
}

// TestHistoryIsBounded: of a trajectory with more words than are remembered nothing more is counted, and the next one
// is counted again.
func TestHistoryIsBounded(t *testing.T) {
	many := func(from, n int) string {
		var b strings.Builder
		for i := range n {
			fmt.Fprintf(&b, "w%d ", from+i)
		}
		return b.String()
	}
	run := func(h *History, t *turnmill.Trajectory) (counted []bool) {
		h.Begin(t, "", nil)
		for i := range t.Turns {
			_, b := h.Decide(t, i)
			counted = append(counted, b.Counted)
		}
		return counted
	}
	turns := func(sizes ...int) *turnmill.Trajectory {
		t := &turnmill.Trajectory{Domain: "swe"}
		at := 0
		for i, n := range sizes {
			t.Turns = append(t.Turns, turnmill.Turn{Index: i, Action: "go", Observation: many(at, n)})
			at += n
		}
		return t
	}
	h := newTestHistory(t)
	h.words.most, h.prompt.words.most = 1000, 500
	if diff := cmp.Diff([]bool{true, true, false, false}, run(h, turns(500, 499, 1, 1))); diff != "" {
		t.Errorf("1,001 words, of which 1,000 are remembered (-want +got):\n%s", diff)
	}
	if diff := cmp.Diff([]bool{true, true}, run(h, turns(500, 499))); diff != "" {
		t.Errorf("the trajectory after it (-want +got):\n%s", diff)
	}
	large := turns(1)
	large.System.Demonstrations = many(0, 501)
	for range 2 {
		if diff := cmp.Diff([]bool{false}, run(h, large)); diff != "" {
			t.Errorf("a prompt of 501 words, of which 500 are remembered (-want +got):\n%s", diff)
		}
	}
	state := turns(1)
	state.Turns[0].State = many(0, 1000)
	if diff := cmp.Diff([]bool{false}, run(h, state)); diff != "" {
		t.Errorf("a state of 1,000 words and an action of one (-want +got):\n%s", diff)
	}
	if got := turns(mostSeen + 1); true {
		if diff := cmp.Diff([]bool{false}, run(newTestHistory(t), got)); diff != "" {
			t.Errorf("a turn of more words than any history remembers (-want +got):\n%s", diff)
		}
	}
}

// TestSeenSetForgets: a large table is given back after a while, and no word of a round is known in the next one.
func TestSeenSetForgets(t *testing.T) {
	s := seenSet{most: mostSeen}
	s.reset()
	for key := range uint64(100_000) {
		if _, known := s.add(key * 0x9E3779B97F4A7C15); known {
			t.Fatalf("key %d is known", key)
		}
	}
	large := len(s.slots)
	for range idleMeasure + 1 {
		s.reset()
		if s.has(0x9E3779B97F4A7C15) {
			t.Fatal("a word of an earlier round is known")
		}
		s.add(0x9E3779B97F4A7C15)
	}
	if len(s.slots) >= large/4 {
		t.Errorf("%d slots are kept of %d", len(s.slots), large)
	}
}

// TestLeaked: answers that an observation names though its action does not.
func TestLeaked(t *testing.T) {
	for _, c := range []struct {
		name                string
		query               string
		answers             []string
		action, observation string
		judged, leaked      bool
	}{
		{"named", "who?", []string{"Ada Lovelace"}, "search engines", "written by ADA, Lovelace", true, true},
		{"not named", "who?", []string{"Ada Lovelace"}, "search engines", "Lovelace was Ada", true, false},
		{"asked for", "who?", []string{"Ada Lovelace"}, `{"query":"ada lovelace"}`, "by Ada Lovelace", true, false},
		{"in the query already", "was Ada Lovelace or Mary Shelley older?", []string{"Ada Lovelace"}, "x", "Ada Lovelace", false, false},
		{"part of a longer word", "", []string{"Lovelace"}, "x", "the Lovelaces", true, false},
		{"one word", "", []string{"Lovelace"}, "x", "Miss Lovelace.", true, true},
		{"short", "", []string{"Paris"}, "x", "Paris", false, false},
		{"a number", "", []string{"1974201"}, "x", "1974201", false, false},
		{"a date", "", []string{"12 May 1974"}, "x", "on 12 may 1974", true, true},
		{"two short words", "", []string{"to be"}, "x", "to be", false, false},
		{"a part of it", "", []string{"1974; in the pilot school"}, "x", "it stands in the pilot school", true, true},
		{"the second of two", "", []string{"no such", "Ada Lovelace"}, "x", "Ada Lovelace", true, true},
		{"over a line of JSON", "", []string{"Ada Lovelace"}, "x", `{"a":"Ada\nLovelace"}`, true, true},
		{"Chinese", "", []string{"七十二根"}, "x", "共有七十二根柱子", true, true},
		{"Chinese, short", "", []string{"巴黎"}, "x", "巴黎", false, false},
		{"match that breaks off", "", []string{"one two one three"}, "x", "one two one two one three", true, true},
		{"none", "", nil, "x", "y", false, false},
	} {
		t.Run(c.name, func(t *testing.T) {
			h := newTestHistory(t)
			h.Begin(&turnmill.Trajectory{}, c.query, c.answers)
			_, b := h.Decide(&turnmill.Trajectory{Turns: []turnmill.Turn{{Action: c.action, Observation: c.observation}}}, 0)
			if b.Judged != c.judged || b.Leaked != c.leaked {
				t.Errorf("judged %v, leaked %v; want %v, %v", b.Judged, b.Leaked, c.judged, c.leaked)
			}
		})
	}
}

// TestInIsSubsequence holds the search for an answer against the plain one.
func TestInIsSubsequence(t *testing.T) {
	word := rapid.SampledFrom([]string{"a", "b", "ab", "订单"})
	rapid.Check(t, func(t *rapid.T) {
		text := rapid.SliceOfN(word, 0, 14).Draw(t, "text")
		part := rapid.SliceOfN(word, 1, 5).Draw(t, "answer")
		a := answer{words: part, back: borders(part)}
		want := false
		for i := range text {
			want = want || i+len(part) <= len(text) && slices.Equal(text[i:i+len(part)], part)
		}
		if got := a.in(strings.Join(text, ", ")); got != want {
			t.Fatalf("%q in %q: %v, want %v", part, text, got, want)
		}
	})
}

// BenchmarkHistory decides about the turns of a trajectory, and about them alone.
func BenchmarkHistory(b *testing.B) {
	for _, s := range sampleTexts() {
		tr := turnmill.Trajectory{Domain: turnmill.DomainTerminal}
		size := 0
		for i := range 12 {
			part := s.text[i*1024 : (i+1)*1024]
			part = strings.ToValidUTF8(part, "")
			tr.Turns = append(tr.Turns, turnmill.Turn{Index: i, Action: part[:100], Observation: part})
			size += len(part) + 100
		}
		for i := range tr.Turns {
			tr.Turns[i].Action = strings.ToValidUTF8(tr.Turns[i].Action, "")
		}
		b.Run(s.name+"/alone", func(b *testing.B) {
			m, err := New(Default(), "0", ModeTurn)
			if err != nil {
				b.Fatal(err)
			}
			b.SetBytes(int64(size))
			for b.Loop() {
				for i := range tr.Turns {
					m.Decide(&tr, i)
				}
			}
		})
		b.Run(s.name+"/history", func(b *testing.B) {
			h := newTestHistory(b)
			b.SetBytes(int64(size))
			b.ReportAllocs()
			for b.Loop() {
				h.Begin(&tr, "", nil)
				for i := range tr.Turns {
					h.Decide(&tr, i)
				}
			}
		})
	}
}
