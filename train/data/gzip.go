package data

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// gzipMagic begins a file that gzip has compressed, and nothing else that is read here:
// it is no UTF-8.
const gzipMagic = "\x1f\x8b"

// unpacked gives what r holds, decompressed if it is compressed by gzip. What comes out is
// for the caller to limit; what goes in is limited here, for there may be no end of bytes
// of which nothing comes.
func unpacked(file string, r io.Reader, maxBytes int64) (_ io.Reader, compressed bool, err error) {
	buffered := bufio.NewReaderSize(r, 16) // the least: longer reads go past it
	start, err := buffered.Peek(len(gzipMagic))
	var z *gzip.Reader
	if compressed = string(start) == gzipMagic; compressed {
		z, err = gzip.NewReader(&packed{buffered, maxBytes, maxBytes})
	}
	switch {
	case err != nil && (compressed || err != io.EOF): // else the file is short
		err = cut(err)
		return nil, false, &Error{File: file, Msg: "cannot read: " + err.Error(), Err: err}
	case compressed:
		return unpacker{z}, true, nil
	}
	return buffered, false, nil
}

type unpacker struct{ *gzip.Reader }

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	return n, cut(err)
}

// cut says what gzip means by an end that is not expected.
func cut(err error) error {
	if err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the compressed file ends too early: %w", err)
	}
	return err
}

// packed is a compressed file, up to a limit.
type packed struct {
	r           io.Reader
	left, limit int64
}

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.left -= int64(n); p.left < 0 {
		return n, errors.New(tooLong(p.limit))
	}
	return n, err
}
