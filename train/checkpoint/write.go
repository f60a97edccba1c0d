package checkpoint

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"os"
	"path/filepath"
	"runtime"

	"github.com/tapestry-ml/tapestry/interop/safetensors"
)

// unfinished ends the name of a file that is being written.
const unfinished = ".tmp"

// Write writes the bytes of a checkpoint, for [Read].
func Write(w io.Writer, s *State) error {
	if w == nil {
		return errors.New("checkpoint: the writer is nil")
	}
	if err := s.whole(); err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	f, err := s.encode()
	if err != nil {
		return fmt.Errorf("checkpoint: %w", err)
	}
	return safetensors.Write(w, f)
}

// Save writes a checkpoint. The file appears whole or not at all; one of that name is replaced
// atomically.
func Save(path string, s *State) error {
	if err := s.whole(); err != nil {
		return at(path, err)
	}
	f, err := s.encode()
	if err != nil {
		return at(path, err)
	}
	return located(path, replace(path, func(w *os.File) error { return safetensors.Write(w, f) }))
}

// replace writes a file under another name, syncs it, renames it, and syncs the folder. Otherwise a
// machine that loses power may come back with the name but without the bytes.
func replace(path string, write func(w *os.File) error) error {
	dir, name := filepath.Split(path)
	beside := filepath.Join(dir, "."+name+unfinished)
	if err := os.Remove(beside); err != nil && !errors.Is(err, fs.ErrNotExist) {
		return err
	}
	w, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, 0o666)
	if err != nil {
		return err
	}
	err = write(w)
	if err == nil {
		err = w.Sync()
	}
	if closed := w.Close(); err == nil {
		err = closed
	}
	if err == nil {
		err = os.Rename(beside, path)
	}
	if err != nil {
		os.Remove(beside)
		return err
	}
	return sync(dir)
}

// sync syncs a folder, where the system can.
func sync(dir string) error {
	if runtime.GOOS == "windows" {
		return nil // Windows has no such call, but journals file names
	}
	if dir == "" {
		dir = "."
	}
	d, err := os.Open(dir)
	if err != nil {
		return err
	}
	err = d.Sync()
	return errors.Join(err, d.Close())
}

// probe checks that a file can be created in a folder.
func probe(dir string) error {
	path := filepath.Join(dir, ".probe"+extension+unfinished)
	w, err := os.OpenFile(path, os.O_WRONLY|os.O_CREATE|os.O_TRUNC, 0o666)
	if err != nil {
		return located(dir, err)
	}
	return located(dir, errors.Join(w.Close(), os.Remove(path)))
}

// located returns an error of the system with the path that the user knows:
// "checkpoint runs/a/step-00000010.safetensors: no space left on device".
func located(path string, err error) error {
	if err == nil {
		return nil
	}
	var p *fs.PathError
	var l *os.LinkError
	switch {
	case errors.As(err, &p):
		err = p.Err
	case errors.As(err, &l):
		err = l.Err
	default:
		return at(path, err)
	}
	return &fs.PathError{Op: "checkpoint", Path: path, Err: err}
}
