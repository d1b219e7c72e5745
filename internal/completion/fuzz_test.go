package completion

import (
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

// FuzzDecode: no body panics, a reply's error and state agree, and a split loses nothing but markers and line feeds.
func FuzzDecode(f *testing.F) {
	f.Add([]byte(body(`"stop"`, `{"content":"<think>why</think>what","reasoning":"x"}`)))
	f.Add([]byte(body(`"length"`, `{"content":[{"type":"text","text":"a"}],"refusal":"r"}`)))
	f.Add([]byte(`{"error":{"message":"m","code":1}}`))
	f.Add([]byte(`{"choices":[null,{}]}`))
	f.Fuzz(func(t *testing.T, data []byte) {
		r, _, err := Decode(data)
		if err != nil {
			return
		}
		if failed := r.State == turnmill.ReplyFailed; failed != (r.Error != "") || r.State == turnmill.ReplyTimeout {
			t.Errorf("state %s with error %q", r.State, r.Error)
		}
		if r.State == turnmill.ReplyComplete && r.Finish == "" {
			t.Error("complete without an end")
		}
	})
}

func FuzzSplit(f *testing.F) {
	for _, s := range []string{"", "a", "<think>", "<think>\na\n</think>\n\nb", "a</think>b", "a<think>b</think>c", "</think>", "<think></think><think></think>"} {
		f.Add(s)
	}
	f.Fuzz(func(t *testing.T, s string) {
		reasoning, answer, whole := Split(s)
		if !strings.HasSuffix(s, answer) || !strings.Contains(s, reasoning) {
			t.Fatalf("%q: %q and %q do not stand in it", s, reasoning, answer)
		}
		if !whole && answer != "" {
			t.Fatalf("%q: an answer %q without an end of the reasoning", s, answer)
		}
		rest := strings.TrimSpace(strings.TrimSuffix(s, answer))
		if whole {
			rest = strings.TrimSuffix(rest, endThink)
		}
		rest = strings.TrimPrefix(rest, openThink)
		if strings.TrimSpace(rest) != strings.TrimSpace(reasoning) {
			t.Fatalf("%q: %q is lost", s, rest)
		}
	})
}
