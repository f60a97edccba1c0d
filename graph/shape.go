package graph

import (
	"fmt"
	"slices"
	"strconv"
	"strings"
	"unique"
)

// MaxRank is the largest number of axes of a node.
const MaxRank = 8

// maxElements bounds the size of one node, so that products of sizes never
// overflow and a mistyped size is a clear mistake instead of a dead machine. An int
// counts its bytes too, also where it has 32 bits.
const (
	maxBits     = min(40, strconv.IntSize-5)
	maxElements = 1 << maxBits
)

// Axis is one axis of an array: its size, and its name, which may be "".
type Axis struct {
	Name string
	Size int
}

// Ax returns an axis with a name: Ax("i", 150).
func Ax(name string, size int) Axis { return Axis{Name: name, Size: size} }

// Dims returns axes without names: Dims(150, 4).
func Dims(sizes ...int) []Axis {
	axes := make([]Axis, len(sizes))
	for i, n := range sizes {
		axes[i].Size = n
	}
	return axes
}

// String returns "i=150", or "150" for an axis without a name.
func (a Axis) String() string {
	if a.Name == "" {
		return strconv.Itoa(a.Size)
	}
	return a.Name + "=" + strconv.Itoa(a.Size)
}

// parse reads the text of String.
func (a *Axis) parse(text string) error {
	name, size, ok := strings.Cut(text, "=")
	if !ok {
		name, size = "", name
	}
	n, err := strconv.Atoi(size)
	if err != nil {
		return fmt.Errorf("axis %q: want a size, or name=size", text)
	}
	*a = Axis{name, n}
	return nil
}

// Shape is a list of at most [MaxRank] axes, comparable with ==. The zero Shape
// is that of a scalar. Equal shapes share their memory, so that a Shape is a word to
// copy, to compare and to hash: every node holds one, and many attributes.
type Shape struct{ list unique.Handle[axisList] }

// axisList is the memory that equal shapes share. A scalar has none: its handle is zero.
type axisList struct {
	rank int
	axes [MaxRank]Axis
}

func (s Shape) get() axisList {
	if s == (Shape{}) {
		return axisList{}
	}
	return s.list.Value()
}

// NewShape returns the shape with the given axes: at most [MaxRank], with sizes of at least 0 and
// a product of at most 2⁴⁰ (2²⁷ if an int has 32 bits), in which a size of 0 counts as 1. An array
// with an axis of size 0 has no elements. Names are unique; they consist of Latin and
// Greek letters, digits, _ and ′, and do not start with a digit. Anything else is an error.
func NewShape(axes ...Axis) (Shape, error) {
	var l axisList
	if len(axes) > MaxRank {
		return Shape{}, fmt.Errorf("%d axes: at most %d are allowed", len(axes), MaxRank)
	}
	elements := 1
	for i, a := range axes {
		if a.Size < 0 {
			return Shape{}, fmt.Errorf("axis %d (%v) has size %d: want at least 0", i, a, a.Size)
		}
		if a.Size > maxElements/elements {
			return Shape{}, fmt.Errorf("more than 2^%d elements", maxBits)
		}
		elements *= max(1, a.Size) // a product without the zeros is bounded too
		if a.Name != "" {
			if !isAxisName(a.Name) {
				return Shape{}, fmt.Errorf("axis name %q: want letters, digits and _, not starting with a digit", a.Name)
			}
			for _, b := range axes[:i] {
				if b.Name == a.Name {
					return Shape{}, &Mistake{fmt.Sprintf("two axes are called %q", a.Name), renameOne}
				}
			}
		}
		l.axes[i] = a
	}
	if l.rank = len(axes); l.rank == 0 {
		return Shape{}, nil
	}
	return Shape{unique.Make(l)}, nil
}

// Primed returns the axes with primes (′) behind each name that an axis before it has, as many as make
// it a name that no axis has: [n n] becomes [n n′].
func Primed(axes ...Axis) []Axis {
	out := slices.Clone(axes)
	for i := range out {
		if name := out[i].Name; name == "" || !slices.ContainsFunc(out[:i], func(a Axis) bool { return a.Name == name }) {
			continue
		}
		for has := true; has; {
			out[i].Name += "′"
			has = slices.ContainsFunc(out[:i], func(a Axis) bool { return a.Name == out[i].Name }) ||
				slices.ContainsFunc(axes, func(a Axis) bool { return a.Name == out[i].Name })
		}
	}
	return out
}

const renameOne = "rename one with ops.Rename"

func isAxisName(s string) bool {
	for i, r := range s {
		digit := r >= '0' && r <= '9'
		letter := r == '_' || r == '′' || r >= 'a' && r <= 'z' || r >= 'A' && r <= 'Z' || r >= 'α' && r <= 'ω' || r >= 'Α' && r <= 'Ω'
		if !letter && (i == 0 || !digit) {
			return false
		}
	}
	return s != ""
}

// Rank returns the number of axes.
func (s Shape) Rank() int {
	if s == (Shape{}) {
		return 0
	}
	return s.list.Value().rank
}

// Axis returns axis i; an axis that does not exist has no name and size 1.
func (s Shape) Axis(i int) Axis {
	if i < 0 || i >= s.Rank() {
		return Axis{Size: 1}
	}
	return s.list.Value().axes[i]
}

// Dim returns the size of axis i, 1 if there is none.
func (s Shape) Dim(i int) int { return s.Axis(i).Size }

// Axes returns the axes as a new slice.
func (s Shape) Axes() []Axis {
	l := s.get()
	return append([]Axis(nil), l.axes[:l.rank]...)
}

// Sizes returns the sizes of the axes as a new slice.
func (s Shape) Sizes() []int {
	l := s.get()
	d := make([]int, l.rank)
	for i := range d {
		d[i] = l.axes[i].Size
	}
	return d
}

// Len returns the number of elements, the product of the sizes: 1 of a scalar, 0 where an axis has
// size 0.
func (s Shape) Len() int {
	l := s.get()
	n := 1
	for i := range l.rank {
		n *= l.axes[i].Size
	}
	return n
}

// Index returns the number of the axis with a name, -1 if there is none.
func (s Shape) Index(name string) int {
	l := s.get()
	for i := range l.rank {
		if name != "" && l.axes[i].Name == name {
			return i
		}
	}
	return -1
}

// SameSizes reports whether two shapes have the same sizes, whatever the names of their axes.
func (s Shape) SameSizes(t Shape) bool {
	if s == t {
		return true
	}
	a, b := s.get(), t.get()
	if a.rank != b.rank {
		return false
	}
	for i := range a.rank {
		if a.axes[i].Size != b.axes[i].Size {
			return false
		}
	}
	return true
}

// Resolve returns the numbers of the axes that are referred to, each by an int, which counts from
// the end if it is negative, or by a name. A reference that fits no axis, or an axis that is
// referred to twice, is an error.
func (s Shape) Resolve(refs ...any) ([]int, error) {
	out := make([]int, 0, len(refs))
	for _, ref := range refs {
		i := -1
		switch r := ref.(type) {
		case int:
			i = r
			if r < 0 {
				i += s.Rank()
			}
			if i < 0 || i >= s.Rank() {
				return nil, fmt.Errorf("axis %d of %v: it has %d axes", r, s, s.Rank())
			}
		case string:
			if i = s.Index(r); i < 0 {
				return nil, fmt.Errorf("no axis %q in %v", r, s)
			}
		default:
			return nil, fmt.Errorf("axis %v (%T): want an int or a name", ref, ref)
		}
		for _, j := range out {
			if i == j {
				return nil, fmt.Errorf("axis %v of %v is given twice", ref, s)
			}
		}
		out = append(out, i)
	}
	return out, nil
}

// String returns "[i=150 d=4]"; for a scalar "[]".
func (s Shape) String() string {
	l := s.get()
	var b strings.Builder
	b.WriteByte('[')
	for i := range l.rank {
		if i > 0 {
			b.WriteByte(' ')
		}
		b.WriteString(l.axes[i].String())
	}
	b.WriteByte(']')
	return b.String()
}

// parse reads the text of String.
func (s *Shape) parse(t string) error {
	if len(t) < 2 || t[0] != '[' || t[len(t)-1] != ']' {
		return fmt.Errorf("shape %q: want [i=150 d=4]", t)
	}
	var axes []Axis
	for _, f := range strings.Fields(t[1 : len(t)-1]) {
		var a Axis
		if err := a.parse(f); err != nil {
			return err
		}
		axes = append(axes, a)
	}
	v, err := NewShape(axes...)
	if err == nil {
		*s = v
	}
	return err
}

// Type is an element type and a shape: all that a static graph knows of a value.
type Type struct {
	DType DType
	Shape Shape
}

// String returns "f32[i=150 d=4]".
func (t Type) String() string { return t.DType.String() + t.Shape.String() }

// MarshalText returns the text of String.
func (t Type) MarshalText() ([]byte, error) { return []byte(t.String()), nil }

// UnmarshalText reads the text of String.
func (t *Type) UnmarshalText(b []byte) error {
	i := strings.IndexByte(string(b), '[')
	if i < 0 {
		return fmt.Errorf("type %q: want f32[i=150 d=4]", b)
	}
	if err := t.DType.parse(string(b[:i])); err != nil {
		return err
	}
	return t.Shape.parse(string(b[i:]))
}
