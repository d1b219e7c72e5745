package main

import (
	"bytes"
	"encoding/json"
	"os"
	"path/filepath"
	"strings"
	"testing"
	"unicode/utf8"

	"github.com/google/go-cmp/cmp"

	"github.com/turnmill/turnmill"
)

func TestReplaceSection(t *testing.T) {
	document := "# Performance\n\nopening\n\n## A\n\nold\n\n### part\n\n## By hand\n\nstays\n"
	got := replaceSection(replaceSection(document, "## B\n\nsecond\n"), "## A\n\nnew\n\n")
	want := "# Performance\n\nopening\n\n## A\n\nnew\n\n## By hand\n\nstays\n\n## B\n\nsecond\n"
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("-want +got:\n%s", diff)
	}
	if again := replaceSection(got, "## B\n\nsecond\n"); again != got {
		t.Errorf("the same section again changes the document:\n%s", cmp.Diff(got, again))
	}
	if diff := cmp.Diff(strings.Replace(got, "opening", "other", 1), replaceOpening(got, "other\n\n")); diff != "" {
		t.Errorf("opening: -want +got:\n%s", diff)
	}
}

func TestRewriter(t *testing.T) {
	r := &rewriter{seed: 7, words: []string{"lantern", "harbour", "copper"}}
	text := `{"name":"get_order","arguments":{"order":1183,"at":"0042","key":"a91f0c7be2d84f10","line":"x\u00e9\nnext 7"}}`
	got := r.text(text)
	if got == text {
		t.Error("a replica has the same text")
	}
	if !json.Valid([]byte(got)) {
		t.Errorf("JSON did not stay JSON: %s", got)
	}
	for _, stays := range []string{`"name":`, `"arguments":`, `\u00e9\n`, ` 7"`, `"at":"0`} {
		if !strings.Contains(got, stays) {
			t.Errorf("%q is gone from %s", stays, got)
		}
	}
	if a, b := r.text("open report_1183.txt, then closingReport"), r.text("report_1183.txt"); !strings.Contains(a, b) {
		t.Errorf("one name became two: %q has no %q", a, b)
	}
	if other := (&rewriter{seed: 8, words: r.words}).text(text); other == got {
		t.Error("two seeds give one replica")
	}
}

// someTrajectories are two recorded ones, as far as the tests here go.
func someTrajectories() []turnmill.Trajectory {
	long := strings.Repeat("größer als 1234 Zeilen; ", 40)
	return []turnmill.Trajectory{
		{ID: "a", Domain: turnmill.DomainMCP, System: turnmill.SystemPrompt{TaskDescription: "Find order 77.", InitialState: "logged in"},
			Turns: []turnmill.Turn{{HasAction: true, Action: "look 77", Observation: long}, {Index: 1, HasAction: true, Action: "stop", Observation: ""}}},
		{ID: "b", Domain: turnmill.DomainWeb, Turns: []turnmill.Turn{{HasAction: true, State: "page é 1", Action: "click 5", Observation: "page é 2"}}},
	}
}

// TestCorpus: the three files tell the same texts, and the ranges without loss leave out the observations
// with their end tokens.
func TestCorpus(t *testing.T) {
	c, err := makeCorpus(filepath.Join(t.TempDir(), "c"), 20_000, someTrajectories(), 3)
	if err != nil {
		t.Fatal(err)
	}
	unified, err := os.ReadFile(c.unified())
	if err != nil {
		t.Fatal(err)
	}
	trajectories, err := decodeAll(unified)
	if err != nil {
		t.Fatal(err)
	}
	chats, texts := linesOf(t, c.chats()), linesOf(t, c.texts())
	if len(trajectories) != len(chats) || len(chats) != len(texts) || int64(len(chats)) != c.Trajectories || c.Trajectories < 10 {
		t.Fatalf("%d trajectories, %d chats, %d texts, %d told", len(trajectories), len(chats), len(texts), c.Trajectories)
	}
	size := int64(0)
	for i := range chats {
		var chat struct {
			Messages []struct{ Role, Content string }
		}
		unmarshal(t, chats[i], &chat)
		var text struct {
			Text     string
			Metadata struct {
				NoLoss [][2]int `json:"no_loss_ranges"`
			}
		}
		unmarshal(t, texts[i], &text)
		want, observations := "", ""
		for _, m := range chat.Messages {
			size += int64(len(m.Content))
			want += "<|im_start|>" + m.Role + "\n" + m.Content + "<|im_end|>\n"
			if m.Role == "assistant" {
				observations += m.Content + "<|im_end|>"
			}
		}
		if text.Text != want {
			t.Fatalf("line %d: text %q, want %q", i, text.Text, want)
		}
		runes, from, lost := []rune(text.Text), 0, ""
		for _, r := range text.Metadata.NoLoss {
			lost += string(runes[from:r[0]])
			from = r[1]
		}
		if lost += string(runes[from:]); lost != observations {
			t.Fatalf("line %d: loss on %q, want %q", i, lost, observations)
		}
		var messages []struct{ Role, Content string }
		for _, m := range messagesOf(&trajectories[i]) {
			messages = append(messages, struct{ Role, Content string }{m.role, m.content})
		}
		if diff := cmp.Diff(chat.Messages, messages); diff != "" {
			t.Fatalf("line %d: -chat +trajectory:\n%s", i, diff)
		}
	}
	if size != c.Bytes || size < 20_000 {
		t.Errorf("%d bytes of text, told are %d", size, c.Bytes)
	}
}

func linesOf(t *testing.T, path string) [][]byte {
	t.Helper()
	data, err := os.ReadFile(path)
	if err != nil {
		t.Fatal(err)
	}
	return bytes.Split(bytes.TrimSuffix(data, []byte("\n")), []byte("\n"))
}

func unmarshal(t *testing.T, data []byte, to any) {
	t.Helper()
	if err := json.Unmarshal(data, to); err != nil {
		t.Fatal(err)
	}
}

// TestGenerator: the same number gives the same trajectory, texts are valid and no longer than asked, and no
// turn is lost.
func TestGenerator(t *testing.T) {
	base := someTrajectories()
	g, again := newGenerator(base, 30), newGenerator(base, 30)
	var one, two turnmill.Trajectory
	seen := map[turnmill.Domain]bool{}
	for n := range uint64(70) {
		g.make(n, &one)
		again.make(n, &two)
		if diff := cmp.Diff(one, two); diff != "" {
			t.Fatalf("trajectory %d: -first +second:\n%s", n, diff)
		}
		seen[one.Domain] = true
		if len(one.Turns) != 1 && len(one.Turns) != 2 {
			t.Fatalf("trajectory %d has %d turns", n, len(one.Turns))
		}
		for _, m := range messagesOf(&one) {
			if !utf8.ValidString(m.content) {
				t.Fatalf("trajectory %d: %q is not UTF-8", n, m.content)
			}
		}
		if k := len(one.Turns[0].Observation); k > 33 {
			t.Fatalf("trajectory %d: an observation of %d bytes", n, k)
		}
	}
	if len(seen) != len(turnmill.Domains()) {
		t.Errorf("domains %v, want all seven", seen)
	}
}

func TestHardTexts(t *testing.T) {
	for _, w := range hardTexts() {
		text := w.make(1000)
		if !utf8.Valid(text) || len(text) < 990 || len(text) > 1010 {
			t.Errorf("%s: %d bytes, valid %v", w.what, len(text), utf8.Valid(text))
		}
	}
}

func TestSpread(t *testing.T) {
	if got, want := spreadOf([]float64{3, 1, 2}), (spread{2, 1, 3}); got != want {
		t.Errorf("got %v, want %v", got, want)
	}
	if got := grouped(1234567); got != "1,234,567" {
		t.Errorf("got %s", got)
	}
}
