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
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/csp"
	"github.com/tapestry-ml/tapestry/internal/terminal"
)

// toStdout reports whether an --out means standard output.
func toStdout(path string) bool { return path == "" || path == "-" }

// checkedWriter remembers the first error of a writer, so that code that prints line by line need
// not check each.
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

// plainWriter is standard output or error for text. Characters that would give a terminal orders
// are replaced, wherever they come from (see package terminal).
type plainWriter struct {
	*terminal.Writer
	below io.Writer
}

func newPlainWriter(w io.Writer) *plainWriter { return &plainWriter{terminal.NewWriter(w), w} }

// onTerminal reports whether standard output, as the commands have it, is a terminal.
func onTerminal(w io.Writer) bool {
	w = raw(w)
	if c, is := w.(*checkedWriter); is {
		w = c.Writer
	}
	return isTerminal(w)
}

// narrowest is the least width of a terminal for which text is folded.
const narrowest = 20

// newFoldedWriter is newPlainWriter whose lines are as long as the terminal is wide, and as they are
// elsewhere.
func newFoldedWriter(w io.Writer, width int) *plainWriter {
	if width < narrowest {
		return newPlainWriter(w)
	}
	return &plainWriter{terminal.NewWriter(terminal.Fold(w, width)), w}
}

// exact lists the commands whose output is for programs: it is the same on a terminal.
var exact = []string{"draw", "docs", "export", "format", "grad", "new"}

// folds reports whether the output of a command line may be folded.
func folds(args []string) bool {
	command := slices.IndexFunc(args, func(a string) bool { return !strings.HasPrefix(a, "-") })
	for _, a := range args {
		if a == "-h" || a == "--help" {
			return true
		}
		if a == "--json" || command >= 0 && a == args[command] && slices.Contains(exact, a) {
			return false
		}
	}
	return true
}

// raw returns the underlying writer, for output that moves the cursor. Texts from elsewhere must
// be cleaned first.
func raw(w io.Writer) io.Writer {
	if p, is := w.(*plainWriter); is {
		return p.below
	}
	return w
}

// failed returns the first error.
func (w *checkedWriter) failed() error {
	if w.err == nil {
		return nil
	}
	return fmt.Errorf("standard output: %w", cause(w.err))
}

// isRegular reports whether there is a regular file of that name.
func isRegular(path string) bool {
	info, err := os.Stat(path)
	return err == nil && info.Mode().IsRegular()
}

// ownOrFree returns the name of a file that may be written: path itself if it does not exist or
// begins with the mark of this program, otherwise the first free name with a number,
// report-2.html.
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

// checkOutput returns an error, before long work, if nothing could be written to a path after it.
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

// writeOutput writes to a file, or to standard output. A file appears whole or not at all, keeps
// its permissions if it existed, and remains the target of a link to it. Pipes, the null device
// and the like are written to, never replaced.
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
	mode, there := fs.FileMode(0o666), false // less the user's umask
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
	defer os.Remove(beside) // already renamed if all went well
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

// cause removes from an error the path that is named anyway.
func cause(err error) error {
	if p, ok := err.(*os.PathError); ok {
		return p.Err
	}
	if l, ok := err.(*os.LinkError); ok {
		return l.Err
	}
	return err
}

// writePage writes a self-contained page without scripts, with its content security policy.
func writePage(w io.Writer, page *template.Template, data any) error {
	var text strings.Builder
	if err := page.Execute(&text, data); err != nil {
		return err
	}
	_, err := io.WriteString(w, csp.Seal(text.String()))
	return err
}
