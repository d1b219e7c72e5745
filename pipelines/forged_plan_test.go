package pipelines

import (
	"context"
	"slices"
	"testing"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/mask"
)

// inPlan is a forgery of the plan: its own hashes and the commits' are made right again.
func inPlan(name, file string, change func(*Plan)) forgery {
	return forgery{name: name, file: file, forge: func(f *forger) { change(f.plan) }}
}

// signedTable changes the mask table and signs it.
func signedTable(change func(*mask.Spec)) func(*Plan) {
	return func(p *Plan) {
		p.Mask.Table.Rows = slices.Clone(p.Mask.Table.Rows)
		change(&p.Mask.Table)
		if table, err := mask.FromSpec(p.Mask.Table); err == nil {
			p.Mask.SHA256 = table.Hash()
		}
	}
}

func TestForgedPlan(t *testing.T) {
	input := func(path string, p *Plan) *PlanInput {
		return &p.Inputs[slices.IndexFunc(p.Inputs, func(in PlanInput) bool { return in.Path == "0/"+path })]
	}
	moved := func(p *Plan) (last *Range, first *Range) { // the cut between partitions 0 and 1
		return &p.Partitions[0][len(p.Partitions[0])-1], &p.Partitions[1][0]
	}
	testForgeries(t, small(t), []forgery{
		inPlan("seed", "turns/", func(p *Plan) { p.Mask.Seed = "1" }),
		inPlan("a keep ratio", "turns/", signedTable(func(s *mask.Spec) { s.Rows[0].Keep = "6%" })),
		inPlan("a bound", "turns/", signedTable(func(s *mask.Spec) { s.Rows[0].OverlapMin = "95%" })),
		inPlan("the order of rows", "turns/", signedTable(func(s *mask.Spec) { s.Rows[3], s.Rows[4] = s.Rows[4], s.Rows[3] })),
		inPlan("a keep ratio in another spelling", "plan.json", signedTable(func(s *mask.Spec) { s.Rows[0].Keep = "5.0%" })),
		inPlan("a table that is none", "plan.json", signedTable(func(s *mask.Spec) { s.Rows[0].Keep = "all" })),
		inPlan("the table's sum", "plan.json", func(p *Plan) { p.Mask.SHA256 = hexSum(nil) }),
		inPlan("words version", "plan.json", func(p *Plan) { p.Mask.Words = "words-0" }),
		inPlan("mask off", "turns/", func(p *Plan) { p.Mask.Mode = "off" }),
		inPlan("mask token", "turns/", func(p *Plan) { p.Mask.Mode = "token" }),
		inPlan("mask weight", "plan.json", func(p *Plan) { p.Mask.Mode = "weight" }),
		inPlan("a mode that does not exist", "plan.json", func(p *Plan) { p.Mask.Mode = "some" }),

		inPlan("objective policy", "turns/", func(p *Plan) { p.Config.Objective = "policy" }),
		inPlan("objective all", "turns/", func(p *Plan) { p.Config.Objective = "all" }),
		inPlan("seq-len below the rows", "train/", func(p *Plan) { p.Config.SeqLen = 1000 }),
		byInputs(inPlan("seq-len above what was cut", "turns/", func(p *Plan) { p.Config.SeqLen = 5000 })),
		byInputs(inPlan("state", "train/", func(p *Plan) { p.Config.State = "never" })),
		inPlan("train-dialogue", "turns/", func(p *Plan) { p.Config.TrainDialogue = true }),
		inPlan("min-turns above what is there", "turns/", func(p *Plan) { p.Config.MinTurns = 6 }),
		byInputs(inPlan("min-turns below what was dropped", "rejects/", func(p *Plan) { p.Config.MinTurns = 1 })),
		inPlan("a filter less", "turns/", func(p *Plan) { p.Config.Filters = p.Config.Filters[1:] }),
		inPlan("filters in another order", "plan.json", func(p *Plan) { slices.Reverse(p.Config.Filters) }),
		inPlan("a filter that does not exist", "plan.json", func(p *Plan) { p.Config.Filters = append(p.Config.Filters, "mood") }),
		inPlan("profile", "plan.json", func(p *Plan) { p.Config.Profile = "weighted" }),
		inPlan("a profile that does not exist", "plan.json", func(p *Plan) { p.Config.Profile = "mlx" }),
		inPlan("shorter shards", "train/", func(p *Plan) { p.Config.ShardBytes = 100_000 }),
		inPlan("longer shards", "train/", func(p *Plan) { p.Config.ShardBytes = 1 << 30 }),
		byInputs(inPlan("max-record", "rejects/", func(p *Plan) { p.Config.MaxRecord = 6000 })),
		byInputs(inPlan("format", "plan.json", func(p *Plan) { p.Config.Format = "openai-chat" })),
		byInputs(inPlan("domain", "turns/", func(p *Plan) { p.Config.Domain = "web" })),
		inPlan("partitions", "plan.json", func(p *Plan) { p.Config.Partitions = 4 }),
		{name: "the config's sum", file: "plan.json", after: func(f *forger) {
			f.bytes("plan.json", replace(`"config_sha256": "`, `"config_sha256": "0`))
		}},
		{name: "the plan's spelling", file: "plan.json", after: func(f *forger) { f.bytes("plan.json", replace("{\n", "{\n\n")) }},
		{name: "a member that does not exist", file: "plan.json", after: func(f *forger) {
			f.bytes("plan.json", replace("{\n", "{\n \"more\": 1,\n"))
		}},

		inPlan("version", "plan.json", func(p *Plan) { p.Turnmill = "0.0.1" }),
		inPlan("pipeline", "plan.json", func(p *Plan) { p.Pipeline = "sft" }),
		inPlan("a vocabulary below the ids", "train/", func(p *Plan) { p.Tokenizer.Vocabulary = 300 }),
		byInputs(inPlan("a vocabulary above the tokenizer's", "plan.json", func(p *Plan) { p.Tokenizer.Vocabulary++ })),
		inPlan("engine", "plan.json", func(p *Plan) { p.Tokenizer.Engine = "sentencepiece" }),
		byInputs(inPlan("chat", "plan.json", func(p *Plan) { p.Chat.Name = "qwen3" })),
		inPlan("a template", "plan.json", func(p *Plan) { p.Config.Template = "v1" }),
		byInputs(inPlan("a template, with its sum", "train/", func(p *Plan) {
			p.Config.Template = "v1"
			p.Template, _ = templateOf("v1")
		})),
		inPlan("a template's sum", "plan.json", func(p *Plan) {
			p.Config.Template, p.Template = "v1", &turnmill.Template{Version: "v1", SHA256: hexSum(nil)}
		}),
		inPlan("a template that does not exist", "plan.json", func(p *Plan) { p.Config.Template = "v12" }),
		byInputs(inPlan("the chat's sum", "plan.json", func(p *Plan) { p.Chat.SHA256 = hexSum(nil) })),

		byInputs(inPlan("an input's sum", "plan.json", func(p *Plan) { input("a.jsonl", p).SHA256 = hexSum(nil) })),
		inPlan("an input's bytes", "plan.json", func(p *Plan) { input("a.jsonl", p).Bytes++ }),
		inPlan("an input's path", "commits/", func(p *Plan) { input("a.jsonl", p).Path = "0/b.jsonl" }),
		byInputs(inPlan("an input's layout", "plan.json", func(p *Plan) { input("d.traj", p).Layout = "lines" })),
		byInputs(inPlan("an input's format", "plan.json", func(p *Plan) { input("d.traj", p).Format = "turnmill" })),
		byInputs(inPlan("why an input was rejected", "plan.json", func(p *Plan) { input("e-notes.txt", p).Detail = "dull" })),
		inPlan("an input too many", "plan.json", func(p *Plan) { p.Inputs = append(p.Inputs, PlanInput{Path: "0/z", Bytes: 5}) }),
		inPlan("a range's end", "plan.json", func(p *Plan) { last, _ := moved(p); last.To-- }),
		inPlan("a range's start", "plan.json", func(p *Plan) { _, first := moved(p); first.From++ }),
		inPlan("a range's line", "commits/", func(p *Plan) { _, first := moved(p); first.Line++ }),
		inPlan("a cut elsewhere", "commits/", func(p *Plan) {
			last, first := moved(p)
			last.To, first.From = last.To-5, first.From-5
		}),
		inPlan("a range of no input", "plan.json", func(p *Plan) { p.Partitions[0][0].Input = 99 }),
		inPlan("a range that runs backwards", "plan.json", func(p *Plan) { last, _ := moved(p); last.To = last.From - 1 }),
		byInputs(forgery{name: "a cut elsewhere, in the commits too", file: "plan.json", forge: func(f *forger) {
			last, first := moved(f.plan)
			last.To, first.From = last.To-5, first.From-5
			a := f.commits[0].Inputs
			a[len(a)-1].To -= 5
			f.commits[1].Inputs[0].From -= 5
		}}),
	})
}

// TestForgedTokenizer: a run is checked with the tokenizer that its plan names by content, and no other.
func TestForgedTokenizer(t *testing.T) {
	o := small(t)
	mustRun(t, o)
	f := forge(t, o.Output)
	f.plan.Tokenizer.SHA256 = hexSum(nil)
	f.sign()
	o.Output = f.root
	if _, err := Check(context.Background(), checkOptions(&o, false)); err != nil {
		t.Errorf("without the tokenizer nothing tells: %v", err)
	}
	_, err := Check(context.Background(), checkOptions(&o, true))
	wantUsage(t, err, "--tokenizer", "another one")
}
