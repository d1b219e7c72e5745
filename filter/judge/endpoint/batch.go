package endpoint

import (
	"cmp"
	"fmt"
	"iter"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// BatchOptions say what files of a batch API look like. Zero values take the defaults.
type BatchOptions struct {
	MaxRequests int    // in a file; default 50,000
	MaxBytes    int64  // of a file; default 200 million
	TokenField  string // as Options.TokenField
	Path        string // what a request is for; default /v1/chat/completions
	// Name gives a request its custom_id, one of its own; nil is CustomID.
	Name func(k Key, r *turnmill.Request) string
	// MaxLine bounds a line that is read, in bytes; a longer one is bad. Default 64 MiB.
	MaxLine int
}

func (o BatchOptions) withDefaults() BatchOptions {
	o.MaxRequests = cmp.Or(o.MaxRequests, 50_000)
	o.MaxBytes = cmp.Or(o.MaxBytes, 200_000_000)
	o.TokenField = cmp.Or(o.TokenField, "max_tokens")
	o.Path = cmp.Or(o.Path, "/v1/chat/completions")
	o.MaxLine = cmp.Or(o.MaxLine, 64<<20)
	if o.Name == nil {
		o.Name = func(k Key, r *turnmill.Request) string { return CustomID(k, r.Sample) }
	}
	return o
}

// BatchLine is one request in an input file of a batch API.
type BatchLine struct {
	File int    // from 0: lines of one file follow each other
	Line []byte // with its line feed; valid until the next
}

// LargeRequestError is a request that fits in no file. It costs that request alone.
type LargeRequestError struct {
	ID     string
	Sample int
	Bytes  int
	Limit  int64
}

// Error says what to try, too.
func (e *LargeRequestError) Error() string {
	return fmt.Sprintf("request %s, sample %d: %d bytes, more than the %d of a batch file; try it at an endpoint", e.ID, e.Sample, e.Bytes, e.Limit)
}

// WriteBatch yields the requests that the journal does not hold, as lines for a batch API, each once:
//
//	{"custom_id":"…","method":"POST","url":"/v1/chat/completions","body":{"model":"m","messages":[…],"temperature":0.6}}
//
// A file ends before a line that would pass a limit. After a *LargeRequestError the sequence goes on; any other error is
// its last. The caller names, writes and publishes the files.
func WriteBatch(job Job, o BatchOptions, requests iter.Seq2[turnmill.Request, error]) iter.Seq2[BatchLine, error] {
	o = o.withDefaults()
	return func(yield func(BatchLine, error) bool) {
		var line []byte
		file, inFile, size := 0, 0, int64(0)
		err := missing(job, requests, nil, func(k Key, r *turnmill.Request) bool {
			line = appendBatchLine(line[:0], &o, k, r)
			n := int64(len(line))
			if n > o.MaxBytes {
				return yield(BatchLine{}, &LargeRequestError{ID: r.ID, Sample: r.Sample, Bytes: len(line), Limit: o.MaxBytes})
			}
			if inFile == o.MaxRequests || size+n > o.MaxBytes {
				file, inFile, size = file+1, 0, 0
			}
			inFile, size = inFile+1, size+n
			return yield(BatchLine{File: file, Line: line}, nil)
		})
		if err != nil {
			yield(BatchLine{}, err)
		}
	}
}

func appendBatchLine(b []byte, o *BatchOptions, k Key, r *turnmill.Request) []byte {
	b = jsonscan.AppendQuotedLine(append(b, `{"custom_id":`...), o.Name(k, r))
	b = jsonscan.AppendQuotedLine(append(b, `,"method":"POST","url":`...), o.Path)
	return append(appendBody(append(b, `,"body":`...), r, o.TokenField), "}\n"...)
}

// missing calls ask with each request that is to be asked, once, until it returns false, and held, where there is one,
// with the reply of each that the journal answers.
func missing(job Job, requests iter.Seq2[turnmill.Request, error], held func(turnmill.Reply) error, ask func(Key, *turnmill.Request) bool) error {
	seen := map[Key]struct{}{}
	for r, err := range requests {
		if err == nil {
			err = checkRequest(&r)
		}
		if err != nil {
			return err
		}
		k := KeyOf(job.Kind, &r)
		if _, again := seen[k]; again {
			continue
		}
		e, at, err := job.Journal.find(k)
		if err != nil {
			return err
		}
		if at >= 0 && (answers(e.Reply.State) || !job.RetryFailed) {
			if held == nil {
				continue
			}
			if err := held(e.Reply); err != nil {
				return err
			}
			continue
		}
		seen[k] = struct{}{}
		if !ask(k, &r) {
			return nil
		}
	}
	return nil
}
