// Command samples makes rows of samples, for scripts/parity.py, which compares them with those of
// transformers. Lines of JSON in and out:
//
//	samples ENGINE TOKENIZER.JSON CHAT DATE
//	in    {"system": "…", "turns": [{"state": "…", "action": "…", "observation": "…"}], "reasoning": "…"}
//	out   {"ids": […], "labels": […]}                          one a line, in order
//
// The last turn is the target, and its observation the answer.
package main

import (
	"bufio"
	"encoding/json"
	"errors"
	"fmt"
	"io"
	"os"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/shard"
	"github.com/turnmill/turnmill/shard/bpe"
	"github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/shard/hf"
)

type sample struct {
	System    string `json:"system"`
	Reasoning string `json:"reasoning"`
	Turns     []struct {
		State       string `json:"state"`
		Action      string `json:"action"`
		Observation string `json:"observation"`
	} `json:"turns"`
}

func main() {
	if err := run(os.Args[1:], os.Stdin, os.Stdout); err != nil {
		fmt.Fprintln(os.Stderr, "samples:", err)
		os.Exit(1)
	}
}

func run(args []string, in io.Reader, out io.Writer) error {
	if len(args) != 4 {
		return errors.New("want samples ENGINE TOKENIZER.JSON CHAT DATE")
	}
	b, err := builder(args[0], args[1], args[2], args[3])
	if err != nil {
		return err
	}
	w := bufio.NewWriter(out)
	e := json.NewEncoder(w)
	for d := json.NewDecoder(bufio.NewReader(in)); ; {
		var s sample
		if err := d.Decode(&s); err == io.EOF {
			return w.Flush()
		} else if err != nil {
			return err
		}
		var rows shard.Rows
		res, err := b.Sample(s.of(), &rows)
		if err != nil {
			return err
		}
		if res.Reason != "" || res.Cut > 0 {
			return fmt.Errorf("a sample has no whole row: %s, %d turns cut", res.Reason, res.Cut)
		}
		row := rows.Rows[res.Row]
		if err := e.Encode(map[string][]int32{"ids": row.IDs, "labels": row.Labels}); err != nil {
			return err
		}
	}
}

// of returns the sample as shard takes it.
func (s *sample) of() *shard.Sample {
	t := &turnmill.Trajectory{System: turnmill.SystemPrompt{TaskDescription: s.System}}
	for i, turn := range s.Turns {
		t.Turns = append(t.Turns, turnmill.Turn{Index: i, State: turn.State, Action: turn.Action, HasAction: true, Observation: turn.Observation})
	}
	last := len(t.Turns) - 1
	return &shard.Sample{Trajectory: t, Target: last, Reasoning: s.Reasoning, Answer: t.Turns[last].Observation}
}

// builder makes rows with the named engine and chat format.
func builder(engine, path, name, date string) (*shard.Builder, error) {
	data, err := os.ReadFile(path)
	if err != nil {
		return nil, err
	}
	var v turnmill.Vocabulary
	encoder := func([]string) (turnmill.Encoder, error) { return nil, fmt.Errorf("no engine is called %q", engine) }
	switch engine {
	case "bpe":
		m, err := bpe.Load(data)
		if err != nil {
			return nil, err
		}
		v, encoder = m, func(control []string) (turnmill.Encoder, error) { return m.NewEncoder(control), nil }
	case "hf":
		m, err := hf.Open(data)
		if err != nil {
			return nil, err
		}
		v, encoder = m, func(control []string) (turnmill.Encoder, error) { return m.NewEncoder(control) }
	}
	format, err := chat.New(name, v, chat.Options{Date: date})
	if err != nil {
		return nil, err
	}
	enc, err := encoder(format.Control())
	if err != nil {
		return nil, err
	}
	return shard.NewBuilder(format, enc, shard.Options{SeqLen: 1 << 30})
}
