//go:build unix

package main

import (
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"syscall"
	"testing"
)

// TestOutputPermissions checks that a new file has the permissions that the user's umask allows,
// and an existing one keeps its own.
func TestOutputPermissions(t *testing.T) {
	dir := t.TempDir()
	defer syscall.Umask(syscall.Umask(0o077))
	there := filepath.Join(dir, "there")
	if err := os.WriteFile(there, nil, 0o600); err != nil {
		t.Fatal(err)
	}
	if err := os.Chmod(there, 0o664); err != nil {
		t.Fatal(err)
	}
	for path, want := range map[string]fs.FileMode{filepath.Join(dir, "new"): 0o600, there: 0o664} {
		err := writeOutput(path, io.Discard, func(w io.Writer) error {
			_, err := io.WriteString(w, "x")
			return err
		})
		if info, _ := os.Stat(path); err != nil || info.Mode() != want {
			t.Errorf("%s: %v, %v, want %v", path, info.Mode(), err, want)
		}
	}
	if entries, _ := os.ReadDir(dir); len(entries) != 2 {
		t.Errorf("beside the files there is more: %v", entries)
	}
}
