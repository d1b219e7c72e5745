package pipelines

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lockDir locks a directory against other turnmill processes: on the directory itself, so that no lock
// file remains and a killed process leaves nothing locked. The returned function unlocks.
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
		if errors.Is(err, syscall.EWOULDBLOCK) {
			return nil, fmt.Errorf("%s: another turnmill works on it; wait for it to end, or choose another --output", dir)
		}
		return nil, fmt.Errorf("locking %s: %w", dir, err)
	}
	return func() { f.Close() }, nil
}
