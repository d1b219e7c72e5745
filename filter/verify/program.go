package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"errors"
	"fmt"
	"os"
	"strings"
	"time"

	"github.com/turnmill/turnmill"
)

// Limits are what a program may use. They hold whatever the program does.
type Limits struct {
	Wall      time.Duration // the caller's to set: the deadline of Check's context
	CPU       time.Duration // whole seconds, of each process
	Memory    int64         // bytes of address space, of each process
	Processes int64         // and threads, at once, the program's first one included
	Output    int64         // bytes, stdout and stderr together
	Tmp       int64         // bytes of /tmp, which is memory; also the largest file
}

// program is a verifier of kind Program: a script with its interpreter in the first line, or an executable file.
type program struct {
	source []byte
	args   []string
	limits Limits
}

// Limits returns the limits of a program; those of other kinds are zero.
func (v *Verifier) Limits() Limits {
	if v.program == nil {
		return Limits{}
	}
	return v.program.limits
}

// programOf reads the parameters of a program. The bounds hold for data of strangers too.
func (d *decoder) programOf(open Open) *program {
	seconds := d.number("seconds", 10, 1, 600)
	p := &program{args: d.texts("args"), limits: Limits{
		Wall:      time.Duration(seconds) * time.Second,
		CPU:       time.Duration(d.number("cpu_seconds", seconds, 1, 600)) * time.Second,
		Memory:    d.number("memory_mb", 256, 16, 4096) << 20,
		Processes: d.number("processes", 16, 1, 64),
		Output:    d.number("output_kb", 64, 1, 1024) << 10,
		Tmp:       d.number("tmp_mb", 16, 1, 1024) << 20,
	}}
	for _, a := range p.args {
		if strings.ContainsRune(a, 0) {
			d.fail("args", "a NUL in an argument")
		}
	}
	inline, file := d.optional("program"), d.optional("file")
	switch {
	case (inline == nil) == (file == nil):
		d.fail("program", "give the source as `program`, or its name as `file`: one of them")
	case inline != nil:
		p.source = []byte(*inline)
	case open == nil:
		d.fail("file", "a verifier that comes with data cannot name a file; give the source as `program`")
	default:
		source, err := open(*file)
		if err != nil {
			d.fail("file", err.Error())
			return p
		}
		p.source = source
	}
	switch {
	case len(p.source) > maxDefinition:
		d.fail("program", fmt.Sprintf("%d bytes; at most %d", len(p.source), maxDefinition))
	case inline != nil && !strings.HasPrefix(*inline, "#!/"):
		d.fail("program", "want its interpreter in the first line, as #!/usr/bin/env python3")
	}
	return p
}

// question is what a program reads on stdin.
type question struct {
	Query      string             `json:"query"`
	Prediction string             `json:"prediction"`
	Reference  string             `json:"reference"`
	Messages   []turnmill.Message `json:"messages"`
}

func (p *program) check(ctx context.Context, box *Sandbox, c Case) (Verdict, error) {
	if why := box.Refusal(); why != "" {
		return Verdict{Refused, why}, nil
	}
	if _, ok := ctx.Deadline(); !ok {
		return Verdict{}, errors.New("verify: a program needs a context with a deadline: Limits().Wall from now")
	}
	if c.Messages == nil {
		c.Messages = []turnmill.Message{}
	}
	var in bytes.Buffer
	enc := json.NewEncoder(&in)
	enc.SetEscapeHTML(false)
	if err := enc.Encode(question(c)); err != nil {
		return Verdict{}, err
	}
	end, err := box.run(ctx, p, &in)
	if err != nil {
		return Verdict{}, err
	}
	if errors.Is(ctx.Err(), context.Canceled) {
		return Verdict{}, context.Cause(ctx)
	}
	return p.verdict(end), nil
}

// ending is how a program ended.
type ending struct {
	code     int           // of exit, 128 and the signal, or -1 when the sandbox was killed
	timeout  bool          // killed at the deadline
	overflow bool          // killed for its output
	cpu      time.Duration // of all its processes that were waited for
	stderr   string        // its last bytes
}

// memoryWords are what runtimes say when they are refused memory; they end with all sorts of codes.
var memoryWords = []string{"MemoryError", "bad_alloc", "out of memory", "Out of memory", "memory allocation of",
	"annot allocate memory", "memory exhausted"}

// Exit codes of a shell for a process that a limit ended.
const (
	sigxcpu = 128 + 24
	sigxfsz = 128 + 25
)

// verdict reads an ending. 1 means fail only where stderr is empty: interpreters end with 1 after an error of their
// own, and a crash must not count as a wrong prediction.
func (p *program) verdict(e ending) Verdict {
	last := e.stderr[strings.LastIndexByte(strings.TrimRight(e.stderr, blanks), '\n')+1:]
	says := fmt.Sprintf("exit code %d", e.code)
	if e.code > 128 {
		says = fmt.Sprintf("signal %d", e.code-128)
	}
	if last = strings.TrimSpace(last); last != "" {
		says += ", stderr " + quoted(last)
	}
	switch {
	case e.overflow:
		return Verdict{OutputLimit, fmt.Sprintf("more than %d KiB of output", p.limits.Output>>10)}
	case e.timeout:
		return Verdict{Timeout, "not done at the deadline"}
	case e.code == 0:
		return Verdict{State: Pass}
	case e.code == sigxcpu, e.cpu >= p.limits.CPU:
		return Verdict{Timeout, fmt.Sprintf("more than %s of CPU", p.limits.CPU)}
	case e.code == sigxfsz:
		return Verdict{OutputLimit, fmt.Sprintf("a file of more than %d MiB", p.limits.Tmp>>20)}
	case e.code < 0, e.code == 1 && strings.HasPrefix(last, "bwrap: "):
		return Verdict{Refused, "the sandbox itself failed: " + says}
	case speaksOfMemory(e.stderr):
		return Verdict{Memory, fmt.Sprintf("more than %d MiB: %s", p.limits.Memory>>20, says)}
	case e.code == 1 && last == "":
		return Verdict{Fail, "exit code 1"}
	}
	return Verdict{Crashed, says}
}

func speaksOfMemory(stderr string) bool {
	for _, w := range memoryWords {
		if strings.Contains(stderr, w) {
			return true
		}
	}
	return false
}

// open writes the program to a file that has no name any more, so that nothing is left whatever happens.
func (p *program) open(dir string) (*os.File, error) {
	w, err := os.CreateTemp(dir, "turnmill-verifier-*")
	if err != nil {
		return nil, err
	}
	_, err = w.Write(p.source)
	r, errOpen := os.Open(w.Name())
	if err = errors.Join(err, errOpen, w.Close(), os.Remove(w.Name())); err != nil && r != nil {
		err = errors.Join(err, r.Close())
	}
	return r, err
}
