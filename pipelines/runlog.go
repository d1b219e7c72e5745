package pipelines

import (
	"log/slog"
	"os"
	"path/filepath"
	"time"
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

// Close closes the file.
func (l *runLog) Close() error { return l.f.Close() }
