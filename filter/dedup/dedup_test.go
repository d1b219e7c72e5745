package dedup

import (
	"encoding/json"
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
)

// TestWords: what is a word, and that case and what stands between words are none of it.
func TestWords(t *testing.T) {
	for _, c := range []struct {
		text string
		n    int
		same string
	}{
		{"", 0, " \t-\u00a0"}, {"The cat", 2, "the  CAT."}, {"/usr/bin", 2, "usr bin"}, {"naïve ÉТЕ", 2, "NAÏVE, éте"}, {"東京 x", 3, "東、京 X"}, {"a\u2014b", 2, "a b"},
	} {
		got := words(nil, c.text, false)
		if same := words(nil, c.same, false); len(got) != c.n || !slices.Equal(got, same) {
			t.Errorf("%q: %d words, want %d; %q has %d", c.text, len(got), c.n, c.same, len(same))
		}
	}
	if got := words(nil, "a\n\nb", true); len(got) != 4 || got[1] != 0 || got[2] != 0 {
		t.Errorf("with line feeds: %v", got)
	}
}

func run(turns ...string) *turnmill.Trajectory {
	t := &turnmill.Trajectory{}
	for i := 0; i+1 < len(turns); i += 2 {
		t.Turns = append(t.Turns, turnmill.Turn{Index: i / 2, Action: turns[i], HasAction: true, Observation: turns[i+1]})
	}
	return t
}

func printOf(m Method, t *turnmill.Trajectory, input uint64) *Print {
	p := &Print{Input: input}
	m.Trajectory(t, p)
	return p
}

func shareKey(a, b *Print) bool {
	return slices.ContainsFunc(a.Keys, func(k [2]uint64) bool { return slices.Contains(b.Keys, k) })
}

// joined tells whether two runs come to be compared and are the same, which must be the same both ways.
func joined(t testing.TB, m Method, a, b *turnmill.Trajectory) bool {
	t.Helper()
	x, y := printOf(m, a, 1), printOf(m, b, 2)
	same := m.Same(x.Body, y.Body)
	if back := m.Same(y.Body, x.Body); back != same {
		t.Errorf("one way %v, the other way %v", same, back)
	}
	return same && shareKey(x, y)
}

var steps = []string{
	"ls -F", "AUTHORS.rst\nCHANGELOG.rst\nsetup.py\nsrc/\ntests/",
	"cat setup.py", "from setuptools import setup, find_packages\nsetup(name=\"marsh\", version=\"3.0.1\", packages=find_packages(\"src\"))",
	"python reproduce.py", "Traceback (most recent call last):\n  File \"reproduce.py\", line 9, in <module>\nValueError: 344 is not 345",
	"edit 1474:1474", "[File: /src/fields.py (1997 lines total)]\n(1473 more lines above)\n1474: base_unit = timedelta(**{self.precision: 1})",
	"mkdir build", "",
	"submit", "diff --git a/src/fields.py b/src/fields.py\n+ return int(round(value / base_unit))",
}

// TestTurnsSame: what exports of one run differ in does not part them.
func TestTurnsSame(t *testing.T) {
	envelope := func(i int) string {
		args, _ := json.Marshal(map[string]any{"command": steps[i]})
		return fmt.Sprintf(`<function=bash>{"name":"bash","arguments":%s}`, args)
	}
	for name, change := range map[string]func(i int) (string, string){
		"nothing":     func(i int) (string, string) { return steps[i], steps[i+1] },
		"an envelope": func(i int) (string, string) { return envelope(i), "<output>\n" + steps[i+1] + "\n</output>" },
		"a footer": func(i int) (string, string) {
			return steps[i], steps[i+1] + fmt.Sprintf("\n(Open file: /src/file%d.py)\n(Current directory: /src)\nbash-$", i/4)
		},
		"blanks": func(i int) (string, string) {
			return " " + steps[i] + "\n", strings.ReplaceAll(steps[i+1], " ", "  ") + "\r\n"
		},
		"silence in words": func(i int) (string, string) {
			if steps[i+1] == "" {
				return steps[i], "Your command ran successfully and did not produce any output.\n(Current directory: /src)\nbash-$"
			}
			return steps[i], steps[i+1]
		},
	} {
		var other []string
		for i := 0; i < len(steps); i += 2 {
			a, o := change(i)
			other = append(other, a, o)
		}
		m := &Turns{}
		a := run(steps...)
		for _, b := range []*turnmill.Trajectory{run(other...), run(other[:len(other)-2]...), run(append(slices.Clone(other), "exit", "Bye, and thank you for the fish")...)} {
			if !joined(t, m, a, b) {
				t.Errorf("%s, %d turns: parted", name, len(b.Turns))
			}
		}
	}
}

// TestTurnsOther: runs that begin alike, or whose answers are what everybody gets, are not joined.
func TestTurnsOther(t *testing.T) {
	common := []string{"ls", "bash: ls: command not found", "pwd", "/home/user", "whoami", "user"}
	elsewhere := slices.Clone(steps)
	for i := 5; i < len(elsewhere); i += 2 {
		elsewhere[i] = strings.ToUpper(fmt.Sprint(i)) + " is another answer\nwith two lines of its own"
	}
	actions := slices.Clone(steps)
	for i := 0; i < len(actions); i += 2 {
		actions[i] = fmt.Sprintf("something quite different number %d", i)
	}
	for name, pair := range map[string][2][]string{
		"the first turns are the same":  {steps, elsewhere},
		"the same answers to all else":  {steps, actions},
		"no more than a few are shared": {steps, append(slices.Clone(steps[:6]), common...)},
		"one turn":                      {steps[:2], steps[:2]},
		"silence":                       {[]string{"a", "", "b", "", "c", ""}, []string{"a", "", "b", "", "c", ""}},
		"a longer run goes on":          {steps[:6], steps},
	} {
		if joined(t, &Turns{}, run(pair[0]...), run(pair[1]...)) {
			t.Errorf("%s: joined", name)
		}
	}
	m, a := &Turns{}, run(steps...)
	one, other := printOf(m, a, 1), printOf(m, a, 1)
	if m.Same(one.Body, other.Body) {
		t.Error("two runs of one source in one input: joined")
	}
	b := run(steps...)
	b.Source = "another"
	if other = printOf(m, b, 1); !m.Same(one.Body, other.Body) {
		t.Error("two sources in one input: parted")
	}
}

// TestPrintAlone: a print depends on the text alone, not on what the method has seen before.
func TestPrintAlone(t *testing.T) {
	used := []Method{&Turns{}, &Near{Threshold: turnmill.Ratio{Num: 4, Den: 5}}}
	rapid.Check(t, func(t *rapid.T) {
		var texts []string
		for range 2 * rapid.IntRange(1, 6).Draw(t, "turns") {
			texts = append(texts, rapid.StringOf(rapid.RuneFrom([]rune("ab \n字é"))).Draw(t, "text"))
		}
		r := run(texts...)
		for k, fresh := range []Method{&Turns{}, &Near{Threshold: turnmill.Ratio{Num: 4, Den: 5}}} {
			a, b := printOf(used[k], r, 1), printOf(fresh, r, 1)
			if !slices.Equal(a.Body, b.Body) || !slices.Equal(a.Keys, b.Keys) {
				t.Fatalf("%T: %v, %v", fresh, a, b)
			}
			if len(a.Body) > 0 && !fresh.Same(a.Body, b.Body) && k == 1 {
				t.Fatal("not near itself")
			}
		}
	})
}

// index returns the exact Jaccard index of two texts' shingles.
func index(a, b string) float64 {
	set := func(text string) map[string]bool {
		s := map[string]bool{}
		w := strings.Fields(text)
		for i := 0; i+shingleWords <= len(w); i++ {
			s[strings.Join(w[i:i+shingleWords], " ")] = true
		}
		return s
	}
	x, y := set(a), set(b)
	shared := 0
	for k := range x {
		if y[k] {
			shared++
		}
	}
	return float64(shared) / float64(len(x)+len(y)-shared)
}

// TestNearCopies: of 5,000 texts and a copy of each with known edits, how many of those that reach the threshold are
// found, and how many of those that are found reach it.
func TestNearCopies(t *testing.T) {
	const n = 5000
	rng := rand.New(rand.NewPCG(7, 7))
	word := func() string { return fmt.Sprintf("w%d", rng.IntN(4000)) }
	m := &Near{Threshold: turnmill.Ratio{Num: 4, Den: 5}}
	near, found, right, border := 0, 0, 0, 0
	for range n {
		text := make([]string, 20+rng.IntN(1500))
		for i := range text {
			text[i] = word()
		}
		edited := slices.Clone(text)
		for range rng.IntN(1 + len(text)/20) {
			switch at := rng.IntN(len(edited)); rng.IntN(3) {
			case 0:
				edited[at] = word()
			case 1:
				edited = slices.Delete(edited, at, at+1)
			default:
				edited = slices.Insert(edited, at, word())
			}
		}
		a, b := strings.Join(text, " "), strings.Join(edited, " ")
		j := index(a, b)
		is, told := j >= 0.8, joined(t, m, run("", a), run("", b))
		if is {
			near++
		}
		if told {
			found++
		}
		if is && told {
			right++
		}
		if is != told && (j < 0.72 || j > 0.88) {
			t.Errorf("index %.3f: near %v", j, told)
		}
		if is != told {
			border++
		}
	}
	precision, recall := float64(right)/float64(found), float64(right)/float64(near)
	t.Logf("%d copies, %d near: %d found, precision %.3f, recall %.3f, %d on the wrong side, all within 0.08 of the threshold", n, near, found, precision, recall, border)
	if near < n/4 || precision < 0.94 || recall < 0.94 {
		t.Errorf("precision %.3f, recall %.3f of %d", precision, recall, near)
	}
}

// TestNearShort: short texts are compared exactly, down to one shingle.
func TestNearShort(t *testing.T) {
	m := &Near{Threshold: turnmill.Ratio{Num: 1, Den: 2}}
	for _, c := range []struct {
		a, b string
		near bool
	}{
		{"the cat sat", "The cat, sat.", true}, {"the cat sat", "the cat sits", false}, {"a b c d e f", "a b c d e g", false}, {"a b c d e f g h", "a b c d e f g x", true}, {"", "", false},
	} {
		if got := joined(t, m, run("", c.a), run("", c.b)); got != c.near {
			t.Errorf("%q, %q: %v", c.a, c.b, got)
		}
	}
}

// TestRows: bands find pairs at the threshold.
func TestRows(t *testing.T) {
	for _, c := range []struct {
		num  uint64
		rows int
	}{{50, 3}, {80, 6}, {90, 9}, {100, 128}, {1, 1}} {
		if got := rowsFor(turnmill.Ratio{Num: c.num, Den: 100}); got != c.rows {
			t.Errorf("threshold 0.%d: %d rows, want %d", c.num, got, c.rows)
		}
	}
}

func BenchmarkPrint(b *testing.B) {
	text := strings.Repeat(strings.Join(steps, "\n"), 10)
	r := run("cat", text, "cat", text)
	for _, m := range []Method{&Turns{}, &Near{Threshold: turnmill.Ratio{Num: 4, Den: 5}}} {
		b.Run(fmt.Sprintf("%T", m), func(b *testing.B) {
			p := &Print{}
			b.ReportAllocs()
			b.SetBytes(int64(2 * len(text)))
			for b.Loop() {
				p.Reset()
				m.Trajectory(r, p)
			}
		})
	}
}
