package pipelines

import (
	"bytes"
	"slices"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard/arrow"
	"github.com/turnmill/turnmill/stats"
)

// everyTurn changes the turns of all partitions.
func (f *forger) everyTurn(change func(*stats.TurnRow)) {
	for i := range f.commits {
		f.turns(i, func(rows []stats.TurnRow) []stats.TurnRow {
			for k := range rows {
				change(&rows[k])
			}
			return rows
		})
	}
}

// TestForgedShuffle: whatever is changed in a shuffled run and signed again, check finds it: in the order, in the rows
// that an order has to give back, in the tables that say where they are.
func TestForgedShuffle(t *testing.T) {
	first, second := shuffledPath(train, 0), shuffledPath(train, 1)
	exchange := func(f *forger) {
		f.writeRows(first, swapped(f.rows(first), 0, 1), arrow.Limits{})
	}
	follow := func(f *forger) {
		f.everyTurn(func(r *stats.TurnRow) {
			if r.Shard == first && r.Row < 2 {
				r.Row = 1 - r.Row
			}
		})
	}
	o := small(t)
	o.Shuffle = true
	testForgeries(t, o, []forgery{
		{name: "two rows change places, and their turns follow", file: first, forge: func(f *forger) { exchange(f); follow(f) }},
		{name: "two rows change places, and their turns stay", file: "turns/", forge: exchange},
		{name: "turns of two rows change places", file: "turns/", forge: follow},
		{name: "a row stands twice", file: first, forge: func(f *forger) {
			rows := f.rows(first)
			rows[1] = rows[0]
			f.writeRows(first, rows, arrow.Limits{})
		}},
		{name: "a row is gone", file: "turns/", forge: func(f *forger) { f.writeRows(first, f.rows(first)[1:], arrow.Limits{}) }},
		{name: "a row too many", file: first, forge: func(f *forger) {
			rows := f.rows(first)
			f.writeRows(first, append(rows, rows[len(rows)-1]), arrow.Limits{})
		}},
		{name: "other batches", file: first, forge: func(f *forger) { f.writeRows(first, f.rows(first), arrow.Limits{Rows: 1}) }},
		{name: "a token of context", file: "commits/p0000", forge: func(f *forger) {
			rows := f.rows(first)
			at := slices.Index(rows[0].Labels[1:], turnmill.IgnoreIndex) + 1
			rows[0].IDs[at] = int32(other(uint32(rows[0].IDs[at])))
			f.writeRows(first, rows, arrow.Limits{})
		}},
		{name: "the first row of a shard in the shard before", file: "data-s0000", forge: func(f *forger) {
			rows := f.rows(second)
			n := int64(len(f.rows(first)))
			f.writeRows(first, append(f.rows(first), rows[0]), arrow.Limits{})
			f.writeRows(second, rows[1:], arrow.Limits{})
			f.everyTurn(func(r *stats.TurnRow) {
				switch {
				case r.Shard == second && r.Row == 0:
					r.Shard, r.Row = first, n
				case r.Shard == second:
					r.Row--
				}
			})
		}},
		{name: "a turn in a shard that there is not", file: "turns/", forge: func(f *forger) {
			f.turn(func(r *stats.TurnRow) bool { return r.Shard == first }, func(r *stats.TurnRow) { r.Shard = "train/data-s00777.arrow" })
		}},
		{name: "a turn in a row beyond the last", file: "data-s00000", forge: func(f *forger) {
			f.everyTurn(func(r *stats.TurnRow) {
				if r.Shard == first && r.Row == 1 {
					r.Row = 1 << 40
				}
			})
		}},
		{name: "a turn in a file outside", file: "turns/", forge: func(f *forger) {
			f.turn(func(r *stats.TurnRow) bool { return r.Shard == first }, func(r *stats.TurnRow) { r.Shard = "train/../../x.arrow" })
		}},
		{name: "a source that nothing else holds", file: "turns/", forge: func(f *forger) {
			f.everyTurn(func(r *stats.TurnRow) { r.Source = "elsewhere" })
		}},
		{name: "a commit of other rows", file: "commits/p00000.json", forge: func(f *forger) { f.commits[0].Files[0].SHA256 = hexSum(nil) }},
		{name: "a commit of fewer shards", file: "commits/p00000.json", forge: func(f *forger) {
			rows := f.commits[0].Files[1].Rows
			f.commits[0].Files = slices.Delete(f.commits[0].Files, 1, 2)
			f.commits[0].Files[0].Rows += rows
		}},
		{name: "a manifest of fewer shards", file: "manifest.json", forge: func(f *forger) { f.ordered = f.ordered[1:] }},
		{name: "a manifest of shards in another order", file: "manifest.json", forge: func(f *forger) {
			f.ordered[0], f.ordered[1] = f.ordered[1], f.ordered[0]
		}},
		{name: "a manifest of a shard outside", file: "manifest.json", forge: func(f *forger) { f.ordered[0].Path = "train/../x.arrow" }},
		{name: "a manifest that is cut", file: "manifest.json", after: func(f *forger) {
			f.bytes("manifest.json", func(b []byte) []byte { return b[:len(b)/2] })
		}},
		{name: "a manifest of another plan", file: "manifest.json", after: func(f *forger) {
			f.bytes("manifest.json", func(b []byte) []byte {
				_, sum := f.plan.Encode()
				return bytes.Replace(b, []byte(sum), []byte(hexSum(nil)), 1)
			})
		}},
		{name: "a shard is changed", file: first, after: func(f *forger) {
			f.bytes(first, func(b []byte) []byte { b[len(b)/2] ^= 1; return b })
		}},
		{name: "a shard is gone", file: first, after: func(f *forger) { f.remove(first) }},
		{name: "a shard too many", file: "train/data-s00777.arrow", after: func(f *forger) { write(f.t, f.path("train/data-s00777.arrow"), nil) }},
		{name: "a plan without it", file: "commits/", forge: func(f *forger) { f.plan.Config.Shuffle = false }},
		{name: "another seed", inputs: false, file: "", forge: func(f *forger) { f.plan.Mask.Seed = "another" }},
	})
}

func swapped(rows []turnmill.Row, i, k int) []turnmill.Row {
	rows[i], rows[k] = rows[k], rows[i]
	return rows
}

// TestForgedShuffleSFT: so for the places in queries/.
func TestForgedShuffleSFT(t *testing.T) {
	o := toySFT(t)
	o.Partitions, o.Shuffle = 1, true
	placed := func(q *QueryLine) bool { return q.Row != nil }
	testForgeries(t, o, []forgery{
		{name: "a query with another row", file: "turns/", forge: func(f *forger) { f.query(placed, func(q *QueryLine) { q.Row.Row++ }) }},
		{name: "a query's detail", file: "queries/", forge: func(f *forger) { f.query(placed, func(q *QueryLine) { q.Detail = "x" }) }},
	})
}
