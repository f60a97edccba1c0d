package onnx

import (
	"errors"
	"fmt"
	"io"
	"os"
	"path/filepath"
	"strings"
	"sync"

	"github.com/tapestry-ml/tapestry/internal/terminal"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/importer"
)

// Extension is the ending of the names of ONNX files.
const Extension = ".onnx"

// File is an ONNX model whose structure was read. Its weights are read from the file when a store
// starts, or a constant is made; the file must not change until then. Any number of goroutines may build
// models of it.
type File struct {
	name   string
	model  *format.Model
	meta   metadata
	closer io.Closer

	once   sync.Once
	choice choice // found once: it takes imports
}

// Open reads the structure of an ONNX file. Weights beside it are read from its folder only.
func Open(name string) (*File, error) {
	r, err := os.Open(name)
	if err != nil {
		return nil, err
	}
	info, err := r.Stat()
	if err == nil && !info.Mode().IsRegular() {
		err = errors.New("want a regular file")
	}
	var f *File
	if err == nil {
		f, err = read(r, info.Size(), name, format.Limits{Folder: filepath.Dir(name)})
	}
	if err != nil {
		r.Close()
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	f.closer = r
	return f, nil
}

// Read reads the structure of an ONNX model of size bytes, which name stands for in errors and for
// positions of nodes. Weights outside of it are not read.
func Read(r io.ReaderAt, size int64, name string) (*File, error) {
	if r == nil {
		return nil, errors.New("the reader is nil")
	}
	f, err := read(r, size, name, format.Limits{})
	if err != nil {
		return nil, fmt.Errorf("%s: %w", name, err)
	}
	return f, nil
}

func read(r io.ReaderAt, size int64, name string, limits format.Limits) (*File, error) {
	m, err := format.Read(r, size, limits)
	if at := new(format.Error); errors.As(err, &at) && at.At == 0 {
		return nil, fmt.Errorf("%w: is it an ONNX model?", err)
	} else if err != nil {
		return nil, err
	}
	if m.Graph == nil {
		return nil, errors.New("it has no graph: want an ONNX model")
	}
	meta, err := metadataOf(m)
	if err != nil {
		return nil, err
	}
	return &File{name: name, model: m, meta: meta}, nil
}

// Close closes the file that [Open] opened. Models of it cannot start their weights afterwards.
func (f *File) Close() error {
	if f == nil || f.closer == nil {
		return nil
	}
	return f.closer.Close()
}

// Name returns the name that the file was read by.
func (f *File) Name() string {
	if f == nil {
		return ""
	}
	return f.name
}

// Title returns the file's name without folder and ending.
func (f *File) Title() string {
	return strings.TrimSuffix(filepath.Base(f.Name()), Extension)
}

// String returns the model as text, a node a line, in the order of the file.
func (f *File) String() string {
	if f == nil || f.model == nil {
		return ""
	}
	return terminal.Clean(f.model.String())
}

// Problem is a node of a file that cannot be imported: the place in the file, the operator, the name
// and the reason.
type Problem = importer.Problem

// Problems lists all nodes of a file that cannot be imported; errors.As finds it in an error of
// [File.Build].
type Problems = importer.Problems

// Path returns the path in the graph of a weight that a file calls by modules with dots or slashes
// between them: layer.0/weight of layer.0.weight.
func Path(name string) string { return importer.Path(name) }
