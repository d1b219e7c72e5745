package endpoint

import (
	"compress/gzip"
	"context"
	"encoding/json"
	"fmt"
	"io"
	"iter"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"strconv"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnmill/turnmill"
)

const testKey = "sk-test-0123456789abcdef"

// jumpClock is a clock whose sleeper wakes at once, with the time moved on to when it would have. Timers, which guard
// what really waits on the network, run fifty times faster.
type jumpClock struct {
	mu    sync.Mutex
	now   time.Time
	slept []time.Duration
}

const faster = 50

func newClock() *jumpClock { return &jumpClock{now: time.Date(2026, 1, 2, 3, 4, 5, 0, time.UTC)} }

func (c *jumpClock) Now() time.Time {
	c.mu.Lock()
	defer c.mu.Unlock()
	return c.now
}

func (c *jumpClock) Sleep(ctx context.Context, d time.Duration) error {
	c.mu.Lock()
	defer c.mu.Unlock()
	c.slept = append(c.slept, d)
	c.now = c.now.Add(d)
	return context.Cause(ctx)
}

func (c *jumpClock) AfterFunc(d time.Duration, f func()) func() bool {
	return time.AfterFunc(d/faster, f).Stop
}

// faultServer answers each request with the faults that its prompt lists, one after the other, and then with the
// prompt's name: "q7|429,500,hang".
type faultServer struct {
	*httptest.Server
	clock *jumpClock
	delay time.Duration // of every answer

	mu       sync.Mutex
	steps    map[string]int
	posts    int
	inFlight int
	peak     int
	bodies   []string
}

func newServer(t *testing.T) *faultServer {
	s := &faultServer{clock: newClock(), steps: map[string]int{}}
	s.Server = httptest.NewServer(http.HandlerFunc(s.serve))
	t.Cleanup(func() {
		s.CloseClientConnections()
		s.Close()
	})
	return s
}

// step returns the fault that comes next for a prompt.
func (s *faultServer) step(prompt string) (name, fault string) {
	name, list, _ := strings.Cut(prompt, "|")
	s.mu.Lock()
	defer s.mu.Unlock()
	n := s.steps[prompt]
	s.steps[prompt]++
	faults := strings.Split(list, ",")
	if faults[0] == "always" {
		return name, faults[1]
	}
	if list == "" || n >= len(faults) {
		return name, "ok"
	}
	return name, faults[n]
}

func (s *faultServer) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	var q struct {
		Messages []turnmill.Message
	}
	if err := json.Unmarshal(body, &q); err != nil || r.URL.Path != "/v1/chat/completions" || r.Header.Get("Authorization") != "Bearer "+testKey {
		http.Error(w, "bad test request: "+string(body), http.StatusTeapot)
		return
	}
	s.mu.Lock()
	s.posts++
	s.inFlight++
	s.peak = max(s.peak, s.inFlight)
	s.bodies = append(s.bodies, string(body))
	s.mu.Unlock()
	left := sync.OnceFunc(func() { s.mu.Lock(); s.inFlight--; s.mu.Unlock() })
	defer left()
	time.Sleep(s.delay)
	name, fault := s.step(q.Messages[len(q.Messages)-1].Content)
	s.fault(w, r, name, fault, left)
}

func answer(text string) string {
	b, _ := json.Marshal(text)
	return `{"model":"m-1","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":` + string(b) +
		`,"reasoning_content":"because"}}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`
}

func (s *faultServer) fault(w http.ResponseWriter, r *http.Request, name, fault string, left func()) {
	kind, arg, _ := strings.Cut(fault, "-")
	switch kind {
	case "half", "close", "huge", "bomb", "hang", "drip", "silent":
		left() // the client is done with it before the handler is
	}
	switch kind {
	case "ok":
		io.WriteString(w, answer(name))
	case "429", "500", "503", "400", "401", "408", "409", "422":
		status, _ := strconv.Atoi(kind)
		if how, n, ok := strings.Cut(arg, "-"); ok {
			after := n
			if seconds, _ := strconv.Atoi(n); how == "date" { // the server's clock is an hour ahead
				w.Header().Set("Date", s.clock.Now().Add(time.Hour).Format(http.TimeFormat))
				after = s.clock.Now().Add(time.Hour + time.Duration(seconds)*time.Second).Format(http.TimeFormat)
			}
			w.Header().Set("Retry-After", after)
		}
		w.WriteHeader(status)
		fmt.Fprintf(w, `{"error":{"message":"told %s by %s","code":"c%s"}}`, kind, r.Header.Get("Authorization"), kind)
	case "quota":
		w.WriteHeader(429)
		io.WriteString(w, `{"error":{"message":"pay first","code":"insufficient_quota"}}`)
	case "filter":
		w.WriteHeader(400)
		io.WriteString(w, `{"error":{"message":"no","code":"content_filter"}}`)
	case "hang":
		<-r.Context().Done()
	case "half":
		w.Header().Set("Content-Length", "1000")
		io.WriteString(w, answer(name)[:40])
	case "close":
		conn, _, _ := w.(http.Hijacker).Hijack()
		conn.Close()
	case "wrong":
		io.WriteString(w, `{"choices":[{"finish_reason":"stop","mess`)
	case "html":
		io.WriteString(w, "<html>busy</html>")
	case "said":
		io.WriteString(w, `{"error":{"message":"overloaded","code":503}}`)
	case "said429":
		io.WriteString(w, `{"error":{"message":"slowly","code":429}}`)
	case "drip", "silent":
		for i := 0; r.Context().Err() == nil && (kind == "drip" || i < 1); i++ {
			io.WriteString(w, " ")
			w.(http.Flusher).Flush()
			time.Sleep(2 * time.Millisecond)
		}
		<-r.Context().Done()
	case "huge":
		w.Write([]byte(strings.Repeat(" ", 1<<20)))
	case "bomb": // 20 kB that become 20 MB
		w.Header().Set("Content-Encoding", "gzip")
		z := gzip.NewWriter(w)
		z.Write(make([]byte, 20<<20))
		z.Close()
	case "redirect":
		http.Redirect(w, r, "http://127.0.0.1:1/elsewhere", http.StatusTemporaryRedirect)
	case "echo":
		io.WriteString(w, answer(testKey))
	case "cut":
		io.WriteString(w, strings.Replace(answer(name), "stop", "length", 1))
	case "nousage":
		io.WriteString(w, strings.Replace(answer(name), `"usage"`, `"other"`, 1))
	default:
		panic("no fault " + fault)
	}
}

// heard returns how many requests came, and how many at once.
func (s *faultServer) heard() (posts int64, peak int) {
	s.mu.Lock()
	defer s.mu.Unlock()
	return int64(s.posts), s.peak
}

// options are such that a test takes milliseconds.
func (s *faultServer) options() Options {
	return Options{URL: s.URL + "/v1", Key: NewSecret(testKey), Clock: s.clock, Jitter: func() float64 { return 0.5 }, Concurrency: 4,
		Timeout: 1000 * time.Second, Idle: 500 * time.Second, MaxResponse: 100 << 10, BreakAfter: 1000, Grace: 200 * time.Second}
}

func client(t *testing.T, o Options) *Client {
	t.Helper()
	c, err := New(o)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(c.Close)
	return c
}

// openJournal opens a file as pipelines does.
func openJournal(t *testing.T, path string) *Journal {
	t.Helper()
	f, err := os.OpenFile(path, os.O_RDWR|os.O_CREATE, 0o666)
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { f.Close() })
	j, err := OpenJournal(f, "journal")
	if err != nil {
		t.Fatal(err)
	}
	return j
}

func newJournal(t *testing.T) *Journal {
	t.Helper()
	return openJournal(t, filepath.Join(t.TempDir(), "journal.jsonl"))
}

// asks makes requests of prompts; the id is what stands before the bar.
func asks(prompts ...string) iter.Seq2[turnmill.Request, error] {
	return func(yield func(turnmill.Request, error) bool) {
		for _, p := range prompts {
			if !yield(request(p), nil) {
				return
			}
		}
	}
}

func request(prompt string) turnmill.Request {
	id, _, _ := strings.Cut(prompt, "|")
	return turnmill.Request{ID: id, Model: "m", Messages: []turnmill.Message{{Role: "user", Content: prompt}}, Params: turnmill.Params{Temperature: "0.6", MaxTokens: 64}}
}

// ask runs an Ask and returns the replies by id.
func ask(t *testing.T, c *Client, j *Journal, prompts ...string) (map[string]turnmill.Reply, Account) {
	t.Helper()
	got := map[string]turnmill.Reply{}
	a, err := c.Ask(t.Context(), Job{Kind: "rollout", Journal: j}, asks(prompts...), func(r turnmill.Reply) error {
		got[r.ID] = r
		return nil
	})
	if err != nil {
		t.Fatal(err)
	}
	checkAccount(t, a)
	return got, a
}

// checkAccount: each request ends in one state.
func checkAccount(t *testing.T, a Account) {
	t.Helper()
	replies := a.Interrupted
	for _, n := range a.States {
		replies += n
	}
	if a.Requests != replies || a.Requests != a.FromJournal+a.Asked+a.Unsent+a.Interrupted {
		t.Errorf("the account does not meet: %+v", a)
	}
}
