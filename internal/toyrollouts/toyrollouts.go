// Package toyrollouts writes a small SFT corpus for tests: trajectories of the seven domains, rollouts for every
// turn of them in the shapes that people record, and what judges said. It is deterministic: everything about a
// query is drawn from SHA-256 of its id.
//
//	DIR/runs/DOMAIN.jsonl          trajectories in turnmill's unified form, Turns turns each
//	DIR/rollouts/0-own.jsonl.zst   answers, a line each; some queries have their answers in the other files:
//	DIR/rollouts/1-chat.jsonl      chat completions with n choices
//	DIR/rollouts/2-batch.jsonl     batch output, out of order, and batch errors after it
//	DIR/judgements/scores.jsonl    raw answers of a judge about single rollouts, some after a failed attempt
//	DIR/judgements/pairs.jsonl     and about pairs, in both orders
//
// Every ending occurs: selected, below the threshold of 3, cut or refused or missing rollouts, failed ones, judges
// that cannot be read, judges that never answered.
package toyrollouts

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/zstdio"
)

// Samples is how many rollouts a query has where none is missing.
const Samples = 3

// Turns is how many turns a trajectory has.
const Turns = 3

// Write writes a corpus with so many trajectories below dir.
func Write(dir string, trajectories int) error {
	w := writer{}
	for i := range trajectories {
		domain := turnmill.Domains()[i%len(turnmill.Domains())]
		w.trajectory(domain, i)
	}
	slices.SortStableFunc(w.batch, func(a, b line) int { return bytes.Compare(a.order[:], b.order[:]) }) // as batches come back
	files := map[string][]byte{
		"rollouts/1-chat.jsonl": w.chat.Bytes(), "judgements/scores.jsonl": w.scores.Bytes(), "judgements/pairs.jsonl": w.pairs.Bytes(),
	}
	var batch, own bytes.Buffer
	for _, l := range w.batch {
		batch.Write(l.text)
	}
	batch.Write(w.failed.Bytes())
	files["rollouts/2-batch.jsonl"] = batch.Bytes()
	z, err := zstdio.NewWriter(&own)
	if err != nil {
		return err
	}
	if _, err := z.Write(w.own.Bytes()); err != nil {
		return err
	}
	if err := z.Close(); err != nil {
		return err
	}
	files["rollouts/0-own.jsonl.zst"] = own.Bytes()
	for domain, text := range w.runs {
		files["runs/"+string(domain)+".jsonl"] = text.Bytes()
	}
	for name, data := range files {
		path := filepath.Join(dir, filepath.FromSlash(name))
		if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
			return err
		}
		if err := os.WriteFile(path, data, 0o666); err != nil {
			return err
		}
	}
	return nil
}

type writer struct {
	runs              map[turnmill.Domain]*bytes.Buffer
	own, chat, failed bytes.Buffer
	batch             []line
	scores, pairs     bytes.Buffer
}

type line struct {
	order [sha256.Size]byte
	text  []byte
}

// draw returns a number below n that a text and a purpose decide.
func draw(text, purpose string, n int) int {
	sum := sha256.Sum256([]byte(purpose + "\x00" + text))
	return int(binary.BigEndian.Uint64(sum[:]) % uint64(n))
}

type object = map[string]any

func encode(v any) []byte {
	data, err := json.Marshal(v) // keys of maps come out sorted
	if err != nil {
		panic("toyrollouts: " + err.Error())
	}
	return append(data, '\n')
}

// words returns n drawn words.
func words(text, purpose string, n int) string {
	list := strings.Fields("amber bolt canal drift ember ferry gauge harbour inlet jetty kelp lantern mooring north oar pier quay rope sluice tide")
	var out []string
	for i := range n {
		out = append(out, list[draw(text, fmt.Sprint(purpose, i), len(list))])
	}
	return strings.Join(out, " ")
}

func (w *writer) trajectory(domain turnmill.Domain, i int) {
	id := fmt.Sprintf("%s-%03d", domain, i)
	screens := domain == turnmill.DomainAndroid || domain == turnmill.DomainWeb || domain == turnmill.DomainOS
	state := "screen start\n  label " + words(id, "start", 4)
	var turns []object
	for k := range Turns {
		query := fmt.Sprintf("%s@%d", id, k)
		action := fmt.Sprintf("step %d: open %s", k, words(query, "action", 2))
		observation := fmt.Sprintf("page %d\n%s", k, words(query, "observation", 12))
		turn := object{"index": k, "action": action, "observation": observation}
		if screens {
			turn["observation"] = "screen " + observation + "\n  button " + words(query, "button", 3)
			turn["state"] = state
			state = turn["observation"].(string)
		}
		turns = append(turns, turn)
		w.query(query, turn["observation"].(string))
	}
	if w.runs == nil {
		w.runs = map[turnmill.Domain]*bytes.Buffer{}
	}
	if w.runs[domain] == nil {
		w.runs[domain] = &bytes.Buffer{}
	}
	w.runs[domain].Write(encode(object{"id": id, "domain": string(domain), "source": "toy-" + string(domain), "source_kind": "in_house",
		"system": object{"task_description": "Answer as the environment does. " + words(id, "task", 6), "initial_state": words(id, "initial", 3)},
		"turns":  turns}))
}

// query writes the answers to one query.
func (w *writer) query(id, real string) {
	fate := draw(id, "fate", 100)
	var texts, finishes []string
	for n := range Samples {
		text := fmt.Sprintf("<think>\nThe action opens %s. Wait! Rollout %d.\n</think>\n\n%s", words(id, fmt.Sprint("why", n), 5), n, real)
		if draw(id, fmt.Sprint("wrong", n), 3) > 0 {
			text += "\n" + words(id, fmt.Sprint("more", n), 2)
		}
		texts, finishes = append(texts, text), append(finishes, "stop")
	}
	missing := -1
	switch {
	case fate < 4:
		finishes[fate%Samples] = "length"
	case fate < 7:
		missing = fate % Samples
	case fate < 9:
		finishes[fate%Samples] = "content_filter"
	case fate < 12:
		finishes[fate%Samples] = "error"
	}
	w.rollouts(id, texts, finishes, missing)
	if fate < 12 {
		return
	}
	w.judge(id, fate)
}

func (w *writer) rollouts(id string, texts, finishes []string, missing int) {
	shape := draw(id, "shape", 4)
	var choices []object
	for n := range texts {
		if n == missing {
			continue
		}
		message := object{"role": "assistant", "content": texts[n]}
		choice := object{"index": n, "finish_reason": finishes[n], "message": message}
		usage := object{"prompt_tokens": 100 + n, "completion_tokens": 20 + n}
		switch {
		case shape < 2:
			w.own.Write(encode(object{"query": id, "rollout": n, "text": texts[n], "finish_reason": finishes[n], "usage": usage, "model": "toy"}))
		case shape == 2:
			choices = append(choices, choice)
		case finishes[n] == "error":
			w.failed.Write(encode(object{"custom_id": fmt.Sprintf("%s#%d", id, n), "response": object{"status_code": 500, "body": object{"error": object{"message": "overloaded"}}}, "error": nil}))
		default:
			choice["index"] = 0
			text := encode(object{"custom_id": fmt.Sprintf("%s#%d", id, n), "response": object{"status_code": 200,
				"body": object{"model": "toy", "choices": []object{choice}, "usage": usage}}, "error": nil})
			w.batch = append(w.batch, line{sha256.Sum256(text), text})
		}
	}
	if len(choices) > 0 {
		w.chat.Write(encode(object{"id": id, "model": "toy", "choices": choices, "usage": object{"prompt_tokens": 100, "completion_tokens": 60}}))
	}
}

// judge writes scores and pairs for a query with complete rollouts.
func (w *writer) judge(id string, fate int) {
	if fate < 15 { // the judge never answered
		return
	}
	level := 3 + draw(id, "level", 2)
	if fate < 40 {
		level = 1 + draw(id, "level", 2) // most means are below 3
	}
	for n := range Samples {
		text := "The rollout is close.\n<final_evaluation>\n" + scores(id, n, level) + "\n</final_evaluation>"
		attempt := 0
		switch kind := draw(id, fmt.Sprint("judged", n), 12); {
		case fate < 18, kind == 0:
			w.scores.Write(encode(object{"query": id, "rollout": n, "judge": "I cannot say.", "finish_reason": "stop"}))
			continue
		case kind == 1: // a second attempt was needed
			w.scores.Write(encode(object{"query": id, "rollout": n, "attempt": 0, "judge": "Scores: high", "finish_reason": "stop"}))
			attempt = 1
		}
		w.scores.Write(encode(object{"query": id, "rollout": n, "attempt": attempt, "judge": text, "finish_reason": "stop",
			"usage": object{"prompt_tokens": 300, "completion_tokens": 40}}))
	}
	for a := range Samples {
		for b := range Samples {
			if a == b {
				continue
			}
			better := "A"
			if draw(id, fmt.Sprint("better", min(a, b), max(a, b)), 2) == 0 == (a > b) {
				better = "B"
			}
			if draw(id, fmt.Sprint("bias", a, b), 8) == 0 {
				better = "A" // by its place
			}
			w.pairs.Write(encode(object{"query": id, "pair": []int{a, b}, "judge": "Both are fair. \\boxed{" + better + "}", "finish_reason": "stop"}))
		}
	}
}

// scores writes a judge's scores around a level.
func scores(id string, n, level int) string {
	var parts []string
	for _, d := range []string{"format", "factuality", "consistency", "realism", "quality"} {
		parts = append(parts, fmt.Sprintf("%q: %d", d, min(5, level+draw(id, d+fmt.Sprint(n), 2))))
	}
	return "{" + strings.Join(parts, ", ") + "}"
}
