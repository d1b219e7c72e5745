package mask

import (
	"fmt"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

func TestChanged(t *testing.T) {
	for _, tt := range []struct{ name, before, after, want string }{
		{"the same", "a\nb\n", "a\nb\n", "a\nb\n"},
		{"the same but for the last line feed", "a\nb", "a\nb\n", "a\nb\n"},
		{"one line more", "a\nb\nc\n", "a\nX\nb\nc\n", "a\n[X\n]b\nc\n"},
		{"one more of the same", "a\nb\na\nc", "a\nb\na\na\nc", "a\nb\na\n[a\n]c"},
		{"one line less", "a\nb\nc\n", "a\nc\n", "a\nc\n"},
		{"another line", "a\nb\nc", "a\nX\nc", "a\n[X\n]c"},
		{"the end", "a\nb\n", "a\nb\nc\nd", "a\nb\n[c\nd]"},
		{"nothing before it in common", "x\ny\n", "a\nb\n", "[a\nb\n]"},
		{"moved past an anchor", "a\nb\nc\nd\n", "b\nc\nd\na\n", "b\nc\nd\n[a\n]"},
		{"two that changed places between anchors", "s\nx\nx\ny\ny\ne\n", "s\ny\nx\ny\nx\ne\n", "s\ny\nx\ny\nx\ne\n"},
		{"ids given anew", "[a1] link 'Home'\n[a2] link 'Cart'\n", "[b7] link 'Home'\n[b8] link 'Help'\n[b9] link 'Cart'\n", "[b7] link 'Home'\n[[b8] link 'Help'\n][b9] link 'Cart'\n"},
		{"the focus moves", "[1] textbox 'Name', focused\n[2] textbox 'City'\n[3] end\n", "[1] textbox 'Name'\n[2] textbox 'City', focused\n[3] end\n", "[[1] textbox 'Name'\n[2] textbox 'City', focused\n][3] end\n"},
		{"a clock", "TextView \"9:59\" (0,0,9,9)\nx\n", "TextView \"10:00\" (0,0,9,9)\ny\n", "TextView \"10:00\" (0,0,9,9)\n[y\n]"},
		{"an alarm", "TextView \"Alarm at 7:00\"\nx\n", "TextView \"Alarm at 7:05\"\nx\n", "[TextView \"Alarm at 7:05\"\n]x\n"},
		{"AndroidWorld's numbers", "UI element 0: {\"index\": 0, \"text\": \"A\"}\nUI element 1: {\"index\": 1, \"text\": \"B\"}\n",
			"UI element 0: {\"index\": 0, \"text\": \"N\"}\nUI element 1: {\"index\": 1, \"text\": \"A\"}\nUI element 2: {\"index\": 2, \"text\": \"B\"}\n",
			"[UI element 0: {\"index\": 0, \"text\": \"N\"}\n]UI element 1: {\"index\": 1, \"text\": \"A\"}\nUI element 2: {\"index\": 2, \"text\": \"B\"}\n"},
		{"AutoDroid's numbers", "<p id=0>Settings</p>\n<button id=1>Theme</button>", "<p id=0>New</p>\n<p id=1>Settings</p>\n<button id=2>Theme</button>",
			"[<p id=0>New</p>\n]<p id=1>Settings</p>\n<button id=2>Theme</button>"},
		{"HTML on one line", "<ul><li>Home</li><li>Cart</li></ul>", "<ul><li>Home</li><li>Help</li><li>Cart</li></ul>", "<ul><li>Home</li>[<li>Help</li>]<li>Cart</li></ul>"},
		{"JSON on one line", `{"items":[{"id":1,"name":"a"},{"id":2,"name":"b"}]}`, `{"items":[{"id":1,"name":"a"},{"id":3,"name":"c"},{"id":2,"name":"b"}]}`,
			`{"items":[{"id":1,"name":"a"},[{"id":3,"name":"c"},]{"id":2,"name":"b"}]}`},
		{"WebShop's separators", "Back [SEP] Page 1 [SEP] Next", "Back [SEP] Page 2 [SEP] Next", "Back [SEP] [Page 2 [SEP] ]Next"},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var a aligner
			if got := drawSpans(tt.after, a.spans(nil, tt.before, tt.after)); got != tt.want {
				t.Errorf("got\n%s\nwant\n%s", got, tt.want)
			}
		})
	}
}

// lines draws the lines of a tree; few texts, so that many are equal.
func lines() *rapid.Generator[[]string] {
	line := rapid.OneOf(rapid.StringMatching(`[a-d]`), rapid.StringMatching(`\t{0,2}\[[0-9]{1,2}\] (link|button) '[a-z]{0,3}'`), rapid.Just(""))
	return rapid.SliceOfN(line, 1, 40)
}

func join(lines []string) string { return strings.Join(lines, "\n") + "\n" }

func TestChangedProperties(t *testing.T) {
	var a aligner
	rapid.Check(t, func(t *rapid.T) {
		before := lines().Draw(t, "before")
		if spans := a.spans(nil, join(before), join(before)); len(spans) != 0 {
			t.Fatalf("a tree that is the same has changed: %v", spans)
		}
		at := rapid.IntRange(0, len(before)).Draw(t, "at")
		line := rapid.SampledFrom([]string{"new line", "new [1] line, focused"}).Draw(t, "line")
		more := slices.Insert(slices.Clone(before), at, line)
		if got, want := drawSpans(join(more), a.spans(nil, join(before), join(more))), join(slices.Insert(slices.Clone(before), at, "["+line)); strings.ReplaceAll(got, "[new", "#") != strings.ReplaceAll(strings.ReplaceAll(want, line+"\n", line+"\n]"), "[new", "#") {
			t.Fatalf("one line is new:\n%s\nwant\n%s", got, want)
		}
		if spans := a.spans(nil, join(more), join(before)); len(spans) != 0 {
			t.Fatalf("a line is gone and others have changed: %v", spans)
		}
		after := lines().Draw(t, "after")
		text := join(after)
		spans := a.spans(nil, join(before), text)
		end := int32(-1)
		for _, s := range spans {
			if s.Start <= end || s.End <= s.Start || int(s.End) > len(text) || s.Start > 0 && text[s.Start-1] != '\n' || text[s.End-1] != '\n' {
				t.Fatalf("%q: spans %v", text, spans)
			}
			end = s.End
		}
		// What is new in the bag of lines has changed; more may have, what moved.
		bag := map[uint64]int{}
		for _, l := range before {
			bag[a.key(l)]++
		}
		fresh := 0
		for _, l := range after {
			if bag[a.key(l)]--; bag[a.key(l)] < 0 {
				fresh++
			}
		}
		if n := changedLines(text, spans); n < fresh {
			t.Fatalf("%d lines have changed, %d are new", n, fresh)
		}
	})
}

func changedLines(text string, spans []turnmill.Span) (n int) {
	for _, s := range spans {
		n += strings.Count(text[s.Start:s.End], "\n")
	}
	return n
}

func FuzzChanged(f *testing.F) {
	f.Add("a\nb\n", "a\nc\nb")
	f.Add("<a><b>", "<a><c><b>")
	f.Add("UI element 1: {\"index\": 1", "UI element 2: {\"index\": 2")
	f.Add("x 9:59\n\n", "\n[1] x 10:00")
	var a aligner
	f.Fuzz(func(t *testing.T, before, after string) {
		end := int32(-1)
		for _, s := range a.spans(nil, before, after) {
			if s.Start <= end || s.End <= s.Start || int(s.End) > len(after) {
				t.Fatalf("%q: span %v behind %d", after, s, end)
			}
			end = s.End
		}
		if spans := a.spans(nil, after, after); len(spans) > 0 {
			t.Fatalf("%q is the same, spans %v", after, spans)
		}
	})
}

// Trees of any shape take time in proportion: nothing here is quadratic.
func TestChangedIsLinear(t *testing.T) {
	number := func(i int) string { return fmt.Sprintf("node %d\n", i) }
	for name, of := range map[string]func(i int) (before, after string){
		"all new":      func(i int) (string, string) { return number(2 * i), number(2*i + 1) },
		"all the same": func(int) (string, string) { return "x\n", "y\n" },
		"every second": func(i int) (string, string) { return number(i), number(i / 2 * 2) },
		"clocks": func(i int) (string, string) {
			return fmt.Sprintf("%d 7:0%d\n", i, i%10), fmt.Sprintf("%d 8:1%d\n", i, i%10)
		},
		"one line":      func(i int) (string, string) { return fmt.Sprintf("<a%d>", i), fmt.Sprintf("<a%d>", i+i%3) },
		"anchors, gaps": func(i int) (string, string) { return number(i) + "x\n", number(i) + "y\nx\n" },
	} {
		took := func(n int) time.Duration {
			var before, after strings.Builder
			for i := range n {
				b, a := of(i)
				before.WriteString(b)
				after.WriteString(a)
			}
			var a aligner
			start := time.Now()
			a.spans(nil, before.String(), after.String())
			return time.Since(start)
		}
		small, large := took(4_000), took(64_000)
		if large > 200*small+time.Second {
			t.Errorf("%s: %v for 4,000 nodes, %v for 64,000", name, small, large)
		}
	}
}

// Beyond mostNodes what lies between head and tail counts as changed, and nothing of it is held.
func TestChangedIsBounded(t *testing.T) {
	var before, after strings.Builder
	for i := range mostNodes + 10 {
		fmt.Fprintf(&before, "x%d\n", i)
		fmt.Fprintf(&after, "y%d\n", i/2)
	}
	var a aligner
	text := "head\n" + after.String() + "tail\n"
	spans := a.spans(nil, "head\n"+before.String()+"tail\n", text)
	if want := (turnmill.Span{Start: 5, End: int32(len(text) - 5)}); len(spans) != 1 || spans[0] != want {
		t.Errorf("spans %v, want %v", spans, want)
	}
	if a.before != nil || a.seen != nil {
		t.Error("memory is held")
	}
}

func TestScreenBefore(t *testing.T) {
	web := &turnmill.Trajectory{Domain: turnmill.DomainWeb, System: turnmill.SystemPrompt{InitialState: "start"}, Turns: []turnmill.Turn{
		{HasAction: true, Observation: "one"}, {HasAction: true, Observation: "two"}, {HasAction: true, State: "shown", Observation: "three"},
		{HasAction: true, Dialogue: true, State: "shown", Observation: "four"}, {HasAction: true, Observation: "five"}}}
	for i, want := range []string{"start", "one", "shown", "", ""} {
		if got := screenBefore(web, i); got != want {
			t.Errorf("turn %d: %q, want %q", i, got, want)
		}
	}
	web.Domain = turnmill.DomainTerminal
	for i, want := range []string{"", "", "shown"} {
		if got := screenBefore(web, i); got != want {
			t.Errorf("terminal, turn %d: %q, want %q", i, got, want)
		}
	}
}

// Turns go by the table unless they have a screen before them; the draw is one, and what is kept at a ratio is kept
// at every larger one.
func TestDecideChanged(t *testing.T) {
	m, err := New(Default(), "s", ModeChanged)
	if err != nil {
		t.Fatal(err)
	}
	run := &turnmill.Trajectory{ID: "t1", Domain: turnmill.DomainOS, Turns: []turnmill.Turn{
		{Index: 0, HasAction: true, Action: "click start", Observation: "menu\nfiles\nhelp\n"},
		{Index: 1, HasAction: true, Action: "click files", Observation: "menu\nfiles\nhelp\nreport.txt\n"},
		{Index: 2, HasAction: true, Action: "wait", Observation: "menu\nfiles\nhelp\nreport.txt\n"},
	}}
	tenth := turnmill.Ratio{Num: 1, Den: 10}
	for i, want := range []turnmill.MaskDecision{
		{Keep: turnmill.Ratio{Num: 1, Den: 1}, Kept: true},
		{Keep: tenth, Spans: []turnmill.Span{{Start: 16, End: 27}}},
		{Keep: tenth, Spans: []turnmill.Span{}},
	} {
		d := m.Decide(run, i)
		if d.Keep != want.Keep || d.Kept != want.Kept || !slices.Equal(d.Spans, want.Spans) || (d.Spans == nil) != (want.Spans == nil) {
			t.Errorf("turn %d: %+v, want %+v", i, d, want)
		}
	}
	m.Copied = turnmill.Ratio{Num: 1, Den: 1}
	if d := m.Decide(run, 1); !d.Kept || d.Spans != nil {
		t.Errorf("with copied lines kept: %+v", d)
	}
}
