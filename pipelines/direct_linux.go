package pipelines

import (
	"errors"
	"os"
	"syscall"
	"unsafe"
)

const (
	directBytes = 1 << 20 // written at once
	directFrom  = 4 << 20 // smaller files go through the page cache
	directAlign = 4 << 10
)

// directFile is a file whose bytes go past the page cache once there are many of them: a shard is written
// once and read by others, much later, so that a copy of it in the cache costs time and displaces what is
// of use there.
//
//	bytes 0 .. 4 MiB           through the cache: small files end here
//	blocks of 1 MiB            from an aligned buffer, with O_DIRECT
//	what is left at Sync       through the cache
//
// Where the file system does not do that, all goes through the cache.
type directFile struct {
	*os.File
	size   int64
	buffer []byte // aligned, directBytes; nil until directFrom
	filled int
	direct bool
	plain  bool // for good
}

func newDiskFile(f *os.File) diskFile { return &directFile{File: f} }

func (d *directFile) Write(p []byte) (int, error) {
	done := 0
	for !d.plain && done < len(p) {
		if d.buffer == nil {
			if d.size >= directFrom {
				d.start()
				continue
			}
			n, err := d.File.Write(p[done:min(len(p), done+int(directFrom-d.size))])
			d.size += int64(n)
			if done += n; err != nil {
				return done, err
			}
			continue
		}
		n := copy(d.buffer[d.filled:], p[done:])
		d.filled, done = d.filled+n, done+n
		if d.filled == len(d.buffer) {
			if err := d.flush(); err != nil {
				return done, err
			}
		}
	}
	if done == len(p) {
		return done, nil
	}
	n, err := d.File.Write(p[done:])
	return done + n, err
}

// start turns to writing past the cache, if the file system is one that is known to do it well.
func (d *directFile) start() {
	var fs syscall.Statfs_t
	const ext4, xfs = 0xEF53, 0x58465342
	if d.control(func(fd uintptr) error { return syscall.Fstatfs(int(fd), &fs) }) != nil ||
		fs.Type != ext4 && fs.Type != xfs || d.set(true) != nil {
		d.plain = true
		return
	}
	memory := make([]byte, directBytes+directAlign)
	from := -uintptr(unsafe.Pointer(unsafe.SliceData(memory))) & (directAlign - 1)
	d.buffer = memory[from : from+directBytes]
}

// set turns O_DIRECT on or off.
func (d *directFile) set(on bool) error {
	err := d.control(func(fd uintptr) error {
		flags, _, errno := syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_GETFL, 0)
		if errno == 0 {
			if flags &^= syscall.O_DIRECT; on {
				flags |= syscall.O_DIRECT
			}
			_, _, errno = syscall.Syscall(syscall.SYS_FCNTL, fd, syscall.F_SETFL, flags)
		}
		if errno != 0 {
			return errno
		}
		return nil
	})
	if err == nil {
		d.direct = on
	}
	return err
}

func (d *directFile) control(do func(fd uintptr) error) error {
	conn, err := d.SyscallConn()
	if err != nil {
		return err
	}
	var inner error
	if err := conn.Control(func(fd uintptr) { inner = do(fd) }); err != nil {
		return err
	}
	return inner
}

// flush writes what the buffer holds. A device that wants other blocks gets the rest through the cache.
func (d *directFile) flush() error {
	p := d.buffer[:d.filled]
	d.filled = 0
	n, err := d.File.Write(p)
	if d.direct && errors.Is(err, syscall.EINVAL) {
		d.plain = true
		if err = d.set(false); err == nil {
			_, err = d.File.Write(p[n:])
		}
	}
	return err
}

// Sync writes the rest, which is no whole block, and waits for the disk.
func (d *directFile) Sync() error {
	if d.filled > 0 {
		if err := d.set(false); err != nil {
			return err
		}
		d.plain = true
		if err := d.flush(); err != nil {
			return err
		}
	}
	return d.File.Sync()
}
