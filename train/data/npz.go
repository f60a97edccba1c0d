package data

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

	"gorgonia.org/tensor"
)

// NPZ is an archive of arrays that NumPy saved with savez or savez_compressed: a zip
// file of .npy files, of which each is read when it is asked for.
type NPZ struct {
	file    string
	opts    []Option
	members map[string]*zip.File
	names   []string
	size    int64
	closer  io.Closer
}

// OpenNPZ opens the archive at path as ReadNPZ does; Close it in the end.
func OpenNPZ(path string, opts ...Option) (*NPZ, error) {
	f, size, err := openSeekable(path)
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

// ReadNPZ reads the directory of an archive of size bytes; name is what errors call
// it. Members that are no .npy files are left out. It takes MaxBytes, which limits
// the archive and each array when it is decompressed, and MaxCells.
func ReadNPZ(name string, r io.ReaderAt, size int64, opts ...Option) (*NPZ, error) {
	cfg := newConfig(arrays, opts)
	if cfg.err == "" && r == nil {
		cfg.err = "there is no reader to read from"
	}
	if cfg.err == "" && size > cfg.maxBytes {
		cfg.err = tooLong(cfg.maxBytes)
	}
	if cfg.err != "" {
		return nil, &Error{File: name, Msg: cfg.err}
	}
	archive, err := zip.NewReader(r, size)
	if err != nil {
		return nil, &Error{File: name, Msg: "not a zip archive: " + err.Error(), Err: err}
	}
	z := &NPZ{file: name, opts: opts, size: size, members: map[string]*zip.File{}}
	for _, f := range archive.File {
		array, ok := strings.CutSuffix(f.Name, ".npy")
		if !ok {
			continue
		}
		if z.members[array] != nil {
			return nil, &Error{File: name, Msg: "two arrays are named " + quote(array)}
		}
		z.members[array] = f
		z.names = append(z.names, array)
	}
	return z, nil
}

// Names returns the names of the arrays in the order of the archive.
func (z *NPZ) Names() []string { return slices.Clone(z.names) }

// Array reads the array of that name as ReadNPY does, and checks its checksum.
func (z *NPZ) Array(name string) (*tensor.Dense, error) {
	z = orZero(z)
	member := z.members[name]
	if member == nil {
		return nil, &Error{File: z.file, Msg: fmt.Sprintf("no array %s%s", quote(name), didYouMean(name, z.names))}
	}
	file := z.file + "/" + member.Name
	r, err := member.Open()
	if err != nil {
		return nil, &Error{File: file, Msg: "cannot read: " + err.Error(), Err: err}
	}
	defer r.Close()
	cfg, in := newConfig(arrays, z.opts), io.Reader(r)
	if member.Method != zip.Store {
		packed := int64(min(member.CompressedSize64, uint64(z.size))) // the archive is as long as that
		in = cfg.doubting(r, func() int64 { return packed })
	}
	b, err := newBinaryReader(file, in, cfg)
	if err != nil {
		return nil, err
	}
	if member.Method == zip.Store && member.UncompressedSize64 <= uint64(z.size) {
		b.size = int64(member.UncompressedSize64)
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

// NPZWriter writes an archive of arrays that numpy.load reads. Equal arrays give equal
// bytes: no time is written.
type NPZWriter struct {
	zip    *zip.Writer
	method uint16
	names  map[string]bool
}

// NewNPZWriter begins an archive; compressed says whether the arrays are deflated.
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

// Write adds an array under a name, which must not be empty nor have come before.
func (z *NPZWriter) Write(name string, t *tensor.Dense) error {
	if z == nil || z.zip == nil {
		return noWriter()
	}
	if name == "" || !utf8.ValidString(name) || strings.ContainsRune(name, 0) || len(name) > 1<<10 {
		return &Error{Msg: quote(name) + " cannot name an array"}
	}
	if z.names[name] {
		return &Error{Msg: "two arrays are named " + quote(name)}
	}
	t, err := gapless(t)
	if err != nil {
		return err
	}
	if _, _, ok := encoder(t); !ok { // before a member is begun that would stay empty
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

// Close writes the archive's directory; what w stands for is not closed.
func (z *NPZWriter) Close() error {
	if z == nil || z.zip == nil {
		return noWriter()
	}
	return z.zip.Close()
}
