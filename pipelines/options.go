package pipelines

import (
	"errors"
	"fmt"
	"io"
	"log/slog"
	"math"
	"runtime"
	"slices"
	"strings"
	"unicode"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
	"github.com/turnmill/turnmill/filter"
	"github.com/turnmill/turnmill/filter/secrets"
	"github.com/turnmill/turnmill/mask"
	"github.com/turnmill/turnmill/shard/chat"
	"github.com/turnmill/turnmill/shard/hub"
)

// Options are the settings of a run, as the command line and the recipe give them. Zero values mean
// the defaults of DefaultOptions; Validate joins all problems.
type Options struct {
	Pipeline string // "cpt"; "audit", which writes no rows and needs no tokenizer; "sft", see SFTOptions; "": cpt
	Inputs   []string
	Output   string

	Format        string
	Domain        string
	Tokenizer     string
	Engine        string
	Chat          string
	ChatDate      string // of a dated chat format, as its template writes it
	Objective     string
	State         string
	Template      string // plain, or a version of the prompt templates
	KeepThought   bool
	TrainDialogue bool
	Mask          string
	CopiedKeep    string // keep ratio of copied lines in mode changed, in decimals
	MaskTable     mask.Table
	Seed          string
	SeqLen        int
	MinTurns      int
	Filters       []string
	Patterns      *filter.Patterns // nil: the built-in ones
	Secrets       string           // scrub, report, off
	Profile       string
	MaxRecord     int64 // bytes
	MaxWindow     int64 // bytes, zstd
	Partitions    int   // 0: one for every PartitionBytes
	ShardBytes    int64
	Limit         int64  // records; 0: all
	Validation    string // share of trajectories and documents, in decimals
	Shuffle       bool   // order the rows of each split by a draw of the seed
	Beyond        string // "on": count what the mask does not look at; "auto": in an audit

	Mix *Mix // nil: everything once
	// Decontaminate names files of benchmarks, whose tasks are not to be trained.
	Decontaminate []string
	// Dedup is what is dropped as a duplicate of what stands before it in the plan: "exact" the same content, "turns" the
	// same run, "near" nearly the same words; "none".
	Dedup         string
	NearThreshold string // of near: the least Jaccard index, in decimals

	PartitionBytes int64 // stored bytes a partition, where Partitions is 0

	SFT SFTOptions // of the pipeline sft
	Ask AskOptions // so; never changes a byte but through what is answered

	// What follows never changes a byte of the output.

	Workers       int   // 0: one a CPU
	Memory        int64 // bytes, the whole process
	MaxRejectRate float64
	MaxDropRate   float64
	Hub           hub.Options // where a tokenizer is found that is named as a repository
	Restart       bool
	DryRun        bool // write nothing

	MaskTablePath string    // for local.json
	Stdin         io.Reader // what the input "-" reads
	Logger        *slog.Logger
	Progress      func(Progress)

	disk      disk                      // nil: the machine's
	stored    func(io.Reader) io.Reader // nil: none; what ranges of inputs are read through, to fail in tests
	freeBytes func() (int64, error)     // nil: the disk's
	buckets   bucketSizes               // zero: those of a run
}

// Progress is how far a run has come; it is reported by one goroutine.
type Progress struct {
	BytesDone, BytesAll int64 // stored bytes of the inputs
	Records, Rows       int64
	Dropped, Rejected   int64
}

// DefaultOptions returns the defaults of interface and recipe.
func DefaultOptions() Options {
	return Options{
		Format: "auto", Domain: "auto", Engine: "auto", Chat: "auto", ChatDate: chat.DefaultDate, Objective: "world-model", State: "always", Template: plainLayout,
		Mask: "turn", CopiedKeep: defaultCopied, MaskTable: mask.Default(), Seed: "0", SeqLen: 262_144, MinTurns: 2, Profile: "hf", Validation: "0", Beyond: "auto", Dedup: dedupNone, NearThreshold: defaultNear,
		Secrets:   secrets.Scrub.String(),
		MaxRecord: 256 << 20, MaxWindow: 128 << 20, ShardBytes: 256 << 20, PartitionBytes: 256 << 20,
		Memory: 2 << 30, MaxRejectRate: 0.01, MaxDropRate: 1, SFT: DefaultSFT(),
	}
}

// defaultCopied is mask.DefaultCopied in decimals.
var defaultCopied = mask.DefaultCopied.String()

// UsageError marks errors of usage or configuration: exit code 2.
type UsageError struct{ Err error }

func (e *UsageError) Error() string { return e.Err.Error() }

// Unwrap returns the cause.
func (e *UsageError) Unwrap() error { return e.Err }

// oneOf names the values that a flag takes.
func oneOf(flag, value string, values ...string) error {
	if slices.Contains(values, value) {
		return nil
	}
	return fmt.Errorf("--%s %q: want one of %s", flag, value, strings.Join(values, ", "))
}

// Validate returns every problem of the options that shows without reading a file.
func (o *Options) Validate() error {
	errs := []error{
		oneOf("engine", o.Engine, "auto", "bpe", "hf"),
		oneOf("objective", o.Objective, "world-model", "policy", "all"),
		oneOf("state", o.State, "always", "changed", "never"),
		oneOf("template", o.Template, templateNames(o.samples())...),
		oneOf("mask", o.Mask, mask.Modes()...),
		oneOf("profile", o.Profile, "hf", "weighted"),
		oneOf("beyond", o.Beyond, "auto", "on", "off"),
		oneOf("secrets", o.Secrets, secrets.Modes()...),
		o.MaskTable.Validate(),
		o.SFT.Pools.errors(o.SFT.Pool, o.Template),
	}
	if o.Chat != "auto" {
		errs = append(errs, chat.Known(o.Chat))
	}
	if o.ChatDate == "" || strings.ContainsAny(o.ChatDate, "\r\n") || !utf8.ValidString(o.ChatDate) {
		errs = append(errs, fmt.Errorf("--chat-date %q: want a date on one line, as in %q", o.ChatDate, chat.DefaultDate))
	}
	positive := func(flag string, n int64, least int64) {
		if n < least {
			errs = append(errs, fmt.Errorf("--%s %d: want %d or more", flag, n, least))
		}
	}
	positive("seq-len", int64(o.SeqLen), 2)
	positive("min-turns", int64(o.MinTurns), 1)
	positive("partitions", int64(o.Partitions), 0)
	positive("workers", int64(o.Workers), 0)
	positive("max-record", o.MaxRecord, 1)
	positive("max-window", o.MaxWindow, 1<<10)
	positive("shard-bytes", o.ShardBytes, 1)
	positive("partition-bytes", o.PartitionBytes, 1)
	positive("limit", o.Limit, 0)
	atMost := func(flag string, n, most int64, why string) {
		if n > most {
			errs = append(errs, fmt.Errorf("--%s %d: want at most %d (%s)", flag, n, most, why))
		}
	}
	atMost("max-record", o.MaxRecord, maxRecordLimit, "2 GiB")
	atMost("seq-len", int64(o.SeqLen), math.MaxInt32, "places in a row have 32 bits")
	atMost("partitions", int64(o.Partitions), mostPartitions, "file names have room for five digits")
	for _, text := range []struct{ flag, value string }{{"seed", o.Seed}, {"domain", o.Domain}, {"pool", o.SFT.Pool}} {
		if !utf8.ValidString(text.value) {
			errs = append(errs, fmt.Errorf("--%s %q: want UTF-8 text", text.flag, text.value))
		}
	}
	errs = append(errs, o.rateErrors()...)
	errs = append(errs, o.dedupErrors()...)
	errs = append(errs, o.mixErrors())
	if o.Mask == "weight" && o.Profile == "hf" && !o.audits() {
		errs = append(errs, errors.New("--mask weight: the profile hf has no column for weights; try --profile weighted"))
	}
	if o.Mask != "weight" && o.Profile == "weighted" && !o.audits() {
		errs = append(errs, errors.New("--profile weighted: weights come from --mask weight; add it, or try --profile hf"))
	}
	if o.Template != plainLayout && !o.samples() && o.Objective != "world-model" {
		errs = append(errs, fmt.Errorf("--template %s: its user messages say more than the agent did, and --objective %s trains them; leave one of the two out", o.Template, o.Objective))
	}
	if o.Objective == "policy" && o.Mask == "weight" {
		errs = append(errs, errors.New("--objective policy: the mask is of observations and is off for actions; leave --mask weight out"))
	}
	if _, err := parseKeep(o.CopiedKeep); err != nil {
		errs = append(errs, fmt.Errorf("--copied-keep %q: %w", o.CopiedKeep, err))
	} else if o.CopiedKeep != defaultCopied && (o.Mask != mask.ModeChanged.String() || o.Objective == "policy") {
		errs = append(errs, fmt.Errorf("--copied-keep %s: it is of copied lines, which --mask changed alone knows; leave it out, or add that", o.CopiedKeep))
	}
	if o.Domain == "input" || o.Domain == "unread" || o.Domain == "total" || strings.ContainsFunc(o.Domain, unicode.IsControl) || len(o.Domain) > 64 {
		errs = append(errs, fmt.Errorf("--domain %q: want a short name, other than those of the accounts (input, unread, total)", o.Domain))
	}
	if _, err := parseShare(o.Validation); err != nil {
		errs = append(errs, fmt.Errorf("--validation %q: %w", o.Validation, err))
	}
	if o.samples() {
		errs = append(errs, o.sampleErrors())
	}
	if o.streams() && len(o.Inputs) > 1 {
		errs = append(errs, errNotAlone)
	}
	if o.streams() && o.Partitions > 0 {
		errs = append(errs, errors.New("--partitions: how much standard input holds is not known before it ends; try --partition-bytes"))
	}
	if o.Tokenizer == "" && !o.audits() {
		errs = append(errs, errors.New("--tokenizer is required: "+tokenizerNames))
	}
	if err := errors.Join(errs...); err != nil {
		return &UsageError{err}
	}
	return nil
}

func (o *Options) rateErrors() (errs []error) {
	for _, r := range []struct {
		flag string
		rate float64
	}{{"max-reject-rate", o.MaxRejectRate}, {"max-drop-rate", o.MaxDropRate}} {
		if !(r.rate >= 0 && r.rate <= 1) {
			errs = append(errs, fmt.Errorf("--%s %v: want a share from 0 to 1", r.flag, r.rate))
		}
	}
	return errs
}

// maxRecordLimit is what offsets of 32 bits in a record allow.
const maxRecordLimit = 1<<31 - 1

func (o *Options) workers() int {
	if o.Workers > 0 {
		return o.Workers
	}
	return runtime.GOMAXPROCS(0)
}

func (o *Options) logger() *slog.Logger {
	if o.Logger != nil {
		return o.Logger
	}
	return slog.New(slog.DiscardHandler)
}

// domainOf returns the domain that every record gets, or "" for the format's own rule.
func domainOf(name string) turnmill.Domain {
	if name == "auto" {
		return ""
	}
	return turnmill.Domain(name)
}
