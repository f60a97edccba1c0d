package main

import (
	"errors"
	"fmt"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
)

// count is "1 row", "2 rows" and so on.
func count(n int, noun string) string {
	if n != 1 {
		noun += "s"
	}
	return fmt.Sprint(n, " ", noun)
}

// toStdout reports whether an --out means standard output.
func toStdout(path string) bool { return path == "" || path == "-" }

// checkedWriter remembers the first error of a writer: what prints line by line
// need not look.
type checkedWriter struct {
	io.Writer
	err error
}

func (w *checkedWriter) Write(p []byte) (int, error) {
	n, err := w.Writer.Write(p)
	if w.err == nil {
		w.err = err
	}
	return n, err
}

// failed is that error.
func (w *checkedWriter) failed() error {
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("standard output: %w", cause(w.err))
}

// checkOutput complains before long work about a place that nothing can be
// written to after it.
func checkOutput(path string) error {
	if toStdout(path) {
		return nil
	}
	if info, err := os.Stat(path); err == nil && info.IsDir() {
		return fmt.Errorf("%s: this is a directory, not a file", path)
	}
	if _, err := os.Stat(filepath.Dir(path)); err != nil {
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	return nil
}

// writeOutput writes to a file, or to standard output. A file appears whole or
// not at all, keeps its permissions if it was there, and stays what a link points
// to; what is not a file (a pipe, the null device) is written to, never replaced.
func writeOutput(path string, stdout io.Writer, write func(io.Writer) error) error {
	if toStdout(path) {
		return write(stdout)
	}
	if err := checkOutput(path); err != nil {
		return err
	}
	located := func(err error) error {
		if err == nil {
			return nil
		}
		return fmt.Errorf("%s: %w", path, cause(err))
	}
	target, err := filepath.EvalSymlinks(path)
	if errors.Is(err, fs.ErrNotExist) {
		target, err = path, nil
	}
	if err != nil {
		return located(err)
	}
	mode, there := fs.FileMode(0o666), false // less what the user's mask withholds
	switch info, err := os.Stat(target); {
	case err == nil && !info.Mode().IsRegular():
		f, err := os.OpenFile(target, os.O_WRONLY, 0)
		if err != nil {
			return located(err)
		}
		return errors.Join(write(f), located(f.Close()))
	case err == nil:
		mode, there = info.Mode().Perm(), true
	}
	beside := filepath.Join(filepath.Dir(target), fmt.Sprintf(".%s.%d", filepath.Base(target), rand.Uint64()))
	f, err := os.OpenFile(beside, os.O_WRONLY|os.O_CREATE|os.O_EXCL, mode)
	if err != nil {
		return located(err)
	}
	defer os.Remove(beside) // gone already when all went well
	if err := write(f); err != nil {
		f.Close()
		return err
	}
	if there {
		err = f.Chmod(mode)
	}
	if err := errors.Join(err, f.Close()); err != nil {
		return located(err)
	}
	return located(os.Rename(beside, target))
}

// cause strips the path that the error already names.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	if l, ok := err.(*os.LinkError); ok {
		return l.Err
	}
	return err
}
