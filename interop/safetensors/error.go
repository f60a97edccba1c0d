package safetensors

import (
	"errors"
	"fmt"
	"strings"
)

var (
	// ErrFormat is wrapped by every error about bytes that this package does not take for a
	// safetensors file: cut off, overlapping, not JSON, of an unknown type, or beyond a limit.
	ErrFormat = errors.New("malformed file")
	// ErrChecksum is wrapped by the error for a checksum that is not that of the file, is damaged
	// itself, or is missing although it is required.
	ErrChecksum = errors.New("wrong checksum")
)

// Error is a mistake in a file, located as far as possible. Its text is one line:
//
//	model.safetensors: byte 8: tensor "w": shape [2 3] of F32 takes 24 bytes, but data_offsets give 20
type Error struct {
	File   string // "" if the reader or writer has no name
	Offset int64  // byte of the file, from 0; -1 if the mistake is at no byte
	Tensor string // "" if the mistake is in no tensor
	Msg    string // what is wrong
	Err    error  // ErrFormat, ErrChecksum, the cause from another package, or nil
}

// Error returns one line, FILE: byte OFFSET: tensor NAME: mistake.
func (e *Error) Error() string {
	var b strings.Builder
	if e.File != "" {
		b.WriteString(e.File + ": ")
	}
	if e.Offset >= 0 {
		fmt.Fprintf(&b, "byte %d: ", e.Offset)
	}
	if e.Tensor != "" {
		fmt.Fprintf(&b, "tensor %.60q: ", e.Tensor)
	}
	b.WriteString(e.Msg)
	return oneLine.Replace(b.String())
}

// Unwrap returns the cause, so that errors.Is(err, fs.ErrNotExist) works.
func (e *Error) Unwrap() error { return e.Err }

// oneLine keeps file names and foreign messages from breaking the line.
var oneLine = strings.NewReplacer("\r", " ", "\n", " ")

// malformed returns an error about the bytes of a file.
func malformed(offset int64, tensor, format string, args ...any) *Error {
	return &Error{Offset: offset, Tensor: tensor, Msg: fmt.Sprintf(format, args...), Err: ErrFormat}
}

// in sets the name of the file in an error of this package.
func in(name string, err error) error {
	var e *Error
	if errors.As(err, &e) {
		e.File = name
	}
	return err
}

// nameOf returns the name of the file that is read or written, if it has one, as *os.File does.
func nameOf(x any) string {
	if n, ok := x.(interface{ Name() string }); ok {
		return n.Name()
	}
	return ""
}
