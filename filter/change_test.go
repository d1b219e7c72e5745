package filter

import (
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

// screens builds a GUI trajectory: each turn is state, action, observation.
func screens(domain turnmill.Domain, turns ...[3]string) *turnmill.Trajectory {
	t := &turnmill.Trajectory{Domain: domain}
	for i, s := range turns {
		t.Turns = append(t.Turns, turnmill.Turn{Index: i, HasAction: true, State: s[0], Action: s[1], Observation: s[2]})
	}
	return t
}

// reasonsOf returns each turn's reason, comma-joined, as the named filters give them.
func reasonsOf(t *testing.T, trajectory *turnmill.Trajectory, names ...string) (string, turnmill.Reason) {
	t.Helper()
	chain, err := New(names, Options{MinTurns: 1})
	if err != nil {
		t.Fatal(err)
	}
	verdicts, reason := chain.Apply(trajectory, nil)
	out := make([]string, len(verdicts))
	for i, v := range verdicts {
		out[i] = string(v.Reason)
	}
	return strings.Join(out, ","), reason
}

// What may differ between two screens while nothing happened, and what may not.
func TestNoChange(t *testing.T) {
	for _, c := range []struct {
		name, before, action, after string
		same                        bool
	}{
		{"equal", "page", "click('a1')", "page", true},
		{"a word", "button 'Go'", "click('a1')", "button 'Stop'", false},
		{"a line more", "a\nb", "scroll", "a\nb\nc", false},
		{"a line less", "a\nb\nc", "scroll", "a\nb", false},
		{"the last line feed", "a\nb\n", "scroll", "a\nb", true},
		{"ids after rendering", "[1] button 'Go'\n\t[2] link 'x'", "click [77]", "[81] button 'Go'\n\t[82] link 'x'", true},
		{"a number in brackets inside a text", "StaticText 'see [12]'", "click [77]", "StaticText 'see [13]'", false},
		{"a footnote is no id", "[note] a", "click [77]", "[text] a", false},
		{"depth", "\tbutton 'Go'", "click [77]", "button 'Go'", false},
		{"focus elsewhere, WebArena", "[15] button 'Go' focused: True", "click [77]", "[15] button 'Go'", true},
		{"focus elsewhere, BrowserGym", "[a15] textbox 'To', focused", `{"name":"click","arguments":{"bid":"a5"}}`, "[a15] textbox 'To'", true},
		{"focus where the action aims", "[15] button 'Go'", "click [15]", "[15] button 'Go' focused: True", false},
		{"focus of the root", "RootWebArea 'A', focused", "scroll(0, 100)", "RootWebArea 'A'", true},
		{"focus of AndroidWorld's lists", `UI element 3: {"index": 3, "text": "To", "is_focused": True}`, `{"action_type": "click", "index": 8}`,
			`UI element 3: {"index": 3, "text": "To"}`, true},
		{"focus of AndroidWorld's lists, aimed", `UI element 3: {"index": 3, "text": "To", "is_focused": True}`, `{"action_type": "click", "index": 3}`,
			`UI element 3: {"index": 3, "text": "To"}`, false},
		{"focus of an element without id", "EditText \"To\" {focused} (0,0,9,9)", "click", "EditText \"To\" (0,0,9,9)", false},
		{"the word focused in a text", "StaticText 'stay, focused'", "click [77]", "StaticText 'stay'", false},
		{"a value", "[15] textbox 'To' value='a'", "fill('16', 'b')", "[15] textbox 'To' value='b'", false},
		{"checked", "[15] checkbox 'x' checked: false", "click [77]", "[15] checkbox 'x' checked: true", false},
		{"expanded", "[15] combobox 'x' expanded: False", "click [77]", "[15] combobox 'x' expanded: True", false},
		{"a clock", `TextView "15:37" #clock (0,0,9,9)`, "wait", `TextView "15:38" #clock (0,0,9,9)`, true},
		{"a clock that passes the hour", `TextView "9:59" (0,0,9,9)`, "wait", `TextView "10:00" (0,0,9,9)`, true},
		{"a clock at noon", `TextView "12:59" (0,0,9,9)`, "wait", `TextView "1:00" (0,0,9,9)`, true},
		{"a clock with halves of the day", `TextView "9:59 AM" (0,0,9,9)`, "wait", `TextView "10:00 AM" (0,0,9,9)`, true},
		{"a clock past midnight", "TextView \"23:58\"", "wait", "TextView \"00:03\"", true},
		{"an alarm from the evening to the morning", "TextView \"23:00\"", "click", "TextView \"08:00\"", false},
		{"a result that is no time", "StaticText 'won 22:15'", "click", "StaticText 'won 3:05'", false},
		{"a clock and its description", `{"index": 9, "text": "15:37", "content_description": "23:37"}`, "wait", `{"index": 9, "text": "15:38", "content_description": "23:38"}`, true},
		{"an alarm", `TextView "7:00" (0,0,9,9)`, "click", `TextView "9:00" (0,0,9,9)`, false},
		{"a clock that goes back", `TextView "7:05" (0,0,9,9)`, "click", `TextView "7:00" (0,0,9,9)`, false},
		{"a time in a sentence", "StaticText 'leaves at 15:37 from Weir Lane'", "click [7]", "StaticText 'leaves at 15:38 from Weir Lane'", false},
		{"a stopwatch", `TextView "00:00:07" (0,0,9,9)`, "wait", `TextView "00:00:12" (0,0,9,9)`, false},
		{"a time stamp", "StaticText 'as of 2026-05-01 15:37:01'", "click [7]", "StaticText 'as of 2026-05-01 15:37:44'", true},
		{"another day", "StaticText 'as of 2026-05-01 15:37:01'", "click [7]", "StaticText 'as of 2026-05-02 15:37:01'", false},
		{"the clock of Windows", "Button \"System Clock, \u200e18:56:34, \u200e01.05.2026\"", "click", "Button \"System Clock, 18:59:40, 01.05.2026\"", true},
		{"signal", "ImageView [Phone two bars.] (0,0,9,9)", "wait", "ImageView [Phone signal full.] (0,0,9,9)", true},
		{"battery", `{"index": 1, "content_description": "Battery 85 percent."}`, "wait", `{"index": 1, "content_description": "Battery 84 percent."}`, true},
		{"a phone that is none of the status bar", "TextView \"Phone 555\"", "type", "TextView \"Phone 556\"", false},
		{"a notification", "a\nImageView [Mail notification: 1 new] (0,0,9,9)\nb", "wait", "a\nb", true},
		{"a notification, the other way round", "a\nb", "wait", "a\nImageView [Mail notification: 1 new] (0,0,9,9)\nb", true},
		{"ages", "StaticText '59 minutes ago'", "click [7]", "StaticText '1 hour ago'", true},
		{"a count", "StaticText '59 minutes left'", "click [7]", "StaticText '58 minutes left'", false},
		{"a countdown", "StaticText 'Reverting in 15 seconds.'", "wait", "StaticText 'Reverting in 11 seconds.'", true},
		{"an image's query", "[3] img 'x' url='https://h.example/a.png?v=1'", "click [7]", "[4] img 'x' url='https://h.example/a.png?v=2'", true},
		{"another image", "[3] img 'x' url='https://h.example/a.png'", "click [7]", "[4] img 'x' url='https://h.example/b.png'", false},
		{"a page's query", "RootWebArea 'x', url='https://h.example/a?p=1'", "click [7]", "RootWebArea 'x', url='https://h.example/a?p=2'", false},
		{"an image in the page", "img url='data:image/gif;base64,AAAA'", "click [7]", "img url='data:image/gif;base64,BBBB'", true},
		{"an empty screen after it", "page", "click [7]", "", false},
		{"no screen before it", "", "click [7]", "page", false},
	} {
		t.Run(c.name, func(t *testing.T) {
			got, _ := reasonsOf(t, screens(turnmill.DomainAndroid, [3]string{c.before, c.action, c.after}), "no-change")
			if want := map[bool]string{true: "no_change"}[c.same]; got != want {
				t.Errorf("reason %q, want %q", got, want)
			}
		})
	}
}

// What stands around a turn decides as well.
func TestNoChangeAround(t *testing.T) {
	for _, c := range []struct {
		name       string
		trajectory *turnmill.Trajectory
		want       string
	}{
		{"the others stay", screens(turnmill.DomainWeb, [3]string{"a", "click", "b"}, [3]string{"b", "click", "b"}, [3]string{"b", "click", "c"}), ",no_change,"},
		{"a wait on a screen that stays", screens(turnmill.DomainOS, [3]string{"a", "", "a"}, [3]string{"a", "x", "b"}), "no_change,"},
		{"a terminal may repeat its screen", screens(turnmill.DomainTerminal, [3]string{"a", "", "a"}, [3]string{"a", "x", "b"}), ","},
		{"R16 a change that came late", screens(turnmill.DomainAndroid, [3]string{"a", "click", "a"}, [3]string{"b", "x", "c"}), ","},
		{"the next state is not told", screens(turnmill.DomainAndroid, [3]string{"a", "click", "a"}, [3]string{"", "x", "c"}), "no_change,"},
		{"the screen before is the last observation", screens(turnmill.DomainWeb, [3]string{"", "click", "b"}, [3]string{"", "click", "b"}), ",no_change"},
		{"WebShop shows the same page after an option", screens(turnmill.DomainWeb, [3]string{"Buy [SEP] 2 oz", "click[2 oz]", "Buy [SEP] 2 oz"}, [3]string{"Buy [SEP] 2 oz", "click[Buy]", "done"}), "no_change,"},
	} {
		t.Run(c.name, func(t *testing.T) {
			if got, _ := reasonsOf(t, c.trajectory, "no-change", "unseen-change"); got != c.want {
				t.Errorf("reasons %q, want %q", got, c.want)
			}
		})
	}
	initial := screens(turnmill.DomainWeb, [3]string{"", "click", "a"})
	initial.System.InitialState = "a"
	if got, _ := reasonsOf(t, initial, "no-change"); got != "no_change" {
		t.Errorf("from the initial state: %q", got)
	}
}

// TestPitfall22TreeEqualPixelsDiffer: where screenshots are recorded they count, apart from no_change.
func TestPitfall22TreeEqualPixelsDiffer(t *testing.T) {
	for _, c := range []struct{ meta, want string }{
		{`{"screenshot_sha256":[["11","22"],["22","33"]]}`, "unseen_change,"},
		{`{"screenshot_sha256":["11","22","33"]}`, "unseen_change,"},
		{`{"screenshot_sha256":[["11","11"],["22","33"]]}`, "no_change,"},
		{`{"screenshot_sha256":[["11"],["22","33"]]}`, "no_change,"},
		{`{"screenshot_sha256":[]}`, "no_change,"},
		{`{"screenshot_sha256":"11"}`, "no_change,"},
		{`{"screenshot_sha256"`, "no_change,"},
		{"", "no_change,"},
	} {
		trajectory := screens(turnmill.DomainOS, [3]string{"a", "cut", "a"}, [3]string{"a", "save", "b"})
		trajectory.Meta = c.meta
		if got, _ := reasonsOf(t, trajectory, "no-change", "unseen-change"); got != c.want {
			t.Errorf("meta %s: %q, want %q", c.meta, got, c.want)
		}
	}
	trajectory := screens(turnmill.DomainOS, [3]string{"a", "cut", "a"}, [3]string{"a", "save", "b"})
	trajectory.Meta = `{"screenshot_sha256":[["11","22"],["22","33"]]}`
	chain, _ := New(nil, Options{})
	verdicts, _ := chain.Apply(trajectory, nil)
	want := []turnmill.Verdict{{Status: turnmill.StatusContext, Reason: turnmill.ReasonUnseenChange}, {Status: turnmill.StatusTarget}}
	if n := chain.Notes()[turnmill.NoteUnseenChange]; n != 1 {
		t.Errorf("%d turns are counted apart, want 1", n)
	}
	if diff := cmp.Diff(want, verdicts); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
}

// A screen is the same as itself; and what is compared does not depend on what was compared before.
func FuzzSameScreen(f *testing.F) {
	f.Add("[1] button 'Go', focused\nTextView \"9:59\"", "[2] button 'Go'\nTextView \"10:01\"", "click [1]")
	f.Add("Battery 8 percent. 'in 3 seconds'", "http://a.png?x 5 days ago", "")
	var used comparison
	f.Fuzz(func(t *testing.T, a, b, action string) {
		if !used.same(a, a, action) || !used.same(a+"\n", a, action) {
			t.Errorf("%q is not the same as itself", a)
		}
		var fresh comparison
		if used.same(a, b, action) != fresh.same(a, b, action) {
			t.Errorf("%q and %q: another answer", a, b)
		}
	})
}

// Screens of megabytes on which looking at one side again for each line of the other would take minutes.
func TestNoChangeLinear(t *testing.T) {
	flips := func(n int, has string) string {
		return strings.Repeat("[1] button 'Go' focused: "+has+"\n", n)
	}
	for _, c := range []struct {
		name, before, action, after string
		same                        bool
	}{
		{"blank lines before a long one", strings.Repeat("\n", 1<<20) + "z", "click", strings.Repeat("y", longestLine), false},
		{"a long line, and blank ones before it later", strings.Repeat("y ", longestLine/2), "click", strings.Repeat("\n", 1<<20) + "z", false},
		{"blank lines before the same", strings.Repeat("\n", 1<<20) + "z", "click", "z", true},
		{"every element gets the focus", flips(1<<16, "True"), strings.Repeat("x", 1<<20), flips(1<<16, "False"), false},
		{"some elements get it", flips(mostFocus, "True"), "click [77]", flips(mostFocus, "False"), true},
		{"one too many", flips(mostFocus+1, "True"), "click [77]", flips(mostFocus+1, "False"), false},
	} {
		trajectory := screens(turnmill.DomainWeb, [3]string{c.before, c.action, c.after}, [3]string{"", "click", "other"})
		reasons, _ := reasonsOf(t, trajectory, "no-change")
		if got := reasons != ","; got != c.same {
			t.Errorf("%s: the same screen %v, want %v (%s)", c.name, got, c.same, reasons)
		}
	}
}
