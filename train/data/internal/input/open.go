package input

import (
	"errors"
	"io"
	"io/fs"
	"os"
)

// Open opens the file at path and returns what read makes of it.
func Open[T any](path string, read func(string, io.Reader, ...Option) (T, error), opts []Option) (T, error) {
	f, _, err := openFile(path)
	if err != nil {
		var none T
		return none, err
	}
	defer f.Close()
	return read(path, f, opts...)
}

// openFile opens a file, which must not be a directory, and returns its length in bytes.
func openFile(path string) (*os.File, int64, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, 0, OpenError(path, err)
	}
	info, err := f.Stat()
	if err == nil && !info.IsDir() {
		return f, info.Size(), nil
	}
	f.Close()
	if err != nil {
		return nil, 0, OpenError(path, err)
	}
	return nil, 0, &Error{File: path, Msg: "this is a directory, not a file"}
}

// OpenSeekable opens a file that can be read in any order, which a pipe cannot.
func OpenSeekable(path string) (*os.File, int64, error) {
	f, size, err := openFile(path)
	if err != nil {
		return nil, 0, err
	}
	if _, err := f.Seek(0, io.SeekCurrent); err != nil {
		f.Close()
		return nil, 0, &Error{File: path, Msg: "this is a pipe, which cannot be read in any order: write it to a file first", Err: err}
	}
	return f, size, nil
}

// OpenError returns an error that says why path was not opened, without naming it twice.
func OpenError(path string, err error) error {
	msg := "cannot open: " + err.Error()
	var at *fs.PathError
	if errors.Is(err, fs.ErrNotExist) {
		msg = "no such file"
	} else if errors.As(err, &at) {
		msg = "cannot open: " + at.Err.Error()
	}
	return &Error{File: path, Msg: msg, Err: err}
}
