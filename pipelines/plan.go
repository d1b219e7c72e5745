package pipelines

import (
	"bytes"
	"crypto/sha256"
	"encoding/hex"
	"encoding/json"
	"errors"
	"fmt"
	"math"
	"path/filepath"
	"slices"
	"strings"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/ingest/formats"
	"github.com/turnmill/turnmill/ingest/frame"
	"github.com/turnmill/turnmill/mask"
)

// FormatVersion is the version of plan.json, commits and manifest.json.
const FormatVersion = 1

// Version is turnmill's. Identical bytes are promised for one version.
const Version = "0.1.0"

// Config is what of the options changes bytes; its keys are the flags'.
type Config struct {
	Format        string   `json:"format"`
	Domain        string   `json:"domain"`
	ChatDate      string   `json:"chat-date"`
	Objective     string   `json:"objective"`
	State         string   `json:"state"`
	Template      string   `json:"template"` // plain, or v0 to v11
	KeepThought   bool     `json:"keep-thought"`
	TrainDialogue bool     `json:"train-dialogue"`
	SeqLen        int      `json:"seq-len"`
	MinTurns      int      `json:"min-turns"`
	Filters       []string `json:"filters"`
	// FilterPatterns is the SHA-256 of the pages and refusals that filters know.
	FilterPatterns string `json:"filter-patterns"`
	Profile        string `json:"profile"`
	MaxRecord      int64  `json:"max-record"`
	MaxWindow      int64  `json:"max-window"`
	Partitions     int    `json:"partitions"` // as resolved
	ShardBytes     int64  `json:"shard-bytes"`
	Limit          int64  `json:"limit"` // records; 0: all
	Validation     string `json:"validation"`
	Shuffle        bool   `json:"shuffle"` // merge orders the rows of each split by draw
	Beyond         string `json:"beyond"`  // as resolved: on or off
	Dedup          string `json:"dedup"`
	NearThreshold  string `json:"near-threshold,omitempty"` // of --dedup near
	// PartitionBytes cuts standard input, which the plan has no partitions of; 0 for all other inputs.
	PartitionBytes int64  `json:"partition-bytes,omitempty"`
	Secrets        string `json:"secrets"` // scrub, report, off
	// SecretRules is the SHA-256 of the rules by which secrets are found; empty where none are looked for.
	SecretRules string `json:"secret-rules,omitempty"`
	// Pool is which pool the corpus is, where Pools names the sources of each; sft has its own.
	Pool  string `json:"pool,omitempty"`
	Pools Pools  `json:"pools,omitempty"`
	// SFT is nil for the other pipelines.
	SFT *SFTConfig `json:"sft,omitempty"`
}

// TokenizerInfo names a tokenizer by its content.
type TokenizerInfo struct {
	Name       string `json:"name"`
	SHA256     string `json:"sha256"`
	Engine     string `json:"engine"`
	Vocabulary int    `json:"vocabulary"` // one above the largest id
}

// String names the file, its content and the engine.
func (t TokenizerInfo) String() string {
	return fmt.Sprintf("%s %s engine %s", t.Name, t.SHA256, t.Engine)
}

// ChatInfo names a chat format.
type ChatInfo struct {
	Name   string `json:"name"`
	SHA256 string `json:"sha256"`
}

// MaskInfo is the mask of a run, whole.
type MaskInfo struct {
	Mode   string    `json:"mode"`
	Table  mask.Spec `json:"table"`
	SHA256 string    `json:"sha256"` // of the table
	Words  string    `json:"words"`  // version of the word rule
	Seed   string    `json:"seed"`
	// CopiedKeep is the keep ratio of copied lines, in the least decimals; mode changed only.
	CopiedKeep string `json:"copied_keep,omitempty"`
}

// copied returns the keep ratio of copied lines; that of another mode is of no account.
func (m *MaskInfo) copied() (turnmill.Ratio, error) {
	if m.Mode != mask.ModeChanged.String() {
		if m.CopiedKeep != "" {
			return turnmill.Ratio{}, fmt.Errorf("mask %s has a copied_keep of %q", m.Mode, m.CopiedKeep)
		}
		return mask.DefaultCopied, nil
	}
	keep, err := parseKeep(m.CopiedKeep)
	if err == nil && keep.text != m.CopiedKeep {
		err = fmt.Errorf("it is written %s", keep.text)
	}
	if err != nil {
		return turnmill.Ratio{}, fmt.Errorf("copied_keep %q: %w", m.CopiedKeep, err)
	}
	return keep.ratio, nil
}

// PlanInput is one input file as the plan saw it.
type PlanInput struct {
	Path        string          `json:"path"`
	Bytes       int64           `json:"bytes"`  // stored
	SHA256      string          `json:"sha256"` // of size, head and tail
	Compression string          `json:"compression,omitempty"`
	Format      string          `json:"format,omitempty"`
	Layout      string          `json:"layout,omitempty"`
	Unit        int             `json:"unit,omitempty"` // the run that it is one of several files of, from 1
	Rejected    turnmill.Reason `json:"rejected,omitempty"`
	Detail      string          `json:"detail,omitempty"`
}

// Range is a part of one input: stored bytes [From, To). Line is the number of the first line, from 1, in the
// file, or in the zstd frame at From when that is not 0.
type Range struct {
	Input   int   `json:"input"` // position in Plan.Inputs
	From    int64 `json:"from"`
	To      int64 `json:"to"`
	Line    int64 `json:"line"`
	Records int64 `json:"records,omitempty"` // no more than these are read; 0: all
}

// Plan is what is to be done: a pure function of inputs, options, tokenizer and version. Partition i is a
// pure function of the plan and i.
type Plan struct {
	FormatVersion int           `json:"format_version"`
	Turnmill      string        `json:"turnmill"`
	Pipeline      string        `json:"pipeline"`
	Config        Config        `json:"config"`
	ConfigSHA256  string        `json:"config_sha256"`
	Tokenizer     TokenizerInfo `json:"tokenizer"`
	Chat          ChatInfo      `json:"chat"`
	// Template names the prompt templates of every domain; null for the plain layout.
	Template *turnmill.Template `json:"template"`
	Mask     MaskInfo           `json:"mask"`
	// Patterns are those of --filter-patterns, whole; null where they are turnmill's own.
	Patterns   *filter.Patterns `json:"filter_patterns"`
	Inputs     []PlanInput      `json:"inputs"`
	Answers    *Answers         `json:"answers,omitempty"` // recorded ones, of sft
	Partitions [][]Range        `json:"partitions"`
	Benchmarks []BenchmarkFile  `json:"benchmarks,omitempty"` // of --decontaminate
	Mix        *Mix             `json:"mix,omitempty"`
	Scan       *Scan            `json:"scan,omitempty"` // what reading all inputs decided; nil where nothing asks for it
}

// streams tells whether the run reads standard input: its partitions stand in the commits alone.
func (p *Plan) streams() bool { return p.Config.PartitionBytes > 0 }

// Encode returns the plan as it is written, and the hash that every commit names.
func (p *Plan) Encode() ([]byte, string) {
	data := encodeJSON(p)
	return data, hexSum(data)
}

// errVersion marks plans of another format version.
var errVersion = errors.New("another version")

// decodePlan reads what Encode wrote and nothing else.
func decodePlan(data []byte) (*Plan, error) {
	p := &Plan{}
	if err := decodeJSON(data, p); err != nil {
		return nil, fmt.Errorf("plan.json: %w: %w", turnmill.ErrCorrupt, err)
	}
	if p.FormatVersion != FormatVersion {
		return nil, fmt.Errorf("plan.json: %w: format version %d, this turnmill reads %d; use the turnmill that wrote it (%s)", errVersion, p.FormatVersion, FormatVersion, p.Turnmill)
	}
	if err := p.sound(); err != nil {
		return nil, fmt.Errorf("plan.json: %w: %w", turnmill.ErrCorrupt, err)
	}
	return p, nil
}

// sound tells whether a plan holds nothing that no turnmill writes, so that what works on it need not ask.
func (p *Plan) sound() error {
	c := &p.Config
	errs := []error{
		oneOf("objective", c.Objective, objectives[:]...),
		oneOf("state", c.State, states[:]...),
		oneOf("template", c.Template, templateNames(p.samples())...),
		oneOf("beyond", c.Beyond, "on", "off"),
		oneOf("dedup", c.Dedup, dedupNames[:]...),
		c.soundThreshold(), p.soundScan(), p.soundMix(),
		oneOf("secrets", c.Secrets, secrets.Modes()...),
	}
	if _, err := p.Mask.copied(); err != nil {
		errs = append(errs, err)
	}
	for _, n := range []struct {
		name        string
		value, from int64
		to          int64
	}{
		{"seq-len", int64(c.SeqLen), 2, math.MaxInt32}, {"min-turns", int64(c.MinTurns), 1, math.MaxInt64},
		{"max-record", c.MaxRecord, 1, maxRecordLimit}, {"max-window", c.MaxWindow, 1 << 10, math.MaxInt64},
		{"shard-bytes", c.ShardBytes, 1, math.MaxInt64}, {"limit", c.Limit, 0, math.MaxInt64},
		{"partition-bytes", c.PartitionBytes, 0, math.MaxInt64}, {"partitions", int64(c.Partitions), 0, mostPartitions},
	} {
		if n.value < n.from || n.value > n.to {
			errs = append(errs, fmt.Errorf("%s is %d, which no run has", n.name, n.value))
		}
	}
	if p.audits() && c.Shuffle {
		errs = append(errs, errors.New("an audit has no rows to shuffle"))
	}
	if !p.streams() && c.Partitions == 0 {
		errs = append(errs, errors.New("it has no partitions"))
	}
	for i := range p.Inputs {
		errs = append(errs, p.Inputs[i].sound())
	}
	if p.samples() != (c.SFT != nil) || p.samples() != (p.Answers != nil) {
		errs = append(errs, errors.New("the settings of sft, its answers and the pipeline do not go together"))
	} else if p.samples() {
		errs = append(errs, c.SFT.validate())
	}
	bad := len(errs)
	for i, ranges := range p.Partitions {
		for _, r := range ranges {
			if r.Input < 0 || r.Input >= len(p.Inputs) {
				errs = append(errs, fmt.Errorf("partition %d reads input %d of %d", i, r.Input, len(p.Inputs)))
			} else if r.From < 0 || r.To < r.From || r.To > p.Inputs[r.Input].Bytes || r.Line < 1 || r.Records < 0 {
				errs = append(errs, fmt.Errorf("partition %d reads bytes %d to %d of input %s, from line %d", i, r.From, r.To, p.Inputs[r.Input].Path, r.Line))
			}
		}
	}
	if len(errs) == bad { // every range is of an input that there is
		errs = append(errs, p.unsoundRuns())
	}
	return errors.Join(errs...)
}

// sound tells whether a decoder, a compression and a layout of these names exist.
func (in *PlanInput) sound() error {
	if arg, name, below := strings.Cut(in.Path, "/"); !below || strings.Trim(arg, "0123456789") != "" || !filepath.IsLocal(name) {
		return fmt.Errorf("input %q is named as no input is", in.Path)
	}
	if in.Bytes < 0 {
		return fmt.Errorf("input %s has %d bytes", in.Path, in.Bytes)
	}
	if in.Rejected != "" {
		return nil
	}
	_, err := formats.ByName(in.Format)
	_, layout := frame.ParseLayout(in.Layout)
	_, compression := frame.ParseCompression(in.Compression)
	if err := errors.Join(err, layout, compression); err != nil {
		return fmt.Errorf("input %s: %w", in.Path, err)
	}
	return nil
}

// encodeJSON returns v indented by one space, with a line feed at the end, and no HTML escapes.
func encodeJSON(v any) []byte {
	var b bytes.Buffer
	e := json.NewEncoder(&b)
	e.SetEscapeHTML(false)
	e.SetIndent("", " ")
	if err := e.Encode(v); err != nil {
		panic(fmt.Sprintf("pipelines: a file of ours cannot be encoded: %v", err))
	}
	return b.Bytes()
}

// decodeJSON reads one value with known fields only.
func decodeJSON(data []byte, v any) error {
	d := json.NewDecoder(bytes.NewReader(data))
	d.DisallowUnknownFields()
	if err := d.Decode(v); err != nil {
		return err
	}
	if d.More() {
		return fmt.Errorf("text after the value")
	}
	return nil
}

func hexSum(data []byte) string {
	sum := sha256.Sum256(data)
	return hex.EncodeToString(sum[:])
}

// differences names what two plans differ in, in words a user can act on.
func differences(old, now *Plan) []string {
	var out []string
	add := func(what string, a, b any) {
		x, y := encodeJSON(a), encodeJSON(b)
		if !bytes.Equal(x, y) {
			out = append(out, fmt.Sprintf("%s: was %s, now %s", what, strings.TrimSpace(string(x)), strings.TrimSpace(string(y))))
		}
	}
	add("turnmill", old.Turnmill, now.Turnmill)
	add("pipeline", old.Pipeline, now.Pipeline)
	out = append(out, configDifferences(&old.Config, &now.Config)...)
	if old.Tokenizer != now.Tokenizer {
		add("tokenizer", old.Tokenizer.String(), now.Tokenizer.String())
	}
	add("chat", old.Chat.Name+" "+old.Chat.SHA256, now.Chat.Name+" "+now.Chat.SHA256)
	if old.Config.Template == now.Config.Template {
		add("template "+now.Config.Template, old.Template, now.Template)
	}
	add("mask", old.Mask.Mode, now.Mask.Mode)
	add("mask-table", old.Mask.SHA256, now.Mask.SHA256)
	add("words", old.Mask.Words, now.Mask.Words)
	add("seed", old.Mask.Seed, now.Mask.Seed)
	add("copied-keep", old.Mask.CopiedKeep, now.Mask.CopiedKeep)
	if old.Answers != nil && now.Answers != nil {
		out = append(out, answerDifferences("rollouts", old.Answers.Rollouts, now.Answers.Rollouts)...)
		out = append(out, answerDifferences("judgements", old.Answers.Judgements, now.Answers.Judgements)...)
	}
	out = append(out, inputDifferences(old.Inputs, now.Inputs)...)
	add("mix", old.Mix, now.Mix)
	add("decontaminate", old.Benchmarks, now.Benchmarks)
	if len(out) == 0 { // the ends of all inputs are as they were, and something in between is not
		add("what the scan of the inputs decided", old.Scan, now.Scan)
	}
	return out
}

func configDifferences(old, now *Config) []string {
	a, b := map[string]any{}, map[string]any{}
	if old.SFT != nil && now.SFT != nil { // its keys are flags as the others are
		if json.Unmarshal(encodeJSON(old.SFT), &a) != nil || json.Unmarshal(encodeJSON(now.SFT), &b) != nil {
			return []string{"config"}
		}
	}
	if json.Unmarshal(encodeJSON(old), &a) != nil || json.Unmarshal(encodeJSON(now), &b) != nil {
		return []string{"config"}
	}
	keys := make([]string, 0, len(a))
	for k := range a {
		keys = append(keys, k)
	}
	slices.Sort(keys)
	var out []string
	for _, k := range keys {
		if x, y := fmt.Sprint(a[k]), fmt.Sprint(b[k]); x != y && k != pipelineSFT {
			out = append(out, fmt.Sprintf("--%s: was %s, now %s", k, x, y))
		}
	}
	return out
}

func inputDifferences(old, now []PlanInput) []string {
	const most = 5
	var out []string
	known := make(map[string]PlanInput, len(old))
	for _, in := range old {
		known[in.Path] = in
	}
	for _, in := range now {
		was, ok := known[in.Path]
		delete(known, in.Path)
		switch {
		case !ok:
			out = append(out, "input "+in.Path+" is new")
		case was != in:
			out = append(out, "input "+in.Path+" has changed")
		}
	}
	for _, in := range old {
		if _, left := known[in.Path]; left {
			out = append(out, "input "+in.Path+" is gone")
		}
	}
	if len(out) > most {
		out = append(out[:most], fmt.Sprintf("and %d more inputs", len(out)-most))
	}
	return out
}
