package main

import (
	"context"
	"io"
	"slices"
	"strings"
	"syscall"
	"testing"
	"unsafe"

	"golang.org/x/sys/unix"
)

// onScreen runs a command on a terminal of some columns, and returns what is shown there.
func onScreen(t *testing.T, columns uint16, args ...string) (text string, code int) {
	t.Helper()
	shown, seen := terminalPair(t)
	conn, err := shown.SyscallConn()
	if err != nil {
		t.Fatal(err)
	}
	size := unix.Winsize{Row: 24, Col: columns}
	if err := conn.Control(func(fd uintptr) {
		if _, _, no := syscall.Syscall(syscall.SYS_IOCTL, fd, unix.TIOCSWINSZ, uintptr(unsafe.Pointer(&size))); no != 0 {
			t.Errorf("size: %v", no)
		}
	}); err != nil {
		t.Fatal(err)
	}
	done := make(chan string)
	go func() {
		b, _ := io.ReadAll(seen) // ends in an error when the terminal is closed
		done <- string(b)
	}()
	code = run(context.Background(), args, shown, io.Discard)
	shown.Close()
	return strings.ReplaceAll(<-done, "\r\n", "\n"), code
}

// TestNarrowTerminals: at 80 columns no line wraps, and what a pipe gets is as wide as ever.
func TestNarrowTerminals(t *testing.T) {
	for _, line := range []string{"train kmeans-softmax --steps 3 --seeds 2", "tape kmeans-softmax", "help train", "bench -h", "list"} {
		args := strings.Fields(line)
		text, code := onScreen(t, 80, args...)
		if code != 0 || len(text) < 200 {
			t.Fatalf("%s: code %d, %q", line, code, text)
		}
		for row := range strings.Lines(text) {
			row = strings.TrimSuffix(row, "\n")
			if n := len([]rune(row)); n > 80 && strings.Contains(strings.TrimSpace(row), " ") {
				t.Errorf("%s: %d columns: %s", line, n, row)
			}
		}
		var wide strings.Builder
		if run(context.Background(), args, &wide, io.Discard) != 0 || !slices.Equal(strings.Fields(wide.String())[:20], strings.Fields(text)[:20]) {
			t.Errorf("%s: a pipe gets other words", line)
		}
	}
}

// TestDrawsNotIntoATerminal: a terminal is told what to do rather than given the source of a drawing.
func TestDrawsNotIntoATerminal(t *testing.T) {
	if text, code := onScreen(t, 80, "draw", "kmeans-softmax"); code != 2 || strings.Contains(text, "<svg") {
		t.Errorf("code %d, %.100s", code, text)
	}
	for _, line := range []string{"draw kmeans-softmax --out -", "draw kmeans-softmax --format text"} {
		if text, code := onScreen(t, 80, strings.Fields(line)...); code != 0 || len(text) < 500 {
			t.Errorf("%s: code %d, %.100s", line, code, text)
		}
	}
}

// TestClustersAsASetting: --set k=3 of a clustering is --k 3.
func TestClustersAsASetting(t *testing.T) {
	one := ok(t, "train", "kmeans-softmax", "--steps", "3", "--seeds", "1", "--set", "k=2")
	if other := ok(t, "train", "kmeans-softmax", "--steps", "3", "--seeds", "1", "--k", "2"); one != other {
		t.Errorf("by --set:\n%s\nby --k:\n%s", one, other)
	}
	for line, says := range map[string]string{
		"train kmeans-softmax --set k=2 --k 3": "--set k=2: --k says 3",
		"train kmeans-softmax --set k=x":       "--set k=x: want a whole number",
		"train kmeans-softmax --set n=2":       "which takes its sizes",
	} {
		var out, complaint strings.Builder
		if code := run(context.Background(), strings.Fields(line), &out, &complaint); code != 2 || !strings.Contains(complaint.String(), says) {
			t.Errorf("%s: code %d, %s", line, code, &complaint)
		}
	}
}
