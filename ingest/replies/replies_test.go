package replies

import (
	"bytes"
	"compress/gzip"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"testing"

	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
	"github.com/turnmill/turnmill/internal/zstdio"
)

var update = golden.Update()

// naming names judgements so that tests can read them.
var naming = Naming{
	Score: func(q string, n int) string { return fmt.Sprintf("score %s %d", q, n) },
	Pair:  func(q string, a, b int) string { return fmt.Sprintf("pair %s %d %d", q, a, b) },
}

// write writes files and returns them by their names.
func write(t testing.TB, texts ...string) []File {
	t.Helper()
	dir := t.TempDir()
	var files []File
	for i, text := range texts {
		name := fmt.Sprintf("%d/answers", i)
		path := filepath.Join(dir, fmt.Sprint(i))
		if err := os.WriteFile(path, []byte(text), 0o666); err != nil {
			t.Fatal(err)
		}
		files = append(files, File{name, path})
	}
	return files
}

func open(t testing.TB, many int, texts ...string) *Index {
	t.Helper()
	x, err := build(write(t, texts...), Limits{}, naming, nil, many)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { x.Close() })
	return x
}

// line says what a reply is, for goldens.
func line(r turnmill.Reply) string {
	return fmt.Sprintf("%s #%d %s text=%q reasoning=%q finish=%q error=%q usage=%d,%d,%d", r.ID, r.Sample, r.State, r.Text, r.Reasoning, r.Finish, r.Error,
		r.Usage.Prompt, r.Usage.Completion, r.Usage.Reasoning)
}

// TestShapes reads every row of testdata/shapes.jsonl: a reply a line, or why there is none.
func TestShapes(t *testing.T) {
	data, err := os.ReadFile("testdata/shapes.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var out strings.Builder
	d := newDecoder(naming)
	for row := range strings.Lines(string(data)) {
		fmt.Fprintf(&out, "%s", row)
		all, err := d.decode([]byte(strings.TrimSuffix(row, "\n")))
		for _, r := range all {
			fmt.Fprintf(&out, "    %s\n", line(r))
		}
		if err != nil {
			fmt.Fprintf(&out, "    %v\n", err)
		}
	}
	golden.Check(t, *update, "shapes.golden", []byte(out.String()))
}

// get asks for an id and returns what came, a line each.
func get(t *testing.T, x *Index, id string) (lines []string, found int) {
	t.Helper()
	all, found, err := x.Reader().Get(id)
	if err != nil {
		t.Fatal(err)
	}
	for _, r := range all {
		s := fmt.Sprintf("%d %s %s", r.Sample, r.State, r.Text)
		if r.Error != "" {
			s = fmt.Sprintf("%d %s %s", r.Sample, r.State, r.Error)
		}
		lines = append(lines, s)
	}
	return lines, found
}

func equal(t *testing.T, what string, got, want any) {
	t.Helper()
	if fmt.Sprintf("%q", got) != fmt.Sprintf("%q", want) {
		t.Errorf("%s\n got %q\nwant %q", what, got, want)
	}
}

func TestPitfall36FewerRollouts(t *testing.T) {
	x := open(t, spillEntries, `{"query":"q1","rollout":0,"text":"a","finish_reason":"stop"}
{"query":"q1","rollout":1,"text":"b","finish_reason":"stop"}
null
{"query":"q2","rollout":2,"text":"c","finish_reason":"stop"}
{"query":"q2","rollout":2,"text":"c again","finish_reason":"stop"}
{"query":"q9","rollout":0,"text":"nobody asked","finish_reason":"stop"}
`)
	one, _ := get(t, x, "q1")
	equal(t, "q1 has two of three", one, []string{"0 complete a", "1 complete b"})
	two, found := get(t, x, "q2")
	equal(t, "the first of two answers", two, []string{"2 complete c"})
	equal(t, "replies of q2, of all, and rows that were rejected", []int64{int64(found), x.Replies(), x.Bad[turnmill.ReasonBadField]}, []int64{2, 5, 1})
	if len(x.Rejects) != 1 || x.Rejects[0].Pos.Line != 3 || x.Rejects[0].Pos.Path != "0/answers" {
		t.Errorf("rejects %+v, want line 3 of 0/answers", x.Rejects)
	}
}

func TestPitfall49BatchReplies(t *testing.T) {
	x := open(t, spillEntries, `{"custom_id":"q3","response":{"status_code":200,"body":{"choices":[{"finish_reason":"stop","message":{"content":"third"}}]}},"error":null}
{"custom_id":"q1","response":{"status_code":200,"body":{"choices":[{"finish_reason":"stop","message":{"content":"first"}}]}},"error":null}
{"custom_id":"q1","response":{"status_code":200,"body":{"choices":[{"finish_reason":"stop","message":{"content":"first again"}}]}},"error":null}
`, `{"custom_id":"q2","response":{"status_code":429,"body":{"error":{"message":"rate limit"}}},"error":null}
{"custom_id":"q4","response":null,"error":{"code":"batch_expired","message":"expired"}}
`)
	for id, want := range map[string][]string{
		"q1": {"0 complete first"}, "q3": {"0 complete third"},
		"q2": {"0 failed the server says: status 429: rate limit"}, "q4": {"0 failed the server says: batch_expired: expired"},
	} {
		got, _ := get(t, x, id)
		equal(t, id, got, want)
	}
	if len(x.Rejects) > 0 {
		t.Errorf("rejects %+v", x.Rejects)
	}
}

// TestFailureGivesWay: the reply of a second try stands for the sample, whatever failed before or after it.
func TestFailureGivesWay(t *testing.T) {
	x := open(t, spillEntries, `{"query":"q","rollout":0,"error":"too busy"}`, `{"query":"q","rollout":0,"text":"yes","finish_reason":"stop"}
{"query":"q","rollout":0,"error":"too late"}`)
	got, found := get(t, x, "q")
	equal(t, "replies", got, []string{"0 complete yes"})
	equal(t, "found", found, 3)
}

// TestReports reads the files of the public bug reports, where they are.
func TestReports(t *testing.T) {
	root := os.Getenv("TURNMILL_DATA")
	dir := filepath.Join(root, "..", "cases", "reports")
	if _, err := os.Stat(dir); root == "" || err != nil {
		t.Skip("TURNMILL_DATA is not set, or has no cases/reports beside it")
	}
	file := func(name string) File { return File{name, filepath.Join(dir, name)} }
	for name, want := range map[string][2]int64{ // replies, rejects
		"33-nan-among-three.jsonl": {3, 0}, "36-fewer-rollouts-than-asked.jsonl": {7, 1},
		"49-batch-output.jsonl": {3, 0}, "49-batch-errors.jsonl": {2, 0},
	} {
		x, err := Build([]File{file(name)}, Limits{}, naming, nil)
		if err != nil {
			t.Fatal(err)
		}
		if got := [2]int64{x.Replies(), int64(len(x.Rejects))}; got != want {
			t.Errorf("%s: %d replies and %d rejects, want %d", name, got[0], got[1], want)
		}
		x.Close()
	}
}

// TestCompressed finds the same replies in plain, gzip and zstd files, and in an array.
func TestCompressed(t *testing.T) {
	const rows = `{"query":"a","rollout":1,"text":"one","finish_reason":"stop"}
{"query":"a","rollout":0,"text":"nought","finish_reason":"length"}
`
	var gz, zs bytes.Buffer
	g := gzip.NewWriter(&gz)
	g.Write([]byte(rows))
	g.Close()
	z, err := zstdio.NewWriter(&zs)
	if err != nil {
		t.Fatal(err)
	}
	z.Write([]byte(rows))
	z.Close()
	lines := strings.Split(strings.TrimSpace(rows), "\n")
	for name, text := range map[string]string{"plain": rows, "gzip": gz.String(), "zstd": zs.String(), "array": "\ufeff [\n" + lines[0] + ",\n" + lines[1] + "]\n"} {
		x := open(t, spillEntries, text)
		got, _ := get(t, x, "a")
		equal(t, name, got, []string{"0 truncated nought", "1 complete one"})
		if x.Files[0].Bytes != int64(len(text)) || x.Files[0].Rows != 2 {
			t.Errorf("%s: %+v, want %d bytes, 2 rows", name, x.Files[0], len(text))
		}
	}
}

func TestDamage(t *testing.T) {
	if _, err := Build(write(t, "\x1f\x8b\x08\x00 damaged"), Limits{}, naming, nil); err == nil || !strings.Contains(err.Error(), "0/answers") {
		t.Errorf("a damaged file: %v, want an error that names it", err)
	}
	stop := errors.New("stop")
	if _, err := Build(write(t, "{}\n"), Limits{}, naming, func() error { return stop }); !errors.Is(err, stop) {
		t.Errorf("stopped: %v", err)
	}
	files := write(t, `{"query":"a","rollout":0,"text":"x","finish_reason":"stop"}`)
	x, err := Build(files, Limits{}, naming, nil)
	if err != nil {
		t.Fatal(err)
	}
	defer x.Close()
	if err := os.Truncate(files[0].Path, 10); err != nil {
		t.Fatal(err)
	}
	if _, _, err := x.Reader().Get("a"); err == nil || !strings.Contains(err.Error(), "no longer") {
		t.Errorf("a file that shrank: %v", err)
	}
}

// TestSpill: the runs on disk give what one run in memory gives, and both what a map gives.
func TestSpill(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		var text [2]strings.Builder
		want := map[string]map[int]string{}
		n := rapid.IntRange(0, 60).Draw(t, "rows")
		rows := make([]int, n)
		for i := range rows {
			rows[i] = rapid.IntRange(0, 1).Draw(t, "file")
		}
		for f := range text { // files are read one after the other
			for i, in := range rows {
				if in != f {
					continue
				}
				id, sample := fmt.Sprint("id", rapid.IntRange(0, 6).Draw(t, "id")), rapid.IntRange(0, 2).Draw(t, "sample")
				fmt.Fprintf(&text[f], "{\"query\":%q,\"rollout\":%d,\"text\":\"%d\",\"finish_reason\":\"stop\"}\n", id, sample, i)
				if want[id] == nil {
					want[id] = map[int]string{}
				}
				if _, first := want[id][sample]; !first {
					want[id][sample] = fmt.Sprint(i)
				}
			}
		}
		dir, err := os.MkdirTemp("", "replies")
		if err != nil {
			t.Fatal(err)
		}
		defer os.RemoveAll(dir)
		var files []File
		for f := range text {
			path := filepath.Join(dir, fmt.Sprint(f))
			if err := os.WriteFile(path, []byte(text[f].String()), 0o666); err != nil {
				t.Fatal(err)
			}
			files = append(files, File{fmt.Sprint(f), path})
		}
		for _, many := range []int{1, 3, 1000} {
			x, err := build(files, Limits{}, naming, nil, many)
			if err != nil {
				t.Fatal(err)
			}
			r := x.Reader()
			for i := range 8 {
				id := fmt.Sprint("id", i)
				all, _, err := r.Get(id)
				if err != nil || len(all) != len(want[id]) {
					t.Fatalf("%s in runs of %d: %d samples, %v; want %d", id, many, len(all), err, len(want[id]))
				}
				for k, a := range all {
					if a.Text != want[id][a.Sample] || k > 0 && all[k-1].Sample >= a.Sample {
						t.Fatalf("%s in runs of %d: sample %d is %q, want %q", id, many, a.Sample, a.Text, want[id][a.Sample])
					}
				}
			}
			x.Close()
		}
	})
}

func FuzzDecode(f *testing.F) {
	data, err := os.ReadFile("testdata/shapes.jsonl")
	if err != nil {
		f.Fatal(err)
	}
	for row := range bytes.Lines(data) {
		f.Add(bytes.TrimSpace(row))
	}
	f.Fuzz(func(t *testing.T, row []byte) {
		all, err := newDecoder(naming).decode(row)
		if err != nil {
			var e *turnmill.RecordError
			if !errors.As(err, &e) || e.Reason == "" || len(all) > 0 {
				t.Fatalf("%v with %d replies, want a reason and none", err, len(all))
			}
			return
		}
		if len(all) == 0 {
			t.Fatal("neither replies nor an error")
		}
		for _, r := range all {
			if r.ID == "" || r.Sample < 0 || (r.State == turnmill.ReplyFailed) != (r.Error != "") && r.State != turnmill.ReplyTimeout {
				if !strings.Contains(string(row), `"state"`) {
					t.Fatalf("reply %+v", r)
				}
			}
		}
	})
}
