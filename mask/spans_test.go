package mask

import (
	"encoding/json"
	"maps"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"
	"time"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// drawSpans writes [kept] stretches.
func drawSpans(text string, spans []turnmill.Span) string {
	var b strings.Builder
	at := int32(0)
	for _, s := range spans {
		b.WriteString(text[at:s.Start] + "[" + text[s.Start:s.End] + "]")
		at = s.End
	}
	return b.String() + text[at:]
}

// booking is the echo of which a fifth is new: what the table keeps at 5 % is the reservation's id, its state and its
// price as well.
var booking = turnmill.Turn{
	Action: `{"name":"book_reservation","arguments":{"user_id":"ada_reed_71","origin":"BRS","destination":"OSL","cabin":"economy",` +
		`"flights":[{"flight_number":"TM104","date":"2024-05-21"}],"passengers":[{"first_name":"Ada","last_name":"Reed"}],"insurance":"no"}}`,
	Observation: `{"reservation_id":"K4QX9T","user_id":"ada_reed_71","origin":"BRS","destination":"OSL","cabin":"economy",` +
		`"flights":[{"flight_number":"TM104","date":"2024-05-21","price":182}],"passengers":[{"first_name":"Ada","last_name":"Reed"}],` +
		`"insurance":"no","created_at":"2024-05-15T15:00","status":"paid"}`,
}

func TestSpans(t *testing.T) {
	for _, tt := range []struct{ name, action, observation, want string }{
		{"what follows a word is its own", "copy a b", "a: new, b! end.", "a: [new, ]b! [end.]"},
		{"what stands before the first word is not new", "a", " - new", " - [new]"},
		{"nothing new", "a b c", "c, b, a\n", "c, b, a\n"},
		{"all of it", "a", "x y\n", "[x y\n]"},
		{"case", "Echo", "ECHO done", "ECHO [done]"},
		{"a pair is new when the action has not got it", "先查订单", "先查单", "先[查单]"},
		{"both characters of a pair are in its span", "先查订单", "先查物单", "先[查物单]"},
		{"one character alone", "单", "单 双", "单 [双]"},
		{"pairs and words touch", "先查", "先查ok先查", "先查[ok]先查"},
		{"escapes", `{"cmd":"cat a"}`, `{"cmd":"cat a\nb\u00e9b","x":1}`, `{"cmd":"cat a\n[b\u00e9b","x":1}]`},
		{"escapes of whole characters", "béb c", `["b\u00e9b","\u0064","c"]`, `["b\u00e9b","[\u0064","]c"]`},
		{"json in a string", `{"a":"x"}`, `{"a":"{\"x\":\"y\\nx\"}"}`, `{"a":"{\"x\":\"[y\\n]x\"}"}`},
		{"half a surrogate pair ends a word", "a", `"a\ud800b\n"`, `"a\ud800[b\n"]`},
		{"not JSON after all", "a n", `{"a":"\n`, `{"a":"\n`},
		{"the booking", booking.Action, booking.Observation, `{"[reservation_id":"K4QX9T","]user_id":"ada_reed_71","origin":"BRS","destination":"OSL","cabin":"economy",` +
			`"flights":[{"flight_number":"TM104","date":"2024-05-21","[price":182}],"]passengers":[{"first_name":"Ada","last_name":"Reed"}],` +
			`"insurance":"no","[created_at":"]2024-05-[15T15:00","status":"paid"}]`},
	} {
		t.Run(tt.name, func(t *testing.T) {
			var m Measurer
			m.Measure(tt.action, tt.observation)
			spans := m.spansOf(nil, tt.observation)
			if got := drawSpans(tt.observation, spans); got != tt.want {
				t.Errorf("got  %s\nwant %s", got, tt.want)
			}
		})
	}
}

// unit is a word, or a character of a run of pairs, as locate finds it.
type unit struct {
	from, to int
	text     string // decoded
	paired   bool
}

// unitsOf returns the units of a text, and proves that each stands where it is said to.
func unitsOf(t interface{ Fatalf(string, ...any) }, text string) (units []unit, words wordMap) {
	var m Measurer
	m.Measure("", "")
	words = wordMap{}
	raw := trim(bytesOf(text))
	m.split.each(raw, func(stretch []byte, level, at int) {
		last := -1
		l := locator{m: &m, b: stretch, visit: func(from, to int, _ bool) {
			piece := string(stretch[from:to])
			u := unit{from: m.split.origin(level, at+from), text: piece}
			u.to = m.split.origin(level, at+to)
			spelt := string(raw[u.from:u.to])
			for range level {
				var s string
				if err := json.Unmarshal([]byte(`"`+spelt+`"`), &s); err != nil {
					t.Fatalf("%q: %q stands for no part of a string: %v", text, spelt, err)
				}
				spelt = s
			}
			if spelt != piece {
				t.Fatalf("%q: %q is said to stand at [%d, %d), where %q is", text, piece, u.from, u.to, spelt)
			}
			one := wordMap{}
			naiveText(piece, one)
			r := []rune(piece)
			u.paired = len(r) == 1 && kindOf(r[0]) == kindPairing
			switch {
			case len(one) != 1:
				t.Fatalf("%q: %q is said to be a word", text, piece)
			case u.paired && last == from: // a pair with the one before
				words[units[len(units)-1].text+piece] = true
			case !u.paired:
				words[slices.Collect(maps.Keys(one))[0]] = true
			default: // the first of a run, and a word only if it stands alone
				if r, _ := decodeRune(append(stretch[to:len(stretch):len(stretch)], ' '), 0); kindOf(r) != kindPairing {
					words[piece] = true
				}
			}
			last = -1
			if u.paired {
				last = to
			}
			units = append(units, u)
		}}
		l.scan()
	})
	return units, words
}

// checkSpans compares the spans of a turn with the definition, and the words between with those that are measured.
func checkSpans(t interface{ Fatalf(string, ...any) }, m *Measurer, action, observation string) {
	units, words := unitsOf(t, observation)
	if want := naiveWords(observation); !maps.Equal(words, want) {
		t.Fatalf("words of %q by their places are %q, want %q", observation, slices.Sorted(maps.Keys(words)), slices.Sorted(maps.Keys(want)))
	}
	c := m.Measure(action, observation)
	if len(words) != c.ObservationWords {
		t.Fatalf("%q: %d words by their places, %d measured", observation, len(words), c.ObservationWords)
	}
	spans := m.spansOf(nil, observation)
	if want := paint(action, observation, units); !slices.Equal(spans, want) {
		t.Fatalf("%q, %q:\ngot  %s\nwant %s", action, observation, drawSpans(observation, spans), drawSpans(observation, want))
	}
	if some := c.ObservationWords > c.SharedWords; some != (len(spans) > 0) {
		t.Fatalf("%q, %q: %+v, spans %v", action, observation, c, spans)
	}
}

// paint finds new spans byte by byte: each unit colours what lies up to the next one.
func paint(action, observation string, units []unit) (spans []turnmill.Span) {
	a := naiveWords(action)
	fresh := make([]bool, len(units))
	for i, u := range units {
		beside := func(k int) bool { return k >= 0 && k < len(units) && units[k].paired }
		before, after := beside(i-1) && units[i-1].to == u.from, beside(i+1) && units[i+1].from == u.to
		switch {
		case !u.paired:
			one := wordMap{}
			naiveText(u.text, one)
			for w := range one {
				fresh[i] = !a[w]
			}
		case !before && !after:
			fresh[i] = !a[u.text]
		default:
			fresh[i] = before && !a[units[i-1].text+u.text] || after && !a[u.text+units[i+1].text]
		}
	}
	start := len(observation) - len(strings.TrimLeft(observation, blanks))
	colour := make([]bool, len(observation)+1)
	for i, u := range units {
		end := len(observation)
		if i+1 < len(units) {
			end = start + units[i+1].from
		}
		for k := start + u.from; k < end; k++ {
			colour[k] = fresh[i]
		}
	}
	for k := range observation + " " {
		switch last := len(spans) - 1; {
		case colour[k] && (k == 0 || !colour[k-1]):
			spans = append(spans, turnmill.Span{Start: int32(k), End: int32(len(observation))})
		case !colour[k] && k > 0 && colour[k-1]:
			spans[last].End = int32(k)
		}
	}
	return spans
}

// blanks are the code points of White_Space.
const blanks = "\t\n\v\f\r \u0085\u00a0\u1680\u2000\u2001\u2002\u2003\u2004\u2005\u2006\u2007\u2008\u2009\u200a\u2028\u2029\u202f\u205f\u3000"

func TestSpansAgainstDefinition(t *testing.T) {
	var m Measurer
	rapid.Check(t, func(t *rapid.T) {
		action, observation := anyText().Draw(t, "action"), anyText().Draw(t, "observation")
		if rapid.Bool().Draw(t, "echo") {
			observation = rapid.SampledFrom([]string{action + observation, observation + action, action}).Draw(t, "with the action")
		}
		checkSpans(t, &m, action, observation)
	})
}

func FuzzSpans(f *testing.F) {
	f.Add("ls -la /srv", "total 4\nsrv")
	f.Add(`{"name":"think","arguments":"{\"thought\":\"先查\\n订单\"}"}`, "\u00a0[\"\\u4e2d先\\ud83d\\ude00\"] {}\n")
	f.Add(`["[\"[\\\"[\\\\\\\"x\\\\\\\\ny\\\\\\\"]\\\"]\"]"]`, `["[\"[\\\"[\\\\\\\"x\\\\\\\\nz\\\\\\\"]\\\"]\"]"]`)
	f.Add(strings.Repeat("x", 63)+"é", strings.Repeat("x ", 40)+"\x00")
	f.Add("", `{"a":"\ud800\udc00\ud800 b"} "c\n"`)
	var m Measurer
	f.Fuzz(func(t *testing.T, action, observation string) {
		checkSpans(t, &m, eachByteValid(action), eachByteValid(observation))
		m.Measure(action, observation) // of other bytes it makes something, and ends
		at := int32(0)
		for _, s := range m.spansOf(nil, observation) {
			if s.Start < at || s.End < s.Start || int(s.End) > len(observation) {
				t.Fatalf("%q: span %v", observation, s)
			}
			at = s.End
		}
	})
}

// TestSpansRecordedText compares on recorded runs: each line answers the one before.
func TestSpansRecordedText(t *testing.T) {
	root := os.Getenv("TURNMILL_DATA")
	if root == "" {
		t.Skip("TURNMILL_DATA is not set: no recorded runs to compare on")
	}
	files, err := filepath.Glob(filepath.Join(root, "*", "*.json*"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no files below %s: %v", root, err)
	}
	var m Measurer
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		before := ""
		for i, line := range strings.Split(eachByteValid(string(data[:min(len(data), 64<<10)])), "\n") {
			if i == 200 {
				break
			}
			line = line[:min(len(line), 8<<10)]
			checkSpans(t, &m, eachByteValid(before), eachByteValid(line))
			before = line
		}
	}
}

// TestSpansAreBounded: what comes behind the last span that is held goes by the draw.
func TestSpansAreBounded(t *testing.T) {
	var m Measurer
	text := strings.Repeat("a b ", mostSpans+5)
	m.Measure("a", text)
	spans := m.spansOf(nil, text)
	if last := spans[len(spans)-1]; len(spans) != mostSpans || last != (turnmill.Span{Start: 4*mostSpans - 2, End: 4 * mostSpans}) {
		t.Errorf("%d spans, the last %v", len(spans), last)
	}
}

// A huge observation of any shape takes time in proportion.
func TestSpansAreLinear(t *testing.T) {
	for name, piece := range map[string]string{
		"one word": "wW", "words": "a b ", "pairs": "先查", "json": `\n\"\u00e9 `, "json in json": `\\n\\\"\\u00e9 `,
	} {
		took := func(n int) time.Duration {
			var m Measurer
			text := strings.Repeat(piece, n/len(piece))
			switch name {
			case "json":
				text = `{"a":"` + text + `"}`
			case "json in json":
				text = `{"a":"{\"a\":\"` + text + `\"}"}`
			}
			m.Measure("a", text)
			start := time.Now()
			spans := m.spansOf(nil, text)
			if len(spans) == 0 {
				t.Errorf("%s: nothing is new", name)
			}
			return time.Since(start)
		}
		small, large := took(1<<20), took(16<<20)
		if large > 160*small+time.Second {
			t.Errorf("%s: %v for 1 MiB, %v for 16", name, small, large)
		}
	}
}
