package endpoint

import (
	"bufio"
	"bytes"
	"errors"
	"fmt"
	"io"
	"iter"
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/completion"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// BatchFile is an output or error file of a batch API.
type BatchFile struct {
	Name string // for messages
	R    io.Reader
}

// BatchAccount says what became of the requests of a batch, and of the lines of its files:
//
//	Requests = sum of States; those of the journal and the missing are among them
//	Lines    = answered + failed + Duplicates + Unknown + Bad
type BatchAccount struct {
	Requests    int64
	FromJournal int64
	Missing     int64    // in no file; failed with ReasonMissing and not journalled
	States      [5]int64 // by turnmill.ReplyState
	Reasons     []Count
	Usage       turnmill.Usage // of this batch

	Lines      int64
	Duplicates int64   // lines of a request that had its reply
	Unknown    int64   // lines of nobody's custom_id
	Bad        int64   // lines that are none of a batch
	Faults     []error // the first maxFaults of the unknown and the bad, with file and line
	Mended     int64   // as Account.Mended
}

const maxFaults = 20

// ReadBatch joins the files of a batch with the requests by custom_id alone: answers may come in any order, and failures
// in a file of their own. Of several lines of one request the first with an answer counts, else the first. New replies
// go into the journal; give gets one reply a request, and then each of the missing, failed. A line that is bad costs
// itself.
func ReadBatch(job Job, o BatchOptions, requests iter.Seq2[turnmill.Request, error], files []BatchFile, give func(turnmill.Reply) error) (BatchAccount, error) {
	b := &batchReader{job: job, o: o.withDefaults(), give: give, wanted: map[string]*wanted{}}
	if err := b.want(requests); err != nil {
		return b.account, err
	}
	for _, f := range files {
		if err := b.file(f); err != nil {
			return b.account, fmt.Errorf("%s: %w", f.Name, err)
		}
	}
	err := b.finish()
	return b.account, err
}

// wanted is a request of the batch that the journal does not answer.
type wanted struct {
	key    Key
	id     string
	sample int
	failed *turnmill.Reply // its first failure
	done   bool
}

type batchReader struct {
	job     Job
	o       BatchOptions
	give    func(turnmill.Reply) error
	wanted  map[string]*wanted
	order   []*wanted
	held    []Entry // read, and not yet synced
	bytes   int     // of their texts
	account BatchAccount
}

// want lists the requests and gives what the journal answers.
func (b *batchReader) want(requests iter.Seq2[turnmill.Request, error]) error {
	var twice error
	err := missing(b.job, requests, func(r turnmill.Reply) error {
		b.account.Requests++
		b.account.FromJournal++
		return b.hand(r)
	}, func(k Key, r *turnmill.Request) bool {
		b.account.Requests++
		name := b.o.Name(k, r)
		if other := b.wanted[name]; other != nil {
			twice = fmt.Errorf("requests %s and %s have one custom_id, %s", other.id, r.ID, name)
			return false
		}
		w := &wanted{key: k, id: r.ID, sample: r.Sample}
		b.wanted[name] = w
		b.order = append(b.order, w)
		return true
	})
	return errors.Join(err, twice)
}

// file reads the lines of one file.
func (b *batchReader) file(f BatchFile) error {
	r := bufio.NewReaderSize(f.R, 64<<10)
	doc := jsonscan.Doc{NonFinite: true}
	var buf []byte
	for n := 1; ; n++ {
		line, long, err := readBounded(r, buf[:0], b.o.MaxLine)
		buf = line
		if err == io.EOF {
			return nil
		}
		if err != nil {
			return err
		}
		if n == 1 {
			line = bytes.TrimPrefix(line, []byte("\uFEFF"))
		}
		if line = bytes.TrimSpace(line); len(line) == 0 && !long {
			continue
		}
		b.account.Lines++
		if long {
			err = fmt.Errorf("longer than %d bytes", b.o.MaxLine)
		} else {
			err = b.line(&doc, line)
		}
		if fatal, ok := errors.AsType[*fatalError](err); ok {
			return fatal.error
		}
		if err != nil && len(b.account.Faults) < maxFaults {
			b.account.Faults = append(b.account.Faults, fmt.Errorf("%s:%d: %w", f.Name, n, err))
		}
		if long {
			b.account.Bad++
		}
	}
}

// fatalError is of the journal or of give, and ends the reading.
type fatalError struct{ error }

// line joins one line.
func (b *batchReader) line(doc *jsonscan.Doc, line []byte) error {
	v, err := doc.Parse(line)
	name := v.Get("custom_id")
	if err == nil && name.Kind() != jsonscan.String {
		err = errors.New("no custom_id")
	}
	var reply turnmill.Reply
	if err == nil {
		reply, err = batchReply(v)
	}
	if err != nil {
		b.account.Bad++
		return err
	}
	custom := string(name.AppendString(nil))
	w := b.wanted[custom]
	switch {
	case w == nil:
		b.account.Unknown++
		return fmt.Errorf("custom_id %q is none of this batch's", completion.Bounded(custom, 80))
	case w.done, w.failed != nil && !answers(reply.State):
		b.account.Duplicates++
		return nil
	}
	reply.ID, reply.Sample = w.id, w.sample
	if r := doc.Repairs(); r.BadUTF8+r.LoneSurrogate > 0 {
		b.account.Mended += int64(r.BadUTF8 + r.LoneSurrogate)
	}
	if !answers(reply.State) {
		w.failed = &reply
		return nil
	}
	if w.failed != nil { // its failure no longer counts
		b.account.Duplicates++
		w.failed = nil
	}
	w.done = true
	if err := b.hold(w, reply); err != nil {
		return &fatalError{err}
	}
	return nil
}

// batchReply reads the response of a line, or why there is none.
//
//	{"custom_id":"…","response":{"status_code":200,"body":{"choices":[…]}},"error":null}
func batchReply(v jsonscan.Value) (turnmill.Reply, error) {
	failed := func(reason, detail string) turnmill.Reply {
		return turnmill.Reply{State: turnmill.ReplyFailed, Error: reason + ": " + detail}
	}
	response := v.Get("response")
	status, hasStatus := response.Get("status_code").Int()
	body := response.Get("body")
	all, err := completion.Read(body)
	said, isSaid := errors.AsType[*completion.Error](err)
	switch {
	case v.Get("error").Present():
		e, _ := completion.ReadError(v)
		return failed(ReasonBatch, e.Error()), nil
	case response.Kind() != jsonscan.Object:
		return turnmill.Reply{}, errors.New("neither a response nor an error")
	case isSaid && said.Refused():
		return turnmill.Reply{State: turnmill.ReplyRefused, Finish: "content_filter"}, nil
	case hasStatus && status != 200:
		if !isSaid {
			said = &completion.Error{Message: completion.Bounded(string(body.Raw()), 120)}
		}
		return failed(ReasonStatus+strconv.FormatInt(status, 10), said.Error()), nil
	case err != nil:
		return failed(ReasonWrongBody, err.Error()), nil
	}
	r := all[0]
	if r.State == turnmill.ReplyFailed {
		r.Error = ReasonNoAnswer + ": " + r.Error
	}
	return r, nil
}

// What is written with one sync.
const (
	heldEntries = 1000
	heldBytes   = 16 << 20
)

func (b *batchReader) hold(w *wanted, r turnmill.Reply) error {
	b.held = append(b.held, Entry{Key: w.key, Kind: b.job.Kind, Attempts: 1, Reply: r})
	b.bytes += len(r.Text) + len(r.Reasoning)
	if len(b.held) < heldEntries && b.bytes < heldBytes {
		return nil
	}
	return b.flush()
}

// flush syncs what is held and gives it.
func (b *batchReader) flush() error {
	if err := b.job.Journal.Append(b.held...); err != nil {
		return err
	}
	for _, e := range b.held {
		b.account.Usage.Prompt += e.Reply.Usage.Prompt
		b.account.Usage.Completion += e.Reply.Usage.Completion
		b.account.Usage.Reasoning += e.Reply.Usage.Reasoning
		if err := b.hand(e.Reply); err != nil {
			return err
		}
	}
	b.held, b.bytes = b.held[:0], 0
	return nil
}

// finish ends the requests that have no answer, in the order of the requests.
func (b *batchReader) finish() error {
	for _, w := range b.order {
		if w.failed == nil {
			continue
		}
		if err := b.hold(w, *w.failed); err != nil {
			return err
		}
		w.done = true
	}
	if err := b.flush(); err != nil {
		return err
	}
	for _, w := range b.order {
		if w.done {
			continue
		}
		b.account.Missing++
		if err := b.hand(turnmill.Reply{ID: w.id, Sample: w.sample, State: turnmill.ReplyFailed, Error: ReasonMissing + ": it is in no file of the batch"}); err != nil {
			return err
		}
	}
	return nil
}

func (b *batchReader) hand(r turnmill.Reply) error {
	b.account.States[r.State]++
	if r.Error != "" {
		b.account.Reasons = addReason(b.account.Reasons, ReasonOf(r.Error), 1)
	}
	return b.give(r)
}
