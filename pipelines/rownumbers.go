package pipelines

// rowNumbers count the rows of a run: in the order of the plan, which is that of its shards but for what goes to the
// validation split; of shuffled rows, in the order of train's shards and then validation's.
type rowNumbers struct {
	last   place
	number int64            // of the last
	rows   int64            // that there are, as far as is known
	firsts map[string]int64 // of shuffled shards; nil: rows are not shuffled
}

func newRowNumbers(ordered []FileSum) *rowNumbers {
	n := &rowNumbers{last: place{row: -1}, number: -1}
	for _, f := range ordered {
		if _, ok := splitOf(f.Path); ok {
			if n.firsts == nil {
				n.firsts = map[string]int64{}
			}
			n.firsts[f.Path] = n.rows
			n.rows += f.Rows
		}
	}
	return n
}

// next returns the number of the row at a place, and whether it is another one than the row before. Rows are asked for
// in the order of the plan.
func (n *rowNumbers) next(at place) (number int64, another bool) {
	if at == n.last {
		return n.number, false
	}
	n.last = at
	if n.firsts != nil {
		n.number = n.firsts[at.shard] + at.row
	} else {
		n.number++
		n.rows = n.number + 1
	}
	return n.number, true
}
