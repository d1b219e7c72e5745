package pipelines

import (
	"context"
	"crypto/sha256"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
)

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
