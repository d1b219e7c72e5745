// Package endpoint asks OpenAI-compatible endpoints for chat completions, and keeps what they answer. It owns how
// requests are sent, repeated, bounded and paid for, the journal of replies, and the files of batch APIs. What is
// asked, and what an answer means, is the callers'.
//
//	requests (a sequence)                       replies (a callback, one a request)
//	   | key: SHA-256 of what is asked                  ^
//	   v                                                |
//	journal --- holds it -------------------------------+
//	   | does not                                       |
//	   v                                                |
//	gate: endpoint down? budget? cool-down? in flight?  |     down, budget: failed, not journalled
//	   v                                                |
//	POST URL/chat/completions --- 200 --> decode --> journal, synced
//	   | 429: cool-down for all, no retry spent         ^
//	   | 408, 409, 5xx, broken, no JSON: back-off, bounded retries
//	   | other 4xx, redirect, too large ----------------+     failed
//
// Each request ends in one state. Complete, truncated and refused are answers and stand for good. Failed and timeout
// are written too, stand when a run is resumed, and are asked again only with Job.RetryFailed. What is the run's doing
// and not the request's, a spent budget or an endpoint that is down, is never written: the next run asks it.
//
// A reply is given when it is on the disk. So a process that is killed asks again at most what it had in flight, which
// is never more than Options.Concurrency.
//
// The client looks at no clock and draws no number of its own; both are given to it. It follows no redirect, and its
// key stands in no error, reply, log or journal, even where a server echoes it.
package endpoint
