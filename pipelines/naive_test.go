package pipelines

import (
	"bytes"
	"context"
	"crypto/sha256"
	"encoding/binary"
	"encoding/json"
	"fmt"
	"math/big"
	"strings"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/demo"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/bpe"
	"github.com/turnmill/turnmill/stats"
)

// naive is CPT written a second time, for one case and without a thought of speed: plain ChatML, loss on
// observations, mode turn, every filter. It starts from the unified form and shares with the product the
// tokenizer and the classification, which have proofs of their own.
type naive struct {
	seqLen           int
	seed             string
	encoder          *bpe.Encoder
	model            *bpe.Model
	start, end, text int32

	rows   []naiveRow
	counts map[string]int64 // "domain account what": in, out, dropped.REASON
}

type naiveRow struct {
	text        string
	trained     []bool // of each byte of text: a token that ends with it carries loss
	ids, labels []int32
}

func newNaive(t *testing.T, seqLen int) *naive {
	t.Helper()
	model, err := bpe.Load(demo.Tokenizer())
	if err != nil {
		t.Fatal(err)
	}
	n := &naive{seqLen: seqLen, seed: "0", model: model, counts: map[string]int64{}}
	for name, id := range map[string]*int32{"<|im_start|>": &n.start, "<|im_end|>": &n.end, "<|endoftext|>": &n.text} {
		var known bool
		if *id, known = model.ID(name); !known {
			t.Fatalf("the demo tokenizer has no %s", name)
		}
	}
	n.encoder = model.NewEncoder([]string{"<|im_start|>", "<|im_end|>", "<|endoftext|>"})
	return n
}

// naivePart is a stretch of a row: text, or a control token.
type naivePart struct {
	text    string
	control int32 // -1: text
	loss    bool  // would carry loss
	from    int   // byte of text from which on it would
}

// tokens encodes parts: ids, and which would carry loss. A token belongs where its last byte stands.
func (n *naive) tokens(parts []naivePart) (ids []int32, loss []bool) {
	for _, p := range parts {
		if p.control >= 0 {
			ids, loss = append(ids, p.control), append(loss, p.loss)
			continue
		}
		var tokens turnmill.Tokens
		if err := n.encoder.Encode(&tokens, []byte(p.text)); err != nil {
			panic(err)
		}
		for i, id := range tokens.IDs {
			ids, loss = append(ids, id), append(loss, p.loss && int(tokens.Ends[i]) > p.from)
		}
	}
	return ids, loss
}

func (n *naive) message(role, content string, loss bool) []naivePart {
	return []naivePart{
		{control: n.start}, {text: role + "\n" + content, control: -1, loss: loss, from: len(role) + 1},
		{control: n.end, loss: loss}, {text: "\n", control: -1},
	}
}

// count counts for a domain and for the whole.
func (n *naive) count(domain, account, what string, by int64) {
	if by != 0 {
		n.counts[domain+" "+account+" "+what] += by
		n.counts["total "+account+" "+what] += by
	}
}

// record takes one unified record.
func (n *naive) record(r *testRecord) {
	n.count(r.Domain, "records", "in", 1)
	reason := ""
	if r.Kind == "document" {
		reason = n.document(r)
	} else {
		n.count(r.Domain, "trajectories", "in", 1)
		reason = n.trajectory(r)
		n.count(r.Domain, "trajectories", outcomeName(reason), 1)
	}
	n.count(r.Domain, "records", outcomeName(reason), 1)
}

func outcomeName(reason string) string {
	if reason == "" {
		return "out"
	}
	return "dropped." + reason
}

func (n *naive) document(r *testRecord) string {
	if r.Text == "" {
		return "empty_text"
	}
	ids, _ := n.tokens([]naivePart{{text: r.Text, control: -1}, {control: n.text}})
	for from := 0; from < len(ids); from += n.seqLen {
		window := ids[from:min(from+n.seqLen, len(ids))]
		labels := append([]int32{-100}, window[1:]...)
		loss := int64(len(window))
		if from == 0 {
			loss-- // nothing comes before the document
		} else {
			n.count(r.Domain, "loss_tokens", "dropped.row_start", 1)
		}
		n.count(r.Domain, "turns", "in", 1)
		n.count(r.Domain, "loss_tokens", "in", loss)
		if len(window) == 1 {
			n.count(r.Domain, "turns", "dropped.no_loss", 1)
			continue
		}
		n.count(r.Domain, "turns", "out", 1)
		n.count(r.Domain, "loss_tokens", "out", int64(len(window)-1))
		n.rows = append(n.rows, naiveRow{ids: window, labels: labels})
	}
	return ""
}

// naiveTurn is a turn on its way into a window.
type naiveTurn struct {
	ids    []int32
	loss   []bool
	target bool // it would carry loss
	kept   bool // it does
	parts  []naivePart
}

func (n *naive) trajectory(r *testRecord) string {
	var turns []naiveTurn
	answered, environment := 0, 0
	before := map[string]int64{} // turns that a filter drops
	for i := range r.Turns {
		t := &r.Turns[i]
		if t.Observation == nil {
			continue
		}
		answered++
		n.count(r.Domain, "turns", "in", 1)
		if t.Action == nil {
			before["no_action"]++
			continue
		}
		if !t.Dialogue {
			environment++
		}
		turns = append(turns, n.turn(r, t))
	}
	lost := func(reason string, kept int) string {
		n.count(r.Domain, "turns", "dropped."+reason, int64(kept))
		return reason
	}
	for reason, k := range before {
		n.count(r.Domain, "turns", "dropped."+reason, k)
	}
	switch {
	case answered == 0:
		return "no_target"
	case len(turns) > 0 && environment == 0:
		return lost("no_environment", len(turns))
	case len(turns) < 2:
		return lost("too_few_turns", len(turns))
	}
	var head []naivePart
	if s := systemText(r.System); s != "" {
		head = n.message("system", s, false)
	}
	system, _ := n.tokens(head)
	if len(system) >= n.seqLen {
		return lost("system_too_long", len(turns))
	}
	return n.windows(r, head, system, turns)
}

func systemText(s *testSystem) string {
	if s == nil {
		return ""
	}
	var parts []string
	for _, p := range []string{s.TaskDescription, s.ActionSpace, s.InitialState, s.Demonstrations, s.SimulationInstruction} {
		if p != "" {
			parts = append(parts, p)
		}
	}
	return strings.Join(parts, "\n\n")
}

func (n *naive) turn(r *testRecord, t *testTurn) naiveTurn {
	user := *t.Action
	if t.State != "" {
		user = "Current state:\n" + t.State + "\n\nAction:\n" + user
	}
	out := naiveTurn{target: !t.Dialogue && !elided(*t.Observation)}
	out.parts = append(n.message("user", user, false), n.message("assistant", *t.Observation, true)...)
	out.ids, out.loss = n.tokens(out.parts)
	var m mask.Measurer
	table := mask.Default()
	_, keep := mask.Classify(&table, m.Measure(*t.Action, *t.Observation))
	out.kept = out.target && n.keeps(r.ID, t.Index, keep)
	return out
}

// elided looks for an exporter's placeholder among the values of a JSON text.
func elided(observation string) bool {
	var v any
	if json.Unmarshal([]byte(observation), &v) != nil {
		return false
	}
	var inside func(v any) bool
	inside = func(v any) bool {
		switch v := v.(type) {
		case map[string]any:
			for _, m := range v {
				if m == "<max-depth>" || inside(m) {
					return true
				}
			}
		case []any:
			for _, m := range v {
				if m == "<max-depth>" || inside(m) {
					return true
				}
			}
		}
		return false
	}
	return inside(v)
}

// keeps draws: SHA-256 of seed, id and turn, with zero bytes between, as a fraction below the ratio.
func (n *naive) keeps(id string, turn int, keep turnmill.Ratio) bool {
	sum := sha256.Sum256(fmt.Appendf(nil, "%s\x00%s\x00%d", n.seed, id, turn))
	u := new(big.Rat).SetFrac(new(big.Int).SetUint64(binary.BigEndian.Uint64(sum[:8])), new(big.Int).Lsh(big.NewInt(1), 64))
	return u.Cmp(new(big.Rat).SetFrac(new(big.Int).SetUint64(keep.Num), new(big.Int).SetUint64(keep.Den))) < 0
}

// windows puts turns into rows, as many as fit beside the system prompt, in order.
func (n *naive) windows(r *testRecord, head []naivePart, system []int32, turns []naiveTurn) string {
	first, rows := "", len(n.rows)
	lose := func(reason string) {
		n.count(r.Domain, "turns", "dropped."+reason, 1)
		if first == "" {
			first = reason
		}
	}
	for len(turns) > 0 {
		fit, used := 0, len(system)
		for fit < len(turns) && used+len(turns[fit].ids) <= n.seqLen {
			used += len(turns[fit].ids)
			fit++
		}
		if fit == 0 {
			lose("turn_too_long")
			n.count(r.Domain, "loss_tokens", "in", turns[0].size())
			n.count(r.Domain, "loss_tokens", "dropped.turn_too_long", turns[0].size())
			turns = turns[1:]
			continue
		}
		n.window(r, head, turns[:fit], lose)
		turns = turns[fit:]
	}
	if len(n.rows) > rows {
		return ""
	}
	return first
}

// size is how many tokens of a turn would carry loss.
func (t *naiveTurn) size() int64 {
	var n int64
	for _, l := range t.loss {
		if l && t.target {
			n++
		}
	}
	return n
}

func (n *naive) window(r *testRecord, head []naivePart, turns []naiveTurn, lose func(string)) {
	var row naiveRow
	add := func(parts []naivePart, kept bool) {
		ids, loss := n.tokens(parts)
		for i, id := range ids {
			label := int32(-100)
			if loss[i] && kept {
				label = id
			}
			row.ids, row.labels = append(row.ids, id), append(row.labels, label)
		}
		for _, p := range parts {
			text := p.text
			if p.control >= 0 {
				text = string(n.model.AppendText(nil, p.control))
			}
			row.text += text
			for i := range len(text) {
				row.trained = append(row.trained, kept && p.loss && (p.control >= 0 || i >= p.from))
			}
		}
	}
	add(head, false)
	any := false
	for i := range turns {
		add(turns[i].parts, turns[i].kept)
		any = any || turns[i].kept
	}
	for i := range turns {
		size := turns[i].size()
		n.count(r.Domain, "loss_tokens", "in", size)
		if turns[i].kept {
			n.count(r.Domain, "loss_tokens", "out", size)
		} else {
			n.count(r.Domain, "loss_tokens", "dropped.masked", size)
		}
		if any {
			n.count(r.Domain, "turns", "out", 1)
		} else {
			lose("no_loss")
		}
	}
	if any {
		n.rows = append(n.rows, row)
	}
}

// flat is a ledger in the form of naive's counts.
func flat(l *stats.Ledgers) map[string]int64 {
	out := map[string]int64{}
	put := func(name string, n int64) {
		if n != 0 {
			out[name] = n
		}
	}
	ledger := func(whose string, l *stats.Ledger) {
		for name, a := range map[string]*stats.Account{"records": &l.Records, "trajectories": &l.Trajectories, "turns": &l.Turns, "loss_tokens": &l.LossTokens} {
			put(whose+" "+name+" in", a.In)
			put(whose+" "+name+" out", a.Out)
			put(whose+" "+name+" repeated", a.Repeated)
			for reason, k := range a.Dropped {
				put(whose+" "+name+" dropped."+string(reason), k)
			}
			for reason, k := range a.Rejected {
				put(whose+" "+name+" rejected."+string(reason), k)
			}
		}
	}
	ledger("total", l.Total)
	for d, l := range l.Domains {
		ledger(string(d), l)
	}
	return out
}

// unify ingests inputs and returns the unified lines, as text and decoded by encoding/json.
func unify(t testing.TB, inputs ...string) ([]byte, []testRecord) {
	t.Helper()
	d := DefaultOptions()
	var out bytes.Buffer
	o := IngestOptions{Inputs: inputs, Format: "auto", Domain: "auto", MaxRecord: d.MaxRecord, MaxWindow: d.MaxWindow}
	if _, err := Ingest(context.Background(), o, &out); err != nil {
		t.Fatal(err)
	}
	var records []testRecord
	for line := range bytes.Lines(out.Bytes()) {
		records = append(records, unifiedRecord(line))
	}
	return out.Bytes(), records
}
