package input

import (
	"bufio"
	"compress/gzip"
	"errors"
	"fmt"
	"io"
)

// GzipMagic begins every file that gzip has compressed. It is not UTF-8, so no text begins with it.
const GzipMagic = "\x1f\x8b"

// unpacked returns a reader of what r holds, decompressed if gzip has compressed it. The caller
// limits what comes out, beyond the limits of doubting; what goes in is limited here, because
// endless input may decompress to nothing.
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

// A compressed file may expand to maxExpansion times the bytes read of it, and to TrustedBytes in
// any case. Texts and numbers shrink to a tenth, sparse ones to a fiftieth; a file that shrinks to
// a thousandth holds nothing, or is made to exhaust the reader's memory.
const (
	maxExpansion = 100
	TrustedBytes = 16 << 20
)

// Doubting limits what r, which decompresses, returns by the number of bytes that it has read, in,
// unless MaxBytes was given.
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
	if d.out += int64(n); d.out > TrustedBytes && d.out/maxExpansion > d.in() {
		return 0, fmt.Errorf("the file is longer than %d bytes and %d times its compressed size; unpack it first, or let MaxBytes say how long it may be",
			TrustedBytes, maxExpansion)
	}
	return n, err
}

type unpacker struct{ *gzip.Reader }

func (u unpacker) Read(p []byte) (int, error) {
	n, err := u.Reader.Read(p)
	return n, cut(err)
}

// cut explains gzip's io.ErrUnexpectedEOF.
func cut(err error) error {
	if err == io.ErrUnexpectedEOF {
		return fmt.Errorf("the compressed file ends too early: %w", err)
	}
	return err
}

// packed reads a compressed file, up to a limit.
type packed struct {
	r           io.Reader
	left, limit int64
}

// read returns the number of bytes that were read.
func (p *packed) read() int64 { return p.limit - p.left }

func (p *packed) Read(b []byte) (int, error) {
	n, err := p.r.Read(b)
	if p.left -= int64(n); p.left < 0 {
		return n, errors.New(TooLong(p.limit))
	}
	return n, err
}
