//go:build darwin || dragonfly || freebsd || illumos || linux || netbsd || openbsd

package checkpoint

import (
	"errors"
	"fmt"
	"os"
	"syscall"
)

// lock takes a folder until unlock, or until the process ends, and gives [ErrBusy] where it
// is taken. The lock lies on the folder itself, so nothing is left behind; it belongs to
// one opening of it, so two within a process exclude each other, too. Where the file
// system knows no such lock, as NFS for a folder, there is none.
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
		_ = flock(dir, syscall.LOCK_UN) // closing is not enough while a process is being started, which has a copy
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
