package pipelines

import (
	"fmt"

	"github.com/turnmill/turnmill/ingest/replies"
)

// writerBytes is what the files of one partition hold in memory: two record batches of 64 MiB without their
// attention masks, a row group of the turns table, the encoders' windows, a block of each file past the page cache.
const writerBytes = 106 << 20

// auditBytes is what is left of that where no rows are written.
const auditBytes = 40 << 20

// answerBytes is what an SFT set holds besides: two indexes of answers, before they go to a file, and two files more.
const answerBytes = 2*(replies.SpillBytes) + 4<<20

// splitBytes is what the files of one more split hold.
const splitBytes = 64 << 20

// writers returns what the files of one partition hold.
func (s *setup) writers() int64 {
	if s.plan.audits() {
		return auditBytes
	}
	held := writerBytes + int64(len(s.plan.splits())-1)*splitBytes
	if s.plan.samples() {
		held += answerBytes
	}
	return held
}

// memoryBudget returns how many partitions may be open at once and how many bytes may be in flight. Where not
// every worker's cache has room, o.Workers becomes what has.
func memoryBudget(o *Options, s *setup, window int64) (active int, budget int64, err error) {
	if err := enoughMemory(o, s, window); err != nil {
		return 0, 0, err
	}
	writers, rest := s.writers(), oneWorker(o, s, window)
	if fit := int(rest / max(1, s.tokenizer.each)); fit < o.workers() {
		o.logger().Warn("fewer workers, for what --memory holds", "workers", fit, "asked", o.workers(), "memory_bytes", o.Memory)
		o.Workers = fit
	}
	fixed := s.tokenizer.bytes + int64(o.workers())*s.tokenizer.each
	active = 1
	if len(s.plan.Partitions) > 1 && o.Memory >= fixed+2*(writers+window)+4*leastFlight {
		active = mostActive
	}
	return active, (o.Memory - fixed - int64(active)*(writers+window)) / 2, nil
}

// leastFlight is the least number of bytes in flight that is worth running with.
const leastFlight = 16 << 20

// oneWorker returns what is left for workers where one partition is open; it may be below 0.
func oneWorker(o *Options, s *setup, window int64) int64 {
	return o.Memory - s.tokenizer.bytes - s.writers() - window - leastFlight
}

// enoughMemory makes sure that one worker fits.
func enoughMemory(o *Options, s *setup, window int64) error {
	if rest := oneWorker(o, s, window); rest < s.tokenizer.each {
		return &UsageError{fmt.Errorf("--memory %d: too little for one worker; try --memory %dMiB", o.Memory, (o.Memory-rest+s.tokenizer.each)>>20+1)}
	}
	return nil
}
