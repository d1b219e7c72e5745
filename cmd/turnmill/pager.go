package main

import (
	"bytes"
	"context"
	"io"
	"os"
	"os/exec"
	"strings"

	"golang.org/x/term"
)

// pager keeps what is written, and at the end shows it: through $PAGER (less) when it is longer than the terminal,
// else, and where there is no terminal, as it is.
type pager struct {
	on   bool
	to   io.Writer
	text bytes.Buffer
}

// Write keeps p; on the way to a file or a pipe it passes at once.
func (p *pager) Write(b []byte) (int, error) {
	if !p.on || !isTerminal(p.to) {
		return p.to.Write(b)
	}
	return p.text.Write(b)
}

func (p *pager) end(ctx context.Context) error {
	if p.text.Len() == 0 {
		return nil
	}
	if program := pagerProgram(os.Getenv); len(program) > 0 && p.long() {
		cmd := exec.CommandContext(ctx, program[0], program[1:]...)
		cmd.Stdin, cmd.Stdout, cmd.Stderr = &p.text, p.to, os.Stderr
		cmd.Env = append(os.Environ(), "LESS="+lessFlags(os.Getenv))
		shown := bytes.Clone(p.text.Bytes())
		if _ = cmd.Run(); cmd.Process != nil { // it was started
			return nil // who leaves a pager early has seen enough
		}
		p.text = *bytes.NewBuffer(shown)
	}
	_, err := p.text.WriteTo(p.to)
	return err
}

// long tells whether the text has more lines than the terminal.
func (p *pager) long() bool {
	f, ok := p.to.(*os.File)
	if !ok {
		return false
	}
	_, height, err := term.GetSize(int(f.Fd()))
	return err == nil && height > 0 && bytes.Count(p.text.Bytes(), []byte("\n")) >= height
}

// pagerProgram returns the program and its arguments; none when it is cat. TURNMILL_PAGER wins over PAGER.
func pagerProgram(getenv func(string) string) []string {
	program := "less"
	for _, name := range []string{"PAGER", "TURNMILL_PAGER"} {
		if value := getenv(name); value != "" {
			program = value
		}
	}
	if program == "cat" {
		return nil
	}
	return strings.Fields(program)
}

// lessFlags are less's own: colours pass, a text that fits is not held, the screen stays.
func lessFlags(getenv func(string) string) string {
	if flags := getenv("LESS"); flags != "" {
		return flags
	}
	return "FRX"
}
