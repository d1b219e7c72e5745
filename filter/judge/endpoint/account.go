package endpoint

import (
	"cmp"
	"slices"

	"github.com/turnmill/turnmill"
)

// Account says what became of the requests of one Ask. For each request there is one reply, or it was interrupted:
//
//	Requests = sum of States + Interrupted
//	Requests = FromJournal + Asked + Unsent + Interrupted
type Account struct {
	Requests    int64    // taken from the sequence
	FromJournal int64    // answered from the journal
	Asked       int64    // sent at least once, and ended
	Unsent      int64    // ended without being sent: budget, endpoint_down
	Interrupted int64    // without a reply, sent or not, because the run was stopped
	States      [5]int64 // replies by turnmill.ReplyState, those of the journal included
	Reasons     []Count  // why replies failed or came too late, by name; those of the journal included

	Spent           // of this Ask
	Retried   int64 // of Sent: those that were not a request's first
	Limited   int64 // answers of status 429
	Estimated int64 // replies whose usage was not reported, so that it was estimated from their bytes
	Mended    int64 // bytes and surrogates of replies that were no text and became U+FFFD
	Peak      int   // requests in flight at most, of all that asked the endpoint
}

// Count counts a reason.
type Count struct {
	Reason string
	N      int64
}

// Add joins the account of another Ask.
func (a *Account) Add(o Account) {
	a.Requests += o.Requests
	a.FromJournal += o.FromJournal
	a.Asked += o.Asked
	a.Unsent += o.Unsent
	a.Interrupted += o.Interrupted
	for i, n := range o.States {
		a.States[i] += n
	}
	for _, c := range o.Reasons {
		a.Reasons = addReason(a.Reasons, c.Reason, c.N)
	}
	a.Spent.add(o.Spent)
	a.Retried += o.Retried
	a.Limited += o.Limited
	a.Estimated += o.Estimated
	a.Mended += o.Mended
	a.Peak = max(a.Peak, o.Peak)
}

// addReason counts a reason in a list that is sorted by name.
func addReason(list []Count, name string, n int64) []Count {
	i, found := slices.BinarySearchFunc(list, name, func(c Count, name string) int { return cmp.Compare(c.Reason, name) })
	if !found {
		list = slices.Insert(list, i, Count{Reason: name})
	}
	list[i].N += n
	return list
}

// reply counts one that is handed on.
func (a *Account) reply(r *turnmill.Reply) {
	a.States[r.State]++
	if r.Error != "" {
		a.Reasons = addReason(a.Reasons, ReasonOf(r.Error), 1)
	}
}
