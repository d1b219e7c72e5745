package endpoint

import (
	"bytes"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/google/go-cmp/cmp"
	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"pgregory.net/rapid"
)

// memFile is a file in memory that can fail.
type memFile struct {
	mu       sync.Mutex
	data     []byte
	room     int // bytes that fit; 0 is no limit
	syncs    int
	syncErr  error
	syncTime time.Duration
}

func (f *memFile) ReadAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	return bytes.NewReader(f.data).ReadAt(p, off)
}

func (f *memFile) WriteAt(p []byte, off int64) (int, error) {
	f.mu.Lock()
	defer f.mu.Unlock()
	n := len(p)
	if f.room > 0 {
		n = max(min(n, f.room-int(off)), 0)
	}
	f.data = append(f.data[:off], p[:n]...)
	if n < len(p) {
		return n, errors.New("no space left")
	}
	return n, nil
}

func (f *memFile) Sync() error {
	time.Sleep(f.syncTime)
	f.mu.Lock()
	defer f.mu.Unlock()
	f.syncs++
	return f.syncErr
}

func (f *memFile) Truncate(n int64) error {
	f.mu.Lock()
	defer f.mu.Unlock()
	f.data = f.data[:n]
	return nil
}

func open(t *testing.T, f File) *Journal {
	t.Helper()
	j, err := OpenJournal(f, "p00000.rollouts.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

// entry makes an entry for a prompt.
func entry(prompt string, state turnmill.ReplyState, text string) Entry {
	r := request(prompt)
	e := Entry{Key: KeyOf("rollout", &r), Kind: "rollout", Attempts: 1, Reply: turnmill.Reply{ID: r.ID, State: state, Text: text}}
	if !answers(state) {
		e.Reply.Text, e.Reply.Error = "", text
	}
	return e
}

func appendAll(t *testing.T, j *Journal, all ...Entry) {
	t.Helper()
	for _, e := range all {
		if err := j.Append(e); err != nil {
			t.Fatal(err)
		}
	}
}

// TestEntryRoundTrip: any entry is one line for every reader and comes back as it was.
func TestEntryRoundTrip(t *testing.T) {
	rapid.Check(t, func(t *rapid.T) {
		str := rapid.OneOf(rapid.String(), rapid.SampledFrom([]string{"", "a\u2028b\u2029c\u0085d\r\n\x0b\x0c\x1c", "\x00", `"\`, "😀"}))
		count := rapid.Int64Range(0, 1<<40)
		want := Entry{Kind: str.Draw(t, "kind"), Attempts: rapid.IntRange(0, 1000).Draw(t, "attempts"), Reply: turnmill.Reply{
			ID: str.Draw(t, "id"), Sample: rapid.IntRange(0, 1000).Draw(t, "sample"), State: turnmill.ReplyState(rapid.IntRange(0, 4).Draw(t, "state")),
			Text: str.Draw(t, "text"), Reasoning: str.Draw(t, "reasoning"), Finish: str.Draw(t, "finish"), Model: str.Draw(t, "model"), Error: str.Draw(t, "error"),
			Usage: turnmill.Usage{Prompt: count.Draw(t, "p"), Completion: count.Draw(t, "c"), Reasoning: count.Draw(t, "r")},
		}}
		copy(want.Key[:], rapid.SliceOfN(rapid.Byte(), 32, 32).Draw(t, "key"))
		line := want.append(nil)
		if strings.ContainsAny(string(line[:len(line)-1]), "\n\r\v\f\x1c\x1d\x1e\u0085\u2028\u2029") {
			t.Fatalf("a line end within %q", line)
		}
		got, err := parseEntry(new(jsonscan.Doc), line[:len(line)-1])
		if diff := cmp.Diff(want, got); err != nil || diff != "" {
			t.Fatalf("%v (-want +got):\n%s", err, diff)
		}
	})
}

// TestPrefixes: a process that dies within a write leaves some prefix. It opens, holds the whole lines, and what is
// missing is asked again, no more.
func TestPrefixes(t *testing.T) {
	s := newServer(t)
	prompts := []string{"a", "b", "c\u2028"}
	f := &memFile{}
	ask(t, client(t, s.options()), open(t, f), prompts...)
	whole := f.data
	for n := range len(whole) + 1 {
		cut := &memFile{data: bytes.Clone(whole[:n])}
		j := open(t, cut)
		kept := bytes.Count(whole[:n], []byte{'\n'})
		if st := j.Stats(); st.Entries != int64(kept) || st.CutBytes != int64(n-bytes.LastIndexByte(whole[:n], '\n')-1) {
			t.Fatalf("%d bytes: %+v, want %d entries", n, st, kept)
		}
		if n%37 != 0 { // the rest by asking, at some of them
			continue
		}
		got, a := ask(t, client(t, s.options()), j, prompts...)
		if int(a.Sent) != len(prompts)-kept || int(a.FromJournal) != kept || len(got) != 3 {
			t.Fatalf("%d bytes: sent %d with %d kept", n, a.Sent, kept)
		}
		if st := open(t, cut).Stats(); st.Entries != 3 || st.Duplicates+st.Superseded+st.CutBytes != 0 {
			t.Fatalf("%d bytes: afterwards %+v", n, st)
		}
	}
}

// TestReadJournal: who only reads changes nothing, not even a half line that another process is about to end.
func TestReadJournal(t *testing.T) {
	f := &memFile{}
	appendAll(t, open(t, f), entry("a", turnmill.ReplyComplete, "x"), entry("b", turnmill.ReplyComplete, "y"))
	f.data = f.data[:len(f.data)-5]
	before := bytes.Clone(f.data)
	j, err := ReadJournal(f, "j")
	if err != nil {
		t.Fatal(err)
	}
	r := request("a")
	if got, ok, err := j.Lookup("rollout", &r); !ok || err != nil || got.Text != "x" || j.Stats().Entries != 1 || j.Spent().Sent != 1 {
		t.Errorf("%+v %v %v, %+v", got, ok, err, j.Stats())
	}
	if err := j.Append(entry("c", turnmill.ReplyComplete, "z")); err == nil || !bytes.Equal(f.data, before) {
		t.Errorf("append: %v", err)
	}
}

// TestPitfallR37: a second run asks nothing and leaves the journal as it is. Two queries with one prompt are asked each:
// the id is part of the key.
func TestPitfallR37(t *testing.T) {
	data, err := os.ReadFile("testdata/37-same-query-twice.jsonl")
	if err != nil {
		t.Fatal(err)
	}
	var requests []turnmill.Request
	for line := range bytes.Lines(data) {
		var doc jsonscan.Doc
		v, err := doc.Parse(line)
		if err != nil {
			t.Fatal(err)
		}
		for sample := range 3 {
			requests = append(requests, turnmill.Request{ID: string(v.Get("query").AppendString(nil)), Sample: sample, Model: "m",
				Messages: []turnmill.Message{{Role: "user", Content: string(v.Get("prompt").AppendString(nil))}}})
		}
	}
	seq := func(yield func(turnmill.Request, error) bool) {
		for _, r := range requests {
			if !yield(r, nil) {
				return
			}
		}
	}
	s := newServer(t)
	path := filepath.Join(t.TempDir(), "j")
	var runs [][]turnmill.Reply
	var files [][]byte
	for range 2 {
		got := make([]turnmill.Reply, 6)
		a, err := client(t, s.options()).Ask(t.Context(), Job{Kind: "rollout", Journal: openJournal(t, path)}, seq, func(r turnmill.Reply) error {
			got[r.Sample+3*strings.Index("ab", r.ID[1:])] = r
			r.Text = "changed by its reader"
			return nil
		})
		if err != nil || a.Requests != 6 {
			t.Fatal(a, err)
		}
		file, err := os.ReadFile(path)
		if err != nil {
			t.Fatal(err)
		}
		runs, files = append(runs, got), append(files, file)
	}
	if heard, _ := s.heard(); heard != 6 {
		t.Errorf("%d asked in two runs, want 6 in the first", heard)
	}
	if diff := cmp.Diff(runs[0], runs[1]); diff != "" || !bytes.Equal(files[0], files[1]) {
		t.Errorf("the second run differs (-first +second):\n%s", diff)
	}
	for _, b := range s.bodies {
		if strings.Contains(b, "a.txt") || strings.Contains(b, "b.txt") {
			t.Errorf("a reference was sent: %s", b)
		}
	}
}

// TestSameRequestTwice: in one sequence it is asked once, and both get the answer.
func TestSameRequestTwice(t *testing.T) {
	s := newServer(t)
	_, a := ask(t, client(t, s.options()), newJournal(t), "a", "a", "b", "a")
	if a.Sent != 2 || a.FromJournal != 2 || a.States[turnmill.ReplyComplete] != 4 {
		t.Errorf("account %+v", a)
	}
}

// TestRetryFailed: failures stand until they are asked for again; then the new entry counts, once an answer stands none
// is written any more.
func TestRetryFailed(t *testing.T) {
	s := newServer(t)
	f := &memFile{}
	job := func() Job { return Job{Kind: "rollout", Journal: open(t, f)} }
	run := func(j Job) (map[string]turnmill.Reply, Account) {
		got := map[string]turnmill.Reply{}
		a, err := client(t, s.options()).Ask(t.Context(), j, asks("a|400,422", "b"), func(r turnmill.Reply) error {
			got[r.ID] = r
			return nil
		})
		if err != nil {
			t.Fatal(err)
		}
		checkAccount(t, a)
		return got, a
	}
	for i, c := range []struct {
		retry bool
		state turnmill.ReplyState
		err   string
		sent  int64
	}{
		{false, turnmill.ReplyFailed, "http_400", 2},
		{false, turnmill.ReplyFailed, "http_400", 0},
		{true, turnmill.ReplyFailed, "http_422", 1},
		{false, turnmill.ReplyFailed, "http_422", 0},
		{true, turnmill.ReplyComplete, "", 1},
		{true, turnmill.ReplyComplete, "", 0},
	} {
		j := job()
		j.RetryFailed = c.retry
		got, a := run(j)
		if r := got["a"]; r.State != c.state || ReasonOf(r.Error) != c.err || a.Sent != c.sent || got["b"].Text != "b" {
			t.Errorf("run %d: %+v, sent %d; want %s %s, %d", i, r, a.Sent, c.state, c.err, c.sent)
		}
	}
	if st := open(t, f).Stats(); st != (JournalStats{Entries: 2, Superseded: 2}) {
		t.Errorf("journal %+v", st)
	}
}

// TestFirstWins: of two answers to one key the first counts, in memory and on opening.
func TestFirstWins(t *testing.T) {
	f := &memFile{}
	j := open(t, f)
	first, second := entry("a", turnmill.ReplyComplete, "first"), entry("a", turnmill.ReplyComplete, "second")
	appendAll(t, j, entry("a", turnmill.ReplyTimeout, "timeout: x"), first, second, entry("a", turnmill.ReplyFailed, "late: x"))
	f.data = second.append(f.data) // as two processes would leave it
	for _, j := range []*Journal{j, open(t, f)} {
		r := request("a")
		if got, ok, err := j.Lookup("rollout", &r); !ok || err != nil || got.Text != "first" {
			t.Errorf("%+v %v %v", got, ok, err)
		}
		if _, ok, err := j.Lookup("score", &r); ok || err != nil {
			t.Errorf("another kind: %v %v", ok, err)
		}
	}
	if st := open(t, f).Stats(); st != (JournalStats{Entries: 1, Superseded: 1, Duplicates: 1}) {
		t.Errorf("%+v", st)
	}
}

// TestCorrupt: each byte of a line that is not the last, changed, is found, with its line and offset.
func TestCorrupt(t *testing.T) {
	f := &memFile{}
	appendAll(t, open(t, f), entry("a", turnmill.ReplyComplete, "x"), entry("b", turnmill.ReplyComplete, "y"), entry("c", turnmill.ReplyComplete, "z"))
	first := int64(bytes.IndexByte(f.data, '\n') + 1)
	second := first + int64(bytes.IndexByte(f.data[first:], '\n')+1)
	for i := first; i < second; i++ {
		bad := &memFile{data: bytes.Clone(f.data)}
		bad.data[i] ^= 1
		_, err := OpenJournal(bad, "j")
		c, ok := errors.AsType[*CorruptError](err)
		if !ok || c.Line != 2 || c.Offset != first || !errors.Is(err, turnmill.ErrCorrupt) {
			t.Fatalf("byte %d: %v", i, err)
		}
		if !strings.HasPrefix(err.Error(), fmt.Sprintf("j:2: at offset %d: ", first)) {
			t.Fatalf("message %q", err)
		}
	}
}

// TestChangedBehind: an entry that changes after it was read is found when it is read back.
func TestChangedBehind(t *testing.T) {
	f := &memFile{}
	j := open(t, f)
	appendAll(t, j, entry("a", turnmill.ReplyComplete, "text"))
	f.data[bytes.Index(f.data, []byte("text\":\"text"))+8] = 'T'
	r := request("a")
	if _, _, err := j.Lookup("rollout", &r); !errors.Is(err, turnmill.ErrCorrupt) {
		t.Errorf("error %v", err)
	}
}

// TestGroupCommit: entries that come during a sync share the next, and none returns before its own.
func TestGroupCommit(t *testing.T) {
	f := &memFile{syncTime: 2 * time.Millisecond}
	j := open(t, f)
	var all sync.WaitGroup
	for i := range 64 {
		all.Go(func() {
			e := entry(fmt.Sprint(i), turnmill.ReplyComplete, "x")
			if err := j.Append(e); err != nil {
				t.Error(err)
			}
			f.mu.Lock()
			defer f.mu.Unlock()
			if !bytes.Contains(f.data, e.append(nil)) || f.syncs == 0 {
				t.Errorf("entry %d returned before it was there", i)
			}
		})
	}
	all.Wait()
	if f.syncs > 40 {
		t.Errorf("%d syncs for 64 entries at once", f.syncs)
	}
	if st := open(t, f).Stats(); st.Entries != 64 {
		t.Errorf("%+v", st)
	}
}

// TestNoSpace: a write that fails leaves whole lines, and no entry counts that was not synced; the Ask ends with it.
func TestNoSpace(t *testing.T) {
	s := newServer(t)
	full := &memFile{}
	ask(t, client(t, s.options()), open(t, full), "a", "b", "c")
	for room := 1; room < len(full.data); room += 11 {
		f := &memFile{room: room}
		j := open(t, f)
		given := 0
		a, err := client(t, s.options()).Ask(t.Context(), Job{Kind: "rollout", Journal: j}, asks("a", "b", "c"), func(turnmill.Reply) error {
			given++
			return nil
		})
		checkAccount(t, a)
		if err == nil || !strings.Contains(err.Error(), "no space left") {
			t.Fatalf("room %d: error %v", room, err)
		}
		if st := open(t, f).Stats(); st.Entries != int64(given) || st.CutBytes != 0 {
			t.Fatalf("room %d: %d given, %+v", room, given, st)
		}
		if err := j.Append(entry("d", turnmill.ReplyComplete, "")); err == nil {
			t.Fatal("a broken journal takes an entry")
		}
	}
	f := &memFile{syncErr: errors.New("disk gone")}
	if err := open(t, f).Append(entry("a", turnmill.ReplyComplete, "")); err == nil || len(f.data) != 0 {
		t.Errorf("sync: %v, %d bytes", err, len(f.data))
	}
}

// TestKey: what changes the answer changes the key, and nothing else does.
func TestKey(t *testing.T) {
	base := func() turnmill.Request {
		seed := int64(7)
		r := request("p")
		r.Params.Seed, r.Params.TopP = &seed, "0.95"
		return r
	}
	seen := map[Key]string{}
	for name, change := range map[string]func(*turnmill.Request){
		"nothing": func(*turnmill.Request) {}, "id": func(r *turnmill.Request) { r.ID = "x" }, "sample": func(r *turnmill.Request) { r.Sample = 1 },
		"model": func(r *turnmill.Request) { r.Model = "x" }, "role": func(r *turnmill.Request) { r.Messages[0].Role = "system" },
		"content": func(r *turnmill.Request) { r.Messages[0].Content = "x" }, "seed": func(r *turnmill.Request) { *r.Params.Seed = 8 },
		"no seed": func(r *turnmill.Request) { r.Params.Seed = nil }, "top_p": func(r *turnmill.Request) { r.Params.TopP = "0.9" },
		"temperature": func(r *turnmill.Request) { r.Params.Temperature = "0.60" }, "max_tokens": func(r *turnmill.Request) { r.Params.MaxTokens = 65 },
		"messages": func(r *turnmill.Request) { r.Messages = append(r.Messages, turnmill.Message{Role: "user"}) },
	} {
		r := base()
		change(&r)
		k := KeyOf("rollout", &r)
		if other, dup := seen[k]; dup {
			t.Errorf("%s and %s have one key", name, other)
		}
		seen[k] = name
		if back, sample, ok := ParseCustomID(CustomID(k, r.Sample)); !ok || back != k || sample != r.Sample || len(CustomID(k, 1<<31-1)) > 64 {
			t.Errorf("%s: custom id %s", name, CustomID(k, r.Sample))
		}
	}
	a, b := base(), base()
	if KeyOf("rollout", &a) != KeyOf("rollout", &b) || KeyOf("rollout", &a) == KeyOf("score", &a) {
		t.Error("equal requests have one key, and another kind another")
	}
	// sha256sum of the canonical JSON, made by hand
	if got := KeyOf("rollout", &a).String(); got != "36b88411269a164880134c02e6fb6805506e5aed38cb4b01f660d86df60eaf0e" {
		t.Errorf("key %s: journals that exist would no longer be found", got)
	}
}

func FuzzOpenJournal(f *testing.F) {
	m := &memFile{}
	j, err := OpenJournal(m, "j")
	if err != nil {
		f.Fatal(err)
	}
	for _, e := range []Entry{entry("a", turnmill.ReplyComplete, "x"), entry("b", turnmill.ReplyFailed, "e: y"), entry("b", turnmill.ReplyComplete, "z")} {
		if err := j.Append(e); err != nil {
			f.Fatal(err)
		}
	}
	f.Add(m.data)
	f.Add(m.data[:len(m.data)-3])
	f.Add([]byte("\n\n"))
	f.Fuzz(func(t *testing.T, data []byte) {
		m := &memFile{data: bytes.Clone(data)}
		j, err := OpenJournal(m, "j")
		if err != nil {
			if !errors.Is(err, turnmill.ErrCorrupt) {
				t.Fatal(err)
			}
			return
		}
		if !bytes.HasPrefix(data, m.data) || len(m.data) > 0 && m.data[len(m.data)-1] != '\n' {
			t.Fatal("opening changed more than a half line")
		}
		if err := j.Append(entry("new", turnmill.ReplyComplete, "x")); err != nil {
			t.Fatal(err)
		}
		before, after := j.Stats(), open(t, m).Stats()
		before.CutBytes = 0
		if before != after {
			t.Fatalf("%+v, opened again %+v", before, after)
		}
	})
}
