package array

import (
	"archive/zip"
	"errors"
	"fmt"
	"io"
	"os"
	"slices"
	"strings"
	"time"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"gorgonia.org/tensor"
)

// NPZ is an archive of arrays that NumPy saved with savez or savez_compressed: a zip file of .npy
// files, each of which is read when it is asked for.
type NPZ struct {
	file    string
	opts    []input.Option
	members map[string]*zip.File
	names   []string
	size    int64
	closer  io.Closer
}

// OpenNPZ opens the archive at path, as [ReadNPZ] does. Close closes it.
func OpenNPZ(path string, opts ...input.Option) (*NPZ, error) {
	f, size, err := input.OpenSeekable(path)
	if err != nil {
		return nil, err
	}
	z, err := ReadNPZ(path, f, size, opts...)
	if err != nil {
		f.Close()
		return nil, err
	}
	z.closer = f
	return z, nil
}

// ReadNPZ reads the directory of an archive of size bytes. Errors call it name. Members that are
// not .npy files are left out. It takes MaxBytes, which limits the archive and each decompressed
// array, and MaxCells.
func ReadNPZ(name string, r io.ReaderAt, size int64, opts ...input.Option) (*NPZ, error) {
	cfg := input.NewConfig(input.Arrays, opts)
	if cfg.Err == "" && r == nil {
		cfg.Err = "there is no reader to read from"
	}
	if cfg.Err == "" && size > cfg.MaxBytes {
		cfg.Err = input.TooLong(cfg.MaxBytes)
	}
	if cfg.Err != "" {
		return nil, &input.Error{File: name, Msg: cfg.Err}
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &input.Error{File: name, Msg: "not a zip archive: " + err.Error(), Err: err}
	}
	z := &NPZ{file: name, opts: opts, size: size, members: map[string]*zip.File{}}
	for _, f := range archive.File {
		array, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if z.members[array] != nil {
			return nil, &input.Error{File: name, Msg: "two arrays are named " + input.Quote(array)}
		}
		z.members[array] = f
		z.names = append(z.names, array)
	}
	return z, nil
}

// Names returns the names of the arrays, in the order of the archive.
func (z *NPZ) Names() []string { return slices.Clone(z.names) }

// Array reads the array of that name, as [ReadNPY] does, and checks its checksum. A name that the
// archive lacks is an *Error.
func (z *NPZ) Array(name string) (*tensor.Dense, error) {
	z = input.OrZero(z)
	member := z.members[name]
	if member == nil {
		return nil, &input.Error{File: z.file, Msg: fmt.Sprintf("no array %s%s", input.Quote(name), input.DidYouMean(name, z.names))}
	}
	file := z.file + "/" + member.Name
	r, err := member.Open()
	if err != nil {
		return nil, &input.Error{File: file, Msg: "cannot read: " + err.Error(), Err: err}
	}
	defer r.Close()
	cfg, in := input.NewConfig(input.Arrays, z.opts), io.Reader(r)
	if member.Method != zip.Store {
		packed := int64(min(member.CompressedSize64, uint64(z.size))) // the archive is as long as that
		in = cfg.Doubting(r, func() int64 { return packed })
	}
	b, err := input.NewBinary(file, in, cfg)
	if err != nil {
		return nil, err
	}
	if member.Method == zip.Store && member.UncompressedSize64 <= uint64(z.size) {
		b.Size = int64(member.UncompressedSize64)
	}
	return readNPY(b)
}

// Close closes the file that OpenNPZ opened.
func (z *NPZ) Close() error {
	if z == nil || z.closer == nil {
		return nil
	}
	if err := z.closer.Close(); err != nil && !errors.Is(err, os.ErrClosed) {
		return err
	}
	return nil
}

// NPZWriter writes an archive of arrays that numpy.load reads. Equal arrays give equal bytes: no
// time is written.
type NPZWriter struct {
	zip    *zip.Writer
	method uint16
	names  map[string]bool
}

// NewNPZWriter begins an archive. If compressed, the arrays are deflated.
func NewNPZWriter(w io.Writer, compressed bool) *NPZWriter {
	z := &NPZWriter{method: zip.Store, names: map[string]bool{}}
	if w != nil {
		z.zip = zip.NewWriter(w)
	}
	if compressed {
		z.method = zip.Deflate
	}
	return z
}

// Write adds an array, as [WriteNPY] does, under a name that is not empty and not taken.
func (z *NPZWriter) Write(name string, t *tensor.Dense) error {
	if z == nil || z.zip == nil {
		return input.NoWriter()
	}
	if name == "" || !utf8.ValidString(name) || strings.ContainsRune(name, 0) || len(name) > 1<<10 {
		return &input.Error{Msg: input.Quote(name) + " cannot name an array"}
	}
	if z.names[name] {
		return &input.Error{Msg: "two arrays are named " + input.Quote(name)}
	}
	t, err := encoding.Gapless(t)
	if err != nil {
		return err
	}
	if _, _, ok := encoding.Encoder(t); !ok { // before a member is begun that would stay empty
		return WriteNPY(io.Discard, t)
	}
	z.names[name] = true
	w, err := z.zip.CreateHeader(&zip.FileHeader{
		Name: name + ".npy", Method: z.method,
		Modified: time.Date(1980, 1, 1, 0, 0, 0, 0, time.UTC), // the earliest that a zip file can say
	})
	if err != nil {
		return err
	}
	return WriteNPY(w, t)
}

// Close writes the archive's directory. It does not close the underlying writer.
func (z *NPZWriter) Close() error {
	if z == nil || z.zip == nil {
		return input.NoWriter()
	}
	return z.zip.Close()
}
