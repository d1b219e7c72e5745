package pipelines

import (
	"math"
	"slices"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// aTarget finds a turn of which something can be told: it is trained, and long enough to have an inside.
func (f *forger) aTarget(want func(*stats.TurnRow) bool) stats.TurnRow {
	f.t.Helper()
	for i := range f.commits {
		for _, r := range readTurns(f.t, f.root, i) {
			if r.Status == "target" && r.Category != "" && r.ObservationTokens > 4 && r.ActionEnd > r.ActionStart+4 && (want == nil || want(&r)) {
				return r
			}
		}
	}
	f.t.Fatal("no turn is of the kind that this test is about")
	return stats.TurnRow{}
}

// token changes the id, and where it is trained the label, of one token.
func (f *forger) token(shard string, row int64, at int32, change func(uint32) uint32) {
	f.t.Helper()
	trained := f.rows(shard)[row].Labels[at] >= 0
	f.cell(shard, "input_ids", int(row), int(at), change)
	if trained {
		f.cell(shard, "labels", int(row), int(at), change)
	}
}

func to(v int32) func(uint32) uint32 { return func(uint32) uint32 { return uint32(v) } }
func toWeight(w float32) func(uint32) uint32 {
	return func(uint32) uint32 { return math.Float32bits(w) }
}

// other is another ordinary token: the demo tokenizer's first ones are single bytes.
func other(id uint32) uint32 { return (id + 1) % 200 }

func TestForgedShards(t *testing.T) {
	first := shardPath(train, 0, 0)
	rewrite := func(change func([]turnmill.Row) []turnmill.Row) func(*forger) {
		return func(f *forger) { f.writeRows(first, change(f.rows(first)), arrow.Limits{}) }
	}
	cut := func(n int) func(*forger) {
		return func(f *forger) { f.bytes(first, func(b []byte) []byte { return b[:len(b)-n] }) }
	}
	testForgeries(t, small(t), []forgery{
		{name: "a label of context", file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "labels", int(r.Row), int(r.ActionStart), to(f.rows(r.Shard)[r.Row].IDs[r.ActionStart]))
		}},
		{name: "a label of a header", file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "labels", int(r.Row), int(r.TokenStart-1), to(f.rows(r.Shard)[r.Row].IDs[r.TokenStart-1]))
		}},
		{name: "no label on a trained token", file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "labels", int(r.Row), int(r.TokenStart+1), to(turnmill.IgnoreIndex))
		}},
		{name: "no label on the end token", file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "labels", int(r.Row), int(r.TokenEnd-1), to(turnmill.IgnoreIndex))
		}},
		{name: "a label that is not the id", file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "labels", int(r.Row), int(r.TokenStart), other)
		}},
		{name: "a label on a row's first token", file: first, forge: func(f *forger) {
			f.cell(first, "labels", 0, 0, to(f.rows(first)[0].IDs[0]))
		}},
		{name: "an id of context", inputs: true, file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.token(r.Shard, r.Row, r.ActionStart, other)
		}},
		{name: "an id that is trained", inputs: true, file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.token(r.Shard, r.Row, r.TokenStart+1, other)
		}},
		{name: "an id that is trained, not its label", file: first, forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "input_ids", int(r.Row), int(r.TokenStart+1), other)
		}},
		{name: "an id above the vocabulary", file: first, forge: func(f *forger) {
			f.cell(first, "input_ids", 1, 3, to(int32(f.plan.Tokenizer.Vocabulary)))
		}},
		{name: "a negative id", file: first, forge: func(f *forger) { f.cell(first, "input_ids", 1, 3, to(-1)) }},
		{name: "an end token inside an observation", file: turnsPath(0), forge: func(f *forger) {
			r := f.aTarget(nil)
			f.token(r.Shard, r.Row, r.TokenStart+1, to(f.rows(r.Shard)[r.Row].IDs[r.TokenEnd-1]))
		}},
		{name: "another end token", file: turnsPath(0), forge: func(f *forger) {
			r := f.aTarget(func(r *stats.TurnRow) bool { return r.Row > 1 })
			f.token(r.Shard, r.Row, r.TokenEnd-1, other)
		}},
		{name: "attention on nothing", file: first, forge: func(f *forger) { f.cell(first, "attention_mask", 0, 5, to(0)) }},
		{name: "a row is gone", file: turnsPath(0), forge: rewrite(func(r []turnmill.Row) []turnmill.Row { return slices.Delete(r, 3, 4) })},
		{name: "the last row is gone", file: turnsPath(0), forge: rewrite(func(r []turnmill.Row) []turnmill.Row { return r[:len(r)-1] })},
		{name: "a row is there twice", file: turnsPath(0), forge: rewrite(func(r []turnmill.Row) []turnmill.Row { return slices.Insert(r, 3, r[3]) })},
		{name: "two rows change places", file: turnsPath(0), forge: rewrite(func(r []turnmill.Row) []turnmill.Row {
			r[1], r[2] = r[2], r[1]
			return r
		})},
		{name: "a row too many at the end", file: "train/", forge: func(f *forger) {
			last := shardPath(train, 0, 3)
			rows := f.rows(last)
			f.writeRows(last, append(rows, rows[0]), arrow.Limits{})
		}},
		{name: "batches of one row", file: first, forge: func(f *forger) { f.writeRows(first, f.rows(first), arrow.Limits{Rows: 1}) }},
		{name: "two batches in place of one", file: first, forge: func(f *forger) { f.writeRows(first, f.rows(first), arrow.Limits{Rows: 6}) }},
		{name: "cut between two batches", file: first, forge: func(f *forger) {
			n := int64(len(f.rows(first)))
			f.writeRows(first, f.rows(first)[:6], arrow.Limits{})
			f.setRows(first, n)
			cut(8)(f)
		}},
		{name: "cut between two batches, with an end", file: turnsPath(0), forge: func(f *forger) {
			n := int64(len(f.rows(first)))
			f.writeRows(first, f.rows(first)[:6], arrow.Limits{})
			f.setRows(first, n)
		}},
		{name: "cut inside a batch", file: first, forge: cut(1000)},
		{name: "without its end marker", file: first, forge: cut(8)},
		{name: "with half an end marker", file: first, forge: cut(4)},
		{name: "with bytes behind the end", file: first, forge: func(f *forger) {
			f.bytes(first, func(b []byte) []byte { return append(b, b[len(b)-8:]...) })
		}},
		{name: "of no bytes", file: first, forge: func(f *forger) { f.bytes(first, func([]byte) []byte { return nil }) }},
		{name: "two shards change contents", file: "train/", forge: func(f *forger) { f.swap(first, shardPath(train, 1, 0)) }},
		{name: "two shards of a partition change contents", file: turnsPath(0), forge: func(f *forger) { f.swap(first, shardPath(train, 0, 1)) }},
		{name: "with another column", file: first, forge: func(f *forger) {
			rows := f.rows(first)
			for i := range rows {
				rows[i].Weights = make([]float32, len(rows[i].IDs))
			}
			f.profile = arrow.ProfileWeighted
			f.writeRows(first, rows, arrow.Limits{})
		}},
		{name: "a shard could have been longer", file: shardPath(train, 0, 1), forge: func(f *forger) {
			moveRow(f, 0, 0)
		}},
		{name: "a shard is gone", file: first, after: func(f *forger) { f.remove(first) }},
		{name: "a byte of padding", after: func(f *forger) { f.bytes(first, func(b []byte) []byte { b[len(b)-9] ^= 1; return b }) }, file: first},
	})
}

// moveRow moves the last row of a shard to the start of the next one, and the turns with it.
func moveRow(f *forger, partition, shard int) {
	from, to := shardPath(train, partition, shard), shardPath(train, partition, shard+1)
	a, b := f.rows(from), f.rows(to)
	last := int64(len(a) - 1)
	f.writeRows(to, append(a[last:last+1:last+1], b...), arrow.Limits{})
	f.writeRows(from, a[:last], arrow.Limits{})
	f.turns(partition, func(rows []stats.TurnRow) []stats.TurnRow {
		for i := range rows {
			switch r := &rows[i]; {
			case r.Shard == to:
				r.Row++
			case r.Shard == from && r.Row == last:
				r.Shard, r.Row = to, 0
			}
		}
		return rows
	})
}

func TestForgedWeights(t *testing.T) {
	o := small(t)
	o.Mask, o.Profile = "weight", "weighted"
	masked := func(r *stats.TurnRow) bool { return r.Keep < 1 && r.Keep > 0 }
	testForgeries(t, o, []forgery{
		{name: "another weight", file: turnsPath(0), forge: func(f *forger) {
			r := f.aTarget(masked)
			f.cell(r.Shard, "loss_weight", int(r.Row), int(r.TokenStart), toWeight(1))
		}},
		{name: "a weight of nothing", file: turnsPath(0), forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "loss_weight", int(r.Row), int(r.TokenEnd-1), toWeight(0))
		}},
		{name: "a weight on context", file: "train/", forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "loss_weight", int(r.Row), int(r.ActionStart), toWeight(1))
		}},
		{name: "minus zero", file: "train/", forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "loss_weight", int(r.Row), int(r.ActionStart), toWeight(float32(math.Copysign(0, -1))))
		}},
		{name: "not a number", file: "train/", forge: func(f *forger) {
			r := f.aTarget(nil)
			f.cell(r.Shard, "loss_weight", int(r.Row), int(r.TokenStart), toWeight(float32(math.NaN())))
		}},
		{name: "a document's weight", file: turnsPath(2), forge: func(f *forger) {
			i := slices.IndexFunc(readTurns(t, f.root, 2), func(r stats.TurnRow) bool { return r.Category == "" && r.Shard != "" })
			r := readTurns(t, f.root, 2)[i]
			f.cell(r.Shard, "loss_weight", int(r.Row), 4, toWeight(0.5))
		}},
	})
}

func TestForgedTokens(t *testing.T) {
	o := small(t)
	o.Mask = "token"
	drawn := func(r *stats.TurnRow) bool { return r.Keep < 1 && r.TrainedTokens > 0 }
	testForgeries(t, o, []forgery{
		{name: "a token too many", file: "train/", forge: func(f *forger) {
			r := f.aTarget(drawn)
			row := f.rows(r.Shard)[r.Row]
			at := int(r.TokenStart) + slices.Index(row.Labels[r.TokenStart:r.TokenEnd], turnmill.IgnoreIndex)
			f.cell(r.Shard, "labels", int(r.Row), at, to(row.IDs[at]))
		}},
		{name: "another token of the same turn", file: "train/", forge: func(f *forger) {
			r := f.aTarget(drawn)
			row := f.rows(r.Shard)[r.Row]
			at := int(r.TokenStart) + slices.Index(row.Labels[r.TokenStart:r.TokenEnd], turnmill.IgnoreIndex)
			had := int(r.TokenStart) + slices.IndexFunc(row.Labels[r.TokenStart:r.TokenEnd], func(l int32) bool { return l >= 0 })
			f.cell(r.Shard, "labels", int(r.Row), at, to(row.IDs[at]))
			f.cell(r.Shard, "labels", int(r.Row), had, to(turnmill.IgnoreIndex))
		}},
		{name: "kept is the outcome", file: "turns/", forge: func(f *forger) {
			f.turn(drawn, func(r *stats.TurnRow) { r.Kept = false })
		}},
	})
}
