package main

import (
	"bufio"
	"encoding/json"
	"fmt"
	"os"
	"path/filepath"
	"slices"
	"strconv"

	"github.com/turnmill/turnmill/shard/bpe"
)

// tool is one way to do a job, run in alternation with the others.
type tool struct {
	name    string // as the table says it
	what    string // the steps
	corpus  *corpus
	bytes   int64 // that a rate counts
	slow    bool
	whole   bool   // the job is the whole path, not the tokenizer alone
	start   string // input of one record: what this costs is start-up, and taken off; "": the job takes its own time
	command []string
	clear   string // removed before each run
	results []result
}

// compare measures us and the peers and writes the opening and a section of the document.
func compare(o *options) error {
	data, err := os.ReadFile(o.tokenizer)
	if err != nil {
		return fmt.Errorf("-peers wants -tokenizer with a tokenizer.json: %w", err)
	}
	model, err := bpe.Load(data)
	if err != nil {
		return err
	}
	r, err := newRunner(o)
	if err != nil {
		return err
	}
	base, leftOut, err := recorded(o, model)
	if err != nil {
		return err
	}
	big, err := makeCorpus(filepath.Join(o.work, "corpus"), int64(o.corpus)*1e6, base, leftOut)
	if err != nil {
		return err
	}
	sample, err := makeCorpus(filepath.Join(o.work, "sample"), int64(o.sample)*1e6, base, leftOut)
	if err != nil {
		return err
	}
	if err := firstLine(filepath.Join(o.work, "start.jsonl"), sample.unified()); err != nil {
		return err
	}
	c := &comparison{o: o, r: r, big: big, sample: sample, tools: tools(o, r, big, sample)}
	for round := range max(o.runs, o.slow) {
		if err := c.round(round); err != nil {
			return err
		}
	}
	if err := c.stages(); err != nil {
		return err
	}
	if err := c.unmasked(); err != nil {
		return err
	}
	if o.out != "" {
		if err := change(o.out, func(document string) string { return replaceOpening(document, c.opening()) }); err != nil {
			return err
		}
	}
	return publish(o, c.report())
}

// firstLine writes the first line of a file to another.
func firstLine(to, from string) error {
	f, err := os.Open(from)
	if err != nil {
		return err
	}
	defer f.Close()
	line, err := bufio.NewReader(f).ReadBytes('\n')
	if err != nil {
		return err
	}
	return os.WriteFile(to, line, 0o666)
}

type comparison struct {
	o           *options
	r           *runner
	big, sample *corpus
	tools       []*tool
	floor       []stage // MB of text, on the big corpus
	ids         result  // of our rows on the big corpus with every loss kept
	sampleIDs   result  // on the sample
}

// tools lists everything that is run, in the order of a round.
func tools(o *options, r *runner, big, sample *corpus) []*tool {
	dir := filepath.Dir(o.tokenizer)
	at := func(name string) string { return filepath.Join(o.work, name) }
	python := func(script string, args ...string) []string {
		return append([]string{o.python, filepath.Join(o.scripts, script+".py"), dir}, args...)
	}
	cpt := func(c *corpus) *tool {
		return &tool{name: "turnmill cpt", what: "the whole path: filters, mask, ledger, turns table, check sums", corpus: c, bytes: c.Bytes, whole: true,
			start: at("start.jsonl"), clear: at("out"), command: cptCommand(o, c.unified(), at("out"), "--workers", "1", "--min-turns", "1")}
	}
	return []*tool{
		{name: "turnmill, engine bpe", what: "texts to ids", corpus: big, bytes: big.Bytes, command: []string{r.self, "encode", o.tokenizer, big.chats()}},
		{name: "gigatoken", what: "`encode_batch`, 1,000 texts a call", corpus: big, bytes: big.Bytes, command: python("gigatoken_batches", big.chats())},
		{name: "HF tokenizers", what: "`encode_batch_fast`, 1,000 texts a call", corpus: big, bytes: big.Bytes, slow: true, command: python("hf_tokenizers", big.chats())},
		cpt(big),
		{name: "glued script", what: "orjson, gigatoken, numpy: ids, mask, offsets; checks nothing", corpus: big, bytes: big.Bytes, whole: true,
			clear: at("glued.ids"), command: python("glued", big.chats(), at("glued"))},
		cpt(sample),
		{name: "datatrove", what: "JsonlReader, DocumentTokenizer", corpus: sample, bytes: sample.Bytes, whole: true, slow: true,
			command: python("datatrove_tokens", sample.texts(), at("datatrove"))},
		{name: "datatrove with loss", what: "the same, `save_loss_metadata`", corpus: sample, bytes: sample.Bytes, whole: true, slow: true,
			command: python("datatrove_tokens", sample.texts(), at("datatrove"), "loss")},
		{name: "Megatron style", what: "json, transformers, IndexedDatasetBuilder; no mask", corpus: sample, bytes: sample.Bytes, whole: true, slow: true,
			command: python("megatron_style", sample.texts(), at("megatron"))},
		{name: "TRL", what: "`load_dataset`, `SFTTrainer._prepare_dataset`, `save_to_disk`", corpus: sample, bytes: sample.Bytes, whole: true, slow: true,
			command: python("trl_prepare", sample.chats(), at("trl"))},
	}
}

func cptCommand(o *options, input, out string, more ...string) []string {
	return append([]string{o.turnmill, "cpt", input, "-o", out, "--tokenizer", o.tokenizerName(), "--progress", "none"}, more...)
}

// round runs each tool that still has a run to go, one after the other.
func (c *comparison) round(n int) error {
	for _, t := range c.tools {
		if n >= c.o.runs || t.slow && n >= c.o.slow {
			continue
		}
		res, err := c.once(t)
		if err != nil {
			return err
		}
		t.results = append(t.results, res)
		fmt.Fprintf(os.Stderr, "round %d: %s, %d MB: %.2f MB/s, warm %.2f, peak %.0f MiB\n", n, t.name, t.bytes/1e6, t.rate(res.CPU), t.rate(res.Warm), res.Peak)
	}
	return nil
}

func (c *comparison) once(t *tool) (result, error) {
	if t.start == "" {
		if err := os.RemoveAll(t.clear); err != nil {
			return result{}, err
		}
		return c.r.tell(c.o.core, t.command...)
	}
	var both [2]result
	for i, input := range []string{t.start, t.corpus.unified()} {
		if err := os.RemoveAll(t.clear); err != nil {
			return result{}, err
		}
		command := slices.Clone(t.command)
		command[slices.Index(command, t.corpus.unified())] = input
		var err error
		if _, both[i], err = c.r.run(c.o.core, command...); err != nil {
			return result{}, err
		}
	}
	both[1].CPU = both[1].Start - both[0].Start
	return both[1], nil
}

// rate is MB of text per CPU second, 0 for no time.
func (t *tool) rate(seconds float64) float64 {
	if seconds == 0 {
		return 0
	}
	return float64(t.bytes) / 1e6 / seconds
}

// stages measures our stages over the big corpus, in MB of text.
func (c *comparison) stages() error {
	out, _, err := c.r.run(c.o.core, c.r.self, "stages", c.o.tokenizer, c.big.unified(), strconv.Itoa(c.o.slow))
	if err != nil {
		return err
	}
	if err := json.Unmarshal(out, &c.floor); err != nil {
		return err
	}
	for i := range c.floor {
		c.floor[i].Rate *= float64(c.big.Bytes) / float64(c.big.Unified)
	}
	return nil
}

// unmasked hashes the ids of our rows with the mask off, so that all rows that the peers write are there.
func (c *comparison) unmasked() error {
	for _, one := range []struct {
		corpus *corpus
		to     *result
	}{{c.big, &c.ids}, {c.sample, &c.sampleIDs}} {
		out, err := c.o.clear("out")
		if err != nil {
			return err
		}
		if _, _, err := c.r.run(-1, cptCommand(c.o, one.corpus.unified(), out, "--min-turns", "1", "--mask", "off")...); err != nil {
			return err
		}
		if *one.to, err = c.r.tell(-1, c.r.self, "digest", out); err != nil {
			return err
		}
		if err := os.RemoveAll(out); err != nil {
			return err
		}
	}
	return nil
}

// spread holds the median, the least and the greatest of some rates.
type spread struct{ median, least, most float64 }

func spreadOf(all []float64) spread {
	all = slices.Sorted(slices.Values(all))
	if len(all) == 0 {
		return spread{}
	}
	return spread{all[len(all)/2], all[0], all[len(all)-1]}
}

func (t *tool) cold() spread { return t.spread(func(r result) float64 { return r.CPU }) }
func (t *tool) warm() spread { return t.spread(func(r result) float64 { return r.Warm }) }

// entire is the rate of whole processes, start-up included.
func (t *tool) entire() spread { return t.spread(func(r result) float64 { return r.Start }) }

func (t *tool) spread(of func(result) float64) spread {
	var rates []float64
	for _, r := range t.results {
		rates = append(rates, t.rate(of(r)))
	}
	return spreadOf(rates)
}

func (t *tool) peak() float64 {
	var all []float64
	for _, r := range t.results {
		all = append(all, r.Peak)
	}
	return spreadOf(all).median
}
