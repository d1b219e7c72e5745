package verify

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"testing"
	"time"
)

// TestSandboxOfMany: verdicts do not mix, and limits are each sandbox's own.
func TestSandboxOfMany(t *testing.T) {
	s := sandbox(t)
	var all sync.WaitGroup
	for i := range 8 {
		all.Go(func() {
			source := "#!/bin/sh\n# MARK\nsleep .2 & sleep .2 & sleep .2 & wait\nexit " + []string{"0", "1"}[i%2]
			want := []State{Pass, Fail}[i%2]
			v := definition(t, source, `,"processes":5`)
			ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
			defer cancel()
			if got, err := v.Check(ctx, s, Case{}); err != nil || got.State != want {
				t.Errorf("program %d: got %v, %v; want %s", i, got, err, want)
			}
		})
	}
	all.Wait()
}

// TestSandboxCancelled: a run that stops gets its cause, no verdict, and leaves nothing.
func TestSandboxCancelled(t *testing.T) {
	s := sandbox(t)
	mark := fmt.Sprintf("mark-%d-cancelled", os.Getpid())
	v := definition(t, "#!/bin/sh\nsleep 60\n", `,"args":["`+mark+`"]`)
	ctx, stop := context.WithTimeout(t.Context(), time.Minute)
	defer stop()
	ctx, cancel := context.WithCancelCause(ctx)
	cause := fmt.Errorf("stopped by hand")
	go func() {
		defer cancel(cause)
		for i := 0; len(processes(t, mark)) == 0 && i < 100; i++ {
			time.Sleep(20 * time.Millisecond)
		}
	}()
	if got, err := v.Check(ctx, s, Case{}); err != cause {
		t.Errorf("got %v, %v; want the cause", got, err)
	}
	if left := processes(t, mark); len(left) > 0 {
		t.Errorf("processes left behind: %q", left)
	}
	if _, err := v.Check(context.Background(), s, Case{}); err == nil || !strings.Contains(err.Error(), "deadline") {
		t.Errorf("without a deadline: %v", err)
	}
}

// TestSandboxDiesWithTurnmill: a process that is killed while its program runs takes the program with it.
func TestSandboxDiesWithTurnmill(t *testing.T) {
	const variable = "TURNMILL_TEST_MARK"
	if mark := os.Getenv(variable); mark != "" {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := definition(t, "#!/bin/sh\nsleep 60\n", `,"args":["`+mark+`"]`).Check(ctx, opened(), Case{})
		t.Fatal(err)
	}
	sandbox(t)
	mark := fmt.Sprintf("mark-%d-dies", os.Getpid())
	child := exec.Command(os.Args[0], "-test.run", "^TestSandboxDiesWithTurnmill$")
	child.Env = append(os.Environ(), variable+"="+mark)
	if err := child.Start(); err != nil {
		t.Fatal(err)
	}
	for i := 0; len(processes(t, mark)) < 3; i++ { // bwrap twice, sh and the program are more
		if i == 200 {
			t.Fatal("the program did not start")
		}
		time.Sleep(50 * time.Millisecond)
	}
	if err := child.Process.Kill(); err != nil {
		t.Fatal(err)
	}
	_ = child.Wait()
	for i := 0; len(processes(t, mark)) > 0; i++ {
		if i == 100 {
			t.Fatalf("processes left behind: %q", processes(t, mark))
		}
		time.Sleep(20 * time.Millisecond)
	}
}

// TestSandboxAbsent: what is missing is named, and the other kinds judge all the same.
func TestSandboxAbsent(t *testing.T) {
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	dir := t.TempDir()
	if err := os.Chmod(filepath.Dir(dir), 0o755); err != nil { // root's programs run as nobody
		t.Fatal(err)
	}
	broken := filepath.Join(dir, "bwrap")
	if err := os.WriteFile(broken, []byte("#!/bin/sh\necho 'bwrap: No permissions to create new namespace' >&2\nexit 1\n"), 0o755); err != nil {
		t.Fatal(err)
	}
	if got, err := definition(t, "#!/bin/sh\nexit 0", "").Check(ctx, &Sandbox{bwrap: broken}, Case{}); err != nil || got.State != Refused ||
		!strings.Contains(got.Detail, "the sandbox itself failed") {
		t.Errorf("a sandbox that breaks after it was opened: %v, %v", got, err)
	}
	for name, test := range map[string]struct {
		box  *Sandbox
		want string
	}{
		"none":      {nil, "no sandbox was opened"},
		"absent":    {OpenSandbox(ctx, SandboxOptions{Bwrap: "/no/bwrap"}), "install the packages bubblewrap"},
		"forbidden": {OpenSandbox(ctx, SandboxOptions{Bwrap: broken}), "No permissions to create new namespace"},
		"injected":  {RefuseSandbox("not asked for"), "not asked for"},
	} {
		t.Run(name, func(t *testing.T) {
			v := definition(t, "#!/bin/sh\nexit 0", "")
			got, err := v.Check(ctx, test.box, Case{})
			if err != nil || got.State != Refused || !strings.Contains(got.Detail, test.want) {
				t.Errorf("got %v, %v; want %s: %s", got, err, Refused, test.want)
			}
			pure, err := Parse([]byte(`{"kind":"exact","class":"control"}`), nil)
			if err != nil {
				t.Fatal(err)
			}
			if got, err := pure.Check(ctx, test.box, Case{Prediction: "a", Reference: "a\n"}); err != nil || got.State != Pass {
				t.Errorf("exact: %v, %v", got, err)
			}
		})
	}
}
