package verify

import (
	"encoding/binary"
	"os"
	"runtime"
	"syscall"
)

// nobody is whom a program runs as when turnmill is root: the limit on processes does not bind root, nor any
// user that a namespace maps to it.
const nobody = 65534

// identities are the users that a sandbox may run as, the best first. A root that is none outside its own
// namespace, as in a container without privileges, may not be able to become nobody, and is bound as it is.
func identities() []*syscall.SysProcAttr {
	own := &syscall.SysProcAttr{}
	if os.Geteuid() != 0 {
		return []*syscall.SysProcAttr{own}
	}
	return []*syscall.SysProcAttr{{Credential: &syscall.Credential{Uid: nobody, Gid: nobody, Groups: []uint32{}}}, own}
}

// machine has the numbers of one architecture's system calls. linux/audit.h, asm/unistd.h.
type machine struct {
	audit  uint32
	most   uint32 // numbers from here on are of another interface (x32)
	denied []uint32
}

// denied calls keep memory that no limit of a process counts (shared memory without a mapping, queues, keys), or
// are ways around the list: memfd_create, shmget, msgget, add_key, request_key, keyctl, userfaultfd,
// perf_event_open, bpf, io_uring_setup, memfd_secret.
var machines = map[string]machine{
	"amd64": {0xC000003E, 0x40000000, []uint32{319, 29, 68, 248, 249, 250, 323, 298, 321, 425, 447}},
	"arm64": {0xC00000B7, 0x40000000, []uint32{279, 194, 186, 217, 218, 219, 282, 241, 280, 425, 447}},
}

// seccompList is a filter in classic BPF: another architecture and the denied calls give ENOSYS, all else passes.
// seccomp(2); struct seccomp_data has the number at 0 and the architecture at 4.
func seccompList(m machine) []byte {
	const (
		load, jeq, jge, ret = 0x20, 0x15, 0x35, 0x06
		allow               = 0x7fff0000
		deny                = 0x00050000 | uint32(syscall.ENOSYS)
	)
	var list []byte
	add := func(code uint16, yes, no int, k uint32) {
		list = binary.NativeEndian.AppendUint16(list, code)
		list = append(list, byte(yes), byte(no))
		list = binary.NativeEndian.AppendUint32(list, k)
	}
	n := len(m.denied)
	add(load, 0, 0, 4)
	add(jeq, 0, n+3, m.audit)
	add(load, 0, 0, 0)
	add(jge, n+1, 0, m.most)
	for i, call := range m.denied {
		add(jeq, n-i, 0, call)
	}
	add(ret, 0, 0, allow)
	add(ret, 0, 0, deny)
	return list
}

// seccompFile returns the list as a pipe to read: it is smaller than any pipe.
func seccompFile() (*os.File, error) {
	m, ok := machines[runtime.GOARCH]
	if !ok {
		return nil, &os.PathError{Op: "seccomp", Path: runtime.GOARCH, Err: syscall.ENOTSUP}
	}
	r, w, err := os.Pipe()
	if err != nil {
		return nil, err
	}
	if _, err = w.Write(seccompList(m)); err == nil {
		err = w.Close()
	}
	return r, err
}
