// Package datatest has files and checks for the tests of the packages that read data.
package datatest

import (
	"archive/zip"
	"bytes"
	"compress/gzip"
	"errors"
	"io"
	"reflect"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// WantError fails unless err is an *Error of exactly this one-line text.
func WantError(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil {
		t.Fatalf("no error, want: %s", want)
	}
	var e *input.Error
	if !errors.As(err, &e) {
		t.Errorf("%T is not an *Error", err)
	}
	if err.Error() != want {
		t.Errorf("got  %s\nwant %s", err, want)
	}
	if strings.ContainsAny(err.Error(), "\r\n") {
		t.Errorf("%q is more than a line", err)
	}
}

// Gzipped returns a text compressed by gzip.
func Gzipped(text string) string {
	var b bytes.Buffer
	z := gzip.NewWriter(&b)
	io.WriteString(z, text)
	z.Close()
	return b.String()
}

// Dense returns a tensor of the given elements.
func Dense[T any](x []T, shape ...int) *tensor.Dense {
	return tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))
}

// SameTensor compares shape, type and elements; the elements may be a scalar's.
func SameTensor(a, b *tensor.Dense) bool {
	return a.Dtype() == b.Dtype() && reflect.DeepEqual([]int(a.Shape()), []int(b.Shape())) && reflect.DeepEqual(a.Data(), b.Data())
}

// IsLocated says whether an error is one line of an *Error about the file.
func IsLocated(err error, file string) bool {
	var e *input.Error
	return errors.As(err, &e) && strings.HasPrefix(err.Error(), file) && !strings.ContainsAny(err.Error(), "\r\n")
}

// NpyText is a file with the given header.
func NpyText(header string, data string) string {
	return encoding.NPYMagic + "\x01\x00" + string([]byte{byte(len(header)), byte(len(header) >> 8)}) + header + data
}

// Members makes a zip file by hand.
func Members(t *testing.T, method uint16, content ...string) []byte {
	t.Helper()
	var b bytes.Buffer
	z := zip.NewWriter(&b)
	for i := 0; i < len(content); i += 2 {
		w, err := z.CreateHeader(&zip.FileHeader{Name: content[i], Method: method})
		if err != nil {
			t.Fatal(err)
		}
		if _, err := io.WriteString(w, content[i+1]); err != nil {
			t.Fatal(err)
		}
	}
	if err := z.Close(); err != nil {
		t.Fatal(err)
	}
	return b.Bytes()
}

// FailingWriter fails with err.
type FailingWriter struct{ Err error }

func (w FailingWriter) Write([]byte) (int, error) { return 0, w.Err }
