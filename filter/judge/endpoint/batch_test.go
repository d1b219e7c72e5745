package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"slices"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// byID names requests in a batch as other tools do.
var byID = BatchOptions{Name: func(_ Key, r *turnmill.Request) string { return r.ID }}

// readBatch returns the replies in the order in which they were given.
func readBatch(t *testing.T, j *Journal, o BatchOptions, prompts []string, files ...string) ([]string, BatchAccount) {
	t.Helper()
	var in []BatchFile
	for i, f := range files {
		in = append(in, BatchFile{Name: fmt.Sprintf("f%d", i), R: strings.NewReader(f)})
	}
	var got []string
	a, err := ReadBatch(Job{Kind: "rollout", Journal: j}, o, asks(prompts...), in, func(r turnmill.Reply) error {
		got = append(got, strings.TrimRight(fmt.Sprintf("%s %s %s%s", r.ID, r.State, r.Text, r.Error), " "))
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	var replies int64
	for _, n := range a.States {
		replies += n
	}
	if replies != a.Requests || len(got) != int(replies) {
		t.Errorf("the account does not meet: %+v, %d given", a, len(got))
	}
	return got, a
}

// TestPitfallR49: output out of order with a duplicate, failures in a second file. Joined by custom_id alone; each
// request ends in one state.
func TestPitfallR49(t *testing.T) {
	var files []string
	for _, name := range []string{"49-batch-output.jsonl", "49-batch-errors.jsonl"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			t.Fatal(err)
		}
		files = append(files, string(data))
	}
	want := []string{"q1 complete first", "q2 failed http_429: the server says: rate limit", "q3 complete third",
		"q4 failed batch: the server says: batch_expired: expired", "q5 failed missing: it is in no file of the batch"}
	for range 2 { // the order of the files changes nothing
		j := newJournal(t)
		got, a := readBatch(t, j, byID, []string{"q1", "q2", "q3", "q4", "q5"}, files...)
		slices.Sort(got)
		if diff := cmp.Diff(want, got); diff != "" {
			t.Errorf("(-want +got):\n%s", diff)
		}
		if a.Lines != 5 || a.Duplicates != 1 || a.Missing != 1 || a.Unknown+a.Bad != 0 {
			t.Errorf("account %+v", a)
		}
		if st := j.Stats(); st.Entries != 4 || st.Failed != 2 {
			t.Errorf("journal %+v, want the missing one not in it", st)
		}
		again, a := readBatch(t, j, byID, []string{"q1", "q2", "q3", "q4", "q5"})
		if a.FromJournal != 4 || a.Missing != 1 || len(again) != 5 {
			t.Errorf("again %+v", a)
		}
		slices.Reverse(files)
	}
}

// TestReadBatchLines: what lines may be.
func TestReadBatchLines(t *testing.T) {
	ok := func(id, text string) string {
		return `{"custom_id":"` + id + `","response":{"status_code":200,"body":{"choices":[{"finish_reason":"stop","message":{"content":"` + text + `"}}]}}}`
	}
	lines := []string{
		"\uFEFF" + `{"custom_id":"a","error":{"code":"x","message":"first failure"}}`,
		`{"custom_id":"a","error":{"code":"x","message":"second failure"}}`, // duplicate
		ok("a", "answer"),      // the answer counts
		ok("a", "late answer"), // duplicate
		"",
		"null", "{", `{"response":{}}`, `{"custom_id":7}`, `{"custom_id":"b"}`, // bad
		ok("zz", "nobody's"), // unknown
		`{"custom_id":"b","response":{"status_code":200,"body":{"choices":[]}},"error":null}`,
		`{"custom_id":"c","response":{"status_code":500,"body":"<html>"},"error":null}`,
		`{"custom_id":"d","response":{"status_code":400,"body":{"error":{"code":"content_filter","message":"no"}}}}`,
		ok("e", strings.Repeat("x", 2000)), // longer than a line may be
		ok("f", `lone \ud83d`),
	}
	o := byID
	o.MaxLine = 1000
	got, a := readBatch(t, newJournal(t), o, []string{"a", "b", "c", "d", "e", "f"}, strings.Join(lines, "\r\n"))
	slices.Sort(got)
	want := []string{"a complete answer", "b failed wrong_body: no chat completion: the body has no choices", `c failed http_500: the server says: "<html>"`,
		"d refused", "e failed missing: it is in no file of the batch", "f complete lone \uFFFD"}
	if diff := cmp.Diff(want, got); diff != "" {
		t.Errorf("(-want +got):\n%s", diff)
	}
	if a.Lines != 15 || a.Bad != 6 || a.Unknown != 1 || a.Duplicates != 3 || a.Mended != 1 || len(a.Faults) != 7 {
		t.Errorf("account %+v", a)
	}
	if got := a.Faults[0].Error(); got != "f0:6: no custom_id" {
		t.Errorf("first fault %q", got)
	}
}

// TestWriteBatch: what is missing, once, in files within both limits, and joined back by our own names.
func TestWriteBatch(t *testing.T) {
	j := newJournal(t)
	appendAll(t, j, entry("a", turnmill.ReplyComplete, "held"), entry("b", turnmill.ReplyFailed, "http_500: x"))
	prompts := []string{"a", "b", "c", "c", "d", "e", "large|" + strings.Repeat("x", 1000), "f\u2028"}
	for _, c := range []struct {
		name  string
		o     BatchOptions
		retry bool
		want  string // requests in each file
	}{
		{"all", BatchOptions{}, false, "[5]"},
		{"count", BatchOptions{MaxRequests: 2}, false, "[2 2 1]"},
		{"bytes", BatchOptions{MaxBytes: 600}, false, "[2 2]"}, // the large one fits in none
		{"retry", BatchOptions{}, true, "[6]"},
	} {
		t.Run(c.name, func(t *testing.T) {
			var files []int
			var out bytes.Buffer
			large := 0
			for l, err := range WriteBatch(Job{Kind: "rollout", Journal: j, RetryFailed: c.retry}, c.o, asks(prompts...)) {
				if e, ok := errors.AsType[*LargeRequestError](err); ok && e.ID == "large" {
					large++
					continue
				}
				if err != nil {
					t.Fatal(err)
				}
				if l.File == len(files) {
					files = append(files, 0)
				}
				files[l.File]++
				out.WriteString(batchAnswer(t, l.Line))
			}
			if got := fmt.Sprint(files); got != c.want || (large == 1) != (c.name == "bytes") {
				t.Errorf("files of %s requests, %d too large; want %s", got, large, c.want)
			}
			if c.retry {
				return
			}
			held := open(t, &memFile{})
			got, a := readBatch(t, held, c.o, prompts[2:], out.String())
			if a.States[turnmill.ReplyComplete] != int64(5-large) || a.Missing != int64(large) || !slices.Contains(got, "f\u2028 complete to f\u2028") {
				t.Errorf("read back %q, %+v", got, a)
			}
		})
	}
}

// batchAnswer checks a line and answers it as a batch API does.
func batchAnswer(t *testing.T, line []byte) string {
	t.Helper()
	var doc jsonscan.Doc
	v, err := doc.Parse(line)
	if err != nil || !v.Get("method").Is("POST") || !v.Get("url").Is("/v1/chat/completions") || bytes.ContainsRune(line, '\u2028') {
		t.Fatalf("line %s: %v", line, err)
	}
	custom := v.Get("custom_id").RawStr()
	if _, _, ok := ParseCustomID(strings.Trim(custom, `"`)); !ok || len(custom) > 66 {
		t.Fatalf("custom_id %s", custom)
	}
	said := string(v.Get("body").Get("messages").At(0).Get("content").AppendString(nil))
	return `{"custom_id":` + custom + `,"response":{"status_code":200,"body":` + answer("to "+said[:min(len(said), 5)]) + `},"error":null}` + "\n"
}

// TestOneCustomIDTwice: names that do not tell requests apart are refused before anything is joined.
func TestOneCustomIDTwice(t *testing.T) {
	o := BatchOptions{Name: func(Key, *turnmill.Request) string { return "x" }}
	_, err := ReadBatch(Job{Kind: "rollout", Journal: newJournal(t)}, o, asks("a", "b"), nil, func(turnmill.Reply) error { return nil })
	if err == nil || !strings.Contains(err.Error(), "requests a and b have one custom_id, x") {
		t.Errorf("error %v", err)
	}
}

func FuzzReadBatch(f *testing.F) {
	for _, name := range []string{"49-batch-output.jsonl", "49-batch-errors.jsonl"} {
		data, err := os.ReadFile("testdata/" + name)
		if err != nil {
			f.Fatal(err)
		}
		f.Add(data)
	}
	f.Add([]byte("null\n{\n{\"custom_id\":\"q1\"}"))
	f.Fuzz(func(t *testing.T, data []byte) {
		j := open(t, &memFile{})
		o := byID
		o.MaxLine = 4096
		given := map[string]int{}
		a, err := ReadBatch(Job{Kind: "rollout", Journal: j}, o, asks("q1", "q2", "q3"), []BatchFile{{"f", bytes.NewReader(data)}}, func(r turnmill.Reply) error {
			given[r.ID]++
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		if given["q1"] != 1 || given["q2"] != 1 || given["q3"] != 1 || len(given) != 3 {
			t.Fatalf("given %v", given)
		}
		if read := 3 - a.Missing; a.Lines != read+a.Duplicates+a.Unknown+a.Bad || j.Stats().Entries != read {
			t.Fatalf("the lines do not meet: %+v", a)
		}
	})
}
