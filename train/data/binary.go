package data

import (
	"bytes"
	"fmt"
	"io"
	"os"
	"strings"
)

// binaryReader reads a binary file front to back, within a limit, and knows where it is.
type binaryReader struct {
	r        io.Reader
	file     string
	cfg      config
	offset   int64
	size     int64 // bytes of the whole file, where known; −1 otherwise
	maxBytes int64
}

func newBinaryReader(file string, r io.Reader, cfg config) (*binaryReader, error) {
	if cfg.err == "" && r == nil {
		cfg.err = "there is no reader to read from"
	}
	b := &binaryReader{r: r, file: file, cfg: cfg, size: sizeOf(r), maxBytes: cfg.maxBytes}
	if cfg.err == "" && b.size > cfg.maxBytes {
		cfg.err = tooLong(cfg.maxBytes)
	}
	if cfg.err != "" {
		return nil, &Error{File: file, Msg: cfg.err}
	}
	return b, nil
}

// newUnpackedReader reads what may be compressed by gzip.
func newUnpackedReader(file string, r io.Reader, cfg config) (*binaryReader, error) {
	b, err := newBinaryReader(file, r, cfg)
	if err != nil {
		return nil, err
	}
	compressed := false
	if b.r, compressed, err = unpacked(file, r, cfg); err != nil {
		return nil, err
	}
	if compressed {
		b.size = -1
	}
	return b, nil
}

func tooLong(limit int64) string {
	return fmt.Sprintf("the file is longer than %d bytes; MaxBytes sets the limit", limit)
}

// sizeOf is what a reader is known to hold still, or −1: memory for so much may be
// taken at once.
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

// errorf blames what begins at the given byte.
func (b *binaryReader) errorf(at int64, format string, args ...any) *Error {
	return &Error{File: b.file, Offset: at, Msg: fmt.Sprintf(format, args...)}
}

// fill reads len(p) bytes; what says of which part of the file they are.
func (b *binaryReader) fill(p []byte, what string) error {
	n, err := b.read(p)
	if err == io.EOF {
		return b.errorf(b.offset, "the file ends within %s: %d of %d bytes are there", what, n, len(p))
	}
	return err
}

// read fills p as far as the file goes; io.EOF says that p is not full. (io.ReadFull
// would give the same error for a file that ends and a compressed one that breaks off.)
func (b *binaryReader) read(p []byte) (n int, err error) {
	for idle := 0; n < len(p) && err == nil; idle++ {
		var k int
		if k, err = b.r.Read(p[n:]); k > 0 {
			n, idle = n+k, 0
		} else if err == nil && idle == 100 {
			err = io.ErrNoProgress
		}
	}
	b.offset += int64(n)
	switch {
	case b.offset > b.maxBytes:
		return n, b.errorf(0, "%s", tooLong(b.maxBytes))
	case n == len(p):
		return n, nil
	case err == io.EOF:
		return n, err
	}
	e := b.errorf(b.offset, "cannot read: %v", err)
	e.Err = err
	return n, e
}

// end checks that nothing follows.
func (b *binaryReader) end() error {
	var one [1]byte
	switch _, err := b.read(one[:]); err {
	case nil:
		return b.errorf(b.offset-1, "bytes follow the last element")
	case io.EOF:
		return nil
	default:
		return err
	}
}

// elements checks a shape that a header claims before any memory is taken for it, and
// returns how many elements it has.
func (b *binaryReader) elements(shape []int64) (int, error) {
	const maxRank = 8 // as of a node of a graph
	if len(shape) > maxRank {
		return 0, b.errorf(0, "the array has %d axes; at most %d are read", len(shape), maxRank)
	}
	n := int64(1)
	for _, size := range shape {
		if size < 1 {
			return 0, b.errorf(0, "an array of shape %v has no elements, which no tensor holds", shape)
		}
		if n > int64(b.cfg.maxCells)/size {
			return 0, b.errorf(0, "an array of shape %v has more than %d elements; MaxCells sets the limit", shape, b.cfg.maxCells)
		}
		n *= size
	}
	return int(n), nil
}
