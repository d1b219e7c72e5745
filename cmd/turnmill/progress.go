package main

import (
	"fmt"
	"io"
	"os"
	"sync"
	"time"

	"github.com/vbauerster/mpb/v8"
	"github.com/vbauerster/mpb/v8/decor"
	"golang.org/x/term"

	"github.com/turnmill/turnmill/pipelines"
	"github.com/turnmill/turnmill/stats"
)

// meter shows how far a run has come: a bar on a terminal, a line now and then elsewhere, or nothing.
type meter struct {
	out      io.Writer
	name     string
	progress *mpb.Progress
	bar      *mpb.Bar
	mu       sync.Mutex // the bar is drawn by a goroutine of its library
	now      pipelines.Progress
	every    time.Duration // plain: between two lines; 0 means none
	last     time.Time
}

// plainEvery is how often a run that is not on a terminal says how far it is.
const plainEvery = 30 * time.Second

func newMeter(s streams, how, name string) (*meter, error) {
	m := &meter{out: s.err, name: name, last: time.Now()}
	switch how {
	case "auto":
		if isTerminal(s.err) {
			m.startBar()
		} else {
			m.every = plainEvery
		}
	case "bar":
		m.startBar()
	case "plain":
		m.every = plainEvery
	case "none":
	default:
		return nil, usage(fmt.Errorf("--progress %q: want auto, bar, plain or none", how))
	}
	return m, nil
}

func isTerminal(w io.Writer) bool {
	f, ok := w.(*os.File)
	return ok && term.IsTerminal(int(f.Fd()))
}

func (m *meter) startBar() {
	m.progress = mpb.New(mpb.WithOutput(m.out), mpb.WithWidth(40), mpb.WithAutoRefresh())
	m.bar = m.progress.AddBar(0,
		mpb.BarRemoveOnComplete(),
		mpb.PrependDecorators(decor.Name(m.name+" "), decor.CountersKibiByte("% .1f / % .1f")),
		mpb.AppendDecorators(
			decor.EwmaSpeed(decor.SizeB1024(0), "% .1f ", 30), decor.EwmaETA(decor.ET_STYLE_GO, 30),
			decor.Any(func(decor.Statistics) string { return " " + m.counts() })))
}

func (m *meter) counts() string {
	m.mu.Lock()
	defer m.mu.Unlock()
	p := m.now
	return fmt.Sprintf("%s, %s, %s dropped, %s rejected", stats.Counted(p.Records, "record", "records"), stats.Counted(p.Rows, "row", "rows"),
		stats.Thousands(p.Dropped), stats.Thousands(p.Rejected))
}

// show is called by one goroutine after every outcome.
func (m *meter) show(p pipelines.Progress) {
	m.mu.Lock()
	step := p.BytesDone - m.now.BytesDone
	m.now = p
	m.mu.Unlock()
	switch {
	case m.bar != nil:
		m.bar.SetTotal(p.BytesAll, false)
		m.bar.EwmaIncrInt64(step, time.Since(m.last))
		m.last = time.Now()
	case m.every > 0 && time.Since(m.last) >= m.every:
		m.last = time.Now()
		of := ""
		if p.BytesAll > 0 { // standard input does not say
			of = fmt.Sprintf(" of %d", p.BytesAll>>20)
		}
		fmt.Fprintf(m.out, "%s: %d%s MiB read, %s\n", m.name, p.BytesDone>>20, of, m.counts())
	}
}

// end takes the bar off the terminal.
func (m *meter) end() {
	if m.bar != nil {
		m.bar.Abort(true)
		m.progress.Wait()
	}
}
