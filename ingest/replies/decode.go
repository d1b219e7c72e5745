package replies

import (
	"cmp"
	"errors"
	"fmt"
	"strconv"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/completion"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Naming gives the ids under which the answers of judges are found, as those who ask them name their requests.
type Naming struct {
	Score func(query string, rollout int) string
	Pair  func(query string, first, second int) string
}

// decoder reads the values of one file. It serves one goroutine.
type decoder struct {
	doc    jsonscan.Doc
	naming Naming
	out    []turnmill.Reply
}

func newDecoder(n Naming) *decoder {
	return &decoder{doc: jsonscan.Doc{NonFinite: true, Depth: maxDepth}, naming: n}
}

// maxDepth bounds nesting: rows of answers nest some eight deep, with what an endpoint adds.
const maxDepth = 1000

// mostSamples bounds the number of a sample.
const mostSamples = 1 << 20

// decode returns the replies of one value, at least one, which own their memory. They are valid until the next call.
func (d *decoder) decode(data []byte) ([]turnmill.Reply, error) {
	v, err := d.doc.Parse(data)
	if err != nil {
		return nil, reject(turnmill.ReasonBadJSON, err)
	}
	d.out = d.out[:0]
	if v.Kind() != jsonscan.Object {
		return nil, reject(turnmill.ReasonBadField, fmt.Errorf("a row is %s, want an object", v.Kind()))
	}
	id, sample, err := name(v)
	if err != nil {
		return nil, reject(turnmill.ReasonBadField, err)
	}
	if err := d.row(v, id, sample); err != nil {
		return nil, reject(turnmill.ReasonBadField, err)
	}
	return d.out, nil
}

// Decode returns the replies of one row, which own their memory.
func Decode(row []byte, n Naming) ([]turnmill.Reply, error) { return newDecoder(n).decode(row) }

func reject(reason turnmill.Reason, err error) error {
	return &turnmill.RecordError{Step: "replies", Reason: reason, Err: err}
}

// name returns what a row answers, and the sample, -1 where the row has no number of its own.
func name(v jsonscan.Value) (id string, sample int, err error) {
	for _, key := range []string{"query", "query_id", "custom_id", "request_id", "id"} {
		if id = text(v.Get(key)); id != "" {
			break
		}
	}
	if turn := v.Get("turn_idx"); turn.Present() && !v.Get("query").Present() && !v.Get("custom_id").Present() {
		if id, err = benchRow(v, turn); err != nil {
			return "", 0, err
		}
	}
	if id == "" {
		return "", 0, errors.New("no id: want query, custom_id, request_id or id, as a text")
	}
	if id, sample = SplitID(id); sample >= 0 {
		return id, sample, nil
	}
	sample, err = number(v, "rollout", "sample", "attempt")
	return id, sample, err
}

// benchRow names the row of AgentWorldBench that a row with its id and turn_idx answers: ID/TURN, with TASK/ before
// it where task is there.
func benchRow(v, turn jsonscan.Value) (string, error) {
	n, ok := turn.Int()
	if !ok || n < 0 {
		return "", fmt.Errorf("turn_idx is %s, want the row's", completion.Bounded(turn.RawStr(), 40))
	}
	id := text(v.Get("id"))
	if v.Get("id").Kind() == jsonscan.Number {
		id = v.Get("id").RawStr()
	}
	if id == "" {
		return "", errors.New("turn_idx without the row's id")
	}
	if task := text(v.Get("task")); task != "" {
		id = task + "/" + id
	}
	return id + "/" + strconv.FormatInt(n, 10), nil
}

// SplitID takes the number of a sample off an id of the form TRAJECTORY@TURN#SAMPLE, or of an attempt off a judge's
// TRAJECTORY@TURN/scores/0#1; for other ids it is -1.
func SplitID(id string) (string, int) {
	at := strings.LastIndexByte(id, '#')
	if at < 0 {
		return id, -1
	}
	n, err := strconv.Atoi(id[at+1:])
	if err != nil || n < 0 || n >= mostSamples || strconv.Itoa(n) != id[at+1:] {
		return id, -1
	}
	turn, _, _ := strings.Cut(id[strings.LastIndexByte(id[:at], '@')+1:at], "/") // a judge's question goes on after it
	if !strings.Contains(id[:at], "@") || turn == "" || strings.Trim(turn, "0123456789") != "" {
		return id, -1
	}
	return id[:at], n
}

// number returns the first of some members that is there, or -1.
func number(v jsonscan.Value, keys ...string) (int, error) {
	for _, key := range keys {
		m := v.Get(key)
		if !m.Present() {
			continue
		}
		n, ok := m.Int()
		if !ok || n < 0 || n >= mostSamples {
			return 0, fmt.Errorf("%s is %s, want a number from 0", key, completion.Bounded(m.RawStr(), 40))
		}
		return int(n), nil
	}
	return -1, nil
}

// row tells the shape of a row by its members.
func (d *decoder) row(v jsonscan.Value, id string, sample int) error {
	switch {
	case v.Get("judge").Present(), v.Get("judgement").Present(), v.Get("pair").Present():
		return d.judgement(v, id, sample)
	case v.Get("rollouts").Kind() == jsonscan.Array:
		return d.several(v, v.Get("rollouts"), id)
	case v.Get("outputs").Kind() == jsonscan.Array:
		return d.several(v, v.Get("outputs"), id)
	case v.Get("choices").Kind() == jsonscan.Array:
		return d.completion(v, id, sample)
	case v.Get("response").Kind() == jsonscan.Object:
		return d.batch(v.Get("response"), id, sample)
	case v.Get("text").Kind() == jsonscan.String, v.Get("state").Kind() == jsonscan.String:
		r, err := plain(v, jsonscan.Value{})
		if err != nil {
			return err
		}
		d.add(r, id, max(sample, 0))
		return nil
	}
	if e, ok := completion.ReadError(v); ok {
		d.add(failed(e), id, max(sample, 0))
		return nil
	}
	return errors.New("no answer: want text, rollouts, choices, outputs, response, judge or error")
}

func (d *decoder) add(r turnmill.Reply, id string, sample int) {
	r.ID, r.Sample = id, sample
	d.out = append(d.out, r)
}

// failed is the reply of a request that an endpoint refused.
func failed(e *completion.Error) turnmill.Reply {
	if e.Refused() {
		return turnmill.Reply{State: turnmill.ReplyRefused, Text: e.Message}
	}
	return turnmill.Reply{State: turnmill.ReplyFailed, Error: e.Error()}
}

// several reads a list of answers to one query. Each has its own number, or else its place in the list.
func (d *decoder) several(row, list jsonscan.Value, id string) error {
	i := 0
	for v := range list.Elems() {
		var r turnmill.Reply
		sample := -1
		var err error
		switch v.Kind() {
		case jsonscan.String:
			r = ended(text(v), "", text(row.Get("finish_reason")))
		case jsonscan.Object:
			if sample, err = number(v, "rollout", "sample", "index"); err == nil {
				r, err = plain(v, row)
			}
		default:
			err = fmt.Errorf("it is %s, want a text or an object", v.Kind())
		}
		if err != nil {
			return fmt.Errorf("answer %d: %w", i, err)
		}
		if sample < 0 {
			sample = i
		}
		d.add(r, id, sample)
		i++
	}
	if i == 0 {
		return errors.New("the list of answers is empty")
	}
	return nil
}

// completion reads a body of chat completions. With a sample of its own the row is one answer.
func (d *decoder) completion(body jsonscan.Value, id string, sample int) error {
	all, err := completion.Read(body)
	if err != nil {
		return err
	}
	if sample >= 0 && len(all) > 1 {
		return fmt.Errorf("%d choices for sample %d", len(all), sample)
	}
	for i, r := range all {
		if i > 0 {
			r.Usage = turnmill.Usage{} // it is of the whole body, and counts once
		}
		at := r.Sample
		if sample >= 0 {
			at = sample
		}
		d.add(r, id, at)
	}
	return nil
}

// batch reads the response of a line of a batch: output and error files have the same shape.
func (d *decoder) batch(response jsonscan.Value, id string, sample int) error {
	body := response.Get("body")
	if body.Get("choices").Kind() == jsonscan.Array {
		return d.completion(body, id, sample)
	}
	e, ok := completion.ReadError(body)
	if !ok {
		return errors.New("the response has neither choices nor an error")
	}
	if code, ok := response.Get("status_code").Int(); ok && e.Code == "" {
		e.Code = "status " + strconv.FormatInt(code, 10)
	}
	d.add(failed(e), id, max(sample, 0))
	return nil
}

// judgement reads the raw answer of a judge, or its scores as they stand.
func (d *decoder) judgement(v jsonscan.Value, id string, rollout int) error {
	raw := v.Get("judge")
	if !raw.Present() {
		raw = v.Get("judgement")
	}
	r := turnmill.Reply{Text: text(raw), Finish: text(v.Get("finish_reason"))}
	if raw.Kind() != jsonscan.String {
		r.Text = string(raw.Raw())
	}
	known, err := stated(&r, v)
	if err != nil {
		return err
	}
	if !known && r.Finish != "" {
		r = ended(r.Text, "", r.Finish)
	}
	attempt, err := number(v, "attempt")
	if err != nil {
		return err
	}
	r.Model, r.Usage = text(v.Get("model")), usage(v.Get("usage"))
	pair := v.Get("pair")
	if pair.Present() {
		first, one := pair.At(0).Int()
		second, two := pair.At(1).Int()
		if !one || !two || pair.Len() != 2 || first < 0 || second < 0 || first == second || max(first, second) >= mostSamples {
			return fmt.Errorf("pair is %s, want two rollouts, as in [0,2]", completion.Bounded(pair.RawStr(), 40))
		}
		id = d.naming.Pair(id, int(first), int(second))
	} else {
		if v.Get("turn_idx").Present() && !v.Get("rollout").Present() {
			rollout = 0 // a row of a benchmark has one prediction
		}
		if rollout < 0 {
			return errors.New("a judgement names neither rollout nor pair")
		}
		id = d.naming.Score(id, rollout)
	}
	d.add(r, id, max(attempt, 0))
	return nil
}

// plain reads an answer whose text and end stand beside each other. What it lacks its row may say for all.
func plain(v, row jsonscan.Value) (turnmill.Reply, error) {
	get := func(key string) jsonscan.Value {
		if m := v.Get(key); m.Present() {
			return m
		}
		return row.Get(key)
	}
	r := turnmill.Reply{Text: text(v.Get("text")), Finish: text(get("finish_reason"))}
	if known, err := stated(&r, v); err != nil {
		return r, err
	} else if !known {
		r = ended(r.Text, cmp.Or(text(v.Get("reasoning_content")), text(v.Get("reasoning"))), r.Finish)
		if e, ok := completion.ReadError(v); ok && v.Get("error").Present() {
			r = failed(e)
		}
	}
	r.Model, r.Usage = text(get("model")), usage(v.Get("usage"))
	return r, nil
}

// stated fills state, reasoning and error of a reply that turnmill wrote: nothing is left to tell.
func stated(r *turnmill.Reply, v jsonscan.Value) (bool, error) {
	state := text(v.Get("state"))
	if state == "" {
		return false, nil
	}
	var known bool
	if r.State, known = turnmill.ParseReplyState(state); !known {
		return false, fmt.Errorf("state %q is none of complete, truncated, refused, failed, timeout", completion.Bounded(state, 40))
	}
	r.Reasoning, r.Error = text(v.Get("reasoning")), text(v.Get("error"))
	return true, nil
}

// ended tells reasoning, text and state of an answer from its finish_reason; field is reasoning that stands beside the text.
func ended(said, field, finish string) turnmill.Reply {
	reasoning, answer, whole := completion.SplitField(said, field)
	r := turnmill.Reply{Text: answer, Reasoning: reasoning, Finish: finish}
	state, known := completion.Ended(finish)
	switch {
	case finish == "":
		r.State, r.Error = turnmill.ReplyFailed, "no finish_reason: whether the model ended its answer is not known"
	case !known:
		r.State, r.Error = turnmill.ReplyFailed, fmt.Sprintf("finish_reason %q is none that is known", completion.Bounded(finish, 40))
	case state == turnmill.ReplyFailed:
		r.State, r.Error = state, fmt.Sprintf("the endpoint gave up: finish_reason %q", finish)
	case state == turnmill.ReplyComplete && !whole:
		r.State, r.Error = turnmill.ReplyFailed, "the think block has no end, so there is no answer"
	default:
		r.State = state
	}
	return r
}

// usage reads counts of tokens; what is no count is not reported.
func usage(v jsonscan.Value) turnmill.Usage {
	count := func(key string) int64 {
		if n, ok := v.Get(key).Int(); ok && n >= 0 && n < 1<<40 {
			return n
		}
		return 0
	}
	return turnmill.Usage{Prompt: count("prompt_tokens"), Completion: count("completion_tokens"), Reasoning: count("reasoning_tokens")}
}

// text returns a decoded string in memory of its own; other kinds give "".
func text(v jsonscan.Value) string { return string(v.AppendString(nil)) }
