package pipelines

import (
	"crypto/sha256"
	"encoding/json"
	"fmt"
	"io"
	"net/http"
	"net/http/httptest"
	"os"
	"path/filepath"
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
