package verify

import (
	"bytes"
	"context"
	"encoding/json"
	"fmt"
	"net"
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

// sandbox returns the machine's sandbox with a folder of its own for sources, which must be empty at the end.
func sandbox(t *testing.T) *Sandbox {
	t.Helper()
	s := opened()
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
		"files":          {source: `[ "$(echo /proc/self/fd/*)" ] && for f in 3 4 5 6 7; do ! [ -e /proc/$$/fd/$f ] || [ $f -ge 10 ] || readlink /proc/$$/fd/$f | grep -q /verifier/program || exit 3; done`, want: Pass},
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

// TestSandboxHolds: programs that want more than they may have, each within its limits and gone afterwards.
func TestSandboxHolds(t *testing.T) {
	s := sandbox(t)
	needPython(t)
	for name, test := range map[string]struct {
		source, more string
		want         State
		detail       string
	}{
		// 200 forks are asked for, 9 are had.
		"forks": {source: `
n = 0
for i in range(200):
    try:
        if os.fork() == 0:
            os.execv("/usr/bin/sleep", ["MARK", "60"])
        n += 1
    except BlockingIOError:
        pass
sys.exit(0 if n == 9 else 10 + min(n, 100))`, more: `,"processes":10`, want: Pass},
		"fork-bomb": {source: `
n = 0
while n < 210:
    try:
        if os.fork() == 0: n = max(n, 200)
        n += 1
    except OSError:
        n += 1
time.sleep(60) # MARK`, more: `,"processes":10,"seconds":2`, want: Timeout},
		"threads": {source: `
import threading
n = 0
for i in range(200):
    try:
        threading.Thread(target=time.sleep, args=(60,), daemon=True).start()
        n += 1
    except RuntimeError:
        pass
os._exit(0 if 1 <= n <= 9 else 3)`, more: `,"processes":10`, want: Pass},
		"endless-output": {source: "\nwhile True: os.write(1, b'x' * 4096)", want: OutputLimit, detail: "64 KiB"},
		"huge-stderr":    {source: "\nos.write(2, b'x' * (1 << 20))\nsys.exit(1)", want: OutputLimit},
		"both-streams":   {source: "\nos.write(1, b'x' * 1000)\nos.write(2, b'x' * 1000)\ntime.sleep(60)", more: `,"output_kb":1`, want: OutputLimit},
		"memory":         {source: "\nx = bytearray(8 << 30)", want: Memory, detail: "256 MiB"},
		"memory-shared":  {source: "\nimport mmap\ntry: mmap.mmap(-1, 8 << 30)\nexcept OSError: sys.exit(0)\nsys.exit(3)", want: Pass},
		"memory-file":    {source: "\nf = open('/tmp/x', 'wb')\ntry:\n    while True: f.write(b'x' * 65536); f.flush()\nexcept OSError: sys.exit(0 if f.tell() <= 1 << 20 else 3)", more: `,"tmp_mb":1`, want: Pass},
		"memory-files":   {source: "\ntry:\n    for i in range(64): open('/tmp/%d' % i, 'wb').write(b'x' * 524288)\nexcept OSError: sys.exit(0 if i <= 2 else 3)\nsys.exit(4)", more: `,"tmp_mb":1`, want: Pass},
		"memory-memfd":   {source: "\ntry: os.memfd_create('x')\nexcept OSError: sys.exit(0)\nsys.exit(3)", want: Pass},
		"memory-sysv":    {source: "\nimport ctypes\nsys.exit(0 if ctypes.CDLL(None, use_errno=True).shmget(0, 1 << 20, 0o1600) == -1 and ctypes.get_errno() == 38 else 3)", want: Pass},
		"file-limit":     {source: "\nsignal.signal(signal.SIGXFSZ, signal.SIG_DFL)\nopen('/tmp/x', 'wb').truncate(1 << 30)", more: `,"tmp_mb":1`, want: OutputLimit, detail: "1 MiB"},
		"cpu":            {source: "\nwhile True: pass # MARK", more: `,"cpu_seconds":1,"seconds":20`, want: Timeout, detail: "CPU"},
		"cpu-ignored":    {source: "\nsignal.signal(signal.SIGXCPU, signal.SIG_IGN)\nwhile True: pass", more: `,"cpu_seconds":1,"seconds":20`, want: Timeout, detail: "CPU"},
		"wall":           {source: "\nos.execv('/usr/bin/sleep', ['MARK', '60'])", more: `,"seconds":1`, want: Timeout, detail: "deadline"},
		"sigterm": {source: `
for s in range(1, 65):
    try: signal.signal(s, signal.SIG_IGN)
    except (OSError, ValueError): pass
if os.fork(): os.execv('/usr/bin/sleep', ['MARK', '60'])
os.execv('/usr/bin/sleep', ['MARK', '60'])`, more: `,"seconds":1`, want: Timeout},
		"closed-streams": {source: "\nos.close(0); os.close(1); os.close(2)\nos.execv('/usr/bin/sleep', ['MARK', '60'])", more: `,"seconds":1`, want: Timeout},
		"daemon": {source: `
if os.fork() == 0:
    os.setsid()
    if os.fork() == 0:
        os.close(0); os.close(1); os.close(2)
        os.execv('/usr/bin/sleep', ['MARK', '60'])
    os._exit(0)
time.sleep(.3)
sys.exit(0)`, want: Pass},
		"daemon-holds-stdout": {source: "\nif os.fork() == 0:\n    os.setsid()\n    os.execv('/usr/bin/sleep', ['MARK', '60'])\nsys.exit(1)", want: Fail},
		"read-outside": {source: `
for f in ["/etc/passwd", "/root", "/home", "/work", "/var", "/sys", "/run", "/etc/hostname", "/boot"]:
    if os.path.exists(f): sys.exit(3)
if set(os.listdir("/")) - {"bin", "sbin", "lib", "lib32", "lib64", "usr", "etc", "dev", "proc", "tmp", "verifier"}: sys.exit(4)
sys.exit(0)`, want: Pass},
		"write-outside": {source: `
for f in ["/x", "/usr/x", "/etc/x", "/dev/x", "/dev/shm/x", "/verifier/x", "/verifier/program", "/usr/lib/x", "/proc/sys/kernel/hostname"]:
    try: open(f, "a").write("x")
    except OSError: continue
    sys.exit(3)
open("/tmp/x", "w").write("x")
sys.exit(0)`, want: Pass},
		"other-processes": {source: "\nsys.exit(0 if [p for p in os.listdir('/proc') if p.isdigit()] in (['1', '2'], ['2', '1']) else 3)", want: Pass},
		"kill-others":     {source: "\nfor p in range(2, 100000):\n    if p != os.getpid():\n        try: os.kill(p, 9)\n        except ProcessLookupError: pass\nos.kill(1, 9)\nsys.exit(0)", want: Pass},
		"namespaces":      {source: "\nimport ctypes\nsys.exit(3 if ctypes.CDLL(None).unshare(0x10000000) == 0 else 0)", want: Pass},
		"raise-limits":    {source: "\nimport resource\ntry: resource.setrlimit(resource.RLIMIT_NPROC, (1000, 1000))\nexcept ValueError: sys.exit(0)\nsys.exit(3)", want: Pass},
		"terminal":        {source: "\ntry: os.open('/dev/tty', os.O_RDWR)\nexcept OSError: sys.exit(0)\nsys.exit(3)", want: Pass},
	} {
		t.Run(name, func(t *testing.T) {
			source := python + test.source
			got := judge(t, s, source, test.more, Case{})
			if got.State != test.want || !strings.Contains(got.Detail, test.detail) {
				t.Errorf("got %s: %s; want %s: %s", got.State, got.Detail, test.want, test.detail)
			}
		})
	}
}

// TestSandboxNetwork: no connection leaves it, neither to a server of ours on this machine nor by name.
func TestSandboxNetwork(t *testing.T) {
	s := sandbox(t)
	needPython(t)
	tcp, err := net.Listen("tcp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	udp, err := net.ListenPacket("udp", "127.0.0.1:0")
	if err != nil {
		t.Fatal(err)
	}
	local := fmt.Sprintf("@turnmill-%d", os.Getpid()) // a name in the network namespace, not in a file system
	unix, err := net.Listen("unix", local)
	if err != nil {
		t.Fatal(err)
	}
	var seen atomic.Int64
	var ended sync.WaitGroup
	for _, l := range []net.Listener{tcp, unix} {
		ended.Go(func() {
			for {
				c, err := l.Accept()
				if err != nil {
					return
				}
				seen.Add(1)
				c.Close()
			}
		})
	}
	ended.Go(func() {
		for {
			if _, _, err := udp.ReadFrom(make([]byte, 1)); err != nil {
				return
			}
			seen.Add(1)
		}
	})
	// The servers are there: one connection from outside.
	c, err := net.Dial("tcp", tcp.Addr().String())
	if err != nil {
		t.Fatal(err)
	}
	c.Close()
	got := judge(t, s, fmt.Sprintf(python+`
import socket
got = []
def attempt(name, f):
    try: f()
    except OSError: return
    got.append(name)
attempt("tcp", lambda: socket.create_connection(("127.0.0.1", %d), 1))
attempt("public", lambda: socket.create_connection(("192.0.2.1", 80), 1))
attempt("dns", lambda: socket.getaddrinfo("example.com", 80))
attempt("unix", lambda: socket.socket(socket.AF_UNIX).connect("\0%s"))
try: socket.socket(socket.AF_INET, socket.SOCK_DGRAM).sendto(b"x", ("127.0.0.1", %d))
except OSError: pass
sys.exit(3 if got else 0)`, tcp.Addr().(*net.TCPAddr).Port, local[1:], udp.LocalAddr().(*net.UDPAddr).Port), "", Case{})
	tcp.Close()
	unix.Close()
	udp.Close()
	ended.Wait()
	if got.State != Pass || seen.Load() != 1 {
		t.Errorf("got %v, and the servers saw %d connections; want pass and our own one", got, seen.Load())
	}
}

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
	s := sandbox(t)
	const variable = "TURNMILL_TEST_MARK"
	if mark := os.Getenv(variable); mark != "" {
		ctx, cancel := context.WithTimeout(t.Context(), time.Minute)
		defer cancel()
		_, err := definition(t, "#!/bin/sh\nsleep 60\n", `,"args":["`+mark+`"]`).Check(ctx, s, Case{})
		t.Fatal(err)
	}
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
