package data

import (
	"bytes"
	"context"
	"encoding/binary"
	"errors"
	"fmt"
	"io"
	"maps"
	"os"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/train/data/internal/encoding"
	"github.com/tapestry-ml/tapestry/train/data/internal/input"
	"github.com/tapestry-ml/tapestry/train/data/internal/tensors"
	"gorgonia.org/tensor"
)

// Records is a [Dataset] of the rows of .npy and IDX files that may be larger than memory. Each
// file is a column. Rows are of one size, so any row is read directly from its place. Memory holds
// only a batch and, if rows are shuffled without a [Window], 8 bytes a row.
//
//	r, err := data.OpenRecords(map[string]string{
//		"x": "train-images-idx3-ubyte",
//		"y": "train-labels-idx1-ubyte",
//	})
//	defer r.Close()
//	pixels, err := r.Floats("x")
//	source := data.Prefetch(data.Shuffled(pixels, 64, 1), 4)
type Records struct {
	rows    int
	names   []string // sorted
	columns map[string]*recordFile
}

// recordFile holds one column, an array in a file.
type recordFile struct {
	file   string
	f      *os.File
	layout encoding.Layout
	row    []int // shape of a row
	count  int   // elements of a row
	start  int64 // byte at which the elements begin
	decode any   // the decoder of an element
	dtype  tensor.Dtype
	floats bool // convert integers to float32
	memory *spare[byte]
}

// OpenRecords opens files, given by the names of their columns. The first bytes of a file tell its
// format, and elements get the types of package array's ReadNPY and ReadIDX. All files must have
// the same number of rows. Compressed files are *Errors, and so are column-major arrays of several
// axes, whose rows are not contiguous. MaxCells limits a row, and MaxBytes a file.
func OpenRecords(files map[string]string, opts ...Option) (r *Records, err error) {
	if len(files) == 0 {
		return nil, errors.New("data: a data set without files")
	}
	opened := &Records{names: slices.Sorted(maps.Keys(files)), columns: map[string]*recordFile{}}
	defer func() {
		if err != nil {
			err = errors.Join(err, opened.Close())
		}
	}()
	for k, name := range opened.names {
		c, rows, err := openRecordFile(files[name], opts)
		if err != nil {
			return nil, err
		}
		opened.columns[name] = c
		if k > 0 && rows != opened.rows {
			return nil, &Error{File: c.file, Msg: fmt.Sprintf("%d rows, where %s has %d", rows, opened.columns[opened.names[0]].file, opened.rows)}
		}
		opened.rows = rows
	}
	return opened, nil
}

func openRecordFile(path string, opts []Option) (c *recordFile, rows int, err error) {
	f, size, err := input.OpenSeekable(path)
	if err != nil {
		return nil, 0, err
	}
	defer func() {
		if err != nil {
			err = errors.Join(err, f.Close())
		}
	}()
	b, err := input.NewBinary(path, f, input.NewConfig(input.Arrays, append([]Option{MaxBytes(1<<63 - 1)}, opts...)))
	if err != nil {
		return nil, 0, err
	}
	start := make([]byte, len(encoding.NPYMagic))
	n, err := f.ReadAt(start, 0)
	if err != nil && err != io.EOF {
		return nil, 0, &Error{File: path, Msg: "cannot read: " + err.Error(), Err: err}
	}
	c = &recordFile{file: path, f: f, memory: &spare[byte]{}}
	switch start = start[:n]; {
	case bytes.HasPrefix(start, []byte(input.GzipMagic)) || bytes.HasPrefix(start, []byte("PK\x03\x04")):
		return nil, 0, b.Errorf(0, inAnyOrder)
	case string(start) == encoding.NPYMagic:
		c.layout, err = encoding.ReadNPYHeader(b)
	case bytes.HasPrefix(start, []byte{0, 0}):
		c.layout, err = encoding.ReadIDXHeader(b)
	default:
		return nil, 0, b.Errorf(0, "neither a .npy nor an IDX file")
	}
	if err != nil {
		return nil, 0, err
	}
	shape := c.layout.Shape
	if len(shape) == 0 || shape[0] < 1 {
		return nil, 0, b.Errorf(0, "an array of shape %v has no rows", shape)
	}
	if c.layout.ColumnMajor && len(shape) > 1 {
		return nil, 0, b.Errorf(0, "the array is column-major (Fortran order), so its rows are not in one place: save it in C order")
	}
	if c.count, err = b.Elements(shape[1:]); err != nil {
		return nil, 0, err
	}
	if c.count == 0 {
		return nil, 0, b.Errorf(0, "an array of shape %v has rows without elements", shape)
	}
	for _, n := range shape[1:] {
		c.row = append(c.row, int(n))
	}
	c.start, c.decode = b.Offset, c.layout.Element.Decoder()
	switch c.decode.(type) {
	case func([]byte) float32:
		c.dtype = tensor.Float32
	case func([]byte) float64:
		c.dtype = tensor.Float64
	case func([]byte) int32:
		c.dtype = tensor.Int32
	case func([]byte) int64:
		c.dtype = tensor.Int64
	case func([]byte) bool:
		c.dtype = tensor.Bool
	case func([]byte) int8:
		c.dtype = tensor.Int8
	case func([]byte) uint8:
		c.dtype = tensor.Uint8
	default:
		return nil, 0, b.Errorf(0, "elements of type %v are not read", c.layout.Element)
	}
	width := c.width()
	switch have := (size - c.start) / width; {
	case have < shape[0]:
		return nil, 0, b.Errorf(size, "the file ends after %d of %d rows", have, shape[0])
	case size > c.start+shape[0]*width:
		return nil, 0, b.Errorf(c.start+shape[0]*width, "bytes follow the last row")
	case int64(int(shape[0])) != shape[0]:
		return nil, 0, b.Errorf(0, "%d rows are more than an int of this machine counts", shape[0])
	}
	return c, int(shape[0]), nil
}

// inAnyOrder is the message for a compressed file.
const inAnyOrder = "the file is compressed, so its rows cannot be read in any order: unpack it first"

// width returns the number of bytes of a row.
func (c *recordFile) width() int64 { return int64(c.count) * int64(c.layout.Element.Size) }

// Floats returns the data set with the integers of the named columns, such as pixels, as
// tensor.Float32. Both use the same open files. An unknown name is an error.
func (r *Records) Floats(names ...string) (*Records, error) {
	r = input.OrZero(r)
	out := &Records{rows: r.rows, names: r.names, columns: maps.Clone(r.columns)}
	for _, name := range names {
		c := r.columns[name]
		if c == nil {
			return nil, missingColumn(name, r.names)
		}
		switch c.dtype {
		case tensor.Int8, tensor.Uint8, tensor.Int32, tensor.Int64:
			own := *c
			own.floats, own.dtype = true, tensor.Float32
			out.columns[name] = &own
		}
	}
	return out, nil
}

// Rows returns the number of rows.
func (r *Records) Rows() int {
	if r == nil {
		return 0
	}
	return r.rows
}

// NewBatch returns a batch of n rows for [Records.Gather] to fill.
func (r *Records) NewBatch(n int) Batch {
	b := Batch{Rows: n, Values: map[string]*tensor.Dense{}}
	for name, c := range r.columns {
		b.Values[name] = tensors.New(c.dtype, n, c.row)
	}
	return b
}

// Gather fills b with the given rows. A row that cannot be read is an *Error.
func (r *Records) Gather(ctx context.Context, b Batch, rows []int) error {
	r = input.OrZero(r)
	if err := tensors.CheckRows(rows, r.rows); err != nil {
		return err
	}
	for _, name := range r.names {
		c := r.columns[name]
		to, err := tensors.Column(b.Values, name, c.dtype, len(rows), c.row)
		if err != nil {
			return err
		}
		if err := c.gather(ctx, to, rows); err != nil {
			return err
		}
	}
	return nil
}

func (c *recordFile) gather(ctx context.Context, t *tensor.Dense, rows []int) error {
	memory := c.memory.get()
	defer func() { c.memory.put(memory) }()
	width := c.width()
	most := max(1, int(encoding.Chunk/width)) // rows at a time
	for k := 0; k < len(rows); {
		if err := ctx.Err(); err != nil {
			return err
		}
		n := 1 // rows that follow each other
		for n < most && k+n < len(rows) && rows[k+n] == rows[k]+n {
			n++
		}
		size := n * int(width)
		memory = slices.Grow(memory[:0], size)[:size]
		at := c.start + int64(rows[k])*width
		if got, err := c.f.ReadAt(memory, at); got < size {
			return &Error{File: c.file, Offset: at, Msg: fmt.Sprintf("cannot read row %d: %v", rows[k], err), Err: err}
		}
		if i := c.put(t, k*c.count, memory); i >= 0 {
			return &Error{File: c.file, Offset: at + int64(i), Msg: fmt.Sprintf("element %d does not fit int64", binary.LittleEndian.Uint64(memory[i:]))}
		}
		k += n
	}
	return nil
}

// put decodes p into the elements of t from element at on. It returns the index in p of the first
// element that does not fit, or −1.
func (c *recordFile) put(t *tensor.Dense, at int, p []byte) int {
	e := c.layout.Element
	if c.layout.BigEndian {
		encoding.Turn(p, e.Size)
	}
	if e.IsUint64() {
		for i := 0; i < len(p); i += 8 {
			if p[i+7]&0x80 != 0 {
				return i
			}
		}
	}
	switch decode := c.decode.(type) {
	case func([]byte) float32:
		put(t.Float32s()[at:], p, e.Size, decode)
	case func([]byte) float64:
		put(t.Float64s()[at:], p, e.Size, decode)
	case func([]byte) int32:
		putWhole(c, t, at, p, decode, t.Int32s)
	case func([]byte) int64:
		putWhole(c, t, at, p, decode, t.Int64s)
	case func([]byte) int8:
		putWhole(c, t, at, p, decode, t.Int8s)
	case func([]byte) uint8:
		putWhole(c, t, at, p, decode, t.Uint8s)
	case func([]byte) bool:
		put(t.Bools()[at:], p, e.Size, decode)
	}
	return -1
}

// putWhole decodes integers, as such or as float32.
func putWhole[T int8 | uint8 | int32 | int64](c *recordFile, t *tensor.Dense, at int, p []byte, decode func([]byte) T, own func() []T) {
	size := c.layout.Element.Size
	if c.floats {
		put(t.Float32s()[at:], p, size, func(p []byte) float32 { return float32(decode(p)) })
		return
	}
	put(own()[at:], p, size, decode)
}

func put[T any](to []T, p []byte, size int, decode func([]byte) T) {
	for i := 0; i < len(p); i += size {
		to[i/size] = decode(p[i : i+size])
	}
}

// Close closes the files.
func (r *Records) Close() error {
	var errs []error
	for _, c := range input.OrZero(r).columns {
		errs = append(errs, c.f.Close())
	}
	return errors.Join(errs...)
}

// String describes the columns: "x[60000 28 28] int32, y[60000] int32".
func (r *Records) String() string {
	var parts []string
	for _, name := range r.names {
		c := r.columns[name]
		parts = append(parts, fmt.Sprintf("%s%v %v", name, append([]int{r.rows}, c.row...), c.dtype))
	}
	return strings.Join(parts, ", ")
}
