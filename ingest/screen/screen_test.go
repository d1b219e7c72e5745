package screen

import (
	"strings"
	"testing"
	"unicode/utf8"

	"pgregory.net/rapid"
)

func mustNew(t interface{ Fatal(...any) }, columns, rows int) *Screen {
	s, err := New(columns, rows)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

func TestText(t *testing.T) {
	for in, want := range map[string]string{
		"":                                      "",
		"hello\r\n":                             "hello",
		"k\bk3\r\n\x1b[36mdemo\x1b[0m  \r\nx ":  "k3\ndemo\nx",
		"ab\x1b[D\x1b[KZ":                       "aZ",
		"\x1b]0;title\x07\x1b[?2004hw\x1b[2Jy":  " y",
		"1\r\n2\r\n3\r\n4\r\n5\r\n6":            "3\n4\n5\n6",
		"progress 10%\rprogress 99%":            "progress 99%",
		"żółć 世界":                               "żółć 世界",
		"a\x1b[3bz":                             "aaaaz",
		"a\x1b[99999999bz":                      "az", // would take minutes
		"\x1b[?1049hvim\x1b[?1049lback":         "back",
		"\x1b[c\x1b[6n\x1b[5n\x1b]11;?\x07asks": "asks", // nothing waits for an answer
	} {
		s := mustNew(t, 20, 4)
		s.Write(in)
		if got := s.Text(); got != want {
			t.Errorf("%q: got %q, want %q", in, got, want)
		}
	}
}

func TestBetween(t *testing.T) {
	for _, tt := range []struct{ before, typed, want string }{
		{"$ ", "ls", "ls"},
		{"$ ", "", ""},
		{"$ ", "l\bls -l\x1b[4D", "l"}, // up to the cursor alone
		{"1\r\n2\r\n3\r\n$ ", "abcdefghijklm", "abcdefghijklm"}, // wraps on the last row: the screen scrolls
		{"$ ", "世界 x", "世界 x"},
		{"$ ", "a\r\nb", "a\nb"},
	} {
		s := mustNew(t, 10, 4)
		s.Write(tt.before)
		s.Forget()
		from := s.Cursor()
		s.Write(tt.typed)
		if got := s.Between(from, s.Cursor()); got != tt.want {
			t.Errorf("%q then %q: got %q, want %q", tt.before, tt.typed, got, tt.want)
		}
	}
}

func TestAlternate(t *testing.T) {
	s := mustNew(t, 10, 4)
	if s.Alternate() {
		t.Error("a new screen is the alternate one")
	}
	if s.Write("\x1b[?1049h"); !s.Alternate() {
		t.Error("not the alternate screen")
	}
}

func TestSize(t *testing.T) {
	for _, size := range [][2]int{{0, 1}, {1, 0}, {-1, 5}, {MaxSide + 1, 1}, {1500, 1500}} {
		if _, err := New(size[0], size[1]); err == nil {
			t.Errorf("New(%v): no error", size)
		}
		if err := mustNew(t, 8, 2).Resize(size[0], size[1]); err == nil {
			t.Errorf("Resize(%v): no error", size)
		}
	}
	s := mustNew(t, 8, 2)
	s.Write("one\r\ntwo")
	if err := s.Resize(3, 4); err != nil {
		t.Fatal(err)
	}
	if got := s.Text(); got != "one\ntwo" {
		t.Errorf("after a resize: %q", got)
	}
}

// TestPieces: the text does not depend on where the output is cut, if not inside a character that others
// join.
func TestPieces(t *testing.T) {
	token := rapid.SampledFrom([]string{"a", "bc ", "\r\n", "\r", "\b", "\x1b[31m", "\x1b[2K", "\x1b[A", "\x1b[5;3H", "\x1b[?2004h", "\x1b]0;t\x07", "é", "世", "\t"})
	rapid.Check(t, func(t *rapid.T) {
		out := strings.Join(rapid.SliceOfN(token, 0, 40).Draw(t, "output"), "")
		whole, pieces := mustNew(t, 12, 5), mustNew(t, 12, 5)
		whole.Write(out)
		for rest := out; rest != ""; {
			n := min(len(rest), rapid.IntRange(1, 5).Draw(t, "piece"))
			for n < len(rest) && !utf8.RuneStart(rest[n]) {
				n++
			}
			pieces.Write(rest[:n])
			rest = rest[n:]
		}
		if whole.Text() != pieces.Text() || whole.Cursor() != pieces.Cursor() {
			t.Fatalf("%q: %q at %v, in pieces %q at %v", out, whole.Text(), whole.Cursor(), pieces.Text(), pieces.Cursor())
		}
	})
}

func FuzzWrite(f *testing.F) {
	f.Add("\x1b[?1049h\x1b[10;10Hx\x1b[r\x1b[L\x1b[P\x1b[@\x1b[X", 3, 9)
	f.Add("\x1b[2;3r\x1b[1000T\x1b[1000S\x1b[?69h\x1bc\x1b#8", 80, 24)
	f.Fuzz(func(t *testing.T, out string, columns, rows int) {
		s, err := New(columns%200, rows%60)
		if err != nil {
			return
		}
		s.Write(out)
		if err := s.Resize(1+rows%7&7, 1+columns%5&7); err == nil {
			s.Write(out)
		}
		if text := s.Text(); !utf8.ValidString(text) || strings.HasSuffix(text, "\n") {
			t.Fatalf("%q", text)
		}
		s.Between(Position{}, s.Cursor())
	})
}
