package verify

import (
	"strings"
	"testing"
)

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
		// Every child asks for one more; none gives up.
		"fork-bomb": {source: `
for i in range(100):
    try:
        if os.fork() == 0:
            os.fork()
            break
    except OSError:
        pass
time.sleep(60)`, more: `,"processes":10,"seconds":2`, want: Timeout},
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
		"session":         {source: "\nsys.exit(0 if os.getsid(0) > 0 else 3)", want: Pass},
		"mounts": {source: `
for line in open("/proc/self/mounts"):
    _, at, kind, options = line.split()[:4]
    if at in ("/proc", "/tmp") or at.startswith("/dev/"): continue
    if "ro" not in options.split(","): sys.exit(3)
sys.exit(0)`, want: Pass},
		"terminal": {source: "\ntry: os.open('/dev/tty', os.O_RDWR)\nexcept OSError: sys.exit(0)\nsys.exit(3)", want: Pass},
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
