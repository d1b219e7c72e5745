package pipelines

import (
	"crypto/sha256"
	"encoding/hex"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"path/filepath"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/extsort"
)

// Scan is what a plan decided by reading all inputs once.
type Scan struct {
	Units   int64                     `json:"units"`   // trajectories and documents
	Groups  int64                     `json:"groups"`  // those that others were dropped for
	Dropped map[turnmill.Reason]int64 `json:"dropped"` // trajectories and documents
	Mix     []MixShare                `json:"mix,omitempty"`
	Files   []FileSum                 `json:"files"` // plan/pNNNNN.bin, one a partition; rows are decisions
}

// scans tells whether the plan has to read the inputs.
func (p *Plan) scans() bool {
	return p.Config.Dedup != dedupNone || len(p.Benchmarks) > 0 || p.Mix != nil
}

// scanMemory is how much of the memory of a partition's files, which are not written yet, sorting takes.
func (s *setup) scanMemory() int64 { return s.writers() / 2 }

// found is what a scan found, before it lies in OUT.
type found struct {
	spool *extsort.Spool
	sums  []FileSum
	from  []int64 // of each file, in spool
}

// section reads the file of partition i.
func (d *found) section(i int) io.Reader {
	return io.NewSectionReader(d.spool, d.from[i], d.sums[i].Bytes)
}

func (d *found) close() {
	if d != nil {
		d.spool.Close()
	}
}

// decisionWriter writes decisions that come in the order of the plan.
type decisionWriter struct {
	found
	sum  hash.Hash
	last int64 // record
	buf  []byte
}

func newDecisionWriter(dir string) *decisionWriter {
	return &decisionWriter{found: found{spool: extsort.NewSpool(dir)}}
}

func (w *decisionWriter) write(p []byte) error {
	file := &w.sums[len(w.sums)-1]
	file.Bytes += int64(len(p))
	w.sum.Write(p)
	_, err := w.spool.Write(p)
	return err
}

// begin ends the files before partition i and starts its own.
func (w *decisionWriter) begin(i int) error {
	for len(w.sums) <= i {
		w.end()
		w.from = append(w.from, w.spool.Len())
		w.sums = append(w.sums, FileSum{Path: decisionsPath(len(w.sums))})
		w.sum, w.last = sha256.New(), 0
		if err := w.write([]byte(decisionsMagic)); err != nil {
			return err
		}
	}
	return nil
}

func (w *decisionWriter) end() {
	if len(w.sums) > 0 {
		w.sums[len(w.sums)-1].SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	}
}

// add adds a decision about a record of partition i.
func (w *decisionWriter) add(i int, d *decision) error {
	if err := w.begin(i); err != nil {
		return err
	}
	w.buf = d.append(w.buf[:0], w.last)
	w.last = d.record
	w.sums[i].Rows++
	return w.write(w.buf)
}

// finish ends the files of all partitions.
func (w *decisionWriter) finish(partitions int) (*found, error) {
	if err := w.begin(partitions - 1); err != nil {
		return nil, err
	}
	w.end()
	return &w.found, nil
}

// known takes what an earlier command has found in OUT for the same plan, if that lies there whole.
func (s *setup) known(root string) bool {
	old, err := readPlan(root)
	if err != nil || old.Scan == nil || len(old.Scan.Files) != len(s.plan.Partitions) {
		return false
	}
	now := *s.plan
	now.Scan = old.Scan
	now.ConfigSHA256 = hexSum(encodeJSON(now.Config))
	_, sum := now.Encode()
	if _, was := old.Encode(); was != sum {
		return false
	}
	for i := range old.Scan.Files {
		f := &old.Scan.Files[i]
		if got, err := sumFile(filepath.Join(root, filepath.FromSlash(f.Path))); err != nil || got.SHA256 != f.SHA256 {
			return false
		}
	}
	s.plan.Scan, s.root = old.Scan, root
	return true
}

// writeDecisions writes what the scan found, before the plan that names it.
func (s *setup) writeDecisions(to sink) error {
	if s.decided == nil {
		return nil
	}
	for i := range s.decided.sums {
		f, err := to.create(decisionsPath(i))
		if err != nil {
			return err
		}
		_, err = io.Copy(f, s.decided.section(i))
		if err == nil {
			_, err = f.commit()
		}
		f.abort()
		if err != nil {
			return err
		}
	}
	return nil
}

// scanDir returns the directory in which nameless files are sorted: on the disk of OUT, or the machine's own for what
// leaves OUT alone.
func (o *Options) scanDir() string {
	if o.DryRun || o.Output == "" {
		return os.TempDir()
	}
	dir, err := filepath.Abs(filepath.Join(o.Output, "plan"))
	for ; err == nil; dir = filepath.Dir(dir) {
		if info, failed := os.Stat(dir); failed == nil && info.IsDir() {
			return dir
		} else if filepath.Dir(dir) == dir {
			break
		}
	}
	return os.TempDir()
}

// sound tells whether a plan's scan is one that a turnmill makes.
func (p *Plan) soundScan() error {
	switch {
	case p.scans() != (p.Scan != nil):
		return errors.New("what the scan decided, --dedup, --decontaminate and --mix do not go together")
	case p.Scan == nil:
		return nil
	case len(p.Scan.Files) != len(p.Partitions) || p.streams():
		return fmt.Errorf("it has %d files of decisions for %d partitions", len(p.Scan.Files), len(p.Partitions))
	}
	for i := range p.Scan.Files {
		if f := &p.Scan.Files[i]; f.Path != decisionsPath(i) || f.Rows < 0 || f.Bytes < int64(len(decisionsMagic)) {
			return fmt.Errorf("its decisions about partition %d are %s, %d bytes", i, f.Path, f.Bytes)
		}
	}
	return nil
}
