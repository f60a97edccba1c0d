//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock locks a folder until unlock is called or the process ends, and returns [ErrBusy] if it is
// locked. The lock is on the folder itself, so that nothing is left behind, and belongs to one
// opening of it, so that two in one process exclude each other too. A file system without such
// locks, such as NFS for folders, locks nothing.
func lock(path string) (unlock func(), err error) {
	dir, err := os.Open(path)
	if err != nil {
		return nil, located(path, err)
	}
	if err := flock(dir, syscall.LOCK_EX|syscall.LOCK_NB); errors.Is(err, syscall.EWOULDBLOCK) {
		dir.Close()
		return nil, fmt.Errorf("%s: %w", path, ErrBusy)
	}
	return func() {
		_ = flock(dir, syscall.LOCK_UN) // a process that is being started may hold a copy
		dir.Close()
	}, nil
}

func flock(f *os.File, how int) error {
	for {
		if err := syscall.Flock(int(f.Fd()), how); !errors.Is(err, syscall.EINTR) {
			return err
		}
	}
}
