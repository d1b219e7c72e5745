package verify

import (
	"context"
	"encoding/binary"
	"os"
	"runtime"
	"slices"
	"strings"
	"syscall"
	"testing"
	"time"
)

// TestSandboxOfRoot: a sandbox that root stays root in is refused, since no limit on processes binds there; only in
// a user namespace is root bound like anyone.
func TestSandboxOfRoot(t *testing.T) {
	s := sandbox(t)
	outside, err := os.ReadFile("/proc/self/uid_map")
	if err != nil {
		t.Fatal(err)
	}
	if os.Geteuid() != 0 || strings.Join(strings.Fields(string(outside)), " ") != "0 0 4294967295" {
		t.Skip("not root of the machine")
	}
	s.identity = &syscall.SysProcAttr{}
	ctx, cancel := context.WithTimeout(t.Context(), 20*time.Second)
	defer cancel()
	if why := s.try(ctx); !strings.Contains(why, "the limit on processes does not hold here") {
		t.Errorf("got %q", why)
	}
}

// verdictOf runs a filter of the four instructions that seccompList uses.
func verdictOf(t *testing.T, list []byte, arch, call uint32) uint32 {
	t.Helper()
	var acc uint32
	for at := 0; at < len(list)/8; at++ {
		code, yes, no := binary.NativeEndian.Uint16(list[at*8:]), int(list[at*8+2]), int(list[at*8+3])
		k := binary.NativeEndian.Uint32(list[at*8+4:])
		holds := false
		switch code {
		case 0x20: // load a word of seccomp_data
			acc = map[uint32]uint32{0: call, 4: arch}[k]
			continue
		case 0x06:
			return k
		case 0x15:
			holds = acc == k
		case 0x35:
			holds = acc >= k
		default:
			t.Fatalf("instruction %d: code %#x", at, code)
		}
		if holds {
			at += yes
		} else {
			at += no
		}
	}
	t.Fatal("the filter runs off its end")
	return 0
}

// TestSeccompList: on each architecture the denied calls give ENOSYS, and so do all of another one; the rest pass.
func TestSeccompList(t *testing.T) {
	const allow, enosys = 0x7fff0000, 0x00050000 | 38
	for name, m := range machines {
		list := seccompList(m)
		for call := range uint32(600) {
			want := uint32(allow)
			if slices.Contains(m.denied, call) {
				want = enosys
			}
			if got := verdictOf(t, list, m.audit, call); got != want {
				t.Errorf("%s: call %d gives %#x, want %#x", name, call, got, want)
			}
		}
		if got := verdictOf(t, list, m.audit, 0x40000000+1); got != enosys {
			t.Errorf("%s: a call of another interface gives %#x", name, got)
		}
		if got := verdictOf(t, list, 0x40000003, 1); got != enosys { // i386
			t.Errorf("%s: a call of another architecture gives %#x", name, got)
		}
	}
	own, ok := machines[runtime.GOARCH]
	if !ok {
		t.Skip("no list for " + runtime.GOARCH)
	}
	for _, call := range []uint32{syscall.SYS_SHMGET, syscall.SYS_MSGGET, syscall.SYS_ADD_KEY, syscall.SYS_REQUEST_KEY, syscall.SYS_KEYCTL, syscall.SYS_PERF_EVENT_OPEN} {
		if !slices.Contains(own.denied, call) {
			t.Errorf("%s: call %d is not denied", runtime.GOARCH, call)
		}
	}
}
