package main

import (
	"fmt"
	"math"
	"os/exec"
	"strings"
)

// goal is a ratio that we want to reach at least.
type goal struct {
	what  string
	ratio float64
	want  float64
}

// by returns the tool of that name on that corpus.
func (c *comparison) by(name string, corpus *corpus) *tool {
	for _, t := range c.tools {
		if t.name == name && t.corpus == corpus {
			return t
		}
	}
	panic("bench: no tool is called " + name)
}

// goals are the ratios that the comparison is made for.
func (c *comparison) goals() []goal {
	us, cpt, small := c.by("turnmill, engine bpe", c.big), c.by("turnmill cpt", c.big), c.by("turnmill cpt", c.sample)
	giga, glued := c.by("gigatoken", c.big), c.by("glued script", c.big)
	over := func(a, b spread) float64 { return a.median / b.median }
	peer := func(name string) float64 { return over(small.cold(), c.by(name, c.sample).cold()) }
	return []goal{
		{"engine `bpe` and HF tokenizers", over(us.cold(), c.by("HF tokenizers", c.big).cold()), 60},
		{"engine `bpe` and gigatoken, both cold", over(us.cold(), giga.cold()), 0.6},
		{"engine `bpe` and gigatoken, both warm", over(us.warm(), giga.warm()), 0.6},
		{"`turnmill cpt` and datatrove", peer("datatrove"), 35},
		{"`turnmill cpt` and Megatron style", peer("Megatron style"), 35},
		{"`turnmill cpt` and TRL", peer("TRL"), 60},
		{"`turnmill cpt` and the glued script", over(cpt.cold(), glued.cold()), 0.8},
		{"`turnmill cpt` and its own floor", cpt.cold().median / floorOf(c.floor), 0.7},
	}
}

// ratio prints three digits.
func ratio(v float64) string {
	if v >= 10 {
		return fmt.Sprintf("%.0f", v)
	}
	return fmt.Sprintf("%.2f", v)
}

// opening says in a few lines how we compare.
func (c *comparison) opening() string {
	p := &page{}
	goals := c.goals()
	p.f("One core, one run, the tools in alternation, %d MB of recorded text: turnmill's tokenizer makes %s times what Hugging Face's makes and %s times\n"+
		"gigatoken (%s when both are warm), with the same ids. The whole path makes %s times datatrove, %s times a Megatron-style script, %s times\n"+
		"TRL, and %s times a script glued from the fastest parts that checks nothing. Figures are of one machine and one run: compare them with\neach other only.\n",
		c.big.Bytes/1e6, ratio(goals[0].ratio), ratio(goals[1].ratio), ratio(goals[2].ratio), ratio(goals[3].ratio), ratio(goals[4].ratio), ratio(goals[5].ratio), ratio(goals[6].ratio))
	return p.String()
}

func (c *comparison) report() string {
	p := &page{}
	p.f("## Compared with others\n\nWritten by `make bench-peers`. Machine: %s; each process pinned to one core, one thread, others at\nwork beside it. "+
		"Rates are MB (10^6 bytes of the messages' texts, UTF-8) per CPU second, user and system: median [least - greatest]. Compare them with\neach other only.\n\n", machine())
	p.table("ratio of medians", "is", "wanted at least")
	for _, g := range c.goals() {
		p.row(g.what, ratio(g.ratio), ratio(g.want))
	}
	p.f("\n### Tokenizers alone: %d MB, %d messages\n\n", c.big.Bytes/1e6, c.big.Messages)
	p.table("tool", "version", "how", "runs", "MB/s cold", "MB/s warm", "peak MiB", "ids")
	reference := c.by("HF tokenizers", c.big).results[0]
	for _, t := range c.tools {
		if !t.whole {
			p.row(t.name, t.version(), t.what, fmt.Sprint(len(t.results)), t.cold().String(), t.warm().String(), fmt.Sprintf("%.0f", t.peak()), sameIDs(t.results, reference))
		}
	}
	p.f("\nCold is the first pass of a process, warm a second one over the same texts. Peaks include the texts. Ids: %.2f million, compared by SHA-256.\n", float64(reference.Tokens)/1e6)
	p.f("\n### From chats to tokens on disk\n\n")
	p.table("tool", "version", "what it does", "MB", "runs", "MB/s", "peak MiB", "ids")
	for _, t := range c.tools {
		if t.whole {
			p.row(t.name, t.version(), t.what, fmt.Sprint(t.bytes/1e6), fmt.Sprint(len(t.results)), t.cold().String(), fmt.Sprintf("%.0f", t.peak()), c.wholeIDs(t))
		}
	}
	p.f("\nClocks run from the moment when everything is imported and the tokenizer loaded: the peers take the time themselves; of our process the seconds of one\n"+
		"with a single record, run just before, are taken off (with them: %.1f MB/s over %d MB, %.1f over %d). Tools slower by an order run over %d MB, and we run there\n"+
		"again. Ids are equal where a tool's, without what it appends to a document, are those of our rows with `--mask off`, %.2f million; the mask drops whole rows\n"+
		"besides. TRL's template and datatrove's ends of documents make other ids, of which the number is given.\n",
		c.by("turnmill cpt", c.big).entire().median, c.big.Bytes/1e6, c.by("turnmill cpt", c.sample).entire().median, c.sample.Bytes/1e6, c.sample.Bytes/1e6, float64(c.ids.Tokens)/1e6)
	c.reportStages(p)
	c.reportHow(p)
	return p.String()
}

func (c *comparison) reportStages(p *page) {
	floor := floorOf(c.floor)
	p.f("\n### The floor: our stages, each alone, on the same %d MB\n\n", c.big.Bytes/1e6)
	p.table("stage", "MB/s", "share of the sum", "what it does")
	for _, s := range c.floor {
		p.row(s.Name, fmt.Sprintf("%.0f", s.Rate), fmt.Sprintf("%.0f %%", 100*floor/s.Rate), s.What)
	}
	p.f("\nOne after the other they would make %.1f MB/s; the whole path makes %s of that.\n", floor, ratio(c.by("turnmill cpt", c.big).cold().median/floor))
}

func (c *comparison) reportHow(p *page) {
	b := c.big
	p.f("\n### How\n\nCorpus: `turnmill ingest` reads recorded runs in every format; of what it gives, %d trajectories are kept whole by all filters and hold no special\n"+
		"token (%.1f MB of text; %d others are left out). They are written once as they are, then as replicas with other identifiers, hashes, numbers and words, the same ones\n"+
		"throughout a trajectory: %d trajectories, %d messages, %.1f MB of text, %.1f MB as chats, SHA-256 `%.16s`; the sample has %.1f MB. System is the prompt,\n"+
		"user the action, assistant the observation. Peers read the chats, or their texts joined as ChatML; turnmill reads the same trajectories in its unified form.\n"+
		"Tokenizer: `%s`.\n\n",
		b.Base, float64(b.BaseBytes)/1e6, b.LeftOut, b.Trajectories, b.Messages, float64(b.Bytes)/1e6, float64(b.JSON)/1e6, b.SHA256, float64(c.sample.Bytes)/1e6, c.o.tokenizerTitle())
	for _, t := range c.tools {
		if t.corpus == b || t.name != "turnmill cpt" {
			p.f("    %s\n", c.plainCommand(t))
		}
	}
	p.f("\nVersions of the peers are pinned in `bench/peers/requirements.txt`.\n")
}

// plainCommand is the command without this machine's paths.
func (c *comparison) plainCommand(t *tool) string {
	line := strings.Join(t.command, " ")
	for _, r := range []struct{ from, to string }{{c.r.self, "bench"}, {c.o.python, "python"}, {c.o.turnmill, "turnmill"}, {c.o.work, "WORK"}, {strings.TrimSuffix(c.o.tokenizer, "/tokenizer.json"), "TOKENIZER"}} {
		line = strings.ReplaceAll(line, r.from, r.to)
	}
	return line
}

// tokenizerTitle names the tokenizer's directory, which says the package that it comes from.
func (o *options) tokenizerTitle() string {
	parts := strings.Split(o.tokenizer, "/")
	return parts[max(0, len(parts)-2)]
}

func (t *tool) version() string {
	if v := t.results[0].Version; v != "" && v != "turnmill" {
		return v
	}
	return turnmillVersion()
}

// turnmillVersion is the commit that is measured.
func turnmillVersion() string {
	out, err := exec.Command("git", "describe", "--always", "--dirty").Output()
	if err != nil {
		return "unknown"
	}
	return strings.TrimSpace(string(out))
}

// sameIDs says whether all runs gave the reference's ids.
func sameIDs(results []result, reference result) string {
	for _, r := range results {
		if r.Digest != reference.Digest {
			return "differ"
		}
	}
	return "equal"
}

// wholeIDs says whether a tool's ids are those of our rows, where it tells its ids.
func (c *comparison) wholeIDs(t *tool) string {
	want := c.sampleIDs
	if t.corpus == c.big {
		want = c.ids
	}
	switch {
	case t.name == "turnmill cpt":
		return "-"
	case t.results[0].Digest == "":
		return fmt.Sprintf("%.2f million", float64(t.results[0].Tokens)/1e6)
	}
	return sameIDs(t.results, want)
}

func (s spread) String() string {
	switch {
	case s.median == 0:
		return "-"
	case math.Abs(s.median) < 10:
		return fmt.Sprintf("%.2f [%.2f - %.2f]", s.median, s.least, s.most)
	}
	return fmt.Sprintf("%.1f [%.1f - %.1f]", s.median, s.least, s.most)
}
