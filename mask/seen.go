package mask

import "math/bits"

// mostSeen is how many distinct words are remembered at once: 32 MiB of them. A trajectory of a million tokens has a
// third of that; what comes after more is not counted.
const mostSeen = 1 << 20

// seen is one word that is remembered, 16 bytes. Slots of earlier rounds count as free.
type seen struct {
	key   uint64
	round uint32
	last  uint32 // number of the text that had it last, of those that are numbered
}

// seenSet remembers words by the keys of wordSet, open addressing, at most half full. The zero value is ready after
// reset.
type seenSet struct {
	slots []seen
	shift uint // 64 - log2(len(slots))
	round uint32
	used  int
	most  int // words; more are refused

	idle idleness
}

// reset forgets all words and gives back a table that an outlier left behind.
func (s *seenSet) reset() {
	if n := s.idle.slots(s.used, len(s.slots)); n != len(s.slots) {
		s.resize(n)
	}
	s.used = 0
	if s.round++; s.round == 0 { // the count has come round: old slots would look new
		clear(s.slots)
		s.round = 1
	}
}

func (s *seenSet) resize(n int) {
	s.slots = make([]seen, n)
	s.shift = 64 - uint(bits.Len(uint(n-1)))
}

// has tells whether a word is remembered.
func (s *seenSet) has(key uint64) bool {
	mask := uint64(len(s.slots) - 1)
	for i := key >> s.shift; ; i++ {
		p := &s.slots[i&mask]
		if p.round != s.round {
			return false
		}
		if p.key == key {
			return true
		}
	}
}

// add remembers a word and returns its place, valid until the next add, and whether it was there. It returns nil
// when there is no room.
func (s *seenSet) add(key uint64) (p *seen, known bool) {
	if s.used*2 >= len(s.slots) {
		s.grow()
	}
	mask := uint64(len(s.slots) - 1)
	for i := key >> s.shift; ; i++ {
		p := &s.slots[i&mask]
		switch {
		case p.round != s.round && s.used == s.most:
			return nil, false
		case p.round != s.round:
			*p = seen{key: key, round: s.round}
			s.used++
			return p, false
		case p.key == key:
			return p, true
		}
	}
}

func (s *seenSet) grow() {
	old := s.slots
	s.resize(2 * len(old))
	mask := uint64(len(s.slots) - 1)
	for _, p := range old {
		if p.round != s.round {
			continue
		}
		i := p.key >> s.shift
		for s.slots[i&mask].round == s.round {
			i++
		}
		s.slots[i&mask] = p
	}
}
