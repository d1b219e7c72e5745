package formats

import (
	"bytes"
	"errors"
	"fmt"
	"maps"
	"math/rand"
	"slices"
	"strings"
	"testing"
	"time"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/ingest/frame"
)

// TestSamples decodes the sample line of every format, which detection must give to that format.
func TestSamples(t *testing.T) {
	for _, f := range All() {
		t.Run(f.Name, func(t *testing.T) {
			d := f.Doc
			for i, s := range []string{f.Title, d.Fields, d.Pairing, d.State, d.Domain, d.ID, d.Stripped} {
				if s == "" {
					t.Errorf("text %d of the documentation is empty", i)
				}
			}
			if !f.Text && strings.Contains(d.Sample, "\n") {
				t.Error("the sample has several lines")
			}
			found, err := Detect([]byte(d.Sample), true)
			if err != nil || found.Format.Name != f.Name {
				t.Fatalf("detected as %q, %v", found.Format.Name, err)
			}
			var out Decoded
			if err := f.New(Options{}).Decode([]byte(d.Sample), &out); err != nil {
				t.Fatal(err)
			}
			if f.Refuses {
				if len(out.Trajectories) != 0 || len(out.Rejected) != 1 || out.Rejected[0].Reason != turnmill.ReasonLossyExport {
					t.Errorf("not one trajectory that is rejected as lossy_export: %+v", out)
				}
				return
			}
			if len(out.Trajectories) != 1 || len(out.Trajectories[0].Turns) != 1 {
				t.Errorf("not one trajectory of one turn: %+v", out.Trajectories)
			}
		})
	}
}

func TestOptionsDomain(t *testing.T) {
	for _, f := range All() {
		var out Decoded
		if err := f.New(Options{Domain: "kitchen"}).Decode([]byte(f.Doc.Sample), &out); err != nil {
			t.Fatal(err)
		}
		if f.Refuses {
			continue
		}
		if got := out.Trajectories[0].Domain; got != "kitchen" {
			t.Errorf("%s: domain %q, want the one that was asked for", f.Name, got)
		}
	}
	var out Decoded
	raw := []byte(`{"kind":"document","domain":"web","text":"x"}`)
	if err := mustFormat(t, "turnmill").New(Options{Domain: "os"}).Decode(raw, &out); err != nil {
		t.Fatal(err)
	}
	if got := out.Documents[0].Domain; got != "os" {
		t.Errorf("document: domain %q, want os", got)
	}
}

// TestReuse decodes a long record, a bad one and a short one with the same memory: nothing may be left over.
func TestReuse(t *testing.T) {
	for _, f := range All() {
		d := f.New(Options{})
		want := decoded(f.New(Options{}), []byte(f.Doc.Sample))
		var out Decoded
		if raw := long(f.Name, 40); raw != nil {
			if err := d.Decode(raw, &out); err != nil {
				t.Fatal(err)
			}
		}
		if err := d.Decode([]byte(`{"a":`), &out); err == nil {
			t.Errorf("%s: no error for half a record", f.Name)
		}
		if len(out.Trajectories)+len(out.Documents)+len(out.Rejected)+len(out.Lost) != 0 || out.Copied != 0 || out.Notes != (turnmill.Notes{}) {
			t.Errorf("%s: something is left after an error", f.Name)
		}
		if got := decoded(d, []byte(f.Doc.Sample)); got != want {
			t.Errorf("%s: got\n%s\nwant\n%s", f.Name, got, want)
		}
	}
}

func TestDecodeAllocs(t *testing.T) {
	for _, f := range All() {
		if f.Refuses {
			continue // an error is made
		}
		name, raw := f.Name, long(f.Name, 20)
		if raw == nil {
			raw = []byte(f.Doc.Sample)
		}
		d := mustFormat(t, name).New(Options{})
		var out Decoded
		decode := func() {
			if err := d.Decode(raw, &out); err != nil {
				t.Fatal(err)
			}
		}
		decode()
		decode()                                                                                             // the arena takes its final size at the second record
		if n := testing.AllocsPerRun(50, decode); n != 0 && name != asciicastName && name != autoDroidName { // an emulator makes a screen a file, a YAML parser nodes
			t.Errorf("%s: %v allocations a record, want 0", name, n)
		}
	}
	run := longRun(20)
	dst := AppendUnified(nil, run)
	if n := testing.AllocsPerRun(50, func() { dst = AppendUnified(dst[:0], run) }); n != 0 {
		t.Errorf("AppendUnified: %v allocations, want 0", n)
	}
}

// check tells what is wrong with the outcome of decoding raw, whatever raw is.
func check(f Format, o Options, raw []byte) error {
	var out Decoded
	before := bytes.Clone(raw)
	err := f.New(o).Decode(raw, &out)
	if !bytes.Equal(before, raw) {
		return errors.New("the record was changed")
	}
	if err != nil {
		var e *turnmill.RecordError
		switch {
		case !errors.As(err, &e) || e.Reason == "" || e.Err == nil || e.Step != "decode":
			return fmt.Errorf("not a full RecordError: %#v", err)
		case len(out.Trajectories)+len(out.Documents)+len(out.Rejected) != 0:
			return fmt.Errorf("an error and an outcome: %v", err)
		}
		return nil
	}
	if len(out.Trajectories)+len(out.Documents)+len(out.Rejected) == 0 {
		return errors.New("neither an outcome nor an error")
	}
	for _, n := range out.Notes {
		if n < 0 {
			return fmt.Errorf("a negative note: %v", out.Notes)
		}
	}
	for _, l := range out.Lost {
		if l.Offset < 0 || l.Bytes <= 0 || l.Offset+l.Bytes > int64(len(raw)) || l.Reason == "" || l.Err == nil {
			return fmt.Errorf("lost %+v of %d bytes", l, len(raw))
		}
	}
	for i := range out.Trajectories {
		if err := checkTrajectory(&out.Trajectories[i], o); err != nil {
			return err
		}
	}
	return nil
}

func checkTrajectory(t *turnmill.Trajectory, o Options) error {
	line := AppendUnified(nil, t)
	for _, turn := range t.Turns {
		for _, s := range []string{turn.Action, turn.Observation, turn.State, turn.Thought, turn.Tool} {
			if !utf8.ValidString(s) {
				return fmt.Errorf("text is not UTF-8: %q", s)
			}
		}
		if !turn.HasAction && turn.Action != "" || turn.Thought != "" && !o.KeepThought {
			return fmt.Errorf("a turn with %+v", turn)
		}
	}
	var again Decoded
	if err := (&unified{opts: o}).Decode(line, &again); err != nil {
		return fmt.Errorf("%w in %s", err, line)
	}
	if back := AppendUnified(nil, &again.Trajectories[0]); !bytes.Equal(back, line) {
		return fmt.Errorf("read back as\n%s\nnot\n%s", back, line)
	}
	return nil
}

// mutate changes a record as accidents do: bytes flipped, cut, repeated, swapped for other JSON.
func mutate(r *rand.Rand, raw []byte) []byte {
	raw = bytes.Clone(raw)
	for range 1 + r.Intn(4) {
		if len(raw) == 0 {
			return raw
		}
		i := r.Intn(len(raw))
		j := min(len(raw), i+1+r.Intn(40))
		switch r.Intn(6) {
		case 0:
			raw[i] = byte(r.Intn(256))
		case 1:
			raw = raw[:i]
		case 2:
			raw = slices.Insert(raw, i, raw[i:j]...)
		case 3:
			raw = slices.Delete(raw, i, j)
		default:
			raw = swapToken(r, raw, i)
		}
	}
	return raw
}

// swapToken puts another value in the place of the next string after i, so that the record stays JSON.
func swapToken(r *rand.Rand, raw []byte, i int) []byte {
	from := bytes.IndexByte(raw[i:], ':')
	if from < 0 {
		return raw
	}
	from += i + 1
	for from < len(raw) && raw[from] == ' ' {
		from++
	}
	if from >= len(raw) || raw[from] != '"' {
		return raw
	}
	end, closed := stringEnd(raw, from)
	if !closed {
		return raw
	}
	values := []string{`null`, `7`, `1.5e3`, `true`, `[]`, `{}`, `""`, `"tool"`, `"assistant"`, `["x",{"type":"text","text":"y"}]`,
		`"<think>a</think>b"`, `[{"type":"image_url"}]`, `"\ud83d"`, `{"a":{"b":[null]}}`, `"user"`}
	return slices.Replace(raw, from, end, []byte(values[r.Intn(len(values))])...)
}

// TestMutations decodes damaged records of every format.
func TestMutations(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for _, f := range All() {
		seeds := [][]byte{[]byte(f.Doc.Sample), longChat(2), AppendUnified(nil, longRun(2))}
		if raw := long(f.Name, 2); raw != nil {
			seeds = append(seeds, raw)
		}
		for i := range 4000 {
			raw := mutate(r, seeds[i%len(seeds)])
			if err := check(f, Options{KeepThought: i%2 == 0}, raw); err != nil {
				t.Fatalf("%s: %v\n%q", f.Name, err, raw)
			}
		}
	}
}

// TestMutatedRealFiles does so with published files, and with records of those that hold many.
func TestMutatedRealFiles(t *testing.T) {
	r := rand.New(rand.NewSource(2))
	for _, under := range []string{"swe-agent", "atif-harbor", "atif-nemo", "adp-atif", "tau-bench", "claude-code",
		"mini-swe-agent", "openhands", "toolbench", "llama-factory", "livemcpbench", "intercode", "fireact", "reflexion",
		"adp", "langfuse", "asciinema", "otel-otlp", "androidworld-m3a", "autodroid-utg"} {
		files := realFiles(t, under)
		for _, name := range slices.Sorted(maps.Keys(files)) {
			seeds := [][]byte{files[name]}
			if found, err := Detect(files[name], true); err == nil && (found.Layout == frame.Array || found.Layout == frame.Lines) {
				seeds = records(t, found.Layout, files[name])
			}
			for i := range 8 {
				raw := mutate(r, seeds[i%len(seeds)])
				for _, f := range All() {
					if err := check(f, Options{KeepThought: true}, raw); err != nil {
						t.Fatalf("%s as %s: %v", name, f.Name, err)
					}
				}
			}
		}
	}
}

// TestManyCalls decodes one message with many calls whose results come in the opposite order: pairing must
// not compare each with each.
func TestManyCalls(t *testing.T) {
	const n = 100_000
	var calls, results strings.Builder
	for i := range n {
		fmt.Fprintf(&calls, `,{"id":"call-%d","name":"f","arguments":{"i":%d}}`, i, i)
		fmt.Fprintf(&results, `,{"role":"tool","tool_call_id":"call-%d","content":"%d"}`, n-1-i, n-1-i)
	}
	raw := `[{"role":"user","content":"x"},{"role":"assistant","tool_calls":[` + calls.String()[1:] + `]}` + results.String() + `]`
	var out Decoded
	start := time.Now()
	if err := mustFormat(t, "openai-chat").New(Options{}).Decode([]byte(raw), &out); err != nil {
		t.Fatal(err)
	}
	if took := time.Since(start); took > 20*time.Second {
		t.Errorf("pairing %d calls took %v", n, took)
	}
	lines := strings.Split(out.Trajectories[0].Turns[0].Observation, "\n")
	if len(lines) != n || lines[0] != "0" || lines[n-1] != fmt.Sprint(n-1) {
		t.Errorf("%d results, from %q to %q", len(lines), lines[0], lines[len(lines)-1])
	}
}

func TestPairBothWays(t *testing.T) {
	for _, n := range []int{1, 2, manyCalls, manyCalls + 1, 40} {
		r := rand.New(rand.NewSource(int64(n)))
		for range 200 {
			var a, b []call
			var results, others []result
			for range n {
				a = append(a, call{id: []string{"", "x", "y", "z", "w"}[r.Intn(5)], answer: -1})
				results = append(results, result{id: []string{"", "x", "y", "q"}[r.Intn(4)]})
			}
			b, others = slices.Clone(a), slices.Clone(results)
			pair(a, results)
			pairSlowly(b, others)
			for i := range a {
				if a[i].answer != b[i].answer {
					t.Fatalf("call %d of %v: result %d, want %d", i, a, a[i].answer, b[i].answer)
				}
			}
			if !slices.Equal(results, others) {
				t.Fatalf("results %v, want %v", results, others)
			}
		}
	}
}

// pairSlowly is the rule of pair without its short cuts.
func pairSlowly(calls []call, results []result) {
	match := func(fits func(c call, r result) bool) {
		for i := range results {
			for j := range calls {
				if !results[i].used && calls[j].answer < 0 && fits(calls[j], results[i]) {
					calls[j].answer, results[i].used = i, true
				}
			}
		}
	}
	match(func(c call, r result) bool { return r.id != "" && c.id == r.id })
	match(func(c call, r result) bool { return r.id == "" || c.id == "" })
}
