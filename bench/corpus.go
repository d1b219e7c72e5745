package main

import (
	"bufio"
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"hash"
	"io"
	"os"
	"os/exec"
	"path/filepath"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/internal/jsonscan"
	"github.com/turnmill/turnmill/shard/bpe"
)

// corpus is one set of texts in the three forms that the tools read, made from recorded trajectories and
// replicas of them.
//
//	NAME.chats.jsonl    {"id","messages":[{"role","content"}]}: system the prompt, user an action, assistant an observation
//	NAME.unified.jsonl  the same as trajectories in turnmill's form
//	NAME.text.jsonl     {"text","id","metadata"}: the chat joined as ChatML, and where no loss is to be
type corpus struct {
	Name         string
	Bytes        int64 // of the messages' texts, UTF-8
	ChatML       int64 // of the texts joined as ChatML
	JSON         int64 // of the chats' file
	Unified      int64 // of the trajectories' file
	Trajectories int64
	Messages     int64
	Base         int    // trajectories that were recorded; the rest are replicas
	BaseBytes    int64  // of their messages' texts
	LeftOut      int    // recorded, but dropped by a filter, without a turn, or with a special token in a text
	SHA256       string // of the chats' file
}

func (c *corpus) chats() string   { return c.Name + ".chats.jsonl" }
func (c *corpus) unified() string { return c.Name + ".unified.jsonl" }
func (c *corpus) texts() string   { return c.Name + ".text.jsonl" }

// makeCorpus writes the corpus of at least size bytes of text, unless it is there.
func makeCorpus(name string, size int64, base []turnmill.Trajectory, leftOut int) (*corpus, error) {
	c := &corpus{Name: name, Base: len(base), LeftOut: leftOut}
	about, err := os.ReadFile(name + ".json")
	if err == nil && json.Unmarshal(about, c) == nil && c.Bytes >= size && c.Bytes < size+size/4+1e6 {
		return c, nil
	}
	*c = corpus{Name: name, Base: len(base), LeftOut: leftOut}
	w, err := newCorpusWriter(c)
	if err != nil {
		return nil, err
	}
	texts := textsOf(base)
	words := frequentWords(texts)
	for _, s := range texts {
		c.BaseBytes += int64(len(s))
	}
	order := make([]int, len(base))
	for i := range order {
		order[i] = i
	}
	state := uint64(1)
	for replica := 0; c.Bytes < size; replica++ {
		for i := len(order) - 1; i > 0; i-- {
			state = next(state)
			k := int(state >> 33 % uint64(i+1))
			order[i], order[k] = order[k], order[i]
		}
		for _, i := range order {
			if c.Bytes >= size {
				break
			}
			t := base[i]
			t.ID += "@" + strconv.Itoa(replica)
			if replica > 0 {
				t = rewritten(&t, &rewriter{seed: mix(uint64(replica)<<32 | uint64(i)), words: words})
			}
			if err := w.add(&t); err != nil {
				return nil, errors.Join(err, w.close())
			}
		}
	}
	if err := w.close(); err != nil {
		return nil, err
	}
	if about, err = json.Marshal(c); err != nil {
		return nil, err
	}
	return c, os.WriteFile(name+".json", about, 0o666)
}

// corpusWriter writes the three files side by side.
type corpusWriter struct {
	c      *corpus
	files  []*os.File
	out    []*bufio.Writer
	sum    hash.Hash
	line   []byte
	text   []byte
	noLoss []byte
}

func newCorpusWriter(c *corpus) (*corpusWriter, error) {
	w := &corpusWriter{c: c, sum: sha256.New()}
	for i, name := range []string{c.chats(), c.unified(), c.texts()} {
		f, err := os.Create(name)
		if err != nil {
			return nil, errors.Join(err, w.close())
		}
		w.files = append(w.files, f)
		to := io.Writer(f)
		if i == 0 {
			to = io.MultiWriter(f, w.sum)
		}
		w.out = append(w.out, bufio.NewWriterSize(to, 1<<20))
	}
	return w, nil
}

func (w *corpusWriter) close() error {
	var err error
	for i, f := range w.files {
		err = errors.Join(err, w.out[i].Flush(), f.Close())
	}
	w.c.SHA256 = hex.EncodeToString(w.sum.Sum(nil))
	return err
}

// add writes one trajectory in the three forms.
func (w *corpusWriter) add(t *turnmill.Trajectory) error {
	messages := messagesOf(t)
	w.line = append(w.line[:0], `{"id":`...)
	w.line = append(jsonscan.AppendQuoted(w.line, t.ID), `,"messages":[`...)
	for i, m := range messages {
		if i > 0 {
			w.line = append(w.line, ',')
		}
		w.line = append(append(append(w.line, `{"role":"`...), m.role...), `","content":`...)
		w.line = append(jsonscan.AppendQuoted(w.line, m.content), '}')
		w.c.Bytes += int64(len(m.content))
	}
	w.line = append(w.line, "]}\n"...)
	w.c.Trajectories++
	w.c.Messages += int64(len(messages))
	w.c.JSON += int64(len(w.line))
	if _, err := w.out[0].Write(w.line); err != nil {
		return err
	}
	w.line = append(formats.AppendUnified(w.line[:0], t), '\n')
	w.c.Unified += int64(len(w.line))
	if _, err := w.out[1].Write(w.line); err != nil {
		return err
	}
	_, err := w.out[2].Write(w.chatML(t.ID, messages))
	return err
}

// chatML returns the line of the text form. Ranges without loss are in characters, as datatrove counts.
func (w *corpusWriter) chatML(id string, messages []message) []byte {
	w.text, w.noLoss = w.text[:0], w.noLoss[:0]
	chars, open := 0, 0
	put := func(s string) {
		w.text = append(w.text, s...)
		chars += utf8.RuneCountInString(s)
	}
	noLoss := func(to int) {
		if len(w.noLoss) > 0 {
			w.noLoss = append(w.noLoss, ',')
		}
		w.noLoss = fmt.Appendf(w.noLoss, "[%d,%d]", open, to)
	}
	for _, m := range messages {
		put("<|im_start|>" + m.role + "\n")
		if m.role == "assistant" {
			noLoss(chars)
		}
		put(m.content)
		put("<|im_end|>")
		if m.role == "assistant" {
			open = chars
		}
		put("\n")
	}
	noLoss(chars)
	w.c.ChatML += int64(len(w.text))
	w.line = append(w.line[:0], `{"text":`...)
	w.line = append(jsonscan.AppendQuoted(w.line, string(w.text)), `,"id":`...)
	w.line = append(jsonscan.AppendQuoted(w.line, id), `,"metadata":{"no_loss_ranges":[`...)
	return append(append(w.line, w.noLoss...), "]}}\n"...)
}

type message struct{ role, content string }

// messagesOf returns the chat of a trajectory with the roles of a world model, as chatml writes it.
func messagesOf(t *turnmill.Trajectory) []message {
	var messages []message
	var prompt []string
	for _, part := range t.System.Parts() {
		if part != "" {
			prompt = append(prompt, part)
		}
	}
	if len(prompt) > 0 {
		messages = append(messages, message{"system", strings.Join(prompt, "\n\n")})
	}
	for i := range t.Turns {
		turn := &t.Turns[i]
		action := turn.Action
		if turn.State != "" {
			action = "Current state:\n" + turn.State + "\n\nAction:\n" + action
		}
		messages = append(messages, message{"user", action}, message{"assistant", turn.Observation})
	}
	return messages
}

// rewritten returns a replica of t.
func rewritten(t *turnmill.Trajectory, r *rewriter) turnmill.Trajectory {
	c := *t
	c.System = turnmill.SystemPrompt{
		TaskDescription: r.text(t.System.TaskDescription), ActionSpace: r.text(t.System.ActionSpace), InitialState: r.text(t.System.InitialState),
		Demonstrations: r.text(t.System.Demonstrations), SimulationInstruction: r.text(t.System.SimulationInstruction),
	}
	c.Turns = slices.Clone(t.Turns)
	for i := range c.Turns {
		turn := &c.Turns[i]
		turn.State, turn.Action, turn.Observation, turn.Tool = r.text(turn.State), r.text(turn.Action), r.text(turn.Observation), r.text(turn.Tool)
	}
	return c
}

func textsOf(base []turnmill.Trajectory) []string {
	var texts []string
	for i := range base {
		for _, m := range messagesOf(&base[i]) {
			texts = append(texts, m.content)
		}
	}
	return texts
}

// recorded returns the trajectories below dir that the whole path keeps whole, and how many others there are. A
// text with a special token is left out, because the peers take it for a control token.
func recorded(o *options, model *bpe.Model) (base []turnmill.Trajectory, leftOut int, err error) {
	if o.data == "" {
		return nil, 0, fmt.Errorf("no recorded trajectories; set TURNMILL_DATA, or -data, to a directory of them")
	}
	path := filepath.Join(o.work, "recorded.jsonl")
	cmd := exec.Command(o.turnmill, "ingest", o.data, "--max-reject-rate", "1", "-o", path)
	var stderr bytes.Buffer // the rejects, one a line
	cmd.Stderr = &stderr
	if err := cmd.Run(); err != nil {
		return nil, 0, fmt.Errorf("%v: %w\n%s", cmd.Args, err, stderr.String())
	}
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, 0, err
	}
	chain, err := filter.New(nil, filter.Options{MinTurns: 1})
	if err != nil {
		return nil, 0, err
	}
	all, err := decodeAll(data)
	for i := range all {
		if t := &all[i]; whole(chain, t) && !special(model, t) {
			t.Meta = ""
			base = append(base, *t)
		} else {
			leftOut++
		}
	}
	if len(base) == 0 && err == nil {
		err = fmt.Errorf("%s holds no trajectory that is kept whole; try another -data", o.data)
	}
	return base, leftOut, err
}

// decodeAll returns the trajectories of lines in the unified form, each with memory of its own.
func decodeAll(data []byte) ([]turnmill.Trajectory, error) {
	f, err := formats.ByName("turnmill")
	if err != nil {
		return nil, err
	}
	var all []turnmill.Trajectory
	for line := range bytes.Lines(data) {
		var d formats.Decoded
		if err := f.New(formats.Options{}).Decode(bytes.TrimSuffix(line, []byte("\n")), &d); err != nil {
			return nil, err
		}
		all = append(all, d.Trajectories...)
	}
	return all, nil
}

// whole tells whether the filters keep the trajectory and every turn of it.
func whole(chain *filter.Chain, t *turnmill.Trajectory) bool {
	verdicts, reason := chain.Apply(t, nil)
	return reason == "" && len(t.Turns) > 0 && !slices.ContainsFunc(verdicts, func(v turnmill.Verdict) bool { return v.Status == turnmill.StatusDropped })
}

func special(model *bpe.Model, t *turnmill.Trajectory) bool {
	for _, m := range messagesOf(t) {
		for _, a := range model.Added() {
			if a.Special && strings.Contains(m.content, a.Text) {
				return true
			}
		}
	}
	return false
}
