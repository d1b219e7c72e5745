package pipelines

import (
	"errors"
	"fmt"
	"os"
	"slices"
	"syscall"
)

// errNoLock says that the file system has no locks for directories, as some network file systems of
// clusters.
var errNoLock = errors.New("the file system has no locks")

// noLocks are the ways in which file systems say so.
var noLocks = []syscall.Errno{syscall.ENOSYS, syscall.EOPNOTSUPP, syscall.ENOLCK, syscall.EBADF, syscall.EINVAL}

// lock locks OUT, or warns that it could not be locked.
func (o *Options) lock(exclusive bool) (unlock func(), err error) {
	unlock, err = lockDir(o.Output, exclusive)
	if errors.Is(err, errNoLock) {
		o.logger().Warn("OUT cannot be locked here; make sure that no other turnmill plans, merges or restarts it", "output", o.Output)
		err = nil
	}
	return unlock, err
}

// lockDir locks a directory against other turnmill processes: on the directory itself, so that no lock
// file remains and a killed process leaves nothing locked. The returned function unlocks.
//
// A file system without such locks gives an unlock function that does nothing, and errNoLock.
func lockDir(dir string, exclusive bool) (func(), error) {
	f, err := os.Open(dir)
	if err != nil {
		return nil, err
	}
	how := syscall.LOCK_SH
	if exclusive {
		how = syscall.LOCK_EX
	}
	if err := syscall.Flock(int(f.Fd()), how|syscall.LOCK_NB); err != nil {
		f.Close()
		switch {
		case errors.Is(err, syscall.EWOULDBLOCK):
			return nil, fmt.Errorf("%s: another turnmill works on it; wait for it to end, or choose another --output", dir)
		case slices.ContainsFunc(noLocks, func(no syscall.Errno) bool { return errors.Is(err, no) }):
			return func() {}, errNoLock
		}
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}
