package format

import (
	"bytes"
	"io"
)

// Raw is a run of bytes that need not be in memory.
type Raw struct {
	size int64
	open func() (io.Reader, error)
}

// Bytes returns b as a run of bytes.
func Bytes(b []byte) Raw {
	return Raw{int64(len(b)), func() (io.Reader, error) { return bytes.NewReader(b), nil }}
}

// Stream returns size bytes that open gives a reader of, once for each use.
func Stream(size int64, open func() (io.Reader, error)) Raw { return Raw{size, open} }

// Len returns the number of bytes.
func (r Raw) Len() int64 { return r.size }

// Open returns a reader of the bytes, to be read to the last of them.
func (r Raw) Open() (io.Reader, error) {
	if r.open == nil || r.size == 0 {
		return bytes.NewReader(nil), nil
	}
	return r.open()
}

// Read returns the bytes.
func (r Raw) Read() ([]byte, error) {
	from, err := r.Open()
	if err != nil {
		return nil, err
	}
	b := make([]byte, r.size)
	if _, err := io.ReadFull(from, b); err != nil {
		return nil, err
	}
	return b, nil
}

// copyTo writes the bytes.
func (r Raw) copyTo(w io.Writer) error {
	from, err := r.Open()
	if err != nil {
		return err
	}
	n, err := io.CopyN(w, from, r.size)
	if err == io.EOF && n < r.size {
		err = io.ErrUnexpectedEOF
	}
	return err
}
