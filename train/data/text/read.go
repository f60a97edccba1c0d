package text

import (
	"errors"
	"io"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/train/data/internal/input"
)

// Open reads the file at path, as [Read] does.
func Open(path string, opts ...input.Option) (string, error) { return input.Open(path, Read, opts) }

// Read reads a text in UTF-8, which gzip may have compressed, and drops a byte order mark at its
// start. Errors call it name. Bytes that are not UTF-8 are an *Error with line and byte. It takes
// MaxBytes.
func Read(name string, r io.Reader, opts ...input.Option) (string, error) {
	b, err := input.NewUnpacked(name, r, input.NewConfig(input.Texts, opts))
	if err != nil {
		return "", err
	}
	var text strings.Builder
	if b.Size > 0 {
		text.Grow(int(b.Size))
	}
	buf := make([]byte, 64<<10)
	for {
		n, err := b.Read(buf)
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

// checkUTF8 returns an error for the first byte that is not UTF-8.
func checkUTF8(text string) *input.Error {
	if utf8.ValidString(text) {
		return nil
	}
	for i, r := range text {
		if r != utf8.RuneError {
			continue
		}
		if _, size := utf8.DecodeRuneInString(text[i:]); size == 1 {
			return errorInText(text, i, input.Quote(text[i:i+1])+" is not UTF-8 text")
		}
	}
	return nil
}

// errorInText returns an error at byte i of a text.
func errorInText(text string, i int, msg string) *input.Error {
	return &input.Error{Line: 1 + strings.Count(text[:i], "\n"), Offset: int64(i), Msg: msg}
}

// inText puts a prefix before the message of an error.
func inText(err error, prefix string) error {
	var e *input.Error
	if errors.As(err, &e) {
		e.Msg = prefix + e.Msg
	}
	return err
}
