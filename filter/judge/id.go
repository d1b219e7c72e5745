package judge

import (
	"crypto/sha256"
	"strconv"
	"strings"
)

// Kind says what a question asks for.
type Kind uint8

// The three kinds.
const (
	KindScores  Kind = iota // five scores for a rollout
	KindPair                // the better of two rollouts
	KindVerdict             // correct or not
	numKinds    = int(KindVerdict) + 1
)

var kindNames = [numKinds]string{"scores", "pair", "verdict"}

// String returns the kind as it stands in ids.
func (k Kind) String() string { return kindNames[k] }

// ID says what is judged. Written, it is the ID of the request; the request's Sample counts the attempts.
//
//	run-1@3/scores/2      rollout 2 of query run-1@3
//	run-1@3/pair/2-0      rollouts 2 and 0, 2 shown first
//	run-1@3/verdict/2
type ID struct {
	Kind   Kind
	Query  string
	First  int // the rollout that is judged, or shown first
	Second int // KindPair alone: the rollout shown second
}

// String writes the id. Reading starts at the end, so a query's id may hold anything.
func (id ID) String() string {
	s := id.Query + "/" + id.Kind.String() + "/" + strconv.Itoa(id.First)
	if id.Kind == KindPair {
		s += "-" + strconv.Itoa(id.Second)
	}
	return s
}

// ParseID is the inverse of String. It is false for what String never writes.
func ParseID(s string) (ID, bool) {
	i := strings.LastIndexByte(s, '/')
	if i < 0 {
		return ID{}, false
	}
	j := strings.LastIndexByte(s[:i], '/')
	if j < 0 {
		return ID{}, false
	}
	id := ID{Query: s[:j]}
	for id.Kind = 0; int(id.Kind) < numKinds && id.Kind.String() != s[j+1:i]; id.Kind++ {
	}
	if int(id.Kind) == numKinds {
		return ID{}, false
	}
	first, second, _ := strings.Cut(s[i+1:], "-")
	id.First, _ = strconv.Atoi(first)
	id.Second, _ = strconv.Atoi(second)
	return id, id.First >= 0 && id.Second >= 0 && id.String() == s
}

// Orders returns both orders of rollouts i and j of a query. Which comes first is drawn: the lowest bit of the
// first byte of
//
//	SHA-256( "pair" 0x00 seed 0x00 query 0x00 low 0x00 high )     the two numbers in decimal, the lower one first
//
// is 0 for the lower one. So who asks one order alone shows either as often in the first place, and asking
// for (i, j) or (j, i) is the same.
func Orders(seed, query string, i, j int) [2]ID {
	low, high := min(i, j), max(i, j)
	sum := sha256.Sum256([]byte("pair\x00" + seed + "\x00" + query + "\x00" + strconv.Itoa(low) + "\x00" + strconv.Itoa(high)))
	if sum[0]&1 == 1 {
		low, high = high, low
	}
	return [2]ID{
		{Kind: KindPair, Query: query, First: low, Second: high},
		{Kind: KindPair, Query: query, First: high, Second: low},
	}
}
