package formats

import (
	"strconv"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/jsonscan"
)

// BenchRow is one row of AgentWorldBench as a model that predicts is shown it. Its texts are borrowed from the
// reader.
type BenchRow struct {
	Task     string // as it stands in the row
	ID       string // of the run; rows of one run share it
	Turn     int    // turn_idx, from 1
	Domain   turnmill.Domain
	Messages []turnmill.Message // system, then prompts and responses in turn, whole, the prompt to answer last
	Answer   string             // the response to that: the real observation, with its marker
}

// BenchReader reads rows of AgentWorldBench for an evaluation, where the decoder reads trajectories out of them: here
// no heading, state or fence is taken apart. It serves one goroutine.
type BenchReader struct {
	rows     worldBench
	decoded  Decoded
	messages []turnmill.Message
}

// Read reads one row, valid until the next call. A row without an answer to compare with is an error, as is one
// without an id.
func (b *BenchReader) Read(raw []byte) (row BenchRow, err error) {
	err = b.decoded.decode(raw, func(v jsonscan.Value, out *Decoded) error {
		row, err = b.read(v, out)
		return err
	})
	return row, err
}

func (b *BenchReader) read(v jsonscan.Value, out *Decoded) (row BenchRow, err error) {
	w := &b.rows
	at, _, err := w.open(v, out)
	if err != nil {
		return row, err
	}
	if current := v.Get("current_prompt").Str(&out.arena); current != "" && len(w.prompts) == at-1 {
		w.prompts = append(w.prompts, current) // prompt holds the history alone
	}
	target := min(at, len(w.prompts)) - 1 // of a history that was cut the last prompt is meant
	switch id := out.id(v.Get("id")); {
	case id == "":
		return row, reject(turnmill.ReasonBadField, "id is missing: no prediction can name the row")
	case len(w.prompts) == 0:
		return row, reject(turnmill.ReasonEmptyMessages, "turn_idx is %d, and there is no prompt", at)
	case target < 0:
		return row, reject(turnmill.ReasonBadField, "turn_idx is %d, want 1 or more", at)
	case target >= len(w.answers):
		return row, reject(turnmill.ReasonBadField, "response has no answer to prompt[%d], so there is nothing to compare with", target)
	default:
		row.ID, row.Turn = id, at
	}
	row.Task, row.Domain, row.Answer = v.Get("task").Str(&out.arena), w.domain(v.Get("task")), w.answers[target]
	b.messages = b.messages[:0]
	say := func(role, text string) { b.messages = append(b.messages, turnmill.Message{Role: role, Content: text}) }
	if system := out.join(w.task, "\n\n"); system != "" {
		say("system", system)
	}
	for i, text := range w.prompts[:target] {
		say("user", text)
		say("assistant", w.answers[i])
	}
	say("user", w.prompts[target])
	row.Messages = b.messages
	return row, nil
}

// open reads prompts, responses, system texts, and the numbers of the turn to predict, from 1, and of all turns.
func (w *worldBench) open(v jsonscan.Value, out *Decoded) (at, total int, err error) {
	if why, _ := recogniseWorldBench(v); why != "" {
		return 0, 0, wrongFormat(worldBenchName, why)
	}
	w.out = out
	w.prompts, w.answers, w.headings, w.task = w.prompts[:0], w.answers[:0], w.headings[:0], w.task[:0]
	if system := v.Get("system_str").Str(&out.arena); system != "" {
		w.task = append(w.task, system)
	}
	if err := w.lists(v); err != nil {
		return 0, 0, err
	}
	f := fields{out: out}
	at, total = f.index("turn_idx", v.Get("turn_idx"), len(w.prompts)), f.index("total_turns", v.Get("total_turns"), 0)
	return at, total, f.err
}

// BenchID returns the id of a row out of its members: ID/TURN, as the decoder names the trajectory of a row, with
// TASK/ before it where task is not empty.
func BenchID(task, id string, turn int) string {
	if task != "" {
		id = task + "/" + id
	}
	return id + "/" + strconv.Itoa(turn)
}
