package safetensors

import (
	"bytes"
	"crypto/sha256"
	"encoding/binary"
	"errors"
	"hash"
	"io"
	"maps"
	"os"
	"reflect"
	"slices"
	"sync"

	"github.com/tapestry-ml/tapestry/internal/vacant"
	"gorgonia.org/tensor"
)

const bufferSize = 1 << 16 // bytes that are encoded or decoded at a time

// Option is an option of reading.
type Option func(*config)

type config struct {
	maxHeader, maxBytes int64
	requireChecksum     bool
}

// MaxHeader limits the bytes of the header. The default, and the format's own limit, is 100
// million.
func MaxHeader(n int64) Option { return func(c *config) { c.maxHeader = n } }

// MaxBytes limits the bytes of all tensors together. The default is 2³⁶ (64 GiB).
func MaxBytes(n int64) Option { return func(c *config) { c.maxBytes = n } }

// RequireChecksum refuses a file that has no checksum.
func RequireChecksum() Option { return func(c *config) { c.requireChecksum = true } }

func newConfig(options []Option) config {
	c := config{maxHeader: mostHeader, maxBytes: 1 << 36}
	for _, option := range options {
		if option != nil {
			option(&c)
		}
	}
	return c
}

var errNoReader = &Error{Offset: -1, Msg: "there is nothing to read from: the reader is nil"}

// ready returns an error if there is nothing to read.
func (r *Reader) ready() error {
	if r == nil || r.r == nil {
		return errNoReader
	}
	return nil
}

// Read reads a file from r to its end, and checks its checksum if it has one. The memory of a
// tensor grows as it arrives, by doubling; [ReadFile] and [Reader.File], which know the length of
// the file, allocate it at once.
func Read(r io.Reader, options ...Option) (*File, error) {
	if r == nil {
		return nil, errNoReader
	}
	f, err := newSource(r, -1).file(newConfig(options))
	return f, in(nameOf(r), err)
}

// ReadFile reads the file at path, and checks its checksum if it has one.
func ReadFile(path string, options ...Option) (*File, error) {
	r, err := Open(path, options...)
	if err != nil {
		return nil, err
	}
	defer r.Close()
	return r.File()
}

// Reader reads the tensors of a file one by one. Its methods may be called concurrently if its
// io.ReaderAt allows that, as *os.File does.
type Reader struct {
	r      io.ReaderAt
	size   int64
	name   string
	config config
	header *header
	close  func() error

	once   sync.Once
	places map[string]int // of the tensors in the header, by name
}

// Open opens the file at path and reads its header. Data that are missing or too long are an error;
// only Verify and File check the checksum. The caller must Close the reader.
func Open(path string, options ...Option) (*Reader, error) {
	f, err := os.Open(path)
	if err != nil {
		return nil, &Error{File: path, Offset: -1, Msg: "cannot open: " + cause(err), Err: err}
	}
	info, err := f.Stat()
	if err == nil && info.IsDir() {
		err = errors.New("it is a directory")
	}
	if err != nil {
		f.Close()
		return nil, &Error{File: path, Offset: -1, Msg: "cannot open: " + cause(err), Err: err}
	}
	r, err := NewReader(f, info.Size(), options...)
	if err != nil {
		f.Close()
		return nil, err
	}
	r.close = f.Close
	return r, nil
}

// cause returns the text of an error without the path, which the message has already.
func cause(err error) string {
	var e *os.PathError
	if errors.As(err, &e) {
		return e.Err.Error()
	}
	return err.Error()
}

// NewReader reads the header of a file of size bytes from r.
func NewReader(r io.ReaderAt, size int64, options ...Option) (*Reader, error) {
	if r == nil {
		return nil, errNoReader
	}
	out := &Reader{r: r, size: size, name: nameOf(r), config: newConfig(options)}
	h, _, err := out.source().header(out.config)
	if err != nil {
		return nil, in(out.name, err)
	}
	out.header = h
	return out, nil
}

func (r *Reader) source() *source { return newSource(io.NewSectionReader(r.r, 0, r.size), r.size) }

// Close closes the file that Open opened.
func (r *Reader) Close() error {
	if r == nil || r.close == nil {
		return nil
	}
	return r.close()
}

// Metadata returns a copy of the file's metadata, nil if it has none.
func (r *Reader) Metadata() map[string]string { return maps.Clone(r.header.metadata) }

// Infos returns the descriptions of the tensors, in the order of their data.
func (r *Reader) Infos() []Info {
	infos := slices.Clone(r.header.tensors)
	for i := range infos {
		infos[i].Shape = slices.Clone(infos[i].Shape)
	}
	return infos
}

// Tensor reads the tensor called name. It does not check the checksum, as [Reader.Verify] does. A
// name that the file does not have is an error.
func (r *Reader) Tensor(name string) (*tensor.Dense, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	r.once.Do(func() {
		r.places = make(map[string]int, len(r.header.tensors))
		for i, t := range r.header.tensors {
			r.places[t.Name] = i
		}
	})
	i, there := r.places[name]
	if !there {
		return nil, &Error{File: r.name, Offset: -1, Tensor: name, Msg: "the file has no such tensor"}
	}
	info := r.header.tensors[i]
	s := newSource(io.NewSectionReader(r.r, info.Offset, info.Size), r.size)
	s.offset = info.Offset
	t, err := s.tensor(info)
	return t, in(r.name, err)
}

// File reads the whole file, and checks its checksum if it has one.
func (r *Reader) File() (*File, error) {
	if err := r.ready(); err != nil {
		return nil, err
	}
	f, err := r.source().file(r.config)
	return f, in(r.name, err)
}

// Verify reads the whole file, without keeping anything, and compares it with its checksum. The
// error for a file without a checksum wraps [ErrChecksum].
func (r *Reader) Verify() error {
	if err := r.ready(); err != nil {
		return err
	}
	s, c := r.source(), r.config
	c.requireChecksum = true
	h, sum, err := s.header(c)
	for err == nil && s.offset < h.end {
		err = s.full(s.buf[:min(h.end-s.offset, bufferSize)])
	}
	if err == nil {
		err = s.compare(h, sum)
	}
	return in(r.name, err)
}

// source is a file that is read from its beginning to its end.
type source struct {
	r      io.Reader
	size   int64     // of the file; -1 if it is not known
	offset int64     // of the next byte
	sum    hash.Hash // of the bytes read so far; nil if there is no checksum
	buf    []byte
}

func newSource(r io.Reader, size int64) *source {
	return &source{r: r, size: size, buf: make([]byte, bufferSize)}
}

// full reads len(b) bytes into b.
func (s *source) full(b []byte) error {
	n, err := io.ReadFull(s.r, b)
	if s.offset += int64(n); err != nil {
		return s.cut(err)
	}
	if s.sum != nil {
		s.sum.Write(b)
	}
	return nil
}

// cut returns the error for reading that stopped too early, at the file's end or by a failure.
func (s *source) cut(err error) error {
	if err == io.EOF || err == io.ErrUnexpectedEOF {
		return malformed(s.offset, "", "the file ends too early")
	}
	return &Error{Offset: s.offset, Msg: "cannot read: " + cause(err), Err: err}
}

// header reads the part before the data, and returns the checksum's digits, or "" if there are
// none. If there are, the sum of all that follows is computed.
func (s *source) header(c config) (h *header, sum string, err error) {
	var length [8]byte
	if err := s.full(length[:]); err != nil {
		return nil, "", err
	}
	n := binary.LittleEndian.Uint64(length[:])
	if n > uint64(max(0, c.maxHeader)) {
		return nil, "", malformed(0, "", "a header of %d bytes is claimed; at most %d are read (MaxHeader)", n, c.maxHeader)
	}
	if s.size >= 0 && int64(n) > s.size-8 {
		return nil, "", malformed(0, "", "a header of %d bytes is claimed, but the file has %d", n, s.size)
	}
	var text bytes.Buffer // grows as bytes arrive, as the length may be wrong
	got, err := io.CopyN(&text, s.r, int64(n))
	if s.offset += got; err != nil {
		return nil, "", s.cut(err)
	}
	h, err = parseHeader(text.Bytes())
	switch {
	case err != nil:
		return nil, "", err
	case h.end-h.begin > c.maxBytes:
		return nil, "", malformed(8, "", "the tensors take %d bytes; at most %d are read (MaxBytes)", h.end-h.begin, c.maxBytes)
	case s.size >= 0 && h.end != s.size:
		return nil, "", malformed(8, "", "the header describes a file of %d bytes, but it has %d", h.end, s.size)
	case h.digits == 0 && c.requireChecksum:
		return nil, "", &Error{Offset: -1, Msg: "the file has no checksum", Err: ErrChecksum}
	case h.digits > 0:
		digits := text.Bytes()[h.digits-8:][:sumDigits]
		sum = string(digits)
		copy(digits, zeros)
		s.sum = sha256.New()
		s.sum.Write(length[:])
		s.sum.Write(text.Bytes())
	}
	return h, sum, nil
}

// file reads the whole file.
func (s *source) file(c config) (*File, error) {
	h, sum, err := s.header(c)
	if err != nil {
		return nil, err
	}
	f := &File{Metadata: h.metadata, places: make(map[string]int, len(h.tensors))}
	for i, info := range h.tensors {
		f.places[info.Name] = i
		t, err := s.tensor(info)
		if err != nil {
			return nil, err
		}
		f.Tensors = append(f.Tensors, Tensor{info.Name, t, told(info.DType)})
	}
	if _, err := io.ReadFull(s.r, s.buf[:1]); err == nil {
		return nil, malformed(s.offset, "", "the file goes on after the last tensor")
	} else if err != io.EOF {
		return nil, s.cut(err)
	}
	if err := s.compare(h, sum); err != nil {
		return nil, err
	}
	return f, nil
}

// tensor reads the tensor whose data begin at the present offset.
func (s *source) tensor(info Info) (*tensor.Dense, error) {
	d := dtypes[rank(info.DType)]
	data, err := d.read(s, int(info.Size/d.size))
	if err != nil {
		var e *Error
		if errors.As(err, &e) {
			e.Tensor = info.Name
		}
		return nil, err
	}
	if info.Size == 0 {
		return vacant.Dense(tensor.Dtype{Type: reflect.TypeOf(data).Elem()}, info.Shape), nil
	}
	return tensor.New(tensor.WithShape(info.Shape...), tensor.WithBacking(data)), nil
}
