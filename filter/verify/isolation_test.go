package verify

import (
	"fmt"
	"net"
	"os"
	"sync"
	"sync/atomic"
	"testing"
)

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

// TestSandboxNamespaces: none is shared with us.
func TestSandboxNamespaces(t *testing.T) {
	s := sandbox(t)
	for _, kind := range []string{"user", "pid", "net", "ipc", "uts", "mnt", "cgroup"} {
		ours, err := os.Readlink("/proc/self/ns/" + kind)
		if err != nil {
			t.Fatal(err)
		}
		source := "#!/bin/sh\nns=$(readlink /proc/self/ns/" + kind + ") || exit 3\n[ \"$ns\" != '" + ours + "' ]\n"
		if got := judge(t, s, source, "", Case{}); got.State != Pass {
			t.Errorf("%s: got %v", kind, got)
		}
	}
}
