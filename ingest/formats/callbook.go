package formats

// callBook gives results to their calls over a whole log: by id, calls of one id in their order. A result
// that comes before its call waits for it. It works on indexes of lists that its owner keeps.
type callBook struct {
	calls, results map[string]queue // that wait for the other side
	next           []int32          // in a queue
}

// queue is a list of indexes into callBook.next, first in first out.
type queue struct{ first, last int32 }

// waiter is one that waits: its index in the owner's list stands at next[i], the next in its queue at next[i+1].
const waiter = 2

func (b *callBook) reset() {
	if len(b.next) > keepMap*waiter { // what is met is deleted, and its place stays
		*b = callBook{}
	}
	b.calls, b.results = emptied(b.calls), emptied(b.results)
	b.next = b.next[:0]
}

// call takes a call; it returns the result that has waited for it, or -1.
func (b *callBook) call(id string, at int32) int32 { return b.meet(b.calls, b.results, id, at) }

// result takes a result; it returns the call that it answers, or -1 when none has come yet.
func (b *callBook) result(id string, at int32) int32 { return b.meet(b.results, b.calls, id, at) }

func (b *callBook) meet(own, other map[string]queue, id string, at int32) int32 {
	if q, ok := other[id]; ok {
		met := b.next[q.first]
		if q.first == q.last {
			delete(other, id)
		} else {
			other[id] = queue{b.next[q.first+1], q.last}
		}
		return met
	}
	i := int32(len(b.next))
	b.next = append(b.next, at, -1)
	if q, ok := own[id]; ok {
		b.next[q.last+1] = i
		own[id] = queue{q.first, i}
	} else {
		own[id] = queue{i, i}
	}
	return -1
}

// take returns the call that has waited longest for a result.
func (b *callBook) take(id string) (int32, bool) {
	if _, ok := b.calls[id]; !ok {
		return -1, false
	}
	return b.result(id, -1), true
}
