package pipelines

import (
	"log/slog"
	"os"
	"path/filepath"
	"time"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter/judge/endpoint"
)

// runLog is run.log.jsonl: times and rates, which are nobody's promise.
type runLog struct {
	f      *os.File
	json   *slog.Logger
	logger *slog.Logger
}

func openRunLog(o *Options) (*runLog, error) {
	f, err := os.OpenFile(filepath.Join(o.Output, "run.log.jsonl"), os.O_APPEND|os.O_CREATE|os.O_WRONLY, 0o666)
	if err != nil {
		return nil, err
	}
	host, _ := os.Hostname()
	l := &runLog{f: f, json: slog.New(slog.NewJSONHandler(f, nil)), logger: o.logger()}
	l.json.Info("start", "turnmill", Version, "host", host, "workers", o.workers(), "memory_bytes", o.Memory)
	return l, nil
}

func (l *runLog) partition(c *Commit, since time.Duration) {
	var stored int64
	for _, r := range c.Inputs {
		stored += r.To - r.From
	}
	args := []any{"partition", c.Partition, "stored_bytes", stored, "records", c.Counts.Ledger.Total.Records.In,
		"rows", c.Counts.Tokens.Rows, "trained_tokens", c.Counts.Tokens.Trained, "since_start_s", since.Seconds()}
	l.json.Info("partition", args...)
	l.logger.Info("partition done", args...)
}

// asked notes what has been asked so far.
func (l *runLog) asked(partition int, a *endpoint.Account) {
	args := []any{"partition", partition, "requests", a.Requests, "from_journal", a.FromJournal, "sent", a.Sent, "retried", a.Retried,
		"limited", a.Limited, "prompt_tokens", a.Usage.Prompt, "completion_tokens", a.Usage.Completion, "failed", a.States[turnmill.ReplyFailed] + a.States[turnmill.ReplyTimeout]}
	l.json.Info("asked", args...)
	l.logger.Info("asked", args...)
}

// Close closes the file.
func (l *runLog) Close() error { return l.f.Close() }
