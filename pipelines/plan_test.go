package pipelines

import (
	"bytes"
	"context"
	"fmt"
	"os"
	"path/filepath"
	"reflect"
	"strings"
	"testing"

	"github.com/google/go-cmp/cmp"
	"pgregory.net/rapid"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/internal/golden"
)

// TestPartition: whatever the files and however many partitions, every byte of every input is in exactly one
// range, in order; plain files of lines are cut behind a line feed, whose number the range knows, and no
// other file is cut at all.
func TestPartition(t *testing.T) {
	dir := t.TempDir()
	runs := 0
	rapid.Check(t, func(t *rapid.T) {
		runs++
		var inputs []PlanInput
		var paths []string
		var texts [][]byte
		for i := range rapid.IntRange(1, 5).Draw(t, "files") {
			text := []byte(strings.Join(rapid.SliceOfN(rapid.SampledFrom([]string{"\n", "{}\n", "{}", strings.Repeat("x", 40) + "\n"}), 0, 30).Draw(t, "text"), ""))
			path := filepath.Join(dir, fmt.Sprint(i))
			if err := os.WriteFile(path, text, 0o666); err != nil {
				t.Fatal(err)
			}
			in := PlanInput{Path: path, Bytes: int64(len(text)), Compression: "none", Layout: "lines"}
			switch rapid.IntRange(0, 5).Draw(t, "kind") {
			case 0:
				in.Layout = "whole"
			case 1:
				in.Compression = "gzip"
			case 2:
				in.Rejected = turnmill.ReasonUnknownFormat
			}
			inputs, paths, texts = append(inputs, in), append(paths, path), append(texts, text)
		}
		n := rapid.IntRange(1, 12).Draw(t, "partitions")
		parts, err := deal(t.Context(), &Options{Partitions: n, PartitionBytes: 256 << 20}, inputs, paths)
		if err != nil {
			t.Fatal(err)
		}
		if len(parts) != n {
			t.Fatalf("%d partitions, want %d", len(parts), n)
		}
		next, ranges, last := make([]int64, len(inputs)), make([]int, len(inputs)), 0
		for _, p := range parts {
			for _, r := range p {
				in, text := &inputs[r.Input], texts[r.Input]
				if r.Input < last {
					t.Fatalf("%+v after input %d", r, last)
				}
				last = r.Input
				ranges[r.Input]++
				if in.Rejected != "" {
					if r != (Range{Input: r.Input, Line: 1}) {
						t.Fatalf("a rejected file has range %+v", r)
					}
					continue
				}
				if r.From != next[r.Input] || r.To < r.From || r.To == r.From && len(text) > 0 {
					t.Fatalf("%+v, where %d bytes stand in ranges", r, next[r.Input])
				}
				next[r.Input] = r.To
				if r.From > 0 && text[r.From-1] != '\n' || r.Line != 1+int64(bytes.Count(text[:r.From], []byte("\n"))) {
					t.Fatalf("%+v in %q", r, text)
				}
			}
		}
		for i, in := range inputs {
			if in.Rejected == "" && next[i] != in.Bytes || ranges[i] == 0 || ranges[i] > 1 && (in.Layout != "lines" || in.Compression != "none") {
				t.Fatalf("%+v is in %d ranges up to byte %d", in, ranges[i], next[i])
			}
		}
		if again, err := deal(t.Context(), &Options{Partitions: n, PartitionBytes: 256 << 20}, inputs, paths); err != nil || !reflect.DeepEqual(parts, again) {
			t.Fatalf("another time it is %v, %v", again, err)
		}
	})
	if runs < 50 {
		t.Errorf("%d runs", runs)
	}
}

// TestPartitionsBySize: without --partitions there is one for every 256 MiB stored.
func TestPartitionsBySize(t *testing.T) {
	for _, c := range []struct {
		bytes int64
		want  int
	}{{0, 1}, {1, 1}, {(256 << 20), 1}, {(256 << 20) + 1, 2}, {10 * (256 << 20), 10}, {1 << 50, mostPartitions}} {
		parts, err := deal(t.Context(), &Options{PartitionBytes: 256 << 20}, []PlanInput{{Bytes: c.bytes, Layout: "whole"}}, []string{""})
		if err != nil || len(parts) != c.want {
			t.Errorf("%d bytes: %d partitions, want %d; %v", c.bytes, len(parts), c.want, err)
		}
	}
}

// TestPlanComesBack: a plan is what its bytes say, no more and no less.
func TestPlanComesBack(t *testing.T) {
	o := options(t, mixedCorpus(t))
	o.Partitions = 9
	s, _ := planned(t, &o)
	data, sum := s.plan.Encode()
	again, err := decodePlan(data)
	if err != nil {
		t.Fatal(err)
	}
	if diff := cmp.Diff(s.plan, again); diff != "" {
		t.Errorf("(-made +read):\n%s", diff)
	}
	if more, other := again.Encode(); !bytes.Equal(data, more) || sum != other {
		t.Error("it is written in another way the second time")
	}
	for _, machine := range []string{o.Output, o.Inputs[0], os.TempDir()} {
		if bytes.Contains(data, []byte(machine)) {
			t.Errorf("the plan speaks of %s, which is this machine's", machine)
		}
	}
	if differences(s.plan, again) != nil {
		t.Errorf("it differs from itself in %v", differences(s.plan, again))
	}
}

// TestDifferences: whatever two plans differ in has a name, for the user who is told to try --restart.
func TestDifferences(t *testing.T) {
	o := options(t, demoCorpus(t))
	s, _ := planned(t, &o)
	data, _ := s.plan.Encode()
	for _, c := range []struct {
		name   string
		change func(*Plan)
		want   string
	}{
		{"version", func(p *Plan) { p.Turnmill = "0.0.1" }, "turnmill: was"},
		{"pipeline", func(p *Plan) { p.Pipeline = "sft" }, "pipeline: was"},
		{"config", func(p *Plan) { p.Config.State = "never" }, "--state: was never, now always"},
		{"texts of a template", func(p *Plan) { p.Template = &turnmill.Template{Version: "v1"} }, "template plain: was"},
		{"tokenizer", func(p *Plan) { p.Tokenizer.SHA256 = "0" }, "tokenizer: was"},
		{"engine", func(p *Plan) { p.Tokenizer.Engine = "other" }, "tokenizer: was"},
		{"chat", func(p *Plan) { p.Chat.Name = "qwen3" }, "chat: was"},
		{"layout of a chat", func(p *Plan) { p.Chat.SHA256 = "0" }, "chat: was"},
		{"mask", func(p *Plan) { p.Mask.Mode = "off" }, "mask: was"},
		{"table", func(p *Plan) { p.Mask.SHA256 = "0" }, "mask-table: was"},
		{"words", func(p *Plan) { p.Mask.Words = "words-0" }, "words: was"},
		{"seed", func(p *Plan) { p.Mask.Seed = "7" }, "seed: was"},
		{"an input's sum", func(p *Plan) { p.Inputs[1].SHA256 = "0" }, "input 0/chats.jsonl has changed"},
		{"an input's format", func(p *Plan) { p.Inputs[1].Format = "swe-agent" }, "input 0/chats.jsonl has changed"},
		{"an input less", func(p *Plan) { p.Inputs = p.Inputs[1:] }, "input 0/android.jsonl is new"},
		{"many inputs less", func(p *Plan) { p.Inputs = nil }, "and 4 more inputs"},
	} {
		old, err := decodePlan(data)
		if err != nil {
			t.Fatal(err)
		}
		c.change(old)
		if got := strings.Join(differences(old, s.plan), "; "); !strings.Contains(got, c.want) {
			t.Errorf("%s: %q does not say %q", c.name, got, c.want)
		}
	}
}

// TestCancelledPlan: planning can be cancelled as well, and writes nothing.
func TestCancelledPlan(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	o := options(t, demoCorpus(t))
	if _, err := CPT(ctx, o); err == nil || !strings.Contains(err.Error(), "canceled") {
		t.Errorf("got %v", err)
	}
	if _, err := os.Stat(o.Output); !os.IsNotExist(err) {
		t.Errorf("the output directory is there: %v", err)
	}
}

var update = golden.Update()

// TestDemoBytes: the bytes of shards, turns and rejects are promised for one version on every machine; these
// are the demo corpus's.
func TestDemoBytes(t *testing.T) {
	o := options(t, demoCorpus(t))
	o.Partitions, o.ShardBytes = 2, 300_000
	m := mustRun(t, o)
	var b bytes.Buffer
	for _, f := range m.Files {
		if !strings.HasSuffix(f.Path, ".json") {
			fmt.Fprintf(&b, "%s  %d bytes, %d rows  %s\n", f.SHA256, f.Bytes, f.Rows, f.Path)
		}
	}
	golden.Check(t, *update, "demo.txt", b.Bytes())
}
