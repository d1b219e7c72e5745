package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"sync"
	"testing"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
	"github.com/turnmill/turnmill/internal/toyrollouts"
)

// oracle is an endpoint whose answers depend on the question alone. Some questions meet a fault first, and some always.
type oracle struct {
	*httptest.Server
	mu       sync.Mutex
	posts    int
	answered map[string]int // whole answers by question
	tries    map[string]int
	inFlight int
	peak     int
	posted   func(posts int)
	healed   bool // no question is refused any more
	prose    bool // judges say nothing that can be read
}

func newOracle(t *testing.T) *oracle {
	o := &oracle{answered: map[string]int{}, tries: map[string]int{}}
	o.Server = httptest.NewServer(http.HandlerFunc(o.serve))
	t.Cleanup(func() {
		o.CloseClientConnections()
		o.Close()
	})
	return o
}

// answers returns how many whole answers were given.
func (o *oracle) answers() (n int) {
	o.mu.Lock()
	defer o.mu.Unlock()
	for _, k := range o.answered {
		n += k
	}
	return n
}

// journalled counts the answers that the journals of a run hold.
func journalled(t *testing.T, root string) (n int) {
	t.Helper()
	files, err := filepath.Glob(filepath.Join(root, journalDir, "*.jsonl"))
	if err != nil || len(files) == 0 {
		t.Fatalf("no journals: %v", err)
	}
	for _, name := range files {
		data, err := os.ReadFile(name)
		if err != nil {
			t.Fatal(err)
		}
		n += strings.Count(string(data), `"state":"complete"`)
	}
	return n
}

func (o *oracle) serve(w http.ResponseWriter, r *http.Request) {
	body, _ := io.ReadAll(r.Body)
	key := string(body)
	o.mu.Lock()
	o.posts++
	o.inFlight++
	o.peak = max(o.peak, o.inFlight)
	try := o.tries[key]
	o.tries[key]++
	posts, posted := o.posts, o.posted
	o.mu.Unlock()
	defer func() { o.mu.Lock(); o.inFlight--; o.mu.Unlock() }()
	if posted != nil {
		posted(posts)
	}
	var q struct{ Messages []turnmill.Message }
	if err := json.Unmarshal(body, &q); err != nil {
		http.Error(w, "no JSON", http.StatusTeapot)
		return
	}
	sum := sha256.Sum256(body)
	switch fault := sum[0] % 32; {
	case try == 0 && fault == 0:
		w.Header().Set("Retry-After", "0")
		http.Error(w, `{"error":{"message":"slow down"}}`, http.StatusTooManyRequests)
		return
	case try == 0 && fault == 1:
		http.Error(w, `{"error":{"message":"broken"}}`, http.StatusInternalServerError)
		return
	case fault == 2 && sum[1]%2 == 0 && !o.healed: // a question that is always refused
		http.Error(w, `{"error":{"message":"poison"}}`, http.StatusBadRequest)
		return
	}
	if o.prose {
		sum[3] = 0
	}
	text := oracleAnswer(q.Messages, sum)
	quoted, _ := json.Marshal(text)
	o.mu.Lock()
	o.answered[key]++
	o.mu.Unlock()
	fmt.Fprintf(w, `{"model":"oracle","choices":[{"index":0,"finish_reason":"stop","message":{"role":"assistant","content":%s}}],"usage":{"prompt_tokens":10,"completion_tokens":5}}`, quoted)
}

// oracleAnswer tells the kinds of questions apart by what they ask for.
func oracleAnswer(m []turnmill.Message, sum [32]byte) string {
	system := m[0].Content
	switch {
	case strings.Contains(system, `\boxed`):
		return `\boxed{` + string("AB"[sum[2]%2]) + `}`
	case strings.Contains(system, "final_evaluation"):
		if sum[3]%16 == 0 {
			return "I would rather not say."
		}
		n := 2 + int(sum[2]%4)
		return fmt.Sprintf(`<final_evaluation>{"format":%d,"factuality":%d,"consistency":%d,"realism":%d,"quality":%d}</final_evaluation>`, n, n, n, n, n)
	}
	return fmt.Sprintf("<think>\nWait! %x\n</think>\n\nanswer %x", sum[4:8], sum[8:12])
}

// asking returns the options of a run that asks everything.
func asking(t testing.TB, o *oracle, trajectories int) Options {
	t.Helper()
	dir := t.TempDir()
	if err := toyrollouts.Write(dir, trajectories); err != nil {
		t.Fatal(err)
	}
	opts := DefaultOptions()
	opts.Pipeline, opts.Mask, opts.Template, opts.Tokenizer = pipelineSFT, "off", drawnTemplate, "demo"
	opts.Inputs, opts.Output = []string{filepath.Join(dir, "runs")}, filepath.Join(t.TempDir(), "out")
	opts.SFT.RolloutModel, opts.SFT.JudgeModel = "roll", "judge"
	opts.Partitions, opts.MaxRejectRate, opts.MaxDropRate = 3, 1, 1
	opts.Ask.RolloutURL, opts.Ask.JudgeURL, opts.Ask.MaxInFlight = o.URL+"/v1", o.URL+"/v1", 4
	opts.Ask.tune = func(e *endpoint.Options) {
		e.BackoffMin, e.BackoffMax, e.Grace = time.Millisecond, 5*time.Millisecond, -1
	}
	return opts
}

// chosen is digest without the journals, in which answers stand in the order in which they came.
func chosen(t testing.TB, root string) map[string]string {
	t.Helper()
	sums := digest(t, root)
	for name := range sums {
		if strings.HasPrefix(name, journalDir+"/") {
			delete(sums, name)
		}
	}
	return sums
}

// TestAsk: with nothing recorded, every question is asked and answered once; a second run asks nothing, and one with the
// same journals gives the same bytes. Check proves all of it.
func TestAsk(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 21)
	m := mustRun(t, o)
	q := m.Ledger.Total.Queries
	if q.In != 21 || q.Out == 0 || q.Rejected[turnmill.ReasonRolloutFailed]+q.Rejected[turnmill.ReasonJudgeFailed] == 0 {
		t.Fatalf("queries %+v: want 21, some selected and some that failed", q)
	}
	if got, want := server.answers(), journalled(t, o.Output); got != want {
		t.Errorf("%d answers, and the journals hold %d", got, want)
	}
	if server.peak > 8 {
		t.Errorf("%d requests in flight, want at most 4 of each endpoint", server.peak)
	}
	mustCheck(t, o)
	posts, want := server.posts, chosen(t, o.Output)
	mustRun(t, o)
	again := with(t, o, func(o *Options) { o.Workers = 7 })
	copyDir(t, filepath.Join(o.Output, journalDir), filepath.Join(again.Output, journalDir))
	mustRun(t, again)
	sameFiles(t, "from the journals", want, chosen(t, again.Output))
	if server.posts != posts {
		t.Errorf("%d requests more, want none", server.posts-posts)
	}
}

// TestAskInterrupted: after a break at any request, no more is asked again than was in flight, and the end is the same.
func TestAskInterrupted(t *testing.T) {
	server := newOracle(t)
	base := asking(t, server, 14)
	mustRun(t, base)
	want := chosen(t, base.Output)
	for _, after := range []int{1, 20, 60} {
		server := newOracle(t)
		o := with(t, base, func(o *Options) { o.Ask.RolloutURL, o.Ask.JudgeURL = server.URL+"/v1", server.URL+"/v1" })
		ctx, cancel := context.WithCancel(context.Background())
		server.posted = func(posts int) {
			if posts == after {
				cancel()
			}
		}
		if _, err := CPT(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled after %d requests: %v", after, err)
		}
		cancel()
		mustRun(t, o)
		if twice := server.answers() - journalled(t, o.Output); twice < 0 || twice > 4 {
			t.Errorf("after %d requests: %d answers beyond those in the journals, want at most the 4 in flight", after, twice)
		}
		sameFiles(t, fmt.Sprintf("a break after %d requests", after), want, chosen(t, o.Output))
	}
}

// TestAskInterruptedLate: a run that was stopped among the last attempts at what cannot be read goes on with those attempts.
func TestAskInterruptedLate(t *testing.T) {
	server := newOracle(t)
	server.prose, server.healed = true, true
	o := asking(t, server, 7)
	o.Partitions, o.Ask.MaxInFlight = 1, 1
	mustRun(t, o)
	want, whole := chosen(t, o.Output), journalled(t, o.Output)
	if whole != 7*3*(1+o.SFT.Attempts) {
		t.Fatalf("%d answers, want 21 rollouts and %d attempts at the scores of each", whole, o.SFT.Attempts)
	}
	for attempt := range o.SFT.Attempts {
		after := 3*attempt + 1 // the three rollouts of a query are the same, and so are the questions about them
		server := newOracle(t)
		server.prose, server.healed = true, true
		o := with(t, o, func(o *Options) { o.Ask.RolloutURL, o.Ask.JudgeURL = server.URL+"/v1", server.URL+"/v1" })
		ctx, cancel := context.WithCancel(context.Background())
		server.posted = func(int) {
			server.mu.Lock()
			defer server.mu.Unlock()
			for body, n := range server.answered {
				if n == after && strings.Contains(body, `"model":"judge"`) {
					cancel()
				}
			}
		}
		if _, err := CPT(ctx, o); !errors.Is(err, context.Canceled) {
			t.Fatalf("cancelled in attempt %d: %v", attempt, err)
		}
		cancel()
		mustRun(t, o)
		if got := journalled(t, o.Output); got != whole {
			t.Errorf("stopped in attempt %d: %d answers in all, want %d", attempt, got, whole)
		}
		sameFiles(t, fmt.Sprintf("a break in attempt %d", attempt), want, chosen(t, o.Output))
	}
}

// TestAskBudget: no more is sent than the budget allows, over several runs, and what was not asked says so.
func TestAskBudget(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 14)
	o.Ask.Budget.Requests = 15
	m := mustRun(t, o)
	if server.posts > 30 { // of two endpoints
		t.Errorf("%d requests, with a budget of 15 for each endpoint", server.posts)
	}
	if q := m.Ledger.Total.Queries; q.In != 14 || q.Rejected[turnmill.ReasonBudget] == 0 {
		t.Errorf("queries %+v: want 14, some of them not asked", q)
	}
	mustCheck(t, o)
	posts := server.posts
	o.Restart = true
	o.SFT.Threshold = "1"
	mustRun(t, o)                               // the journals stay, and count
	if more := server.posts - posts; more > 2 { // attempts that came to nothing stand in no journal
		t.Errorf("%d requests after the budget was spent", more)
	}
}

// TestAskWithRecorded: what files hold is not asked; a failure in a file is.
func TestAskWithRecorded(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 7)
	answers := filepath.Join(t.TempDir(), "rollouts.jsonl")
	var text strings.Builder
	for i, d := range turnmill.Domains() {
		for turn := range toyrollouts.Turns {
			for n := range 3 {
				if n == 2 {
					fmt.Fprintf(&text, "{\"query\":\"%s-%03d@%d\",\"rollout\":2,\"error\":\"busy\"}\n", d, i, turn)
					continue
				}
				fmt.Fprintf(&text, "{\"query\":\"%s-%03d@%d\",\"rollout\":%d,\"text\":\"recorded %d\",\"finish_reason\":\"stop\"}\n", d, i, turn, n, n)
			}
		}
	}
	if err := os.WriteFile(answers, []byte(text.String()), 0o666); err != nil {
		t.Fatal(err)
	}
	o.SFT.Rollouts = []string{answers}
	m := mustRun(t, o)
	rollouts := 0
	for body := range server.tries {
		if strings.Contains(body, `"model":"roll"`) {
			rollouts++
		}
	}
	if rollouts != 7 {
		t.Errorf("%d rollouts were asked, want the 7 that had failed", rollouts)
	}
	if m.Ledger.Total.Queries.Out == 0 {
		t.Error("nothing came out")
	}
	if want := int64(7 * 3 * (toyrollouts.Turns - 1)); m.SFT.Unasked != want {
		t.Errorf("%d answers to what nobody asked, want %d", m.SFT.Unasked, want)
	}
	mustCheck(t, o)
}

// TestRetry: what failed is asked again, and nothing else; with the endpoint mended nothing is left that failed.
func TestRetry(t *testing.T) {
	server := newOracle(t)
	o := asking(t, server, 28)
	m := mustRun(t, o)
	if m.Ledger.Total.Queries.AllRejected() == 0 {
		t.Fatal("nothing failed: the test would prove nothing")
	}
	var usage *UsageError
	if _, err := Retry(context.Background(), Options{Output: o.Output, Memory: o.Memory}); !errors.As(err, &usage) {
		t.Errorf("a retry without an address: %v, want a usage error", err)
	}
	mustCheck(t, o) // nothing is gone
	server.healed = true
	before := server.answers()
	r := Options{Output: o.Output, Ask: o.Ask, Memory: o.Memory, MaxRejectRate: 1, MaxDropRate: 1}
	again, err := Retry(context.Background(), r)
	if err != nil {
		t.Fatal(err)
	}
	if q := again.Ledger.Total.Queries; q.In != 28 || q.AllRejected() != 0 || q.Out < m.Ledger.Total.Queries.Out {
		t.Errorf("queries after the retry: %+v", q)
	}
	if got, want := server.answers(), journalled(t, o.Output); got != want || got == before {
		t.Errorf("%d answers, %d before the retry, and the journals hold %d", got, before, want)
	}
	mustCheck(t, o)
	posts := server.posts
	if _, err := Retry(context.Background(), r); err != nil || server.posts != posts {
		t.Errorf("a retry of what has not failed: %v, %d requests", err, server.posts-posts)
	}
	recorded := toySFT(t)
	mustRun(t, recorded)
	if _, err := Retry(context.Background(), Options{Output: recorded.Output}); !errors.As(err, &usage) {
		t.Errorf("a retry of recorded answers: %v, want a usage error", err)
	}
}

// TestBatchRequests: requests are written for what is missing, kind by kind, until the answers of a batch API are all there.
func TestBatchRequests(t *testing.T) {
	server := newOracle(t) // nobody asks it
	o := asking(t, server, 14)
	o.Ask.BatchRequests = t.TempDir()
	answers := t.TempDir()
	rounds := 0
	var m *Manifest
	for ; m == nil; rounds++ {
		if rounds == 10 {
			t.Fatal("requests without an end")
		}
		var err error
		var pending *PendingError
		if m, err = CPT(context.Background(), o); err != nil && !errors.As(err, &pending) {
			t.Fatal(err)
		}
		if pending == nil {
			break
		}
		if _, err := os.Stat(o.Output); err == nil {
			t.Error("OUT is there before the answers are")
		}
		there, err := os.ReadDir(pending.Dir)
		if err != nil || len(there) != len(pending.Files) {
			t.Errorf("round %d: %d files of requests, want %v and none of an earlier round: %v", rounds, len(there), pending.Files, err)
		}
		for _, name := range pending.Files {
			out := filepath.Join(answers, fmt.Sprintf("%d-%s", rounds, name))
			answerBatch(t, filepath.Join(pending.Dir, name), out)
			if strings.HasPrefix(name, "rollouts") {
				o.SFT.Rollouts = append(o.SFT.Rollouts, out)
			} else {
				o.SFT.Judgements = append(o.SFT.Judgements, out)
			}
		}
	}
	if rounds < 3 || server.posts > 0 {
		t.Errorf("%d rounds and %d requests to the endpoint, want rollouts, scores, pairs and none", rounds, server.posts)
	}
	if q := m.Ledger.Total.Queries; q.In != 14 || q.Out == 0 || q.AllRejected() > 0 {
		t.Errorf("queries %+v", q)
	}
	mustCheck(t, o)
}

// TestBatchRequestsOnce: a custom_id stands once among requests though two trajectories have it, and answers that lie
// under the name of requests are not written over.
func TestBatchRequestsOnce(t *testing.T) {
	o := asking(t, newOracle(t), 1)
	runs := filepath.Join(t.TempDir(), "runs.jsonl")
	const rows = `{"id":"t","turns":[{"index":0,"action":"ls","observation":"a"}]}
{"id":"t","turns":[{"index":0,"action":"pwd","observation":"b"}]}
`
	if err := os.WriteFile(runs, []byte(rows), 0o666); err != nil {
		t.Fatal(err)
	}
	o.Inputs, o.MinTurns, o.Ask.BatchRequests = []string{runs}, 1, t.TempDir()
	var pending *PendingError
	if _, err := CPT(context.Background(), o); !errors.As(err, &pending) || pending.Requests["rollouts"] != 3 {
		t.Fatalf("two trajectories of one id: %v, want 3 rollouts of its one query", err)
	}
	name := filepath.Join(pending.Dir, pending.Files[0])
	answerBatch(t, name, name)
	want, err := os.ReadFile(name)
	if err != nil {
		t.Fatal(err)
	}
	var usage *UsageError
	if _, err := CPT(context.Background(), o); !errors.As(err, &usage) {
		t.Errorf("answers where requests would be written: %v, want a usage error", err)
	}
	if got, err := os.ReadFile(name); err != nil || string(got) != string(want) {
		t.Errorf("the answers are gone: %v", err)
	}
}

// answerBatch answers a file of requests as a batch API does: in another order, with the same names.
func answerBatch(t *testing.T, in, out string) {
	t.Helper()
	data, err := os.ReadFile(in)
	if err != nil {
		t.Fatal(err)
	}
	var lines []string
	for line := range strings.Lines(string(data)) {
		var r struct {
			CustomID string `json:"custom_id"`
			Body     struct{ Messages []turnmill.Message }
		}
		if err := json.Unmarshal([]byte(line), &r); err != nil {
			t.Fatal(err)
		}
		text, _ := json.Marshal(oracleAnswer(r.Body.Messages, sha256.Sum256([]byte(line))))
		id, _ := json.Marshal(r.CustomID)
		lines = append(lines, fmt.Sprintf(`{"custom_id":%s,"response":{"status_code":200,"body":{"choices":[{"index":0,"finish_reason":"stop","message":{"content":%s}}]}},"error":null}`+"\n", id, text))
	}
	slices.Reverse(lines)
	if err := os.WriteFile(out, []byte(strings.Join(lines, "")), 0o666); err != nil {
		t.Fatal(err)
	}
}
