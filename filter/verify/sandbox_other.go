//go:build !linux

package verify

import (
	"errors"
	"os"
	"syscall"
)

func attributes() *syscall.SysProcAttr { return nil }

func seccompFile() (*os.File, error) { return nil, errors.New("programs run on Linux alone") }
