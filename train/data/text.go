package data

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"
)

// OpenText reads the file at path as ReadText does.
func OpenText(path string, opts ...Option) (string, error) { return open(path, ReadText, opts) }

// ReadText reads a text as it is, or as gzip has compressed it, but for a byte order mark
// at its start, which is dropped; name is what errors call it. What is not UTF-8 is an *Error at its line and
// byte. It takes MaxBytes.
func ReadText(name string, r io.Reader, opts ...Option) (string, error) {
	b, err := newUnpackedReader(name, r, newConfig(texts, opts))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if b.size > 0 {
		text.Grow(int(b.size))
	}
	buf := make([]byte, chunk)
	for {
		n, err := b.read(buf)
		text.Write(buf[:n])
		if err == io.EOF {
			break
		}
		if err != nil {
			return "", err
		}
	}
	if err := checkUTF8(text.String()); err != nil {
		err.File = name
		return "", err
	}
	return strings.TrimPrefix(text.String(), "\ufeff"), nil
}

// checkUTF8 finds the first byte that is not UTF-8.
func checkUTF8(text string) *Error {
	if utf8.ValidString(text) {
		return nil
	}
	for i, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
			return errorInText(text, i, quote(text[i:i+1])+" is not UTF-8 text")
		}
	}
	return nil
}

// errorInText blames what begins at byte i of a text.
func errorInText(text string, i int, msg string) *Error {
	return &Error{Line: 1 + strings.Count(text[:i], "\n"), Offset: int64(i), Msg: msg}
}

// inText adds what else is known to the place of an error.
func inText(err error, prefix string) error {
	var e *Error
	if errors.As(err, &e) {
		e.Msg = prefix + e.Msg
	}
	return err
}
