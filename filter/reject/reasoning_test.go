package reject

import (
	"encoding/json"
	"strings"
	"testing"
)

func TestInterrupts(t *testing.T) {
	for text, want := range map[string]string{
		"The file is there. Wait! It was removed in turn 3.":                            "Wait!",
		"Wait, no. The directory is empty.":                                             "Wait, no",
		"so it prints 3 lines... wait - 4 lines.":                                       "wait - ",
		"No, wait! Hold on. Hmm, the prompt is missing.":                                "No, wait|Hold on.|Hmm,",
		"WAIT! wait! Wait.":                                                             "WAIT!|wait!|Wait.",
		"It works. Actually, the flag is -r.":                                           "Actually,",
		"Let me double-check the exit code. On second thought it is 1.":                 "Let me double-check|On second thought",
		"The page says: please wait for the download. The agent waits; it was waiting.": "",
		"It is actually running, and the user should hold on to the file.":              "",
		"He scratch thatched roofs; there is no waiting, nor hmmming.":                  "",
		"await foo(); waitpid(1); wait_for(x)":                                          "",
		"等等，这里应该是空的。不对，文件还在。":                                                           "等等|不对，",
		"等待页面加载。这不对应任何文件。":                                                              "",
		"让我再检查一下退出码。":                                                                   "让我再检查",
		"":                                                                              "",
	} {
		var got []string
		for _, s := range Interrupts(text) {
			got = append(got, text[s.Start:s.End])
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("%q: got %q, want %q", text, g, want)
		}
	}
}

func TestLeaks(t *testing.T) {
	for text, want := range map[string]string{
		"The reference answer says 1999, so a snippet may hint at it.": "reference answer says",
		"reference answer is 12":                                                    "reference answer is",
		"According to the expected output there are 4 lines.":                       "According to the expected output",
		"The ground truth shows a 404.":                                             "ground truth",
		"The actual output is a traceback, so I write one.":                         "actual output is",
		"I must not leak the answer here.":                                          "not leak the answer",
		"Results should tease without revealing the final answer.":                  "without revealing the final answer",
		"参考答案是 1999 年，不能泄露答案。":                                                      "参考答案|不能泄露答案",
		"The expected behaviour of ls is to list files; the output was redirected.": "",
		"The user asks for a reference to the answer key in the manual.":            "",
		"The function answers with a reference.":                                    "",
	} {
		var got []string
		for _, s := range Leaks(text) {
			got = append(got, text[s.Start:s.End])
		}
		if g := strings.Join(got, "|"); g != want {
			t.Errorf("%q: got %q, want %q", text, g, want)
		}
	}
}

// TestReasonings reproduces the report's sentence from chains of its shape: 1,347 interrupts in 129 turns, 10.4 on
// average, peak 56. Report, section 7.1.
func TestReasonings(t *testing.T) {
	whole, part := Reasonings{}, Reasonings{}
	chain := func(n int) string { return strings.Repeat("It is so. Wait! ", n) + "Done." }
	add := func(to Reasonings, n, turns int) {
		for range turns {
			to.Add("terminal", chain(n), 0)
		}
	}
	add(whole, 56, 1)
	add(whole, 10, 117)
	add(part, 11, 11)
	add(part, 0, 500) // turns without an interrupt are in no mean
	part.Add("mcp", "\n", 3)
	part.Add("mcp", "The reference answer says so; the ground truth too.", 12)
	whole.Merge(part)
	total := whole.Total()
	if got, want := whole["terminal"].String(), "1,347 interrupts in 129 turns, 10.4 on average, peak 56"; got != want {
		t.Errorf("got %q, want %q", got, want)
	}
	if total.Turns != 631 || total.Empty != 1 || total.Tokens != 15 || total.LeakingTurns != 1 || total.Leaks != 2 || total.Most != int64(len(chain(56))) {
		b, _ := json.Marshal(total)
		t.Errorf("%s", b)
	}
	lengths := int64(0)
	for _, n := range total.Lengths {
		lengths += n
	}
	if lengths != total.Turns || whole["mcp"].Lengths[1] != 1 {
		t.Errorf("lengths of %d turns, want %d: %v", lengths, total.Turns, whole["mcp"].Lengths)
	}
	if got := whole["mcp"].String(); got != "no interrupts in 2 turns" {
		t.Errorf("got %q", got)
	}
}

func TestWriteReasonings(t *testing.T) {
	r := Reasonings{}
	r.Add("terminal", "So it is. Wait! Wait! No.", 7)
	r.Add("terminal", "", 0)
	r.Add("mcp", "The ground truth is known.", 6)
	var b strings.Builder
	if err := r.WriteReasonings(&b); err != nil {
		t.Fatal(err)
	}
	want := `domain    chains  empty  chars  longest  tokens  interrupted  per chain  peak  leaking
mcp            1      0     26       26       6            0          -     0        1
terminal       2      1     13       25       4            1        2.0     2        0
total          3      1     17       26       4            1        2.0     2        1
`
	if b.String() != want {
		t.Errorf("got\n%s\nwant\n%s", b.String(), want)
	}
}
