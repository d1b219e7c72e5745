package pipelines

import (
	"bytes"
	"context"
	"encoding/binary"
	"encoding/json"
	"errors"
	"io"
	"os"
	"path/filepath"
	"slices"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/zstdio"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// forger changes a finished run and signs it again: sums of files in the commits, the plan's own hashes, the
// commits' plan hash, and everything that merge makes of them. What is left to find is a relation between
// files that no longer holds, or no fault at all unless the inputs are at hand.
type forger struct {
	t       *testing.T
	root    string
	plan    *Plan
	commits []*Commit
	ordered []FileSum // of shuffled rows
	profile arrow.Profile
}

// forge opens a copy of a run.
func forge(t *testing.T, from string) *forger {
	t.Helper()
	f := &forger{t: t, root: filepath.Join(t.TempDir(), "out")}
	copyDir(t, from, f.root)
	var err error
	if f.plan, err = readPlan(f.root); err != nil {
		t.Fatal(err)
	}
	for i := range f.plan.Partitions {
		c, err := readCommit(f.root, i)
		if err != nil {
			t.Fatal(err)
		}
		f.commits = append(f.commits, c)
	}
	f.profile, _ = arrow.ParseProfile(f.plan.Config.Profile)
	if f.plan.Config.Shuffle {
		m, err := readManifest(f.root)
		if err != nil {
			t.Fatal(err)
		}
		f.ordered = shuffledOf(m)
	}
	return f
}

func (f *forger) path(name string) string { return filepath.Join(f.root, filepath.FromSlash(name)) }

// sign makes every sum right again.
func (f *forger) sign() {
	f.t.Helper()
	f.plan.ConfigSHA256 = hexSum(encodeJSON(f.plan.Config))
	data, planSum := f.plan.Encode()
	write(f.t, f.path("plan.json"), data)
	for i, c := range f.commits {
		c.Plan = planSum
		f.sum(c.Files)
		write(f.t, f.path(commitPath(i)), encodeJSON(c))
	}
	f.sum(f.ordered)
	files, err := f.merged(planSum)
	if err != nil {
		f.t.Logf("the old manifest stands: %v", err)
		return
	}
	for _, file := range files {
		write(f.t, f.path(file.path), file.data)
	}
}

// sum makes the sums of files right that are there.
func (f *forger) sum(files []FileSum) {
	f.t.Helper()
	for k := range files {
		sum, err := sumFile(f.path(files[k].Path))
		if os.IsNotExist(err) {
			continue
		}
		if err != nil {
			f.t.Fatal(err)
		}
		files[k].Bytes, files[k].SHA256 = sum.Bytes, sum.SHA256
	}
}

// merged makes what merge would make of the commits.
func (f *forger) merged(planSum string) ([]file, error) {
	data, _ := f.plan.Encode()
	if _, err := decodePlan(data); err != nil {
		return nil, err
	}
	for _, c := range f.commits {
		if err := c.Counts.Balanced(); err != nil {
			return nil, err
		}
	}
	duplicates, err := duplicateIDs(context.Background(), f.root, f.commits, false)
	if err != nil {
		return nil, err
	}
	_, files, err := merged(context.Background(), f.root, f.plan, planSum, f.commits, f.ordered, duplicates.count)
	return files, err
}

// setRows says in the commit that a file holds n rows.
func (f *forger) setRows(name string, n int64) {
	lists := [][]FileSum{f.ordered}
	for _, c := range f.commits {
		lists = append(lists, c.Files)
	}
	for _, files := range lists {
		for k := range files {
			if files[k].Path == name {
				files[k].Rows = n
			}
		}
	}
}

// rows returns the rows of a shard.
func (f *forger) rows(shard string) []turnmill.Row { return readShard(f.t, f.root, shard, f.profile) }

// writeRows writes a shard anew. Zero limits are those of a run.
func (f *forger) writeRows(shard string, rows []turnmill.Row, limits arrow.Limits) {
	f.t.Helper()
	var b bytes.Buffer
	w, err := arrow.NewWriter(&b, arrow.Options{Profile: f.profile, Vocabulary: f.plan.Tokenizer.Vocabulary, Limits: limits})
	if err != nil {
		f.t.Fatal(err)
	}
	for i := range rows {
		if err := w.Append(&rows[i]); err != nil {
			f.t.Fatal(err)
		}
	}
	if err := w.Close(); err != nil {
		f.t.Fatal(err)
	}
	write(f.t, f.path(shard), b.Bytes())
	f.setRows(shard, int64(len(rows)))
}

// bytes changes the bytes of a file.
func (f *forger) bytes(name string, change func([]byte) []byte) {
	f.t.Helper()
	data, err := os.ReadFile(f.path(name))
	if err != nil {
		f.t.Fatal(err)
	}
	write(f.t, f.path(name), change(data))
}

// cell changes one value of a shard in place: token of row in one of the columns, which have 4 bytes each.
func (f *forger) cell(shard, column string, row, token int, change func(uint32) uint32) {
	f.t.Helper()
	f.bytes(shard, func(data []byte) []byte {
		at := f.locate(shard, data, column, row, token)
		binary.LittleEndian.PutUint32(data[at:], change(binary.LittleEndian.Uint32(data[at:])))
		return data
	})
}

// locate finds a cell: messages of | marker, length | metadata | body |, and in a body for each column
// | offsets, padded to 8 | values, padded to 8 |. The first message is the schema.
func (f *forger) locate(shard string, data []byte, column string, row, token int) int {
	f.t.Helper()
	r, err := arrow.NewReader(bytes.NewReader(data), int64(len(data)), shard, f.profile)
	if err != nil {
		f.t.Fatal(err)
	}
	for err == nil {
		_, err = r.Next()
	}
	word := func(at int) int { return int(int32(binary.LittleEndian.Uint32(data[at:]))) }
	at := 8 + word(4) // past the schema
	for _, batch := range r.Facts().Batches {
		at += 8 + word(at+4)
		if row >= batch.Rows {
			at, row = at+int(batch.Bytes), row-batch.Rows
			continue
		}
		pad := func(n int) int { return (n + 7) &^ 7 }
		for _, name := range f.profile.Columns() {
			values := at + pad(4*(batch.Rows+1))
			if name == column {
				return values + 4*(word(at+4*row)+token)
			}
			at = values + pad(4*word(at+4*batch.Rows))
		}
	}
	f.t.Fatalf("%s has no row %d, or no column %s", shard, row, column)
	return 0
}

// turns changes the turns table of a partition.
func (f *forger) turns(i int, change func([]stats.TurnRow) []stats.TurnRow) {
	f.t.Helper()
	rows := change(readTurns(f.t, f.root, i))
	var b bytes.Buffer
	w, err := stats.NewTurnWriter(&b, Version)
	if err != nil {
		f.t.Fatal(err)
	}
	if err := w.Write(rows); err != nil {
		f.t.Fatal(err)
	}
	if err := w.Close(); err != nil {
		f.t.Fatal(err)
	}
	write(f.t, f.path(turnsPath(i)), b.Bytes())
	f.setRows(turnsPath(i), int64(len(rows)))
}

// turn changes the first turn of the run that a test wants.
func (f *forger) turn(want func(*stats.TurnRow) bool, change func(*stats.TurnRow)) (partition int) {
	f.t.Helper()
	for i := range f.commits {
		rows := readTurns(f.t, f.root, i)
		if k := slices.IndexFunc(rows, func(r stats.TurnRow) bool { return want(&r) }); k >= 0 {
			f.turns(i, func(rows []stats.TurnRow) []stats.TurnRow { change(&rows[k]); return rows })
			return i
		}
	}
	f.t.Fatal("no turn is of the kind that this test is about")
	return 0
}

// rejects changes the reject lines of a partition.
func (f *forger) rejects(i int, change func([]rejectLine) []rejectLine) {
	f.t.Helper()
	file, err := os.Open(f.path(rejectsPath(i)))
	if err != nil {
		f.t.Fatal(err)
	}
	defer file.Close()
	z, err := zstdio.NewReader(file)
	if err != nil {
		f.t.Fatal(err)
	}
	defer z.Close()
	var lines []rejectLine
	for d := json.NewDecoder(z); ; {
		var l rejectLine
		if err := d.Decode(&l); err == io.EOF {
			break
		} else if err != nil {
			f.t.Fatal(err)
		}
		lines = append(lines, l)
	}
	lines = change(lines)
	var text []byte
	for i := range lines {
		l := &lines[i]
		pos := turnmill.Pos{Path: l.Path, Frame: -1, Line: l.Line, Offset: l.Offset, Bytes: l.Bytes}
		if l.Frame != nil {
			pos.Frame = *l.Frame
		}
		text = l.append(text, pos)
	}
	write(f.t, f.path(rejectsPath(i)), zstdFrame(text))
	f.setRows(rejectsPath(i), int64(len(lines)))
}

// reject changes the first line that a test wants; change returns what stands in its place.
func (f *forger) reject(want func(*rejectLine) bool, change func(rejectLine) []rejectLine) {
	f.t.Helper()
	done := false
	for i := range f.commits {
		f.rejects(i, func(lines []rejectLine) []rejectLine {
			k := slices.IndexFunc(lines, func(l rejectLine) bool { return want(&l) })
			if done || k < 0 {
				return lines
			}
			done = true
			return slices.Replace(lines, k, k+1, change(lines[k])...)
		})
	}
	if !done {
		f.t.Fatal("no reject line is of the kind that this test is about")
	}
}

// swap exchanges two files.
func (f *forger) swap(a, b string) {
	f.t.Helper()
	f.bytes(a, func(x []byte) []byte {
		y, err := os.ReadFile(f.path(b))
		if err != nil {
			f.t.Fatal(err)
		}
		write(f.t, f.path(b), x)
		return y
	})
}

// forgery is one change to a finished run.
type forgery struct {
	name   string
	forge  func(*forger)
	after  func(*forger) // what is changed after all has been signed again
	inputs bool          // only a check with the inputs can find it
	file   string        // the file that the error names
}

// testForgeries makes sure that each forgery is found, and by what: by the run's own files wherever they
// disagree, which a check with the inputs looks at first, else by the inputs.
func testForgeries(t *testing.T, base Options, list []forgery) {
	t.Helper()
	mustRun(t, base)
	mustCheck(t, base)
	for _, c := range list {
		t.Run(c.name, func(t *testing.T) {
			f := forge(t, base.Output)
			if c.forge != nil {
				c.forge(f)
				f.sign()
			}
			if c.after != nil {
				c.after(f)
			}
			o := base
			o.Output = f.root
			_, err := Check(context.Background(), checkOptions(&o, false))
			if c.inputs {
				if err != nil {
					t.Errorf("found without the inputs, which is better than this table thinks: %v", err)
				}
				_, err = Check(context.Background(), checkOptions(&o, true))
			}
			foundIn(t, err, c.file)
		})
	}
}

// foundIn makes sure that a check has found a fault, and that each fault that it names is one of a file.
func foundIn(t *testing.T, err error, file string) {
	t.Helper()
	if err == nil {
		t.Fatal("not found")
	}
	if !errors.Is(err, turnmill.ErrCorrupt) {
		t.Errorf("%v: not ErrCorrupt", err)
	}
	if !strings.Contains(err.Error(), file) {
		t.Errorf("%s is not named in: %v", file, err)
	}
	t.Log(strings.SplitN(err.Error(), "\n", 2)[0])
}

// small are the options of the run that is forged: several partitions, shards and windows, and turns and
// rejects of every kind.
func small(t *testing.T) Options {
	t.Helper()
	o := options(t, writeFiles(t, smallFiles()))
	o.SeqLen, o.Partitions, o.ShardBytes = 1300, 3, 120_000
	return o
}

func (f *forger) remove(name string) {
	f.t.Helper()
	if err := os.Remove(f.path(name)); err != nil {
		f.t.Fatal(err)
	}
}
