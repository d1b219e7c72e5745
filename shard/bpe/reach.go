package bpe

// reachable marks the tokens that merges make of their own text: where one of them is a whole pre-token, it
// need not be merged. It is nil unless each token is made by one merge, of parts that are bytes or were made
// by merges before, as in a list that training wrote.
//
// The merge of left and right gives their token exactly when each is made of its own text and no merge
// across the border between them comes earlier than those that make the two. That is looked at backwards:
// of the two symbols beside the border the one that was made last is taken apart, until both are bytes.
//
//	in|ing    was in|ing made? ing came last, so before it stood  in|in g: does in+in merge before that?
func (t *mergeTable) reachable(byteID *[256]int32, size int) []uint64 {
	p := making{order: make([]int32, size), left: make([]int32, size), right: make([]int32, size)}
	marks := make([]uint64, (size+63)/64)
	mark := func(id int32) { marks[id>>6] |= 1 << (id & 63) }
	marked := func(id int32) bool { return marks[id>>6]>>(id&63)&1 == 1 }
	for i := range p.order {
		p.order[i] = -1
	}
	for _, id := range byteID {
		p.order[id] = 0
		mark(id)
	}
	for rank, pair := range t.pairs() {
		made, left, right := t.products[rank], pair[0], pair[1]
		if p.order[made] >= 0 || p.order[left] < 0 || p.order[right] < 0 {
			return nil
		}
		p.order[made], p.left[made], p.right[made] = int32(rank)+1, left, right
	}
	for rank, pair := range t.pairs() {
		if marked(pair[0]) && marked(pair[1]) && p.apart(t, pair[0], pair[1]) {
			mark(t.products[rank])
		}
	}
	return marks
}

// making says how each token is made: order is 0 for a byte, else the rank of its merge plus one.
type making struct{ order, left, right []int32 }

// apart tells whether left and right, side by side, are made without a merge across their border.
func (p *making) apart(t *mergeTable, left, right int32) bool {
	for {
		var limit int32 // a merge across the border of lower order came first
		switch {
		case p.order[left] > p.order[right]:
			limit = p.order[left]
			left = p.right[left]
		case p.order[right] > 0: // of equals the left one is made first, and so is one across the border
			limit = p.order[right] + 1
			right = p.left[right]
		default:
			return true
		}
		if r := t.rank(left, right); r != noRank && int32(r)+1 < limit {
			return false
		}
	}
}

// pairs returns the two parts of each merge, by rank.
func (t *mergeTable) pairs() [][2]int32 {
	list := make([][2]int32, len(t.products))
	for _, s := range t.slots {
		if s != emptySlot {
			list[s&noRank] = [2]int32{int32(s >> 43), int32(s >> 22 & idMask)}
		}
	}
	return list
}
