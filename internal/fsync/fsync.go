// Package fsync makes a rename last.
//
//	temporary name --write, Sync, Close--> whole file --Rename--> final name --Dir--> there after a power cut
//
// What creates, writes and renames differs from owner to owner; the last step does not.
package fsync

import (
	"errors"
	"os"
)

// Dir flushes a directory, and with it the names that were made or moved in it.
func Dir(name string) error {
	d, err := os.Open(name)
	if err != nil {
		return err
	}
	return errors.Join(d.Sync(), d.Close())
}
