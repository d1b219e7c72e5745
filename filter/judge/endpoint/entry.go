package endpoint

import (
	"encoding/hex"
	"errors"
	"fmt"
	"hash/crc32"
	"math"
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// Entry is one line of a journal: a request's key and what came back.
type Entry struct {
	Key      Key
	Kind     string
	Attempts int
	Reply    turnmill.Reply
}

// answers tells the states that stand for good from those that are no answer.
func answers(s turnmill.ReplyState) bool { return s <= turnmill.ReplyRefused }

var castagnoli = crc32.MakeTable(crc32.Castagnoli)

const sumBytes = len(`,"crc32c":"00000000"}`)

// append appends the entry as a line. No line end that some language knows stands within it.
func (e *Entry) append(b []byte) []byte {
	start := len(b)
	b = append(hex.AppendEncode(append(b, `{"key":"`...), e.Key[:]), '"')
	r := &e.Reply
	str := func(name, s string) { b = jsonscan.AppendQuotedLine(append(b, name...), s) }
	num := func(name string, n int64) { b = strconv.AppendInt(append(b, name...), n, 10) }
	str(`,"kind":`, e.Kind)
	str(`,"id":`, r.ID)
	num(`,"sample":`, int64(r.Sample))
	str(`,"state":`, r.State.String())
	str(`,"text":`, r.Text)
	str(`,"reasoning":`, r.Reasoning)
	str(`,"finish":`, r.Finish)
	str(`,"model":`, r.Model)
	num(`,"usage":{"prompt_tokens":`, r.Usage.Prompt)
	num(`,"completion_tokens":`, r.Usage.Completion)
	num(`,"reasoning_tokens":`, r.Usage.Reasoning)
	str(`},"error":`, r.Error)
	num(`,"attempts":`, int64(e.Attempts))
	return fmt.Appendf(b, `,"crc32c":"%08x"}`+"\n", crc32.Checksum(b[start:], castagnoli))
}

// parseEntry reads a line without its line feed. The entry owns its memory.
func parseEntry(doc *jsonscan.Doc, line []byte) (e Entry, err error) {
	if len(line) < sumBytes {
		return e, errors.New("it is no entry")
	}
	head, tail := line[:len(line)-sumBytes], line[len(line)-sumBytes:]
	if fmt.Sprintf(`,"crc32c":"%08x"}`, crc32.Checksum(head, castagnoli)) != string(tail) {
		return e, errors.New("its checksum is not that of its bytes")
	}
	v, err := doc.Parse(line)
	if err != nil {
		return e, err
	}
	str := func(name string) string {
		m := v.Get(name)
		if m.Kind() != jsonscan.String && err == nil {
			err = fmt.Errorf("%s is no text", name)
		}
		return string(m.AppendString(nil))
	}
	num := func(of jsonscan.Value, name string) int64 {
		n, ok := of.Get(name).Int()
		if (!ok || n < 0) && err == nil {
			err = fmt.Errorf("%s is no count", name)
		}
		return n
	}
	key, state := str("key"), str("state")
	usage := v.Get("usage")
	sample, attempts := num(v, "sample"), num(v, "attempts")
	e = Entry{Kind: str("kind"), Attempts: int(attempts), Reply: turnmill.Reply{
		ID: str("id"), Sample: int(sample), Text: str("text"), Reasoning: str("reasoning"), Finish: str("finish"), Model: str("model"), Error: str("error"),
		Usage: turnmill.Usage{Prompt: num(usage, "prompt_tokens"), Completion: num(usage, "completion_tokens"), Reasoning: num(usage, "reasoning_tokens")},
	}}
	n, hexErr := hex.Decode(e.Key[:], []byte(key[:min(len(key), 2*len(e.Key))]))
	s, known := turnmill.ParseReplyState(state)
	e.Reply.State = s
	switch {
	case err != nil:
	case hexErr != nil || n != len(e.Key) || len(key) != 2*n:
		err = errors.New("its key is no SHA-256")
	case !known:
		err = fmt.Errorf("state %q is none", state)
	case sample > math.MaxInt32 || attempts > math.MaxInt32:
		err = errors.New("sample or attempts are too large")
	}
	return e, err
}
