package verify

import (
	"context"
	"fmt"
	"os"
	"os/exec"
	"strconv"
	"strings"
	"syscall"
	"time"
)

// Sandbox runs programs under bubblewrap, or says why it does not. Nothing of it stands on the machine between
// runs.
//
//	turnmill                               as root: the next one becomes nobody first
//	  bwrap                                dies with turnmill
//	    | user, pid, net, ipc, uts, cgroup namespaces of its own; no capabilities; the seccomp list
//	    | read-only /usr, /lib and the like; /verifier/program; proc; a bare /dev; /tmp of limited size
//	    sh                                 pid 1: with it the kernel kills all that the program started
//	      prlimit                          processes, memory, CPU, file size, open files; then becomes
//	        /verifier/program ARG...
type Sandbox struct {
	bwrap    string
	temp     string
	identity *syscall.SysProcAttr // whom bwrap runs as; only read
	refusal  string
}

// SandboxOptions say where things are.
type SandboxOptions struct {
	Bwrap string // path or name of bubblewrap; "" means bwrap
	Temp  string // for sources on their way, without a name there; "" means the system's
}

// probe is the program by which a sandbox is tried out: it starts one more process. timeout(1) gives up where it
// cannot; a shell would try again for seconds.
func probe(processes int64) *program {
	return &program{
		source: []byte("#!/bin/sh\nread -r line && [ \"$line\" ] && ! [ -e /sys ] && exec timeout 5 true\n"),
		limits: Limits{CPU: 5 * time.Second, Memory: 256 << 20, Processes: processes, Output: 4 << 10, Tmp: 1 << 20},
	}
}

// OpenSandbox looks for bubblewrap and tries it out, so that what a machine cannot do is known before any query:
// a program of two processes must pass, and fail where it may have one. It always returns a Sandbox; Refusal says
// whether it runs programs. ctx needs a deadline: ten seconds are plenty.
func OpenSandbox(ctx context.Context, opt SandboxOptions) *Sandbox {
	if opt.Bwrap == "" {
		opt.Bwrap = "bwrap"
	}
	s := &Sandbox{temp: opt.Temp}
	for _, tool := range []string{opt.Bwrap, "prlimit", "timeout", "sh"} {
		path, err := exec.LookPath(tool)
		if err != nil {
			return RefuseSandbox(fmt.Sprintf("no program %s; install the packages bubblewrap (0.8 or later), util-linux and coreutils", tool))
		}
		if tool == opt.Bwrap {
			s.bwrap = path
		}
	}
	var first string
	for _, s.identity = range identities() {
		why := s.try(ctx)
		if why == "" {
			return s
		}
		if first == "" {
			first = why
		}
	}
	return RefuseSandbox(first)
}

// try says what does not work, "" when all does.
func (s *Sandbox) try(ctx context.Context) string {
	v, err := probe(2).check(ctx, s, Case{})
	switch {
	case err != nil:
		return "the sandbox could not be tried out: " + err.Error()
	case v.State != Pass:
		return "bubblewrap makes no sandbox here (" + string(v.State) + ": " + v.Detail +
			"); install bubblewrap 0.8 or later and allow user namespaces for ordinary users (in a container: a seccomp profile with unshare, mount and pivot_root)"
	}
	if v, err = probe(1).check(ctx, s, Case{}); err != nil || v.State != Crashed {
		return fmt.Sprintf("the limit on processes does not hold here (%s: %s, %v); it needs Linux 5.14 or later", v.State, v.Detail, err)
	}
	return ""
}

// RefuseSandbox returns a sandbox that runs nothing.
func RefuseSandbox(why string) *Sandbox { return &Sandbox{refusal: why} }

// Refusal says why programs are not run, and what to install; "" when they are.
func (s *Sandbox) Refusal() string {
	if s == nil {
		return "no sandbox was opened"
	}
	return s.refusal
}

// Numbers of the files that bwrap is given beside the three.
const (
	sourceFD = 3 + iota
	infoFD
	seccompFD
)

// command is the line that runs a program: bwrap, the shell as pid 1, prlimit, the program. The shell's line has a
// second command so that it waits instead of becoming the first.
func (s *Sandbox) command(p *program) []string {
	l := p.limits
	line := []string{s.bwrap, "--unshare-all", "--unshare-user", "--disable-userns", "--die-with-parent", "--new-session",
		"--as-pid-1", "--hostname", "verifier", "--clearenv",
		"--setenv", "PATH", "/usr/bin:/bin", "--setenv", "HOME", "/tmp", "--setenv", "LANG", "C.UTF-8", "--setenv", "PYTHONHASHSEED", "0"}
	line = append(line, system()...)
	line = append(line, "--proc", "/proc", "--dev", "/dev", "--remount-ro", "/dev",
		"--size", strconv.FormatInt(l.Tmp, 10), "--tmpfs", "/tmp",
		"--perms", "0555", "--ro-bind-data", strconv.Itoa(sourceFD), "/verifier/program", "--remount-ro", "/",
		"--chdir", "/tmp", "--info-fd", strconv.Itoa(infoFD), "--seccomp", strconv.Itoa(seccompFD),
		"--", "/bin/sh", "-c", `"$@"; exit $?`, "sh",
		"prlimit", "--core=0", "--nofile=64", "--memlock=0", "--msgqueue=0",
		limit("nproc", l.Processes+1), limit("as", l.Memory), limit("data", l.Memory), limit("fsize", l.Tmp),
		// The soft limit says so by its signal; the hard one, a second later, cannot be ignored.
		fmt.Sprintf("--cpu=%d:%d", l.CPU/time.Second, l.CPU/time.Second+1),
		"--", "/verifier/program")
	return append(line, p.args...)
}

func limit(name string, n int64) string {
	return "--" + name + "=" + strconv.FormatInt(n, 10)
}

// system mounts what programs need: /usr, the links or folders of libraries beside it, and the links by which
// Debian chooses between programs of one name.
func system() []string {
	line := []string{"--ro-bind", "/usr", "/usr", "--ro-bind-try", "/etc/alternatives", "/etc/alternatives"}
	for _, dir := range []string{"/bin", "/sbin", "/lib", "/lib32", "/lib64"} {
		if to, err := os.Readlink(dir); err == nil {
			line = append(line, "--symlink", strings.TrimPrefix(to, "/"), dir)
		} else if _, err := os.Stat(dir); err == nil {
			line = append(line, "--ro-bind", dir, dir)
		}
	}
	return line
}
