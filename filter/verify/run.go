package verify

import (
	"context"
	"encoding/json"
	"errors"
	"io"
	"os"
	"os/exec"
	"runtime"
	"sync"
	"time"
)

// run runs a program to its end or to ctx's, with in as its stdin. When it returns, no process of the program is
// left: the kernel ends a pid namespace before its first process counts as ended, and bwrap waits for that one.
func (s *Sandbox) run(ctx context.Context, p *program, in io.Reader) (ending, error) {
	// bwrap dies with the thread that started it; so that thread must stay.
	runtime.LockOSThread()
	defer runtime.UnlockOSThread()

	var files shut
	defer files.close()
	source, err := p.open(s.temp)
	files.add(source)
	if err != nil {
		return ending{}, err
	}
	info, infoW, err := os.Pipe()
	files.add(info, infoW)
	if err != nil {
		return ending{}, err
	}
	list, err := seccompFile()
	files.add(list)
	if err != nil {
		return ending{}, err
	}
	line := s.command(p)
	cmd := exec.CommandContext(ctx, line[0], line[1:]...)
	leash := &leash{}
	out := &meter{left: p.limits.Output, over: leash.pull}
	cmd.Dir, cmd.Env, cmd.SysProcAttr = "/", []string{"PATH=/usr/bin:/bin"}, s.identity
	cmd.Stdin, cmd.Stdout, cmd.Stderr = in, &stream{meter: out}, &stream{meter: out, keep: 4 << 10}
	cmd.ExtraFiles = []*os.File{source, infoW, list} // in the order of their numbers
	cmd.Cancel = func() error { leash.late(); return nil }
	cmd.WaitDelay = 5 * time.Second // after which os/exec kills bwrap, if the first process could not be told
	if err := cmd.Start(); errors.Is(err, context.DeadlineExceeded) {
		return ending{code: -1, timeout: true}, nil
	} else if err != nil {
		return ending{}, err
	}
	infoW.Close()
	leash.hold(first(ctx, info), cmd.Process)
	err = cmd.Wait()
	if cmd.ProcessState == nil {
		return ending{}, err
	}
	return ending{
		code:     cmd.ProcessState.ExitCode(),
		timeout:  leash.timeout,
		overflow: out.left < 0,
		cpu:      cmd.ProcessState.UserTime() + cmd.ProcessState.SystemTime(),
		stderr:   string(cmd.Stderr.(*stream).tail),
	}, nil
}

// first returns the sandbox's first process, as bwrap tells it; nil when it made none.
func first(ctx context.Context, info *os.File) *os.Process {
	if t, ok := ctx.Deadline(); ok {
		if err := info.SetReadDeadline(t); err != nil {
			return nil
		}
	}
	var told struct {
		PID int `json:"child-pid"`
	}
	text, err := io.ReadAll(info)
	if err != nil || json.Unmarshal(text, &told) != nil || told.PID <= 0 {
		return nil
	}
	p, err := os.FindProcess(told.PID)
	if err != nil {
		return nil
	}
	return p
}

// leash kills a sandbox by its first process, so that bwrap sees all of it end. A pull before the process is known
// takes effect then.
type leash struct {
	mu              sync.Mutex
	inner, outer    *os.Process
	pulled, timeout bool
}

func (l *leash) pull() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.pulled = true
	l.kill()
}

// late is pull at the deadline.
func (l *leash) late() {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.timeout = !l.pulled
	l.pulled = true
	l.kill()
}

// hold names the processes. Without an inner one bwrap is still at work, or has failed.
func (l *leash) hold(inner, outer *os.Process) {
	l.mu.Lock()
	defer l.mu.Unlock()
	l.inner, l.outer = inner, outer
	if l.pulled {
		l.kill()
	}
}

// kill may come too late: then there is nothing left to kill.
func (l *leash) kill() {
	switch {
	case l.inner != nil:
		_ = l.inner.Kill()
	case l.outer != nil:
		_ = l.outer.Kill()
	}
}

// meter counts the bytes of both streams down, and pulls once they are too many.
type meter struct {
	mu   sync.Mutex
	left int64
	over func()
}

func (m *meter) count(n int) {
	m.mu.Lock()
	before := m.left
	m.left -= int64(n)
	now := before >= 0 && m.left < 0
	m.mu.Unlock()
	if now {
		m.over()
	}
}

// stream takes one stream and keeps its end. What comes after the limit is read and thrown away until the program
// is dead.
type stream struct {
	meter *meter
	keep  int
	tail  []byte
}

func (s *stream) Write(p []byte) (int, error) {
	s.meter.count(len(p))
	s.tail = append(s.tail, p...)
	if more := len(s.tail) - s.keep; more > 0 {
		s.tail = append(s.tail[:0], s.tail[more:]...)
	}
	return len(p), nil
}

// shut closes files at the end.
type shut []*os.File

func (s *shut) add(files ...*os.File) {
	for _, f := range files {
		if f != nil {
			*s = append(*s, f)
		}
	}
}

func (s *shut) close() {
	for _, f := range *s {
		if err := f.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
			panic(err) // a file that we opened, and only read
		}
	}
}
