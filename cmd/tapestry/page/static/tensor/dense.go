package tensor

import (
	"fmt"
	"reflect"
	"unsafe"
)

// Tensor is a Dense.
type Tensor interface{ Shape() Shape }

// Engine is a mark that a tensor carries.
type Engine interface{ engine() }

// StdEng is the engine of a tensor that is given none.
type StdEng struct{}

func (StdEng) engine() {}

// Dense is a tensor of elements that lie in row order.
type Dense struct {
	Raw []byte // the memory of the elements

	access   AP
	of       Dtype
	engine   Engine
	data     any // a slice
	elements reflect.Value
}

// ConsOpt is an option of New.
type ConsOpt func(*Dense)

// Of says the type of the elements, which are zero without WithBacking.
func Of(d Dtype) ConsOpt { return func(t *Dense) { t.of = d } }

// WithShape says the shape.
func WithShape(dims ...int) ConsOpt { return func(t *Dense) { t.access.shape = Shape(dims).Clone() } }

// WithBacking lends the tensor a slice.
func WithBacking(x any, _ ...[]bool) ConsOpt {
	return func(t *Dense) {
		t.data, t.elements = x, reflect.ValueOf(x)
		t.of = Dtype{t.elements.Type().Elem()}
	}
}

// WithEngine gives the tensor a mark.
func WithEngine(e Engine) ConsOpt { return func(t *Dense) { t.engine = e } }

// New returns a tensor. It panics where the shape does not fit the number of elements.
func New(opts ...ConsOpt) *Dense {
	t := &Dense{engine: StdEng{}}
	for _, o := range opts {
		o(t)
	}
	switch {
	case t.data == nil:
		t.elements = reflect.MakeSlice(reflect.SliceOf(t.of.Type), t.access.shape.TotalSize(), t.access.shape.TotalSize())
		t.data = t.elements.Interface()
	case t.access.shape == nil:
		t.access.shape = Shape{t.elements.Len()}
	}
	if n := t.access.shape.TotalSize(); n != t.elements.Len() {
		panic(fmt.Sprintf("tensor: a shape of %d elements for %d", n, t.elements.Len()))
	}
	return t.mapped()
}

// mapped sets the memory of the elements.
func (t *Dense) mapped() *Dense {
	t.Raw = unsafe.Slice((*byte)(t.elements.UnsafePointer()), t.MemSize())
	return t
}

// Shape returns the shape, which belongs to the tensor.
func (t *Dense) Shape() Shape { return t.access.shape }

// Dims returns the number of axes.
func (t *Dense) Dims() int { return len(t.access.shape) }

// Len returns the number of elements that there is memory for.
func (t *Dense) Len() int { return t.elements.Len() }

// Dtype returns the type of the elements.
func (t *Dense) Dtype() Dtype { return t.of }

// DataOrder returns the row order.
func (t *Dense) DataOrder() DataOrder { return 0 }

// Engine returns the mark.
func (t *Dense) Engine() Engine { return t.engine }

// Info returns the access to the elements, which may be changed.
func (t *Dense) Info() *AP { return &t.access }

// MemSize returns the number of bytes of the elements.
func (t *Dense) MemSize() uintptr { return uintptr(t.elements.Len()) * t.of.Size() }

// IsMasked reports whether elements are masked: none are.
func (t *Dense) IsMasked() bool { return false }

// Mask returns which elements are masked.
func (t *Dense) Mask() []bool { return nil }

// RequiresIterator reports whether the elements are not one stretch of memory: they are.
func (t *Dense) RequiresIterator() bool { return false }

// Materialize returns the tensor itself, which is no view.
func (t *Dense) Materialize() Tensor { return t }

// Data returns the slice of the elements, or the element of a tensor without axes.
func (t *Dense) Data() any {
	if len(t.access.shape) == 0 {
		return t.Get(0)
	}
	return t.data
}

// Get returns an element by its place in memory.
func (t *Dense) Get(i int) any { return t.elements.Index(i).Interface() }

// At returns an element by its coordinates.
func (t *Dense) At(coords ...int) (any, error) {
	if len(coords) != len(t.access.shape) {
		return nil, fmt.Errorf("tensor: %d coordinates of %d axes", len(coords), len(t.access.shape))
	}
	at := 0
	for i, size := range t.access.shape {
		if coords[i] < 0 || coords[i] >= size {
			return nil, fmt.Errorf("tensor: coordinate %d of axis %d, which has %d", coords[i], i, size)
		}
		at = at*size + coords[i]
	}
	return t.Get(at), nil
}

// Clone returns a *Dense with elements of its own.
func (t *Dense) Clone() any {
	own := reflect.MakeSlice(t.elements.Type(), t.elements.Len(), t.elements.Len())
	reflect.Copy(own, t.elements)
	c := &Dense{access: AP{shape: t.access.shape.Clone()}, of: t.of, engine: t.engine, data: own.Interface(), elements: own}
	return c.mapped()
}
