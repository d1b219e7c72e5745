package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"os"
	"os/exec"
	"path/filepath"
	"strings"
	"sync"
	"sync/atomic"
	"testing"
	"time"

	"github.com/turnmill/turnmill"
)

// opened is the machine's sandbox, tried out once.
var opened = sync.OnceValue(func() *Sandbox {
	ctx, cancel := context.WithTimeout(context.Background(), 20*time.Second)
	defer cancel()
	return OpenSandbox(ctx, SandboxOptions{})
})

// plain tells whether bubblewrap works here without anything of ours, as the user that programs run as, on a
// kernel that counts processes by namespace. Then a refusal is a fault of ours.
func plain(t *testing.T) bool {
	t.Helper()
	release, err := os.ReadFile("/proc/sys/kernel/osrelease")
	if err != nil {
		return false
	}
	var major, minor int
	if _, err := fmt.Sscanf(string(release), "%d.%d", &major, &minor); err != nil || major < 5 || major == 5 && minor < 14 {
		return false
	}
	cmd := exec.Command("bwrap", "--unshare-all", "--unshare-user", "--disable-userns", "--ro-bind", "/", "/", "--proc", "/proc", "--dev", "/dev",
		"--size", "1000000", "--tmpfs", "/tmp", "--", "prlimit", "--", "timeout", "5", "true")
	cmd.Dir, cmd.SysProcAttr = "/", identities()[0]
	return cmd.Run() == nil
}

// sandbox returns the machine's sandbox with a folder of its own for sources, which must be empty at the end.
func sandbox(t *testing.T) *Sandbox {
	t.Helper()
	s := opened()
	if s.Refusal() != "" && plain(t) {
		t.Fatal("bubblewrap works here, and ours does not: " + s.Refusal())
	}
	if s.Refusal() != "" {
		t.Skip("no sandbox here: " + s.Refusal())
	}
	own := *s
	own.temp = t.TempDir()
	t.Cleanup(func() {
		if left, err := os.ReadDir(own.temp); err != nil || len(left) > 0 {
			t.Errorf("files left behind: %v, %v", left, err)
		}
	})
	return &own
}

// definition makes a verifier of a program's source and more members.
func definition(t *testing.T, source, more string) *Verifier {
	t.Helper()
	text, err := json.Marshal(source)
	if err != nil {
		t.Fatal(err)
	}
	v, err := Parse([]byte(`{"kind":"program","class":"control","program":`+string(text)+more+`}`), nil)
	if err != nil {
		t.Fatal(err)
	}
	return v
}

var marks atomic.Int64

// judge runs a program once and returns its verdict. The program's last argument, and MARK in its source, is a word
// that no other process of the machine has; when judge returns, none may have it.
func judge(t *testing.T, s *Sandbox, source, more string, c Case) Verdict {
	t.Helper()
	mark := fmt.Sprintf("mark-%d-%d", os.Getpid(), marks.Add(1))
	v := definition(t, strings.ReplaceAll(source, "MARK", mark), more)
	v.program.args = append(v.program.args, mark)
	ctx, cancel := context.WithTimeout(t.Context(), v.Limits().Wall)
	defer cancel()
	mounts, err := os.ReadFile("/proc/self/mountinfo")
	if err != nil {
		t.Fatal(err)
	}
	got, err := v.Check(ctx, s, c)
	if err != nil {
		t.Fatal(err)
	}
	if late := ctx.Err() != nil; late && got.State != Timeout {
		t.Errorf("%s, and only at the deadline", got.State)
	}
	if left := processes(t, mark); len(left) > 0 {
		t.Errorf("processes left behind: %q", left)
	}
	if now, err := os.ReadFile("/proc/self/mountinfo"); err != nil || !bytes.Equal(now, mounts) {
		t.Errorf("mounts changed: %v", err)
	}
	return got
}

// processes returns the command lines that hold a word, ours left out.
func processes(t *testing.T, word string) []string {
	t.Helper()
	files, err := filepath.Glob("/proc/[0-9]*/cmdline")
	if err != nil || len(files) == 0 {
		t.Fatalf("no processes to look at: %v", err)
	}
	var found []string
	for _, f := range files {
		line, err := os.ReadFile(f)
		if err == nil && bytes.Contains(line, []byte(word)) {
			found = append(found, string(bytes.ReplaceAll(line, []byte{0}, []byte(" "))))
		}
	}
	return found
}

const python = "#!/usr/bin/python3\nimport os, sys, time, json, signal\n"

func needPython(t *testing.T) {
	t.Helper()
	if _, err := os.Stat("/usr/bin/python3"); err != nil {
		t.Skip("no /usr/bin/python3: programs in it are left out")
	}
}

// TestProgram: what a program reads, and what its end means.
func TestProgram(t *testing.T) {
	s := sandbox(t)
	c := Case{Query: "run-7@3", Prediction: "a <b> \u2028\n", Reference: "r", Messages: []turnmill.Message{{Role: "user", Content: "ls"}}}
	const stdin = `{"query":"run-7@3","prediction":"a <b> \u2028\n","reference":"r","messages":[{"role":"user","content":"ls"}]}`
	for name, test := range map[string]struct {
		source, more string
		want         State
		detail       string
	}{
		"pass":           {source: "exit 0", want: Pass},
		"fail":           {source: "exit 1", want: Fail, detail: "exit code 1"},
		"stdin":          {source: "read -r line; [ \"$line\" = '" + stdin + "' ]", want: Pass},
		"stdin-not-read": {source: "exec <&-; exit 0", want: Pass},
		"arguments":      {source: `[ "$1" = "a b" ] && [ "$2" = '$x' ] && [ $# = 3 ]`, more: `,"args":["a b","$x"]`, want: Pass},
		"environment":    {source: `[ "$(env | sort | tr '\n' ' ')" = "HOME=/tmp LANG=C.UTF-8 PATH=/usr/bin:/bin PWD=/tmp PYTHONHASHSEED=0 " ] || { env >&2; exit 2; }`, want: Pass},
		"files":          {source: `for f in 3 4 5 6 7 8 9; do if [ -e /proc/$$/fd/$f ]; then exit 3; fi; done`, want: Pass},
		"own-file":       {source: `grep -q own-file-marker "$0"`, want: Pass},
		"crash":          {source: "exit 7", want: Crashed, detail: "exit code 7"},
		"error-with-1":   {source: "echo first >&2; echo 'boom: no' >&2; exit 1", want: Crashed, detail: `exit code 1, stderr "boom: no"`},
		"signal":         {source: "kill -SEGV $$", want: Crashed, detail: "signal 11"},
		"kill":           {source: "kill -KILL $$", want: Crashed, detail: "signal 9"},
		"no-interpreter": {source: "#!/no/such/thing", want: Crashed, detail: "exit code 127"},
	} {
		t.Run(name, func(t *testing.T) {
			source := test.source
			if !strings.HasPrefix(source, "#!") {
				source = "#!/bin/sh\n# " + name + "-marker\n" + source + "\n"
			}
			got := judge(t, s, source, test.more, c)
			if got.State != test.want || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("got %s: %s; want %s: %s", got.State, got.Detail, test.want, test.detail)
			}
		})
	}
}
