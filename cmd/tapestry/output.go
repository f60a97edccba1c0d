package main

import (
	"errors"
	"fmt"
	"html/template"
	"io"
	"io/fs"
	"math/rand/v2"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/csp"
	"github.com/tapestry-ml/tapestry/internal/terminal"
)

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

// plainWriter is standard output or error for text: what would give a terminal orders is
// replaced, wherever it comes from (see package terminal).
type plainWriter struct {
	*terminal.Writer
	below io.Writer
}

func newPlainWriter(w io.Writer) *plainWriter { return &plainWriter{terminal.NewWriter(w), w} }

// raw is the writer below, for what moves the cursor: texts from elsewhere are to be cleaned.
func raw(w io.Writer) io.Writer {
	if p, is := w.(*plainWriter); is {
		return p.below
	}
	return w
}

// failed is that error.
func (w *checkedWriter) failed() error {
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("standard output: %w", cause(w.err))
}

// isRegular reports whether there is a file, not a folder or a device, of that name.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ownOrFree is the name of a file that nobody misses if it is written: path itself where
// there is none or its begin has the mark of what this program writes, or else the first
// such name with a number, report-2.html.
func ownOrFree(path, mark string) string {
	own := func(path string) bool {
		f, err := os.Open(path)
		if err != nil {
			_, err := os.Lstat(path)
			return errors.Is(err, fs.ErrNotExist)
		}
		defer f.Close()
		head := make([]byte, 4096)
		n, _ := io.ReadFull(f, head)
		return strings.Contains(string(head[:n]), mark)
	}
	extension := filepath.Ext(path)
	name := path
	for i := 2; !own(name); i++ {
		name = fmt.Sprintf("%s-%d%s", strings.TrimSuffix(path, extension), i, extension)
	}
	return name
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

// writePage writes a page that stands alone, which has no script, with its policy.
func writePage(w io.Writer, page *template.Template, data any) error {
	var text strings.Builder
	if err := page.Execute(&text, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, csp.Seal(text.String()))
	return err
}
