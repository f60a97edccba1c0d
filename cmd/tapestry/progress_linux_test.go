package main

import (
	"context"
	"fmt"
	"io"
	"os"
	"strings"
	"syscall"
	"testing"
	"time"
	"unsafe"
)

// terminalPair is a terminal, and the end at which someone looks at it.
func terminalPair(t *testing.T) (shown, seen *os.File) {
	t.Helper()
	seen, err := os.OpenFile("/dev/ptmx", os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { seen.Close() })
	control, err := seen.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	var number, locked int32
	err = control.Control(func(fd uintptr) {
		for request, v := range map[uintptr]*int32{syscall.TIOCSPTLCK: &locked, syscall.TIOCGPTN: &number} {
			if _, _, code := syscall.Syscall(syscall.SYS_IOCTL, fd, request, uintptr(unsafe.Pointer(v))); code != 0 {
				t.Errorf("terminal: %v", code)
			}
		}
	})
	if err != nil {
		t.Fatal(err)
	}
	shown, err = os.OpenFile(fmt.Sprintf("/dev/pts/%d", number), os.O_RDWR|syscall.O_NOCTTY, 0)
	if err != nil {
		t.Skipf("no terminals here: %v", err)
	}
	t.Cleanup(func() { shown.Close() })
	return shown, seen
}

// progressed reports whether a bar was shown.
func progressed(text string) bool {
	return strings.Contains(text, "%") || strings.Contains(text, "steps/s")
}

// TestLongCommandsShowProgress checks that commands show their progress on a terminal. Each has
// work for hours, and is stopped once it has shown something.
func TestLongCommandsShowProgress(t *testing.T) {
	for _, args := range []string{
		"geometry attention-self --steps 100000000",
		"geometry kmeans-softmax --steps 1 --surface SVG --cells 400 --data digits",
		"train kmeans-softmax --steps 100000000",
		"train regression-ols --steps 100000000",
		"compare kmeans-softmax --steps 100000000 --out SVG",
	} {
		t.Run(args, func(t *testing.T) {
			shown, seen := terminalPair(t)
			ctx, stop := context.WithTimeout(t.Context(), time.Minute)
			defer stop()
			var text strings.Builder
			done := make(chan bool)
			go func() {
				defer close(done)
				b := make([]byte, 4096)
				for !progressed(text.String()) {
					n, err := seen.Read(b)
					if err != nil {
						return
					}
					text.Write(b[:n])
				}
				stop()
				_, _ = io.Copy(io.Discard, seen) // until the terminal is closed
			}()
			run(ctx, strings.Fields(strings.ReplaceAll(args, "SVG", t.TempDir()+"/out.svg")), io.Discard, shown)
			stop()
			shown.Close()
			<-done
			if !progressed(text.String()) {
				t.Errorf("shown is %q", text.String())
			}
		})
	}
}
