package reject

import (
	_ "embed"
	"fmt"
	"io"
	"maps"
	"math/bits"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/turnmill/turnmill"
)

//go:embed interrupts.txt
var interruptList string

//go:embed leaks.txt
var leakList string

// interrupts and leaks are constants of the program, read once.
var (
	interrupts = readPhrases(interruptList)
	leaks      = readPhrases(leakList)
)

// Interrupts returns where a chain of thought stops itself, as byte ranges, in order and apart.
func Interrupts(reasoning string) []turnmill.Span { return interrupts.find(reasoning) }

// Leaks returns where a chain of thought speaks of an answer that it must not have seen. They are reported;
// a rollout is dropped for them where Options.DropLeaking asks for it.
func Leaks(reasoning string) []turnmill.Span { return leaks.find(reasoning) }

// Reasonings adds up what chains of thought look like, by domain. It merges. Report, section 7.1.
type Reasonings map[turnmill.Domain]*Reasoning

// Reasoning holds the sums of one domain. A turn is one chain of thought.
type Reasoning struct {
	Turns  int64 `json:"turns"` // chains, empty ones included
	Empty  int64 `json:"empty"` // blank ones
	Chars  int64 `json:"chars"` // code points
	Most   int64 `json:"most"`  // code points of the longest
	Tokens int64 `json:"tokens"`

	InterruptedTurns int64 `json:"interrupted_turns"` // turns with an interrupt
	Interrupts       int64 `json:"interrupts"`
	Peak             int64 `json:"peak"` // interrupts of one turn

	LeakingTurns int64 `json:"leaking_turns"` // turns with a leak
	Leaks        int64 `json:"leaks"`

	Lengths [33]int64 `json:"lengths"` // turns by length: [0] empty, [k] 2^(k-1) to 2^k - 1 code points, the last one more
}

// Add counts one chain of thought. tokens is its length as the tokenizer counts it; 0 where there is none.
func (r Reasonings) Add(domain turnmill.Domain, reasoning string, tokens int64) {
	d := r.of(domain)
	d.Turns++
	if strings.TrimSpace(reasoning) == "" {
		d.Empty++
	}
	chars := utf8.RuneCountInString(reasoning)
	d.Chars += int64(chars)
	d.Most = max(d.Most, int64(chars))
	d.Tokens += tokens
	d.Lengths[min(bits.Len(uint(chars)), len(d.Lengths)-1)]++
	if n := int64(len(Interrupts(reasoning))); n > 0 {
		d.InterruptedTurns++
		d.Interrupts += n
		d.Peak = max(d.Peak, n)
	}
	if n := int64(len(Leaks(reasoning))); n > 0 {
		d.LeakingTurns++
		d.Leaks += n
	}
}

// Merge adds the sums of b, which stays as it is.
func (r Reasonings) Merge(b Reasonings) {
	for domain, from := range b {
		r.of(domain).add(from)
	}
}

// Total returns the sums over all domains.
func (r Reasonings) Total() Reasoning {
	var all Reasoning
	for _, from := range r {
		all.add(from)
	}
	return all
}

func (d *Reasoning) add(from *Reasoning) {
	d.Turns += from.Turns
	d.Empty += from.Empty
	d.Chars += from.Chars
	d.Most = max(d.Most, from.Most)
	d.Tokens += from.Tokens
	d.InterruptedTurns += from.InterruptedTurns
	d.Interrupts += from.Interrupts
	d.Peak = max(d.Peak, from.Peak)
	d.LeakingTurns += from.LeakingTurns
	d.Leaks += from.Leaks
	for i, n := range from.Lengths {
		d.Lengths[i] += n
	}
}

func (r Reasonings) of(domain turnmill.Domain) *Reasoning {
	if r[domain] == nil {
		r[domain] = new(Reasoning)
	}
	return r[domain]
}

// WriteReasonings writes what chains of thought look like, a row for each domain with one, then the total: chains, mean
// and longest in characters, mean in tokens, chains with an interrupt, the mean of interrupts over those, the most of one
// chain, and chains that leak.
func (r Reasonings) WriteReasonings(w io.Writer) error {
	text := [][]string{{"domain", "chains", "empty", "chars", "longest", "tokens", "interrupted", "per chain", "peak", "leaking"}}
	row := func(name turnmill.Domain, d *Reasoning) {
		each := "-"
		if d.InterruptedTurns > 0 {
			tenths := (20*d.Interrupts + d.InterruptedTurns) / (2 * d.InterruptedTurns)
			each = fmt.Sprintf("%d.%d", tenths/10, tenths%10)
		}
		text = append(text, []string{string(name), grouped(d.Turns), grouped(d.Empty), mean(d.Chars, d.Turns), grouped(d.Most), mean(d.Tokens, d.Turns),
			grouped(d.InterruptedTurns), each, grouped(d.Peak), grouped(d.LeakingTurns)})
	}
	for _, d := range slices.Sorted(maps.Keys(r)) {
		row(d, r[d])
	}
	total := r.Total()
	row(Total, &total)
	return writeTable(w, text)
}

// mean writes a mean, rounded half up to a whole number.
func mean(sum, n int64) string {
	if n == 0 {
		return "-"
	}
	return grouped((2*sum + n) / (2 * n))
}

// PerTurn returns the mean number of interrupts over the turns that have one, which is how the report counts;
// Den is 0 when none has.
func (d *Reasoning) PerTurn() turnmill.Ratio {
	return turnmill.Ratio{Num: uint64(d.Interrupts), Den: uint64(d.InterruptedTurns)}
}

// String returns the report's sentence: interrupts, in how many turns, the mean over those turns to one
// decimal, rounded half up, and the peak.
func (d *Reasoning) String() string {
	if d.InterruptedTurns == 0 {
		return fmt.Sprintf("no interrupts in %s turns", grouped(d.Turns))
	}
	tenths := (20*d.Interrupts + d.InterruptedTurns) / (2 * d.InterruptedTurns)
	return fmt.Sprintf("%s interrupts in %s turns, %d.%d on average, peak %s",
		grouped(d.Interrupts), grouped(d.InterruptedTurns), tenths/10, tenths%10, grouped(d.Peak))
}
