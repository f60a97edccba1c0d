package format

import (
	"bytes"
	"fmt"
	"io"
	"slices"
)

// mostZeros limits how much larger a dense tensor may be than the elements of a sparse one, because a
// file of a few bytes could ask for any memory.
const mostZeros = 1000

// sparse reads a SparseTensorProto.
func (d *decoder) sparse(at, end int64) *Tensor {
	t := &Tensor{At: at, Sparse: &Sparse{}}
	s := t.Sparse
	d.fields("sparse tensor", at, end, func(f field) {
		switch f.num {
		case 1:
			only(d, f, s.Values)
			s.Values = sub(d, f, d.tensor)
		case 2:
			only(d, f, s.Indices)
			s.Indices = sub(d, f, d.tensor)
		case 3:
			t.Dims = d.ints(f, t.Dims)
		}
	})
	if d.err != nil {
		return t
	}
	if s.Values == nil || s.Indices == nil {
		d.fail(at, "a sparse tensor has no values or no indices")
		return t
	}
	t.Name, t.Type = s.Values.Name, s.Values.Type
	n := d.length(t)
	if d.err != nil {
		return t
	}
	if t.Type == String {
		d.fail(at, "sparse tensor %.60q has elements of string: want numbers", t.Name)
		return t
	}
	if most := mostZeros * (int64(s.Values.Len()) + 1); n > most {
		d.fail(at, "sparse tensor %.60q has %d elements, of which %d are not 0: want at most %d, a thousand for each", t.Name, n, s.Values.Len(), most)
		return t
	}
	if _, err := t.places(n); err != nil {
		d.failed(at, err, "sparse %v", err)
		return t
	}
	if !d.take(at, 0) {
		return t
	}
	t.Raw = Stream(n*int64(t.Type.Size()), func() (io.Reader, error) {
		b, err := t.dense(n)
		return bytes.NewReader(b), err
	})
	return t
}

// places returns the row-major index in n elements of each value of a sparse tensor.
func (t *Tensor) places(n int64) ([]int64, error) {
	s := t.Sparse
	count := int64(s.Values.Len())
	if len(s.Values.Dims) != 1 {
		return nil, fmt.Errorf("tensor %.60q has values of the shape %d: want one axis", t.Name, s.Values.Dims)
	}
	flat := slices.Equal(s.Indices.Dims, []int64{count})
	if s.Indices.Type != Int64 || !flat && !slices.Equal(s.Indices.Dims, []int64{count, int64(len(t.Dims))}) {
		return nil, fmt.Errorf("tensor %.60q has indices %v%d: want int64[%d] or int64[%d %d]", t.Name, s.Indices.Type, s.Indices.Dims, count, count, len(t.Dims))
	}
	ints, err := s.Indices.Ints()
	if err != nil {
		return nil, err
	}
	if !flat {
		for i := range count {
			place := int64(0)
			for axis, dim := range t.Dims {
				v := ints[int(i)*len(t.Dims)+axis]
				if v < 0 || v >= dim {
					return nil, fmt.Errorf("tensor %.60q: index %d of axis %d, %d, is not within its size %d", t.Name, i, axis, v, dim)
				}
				place = place*dim + v
			}
			ints[i] = place
		}
		ints = ints[:count]
	}
	for i, v := range ints {
		if v < 0 || v >= n {
			return nil, fmt.Errorf("tensor %.60q: index %d, %d, is not within its %d elements", t.Name, i, v, n)
		}
		if i > 0 && v <= ints[i-1] {
			return nil, fmt.Errorf("tensor %.60q: index %d is not after the one before it", t.Name, i)
		}
	}
	return ints, nil
}

// dense returns the n elements of a sparse tensor.
func (t *Tensor) dense(n int64) ([]byte, error) {
	places, err := t.places(n)
	if err != nil {
		return nil, err
	}
	values, err := t.Sparse.Values.Raw.Read()
	if err != nil {
		return nil, err
	}
	size := t.Type.Size()
	b := make([]byte, n*int64(size))
	for i, at := range places {
		copy(b[at*int64(size):], values[i*size:(i+1)*size])
	}
	return b, nil
}
