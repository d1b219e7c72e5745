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
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// shardCheck is where a partition's shards are read, in step with its turns. Every shard is written once
// more, into a hash: its rows must give the bytes that lie there, batches and padding included, and no row
// may stand in another shard than --shard-bytes puts it.
type shardCheck struct {
	left  []string // in order, those not opened yet
	name  string   // of the open one
	shard rowSource
	seen  int64 // rows of it
	file  *os.File
	row   *arrow.Row // the row that the next placed turn may stand in
	at    place      // of the row
	next  int32      // first token of it that no turn has claimed
	marks []bool     // tokens of it that a turn says are trained

	again  *arrow.Writer
	sum    hash.Hash
	broken bool  // a row of the open shard cannot be written
	size   int64 // of the shard before, as it was when its next row went elsewhere; -1 for the first

	wanted place     // where the turn at hand stands, among shuffled rows; "": no turn is
	memory arrow.Row // of such a row
}

// rowSource gives the rows of a shard, and io.EOF.
type rowSource interface {
	Next() (*arrow.Row, error)
}

// advance goes on to the row that a turn says it stands in; rows in between would be nobody's.
func (p *partitionCheck) advance(t *stats.TurnRow, at func(string, ...any)) error {
	here := place{t.Shard, t.Row}
	if p.row != nil && p.at == here {
		return nil
	}
	p.endRow()
	if p.rows != nil && !p.rows.shards[t.Shard] {
		at("it says %s, and there is no such shard", t.Shard)
		return errApart
	}
	p.wanted = here
	if err := p.nextRow(); err != nil {
		return err
	}
	p.wanted = place{}
	if p.row == nil || p.at != here {
		where := "nowhere"
		if p.row != nil {
			where = fmt.Sprintf("%s row %d", p.at.shard, p.at.row)
		}
		p.row = nil
		at("it says %s row %d; the next row is %s", t.Shard, t.Row, where)
		return errApart
	}
	return nil
}

// errApart ends the check of a partition whose turns and rows do not go together; the fault is named already.
var errApart = errors.New("turns and rows do not go together")

// nextRow reads the next row of the partition's shards; p.row is nil at their end.
func (p *partitionCheck) nextRow() error {
	p.row = nil
	for {
		if p.shard == nil {
			if len(p.left) == 0 {
				return nil
			}
			if err := p.openShard(); err != nil {
				return err
			}
		}
		row, err := p.shard.Next()
		if err == nil {
			p.row, p.next, p.at = row, 0, place{p.name, row.Number}
			if p.seen++; p.wanted.shard != "" && p.rows != nil {
				p.at = p.wanted
			}
			p.marks = append(p.marks[:0], make([]bool, len(row.IDs))...)
			p.rowItself()
			return nil
		}
		if !errors.Is(err, io.EOF) {
			return err
		}
		p.fileRows(p.name, p.seen)
		if err := p.endShard(); err != nil {
			return err
		}
	}
}

func (p *partitionCheck) openShard() (err error) {
	p.name, p.left, p.seen = p.left[0], p.left[1:], 0
	if p.name != unstaged(p.name) {
		p.shard = &apartRows{rowsAt: p.rows, name: p.name, left: p.commit.rowsOf(p.name), wanted: &p.wanted, row: &p.memory}
		return p.startAgain()
	}
	if p.file, err = os.Open(filepath.Join(p.root, filepath.FromSlash(p.name))); err != nil {
		return err
	}
	info, err := p.file.Stat()
	if err != nil {
		return err
	}
	if p.shard, err = arrow.NewReader(p.file, info.Size(), p.name, p.profile); err != nil {
		return err
	}
	return p.startAgain()
}

// startAgain begins to write the open shard once more.
func (p *partitionCheck) startAgain() (err error) {
	p.sum, p.broken = sha256.New(), false
	if p.again != nil {
		p.again.Reset(p.sum)
		return nil
	}
	p.again, err = arrow.NewWriter(p.sum, arrow.Options{Profile: p.profile, Vocabulary: p.plan.Tokenizer.Vocabulary})
	return err
}

// endShard closes the open shard and compares what its rows give with what was written.
func (p *partitionCheck) endShard() error {
	p.size = p.again.Size()
	if err := p.again.Close(); err != nil {
		return err
	}
	if same := hex.EncodeToString(p.sum.Sum(nil)) == p.sumOf(p.name); !p.broken && !same && p.name != unstaged(p.name) {
		p.fault(commitPath(p.commit.Partition), "the shuffled rows of its turns do not give the bytes of %s back", p.name)
	} else if !p.broken && !same {
		p.fault(p.name, "its rows are in other batches, or between other bytes, than turnmill writes")
	}
	p.closeShard()
	return nil
}

func (p *shardCheck) closeShard() {
	if p.file != nil {
		p.file.Close()
	}
	p.shard, p.file = nil, nil
}

// rowItself proves what holds of any row, and writes it once more.
func (p *partitionCheck) rowItself() {
	r := p.row
	p.counts.Tokens.Rows++
	p.counts.Tokens.All += int64(len(r.IDs))
	for _, l := range r.Labels {
		if l != turnmill.IgnoreIndex {
			p.counts.Tokens.Trained++
		}
	}
	if len(r.IDs) > p.plan.Config.SeqLen {
		p.fault(p.at.shard, "row %d: %d tokens, --seq-len %d", r.Number, len(r.IDs), p.plan.Config.SeqLen)
	}
	row := turnmill.Row{IDs: r.IDs, Labels: r.Labels, Weights: r.Weights}
	if err := arrow.CheckRow(&row, p.profile, p.plan.Tokenizer.Vocabulary); err != nil {
		p.fault(p.at.shard, "row %d: %v", r.Number, err)
		p.broken = true
	}
	if p.broken {
		return
	}
	need, limit := rowBytes(p.profile, len(r.IDs)), p.plan.Config.ShardBytes
	switch first := p.again.Rows() == 0; {
	case p.name != p.at.shard: // it stands elsewhere now, and that shard has been measured
	case first && p.size >= 0 && p.size+need <= limit:
		p.fault(p.at.shard, "its first row has room in the shard before, with --shard-bytes %d", limit)
	case !first && p.again.Size()+need > limit:
		p.fault(p.at.shard, "row %d: the shard is longer than --shard-bytes %d", r.Number, limit)
	}
	if err := p.again.Append(&row); err != nil {
		p.fault(p.at.shard, "row %d: %v", r.Number, err)
		p.broken = true
	}
}

// endRow holds the labels against what the turns of the row claimed.
func (p *partitionCheck) endRow() {
	if p.row == nil {
		return
	}
	for i, l := range p.row.Labels {
		if (l != turnmill.IgnoreIndex) != p.marks[i] {
			p.fault(p.at.shard, "row %d: the label of token %d is %d, its turn says trained %v", p.row.Number, i, l, p.marks[i])
			break
		}
	}
	p.row = nil
}

// endRows makes sure that no row is left over.
func (p *partitionCheck) endRows() error {
	for s := range p.shards {
		p.shardCheck = &p.shards[s]
		p.endRow()
		if err := p.nextRow(); err != nil {
			return err
		}
		if p.row != nil {
			p.fault(p.name, "row %d and what follows belong to no turn", p.row.Number)
		}
	}
	p.report.Rows += p.counts.Tokens.Rows
	p.report.Tokens += p.counts.Tokens.All
	p.report.Trained += p.counts.Tokens.Trained
	p.counts.Tokens.Context = p.counts.Tokens.All - p.counts.Tokens.Trained
	return nil
}
