package input

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
)

// Binary reads a binary file from front to back, within a limit, and knows its position.
type Binary struct {
	r        io.Reader
	file     string
	Config   Config
	Offset   int64
	Size     int64 // bytes of the whole file, where known; −1 otherwise
	maxBytes int64
}

// NewBinary returns a reader of r. It is an error if r is nil or known to exceed the limit.
func NewBinary(file string, r io.Reader, cfg Config) (*Binary, error) {
	if cfg.Err == "" && r == nil {
		cfg.Err = "there is no reader to read from"
	}
	b := &Binary{r: r, file: file, Config: cfg, Size: sizeOf(r), maxBytes: cfg.MaxBytes}
	if cfg.Err == "" && b.Size > cfg.MaxBytes {
		cfg.Err = TooLong(cfg.MaxBytes)
	}
	if cfg.Err != "" {
		return nil, &Error{File: file, Msg: cfg.Err}
	}
	return b, nil
}

// NewUnpacked is NewBinary for a file that gzip may have compressed.
func NewUnpacked(file string, r io.Reader, cfg Config) (*Binary, error) {
	b, err := NewBinary(file, r, cfg)
	if err != nil {
		return nil, err
	}
	compressed := false
	if b.r, compressed, err = unpacked(file, r, cfg); err != nil {
		return nil, err
	}
	if compressed {
		b.Size = -1
	}
	return b, nil
}

// TooLong returns the message for a file longer than limit bytes.
func TooLong(limit int64) string {
	return fmt.Sprintf("the file is longer than %d bytes; MaxBytes sets the limit", limit)
}

// sizeOf returns the number of bytes that r is known to have left, or −1. Memory for so much may be
// allocated at once.
func sizeOf(r io.Reader) int64 {
	switch r := r.(type) {
	case *bytes.Reader:
		return int64(r.Len())
	case *bytes.Buffer:
		return int64(r.Len())
	case *strings.Reader:
		return int64(r.Len())
	case *os.File:
		info, err := r.Stat()
		if err != nil || !info.Mode().IsRegular() {
			return -1
		}
		at, err := r.Seek(0, io.SeekCurrent)
		if err != nil {
			return -1
		}
		return max(info.Size()-at, 0)
	}
	return -1
}

// Errorf returns an error at the given byte.
func (b *Binary) Errorf(at int64, format string, args ...any) *Error {
	return &Error{File: b.file, Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// Fill reads len(p) bytes; what names that part of the file in errors.
func (b *Binary) Fill(p []byte, what string) error {
	n, err := b.Read(p)
	if err == io.EOF {
		return b.Errorf(b.Offset, "the file ends within %s: %d of %d bytes are there", what, n, len(p))
	}
	return err
}

// Read fills p, or returns io.EOF if the file ends before p is full. (io.ReadFull would give the
// same error for a file that ends and for a compressed one that is cut off.)
func (b *Binary) Read(p []byte) (n int, err error) {
	for idle := 0; n < len(p) && err == nil; idle++ {
		var k int
		if k, err = b.r.Read(p[n:]); k > 0 {
			n, idle = n+k, 0
		} else if err == nil && idle == 100 {
			err = io.ErrNoProgress
		}
	}
	b.Offset += int64(n)
	switch {
	case b.Offset > b.maxBytes:
		return n, b.Errorf(0, "%s", TooLong(b.maxBytes))
	case n == len(p):
		return n, nil
	case err == io.EOF:
		return n, err
	}
	e := b.Errorf(b.Offset, "cannot read: %v", err)
	e.Err = err
	return n, e
}

// End returns an error unless the file ends here.
func (b *Binary) End() error {
	var one [1]byte
	switch _, err := b.Read(one[:]); err {
	case nil:
		return b.Errorf(b.Offset-1, "bytes follow the last element")
	case io.EOF:
		return nil
	default:
		return err
	}
}

// Elements returns the number of elements of a shape that a header claims, which it checks before
// any memory is allocated for it.
func (b *Binary) Elements(shape []int64) (int, error) {
	const maxRank = 8 // that of a node of a graph
	if len(shape) > maxRank {
		return 0, b.Errorf(0, "the array has %d axes; at most %d are read", len(shape), maxRank)
	}
	n := int64(1)
	for _, size := range shape {
		if size < 0 {
			return 0, b.Errorf(0, "an array of shape %v: want sizes of at least 0", shape)
		}
		if size > 0 && n > int64(b.Config.MaxCells)/size {
			return 0, b.Errorf(0, "an array of shape %v has more than %d elements; MaxCells sets the limit", shape, b.Config.MaxCells)
		}
		n *= max(1, size)
	}
	if slices.Contains(shape, 0) {
		return 0, nil
	}
	return int(n), nil
}
