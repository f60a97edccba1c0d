package input

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// GzipMagic begins a file that gzip has compressed, and nothing else that is read here:
// it is no UTF-8.
const GzipMagic = "\x1f\x8b"

// unpacked gives what r holds, decompressed if it is compressed by gzip. What comes out is
// for the caller to limit, but for what no honest file holds; what goes in is limited here,
// for there may be no end of bytes of which nothing comes.
func unpacked(file string, r io.Reader, cfg Config) (_ io.Reader, compressed bool, err error) {
	buffered := bufio.NewReaderSize(r, 16) // the least: longer reads go past it
	start, err := buffered.Peek(len(GzipMagic))
	var z *gzip.Reader
	in := &packed{buffered, cfg.MaxBytes, cfg.MaxBytes}
	if compressed = string(start) == GzipMagic; compressed {
		z, err = gzip.NewReader(in)
	}
	switch {
	case err != nil && (compressed || err != io.EOF): // else the file is short
		err = cut(err)
		return nil, false, &Error{File: file, Msg: "cannot read: " + err.Error(), Err: err}
	case compressed:
		return cfg.Doubting(unpacker{z}, in.read), true, nil
	}
	return buffered, false, nil
}

// A compressed file may come to mostExpansion times what was read of it, and to trustedBytes
// in any case. Texts and numbers shrink to a tenth, sparse ones to a fiftieth; what shrinks to
// a thousandth says nothing, or is made to take the memory of whoever reads it.
const (
	mostExpansion = 100
	TrustedBytes  = 16 << 20
)

// Doubting limits what comes out of a compressed file by what has gone in, unless MaxBytes
// says how much it may be.
func (c *Config) Doubting(r io.Reader, in func() int64) io.Reader {
	if c.Trusted {
		return r
	}
	return &doubter{r: r, in: in}
}

type doubter struct {
	r   io.Reader
	in  func() int64
	out int64
}

func (d *doubter) Read(p []byte) (int, error) {
	n, err := d.r.Read(p)
	if d.out += int64(n); d.out > TrustedBytes && d.out/mostExpansion > d.in() {
		return 0, fmt.Errorf("the file is longer than %d bytes and %d times its compressed size; unpack it first, or let MaxBytes say how long it may be",
			TrustedBytes, mostExpansion)
	}
	return n, err
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

// read is the number of bytes that were read.
func (p *packed) read() int64 { return p.limit - p.left }

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.left -= int64(n); p.left < 0 {
		return n, errors.New(TooLong(p.limit))
	}
	return n, err
}
