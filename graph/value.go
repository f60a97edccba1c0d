package graph

import (
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/half"
)

// Value is a dense array held in float64, row-major. Constants hold one, and every operation
// is defined on them (trait.Defined). Booleans are 0 and 1. An integer beyond ±2⁵³ stands as the
// nearest float64; a definition that would have to round one is not evaluated.
type Value struct {
	Type Type
	Data []float64 // len = Type.Shape.Len()
}

// Values holds the values of nodes in float64: the point at which definitions are evaluated, or a
// batch of a model's examples. Package tape makes a feed of it (tape.Tensors).
type Values map[*Node]Value

// NewValue returns an array of zeros.
func NewValue(t Type) Value { return Value{t, make([]float64, t.Shape.Len())} }

// Item returns the only element of v, such as a loss, as NumPy's and PyTorch's item do. Of none or
// several it returns NaN.
func (v Value) Item() float64 {
	if len(v.Data) != 1 {
		return math.NaN()
	}
	return v.Data[0]
}

// Round converts v to the element type: to the nearest float, of two that are equally near the one
// with an even last bit, which is an infinity beyond the largest; to bool by v ≠ 0; to an integer
// by dropping the fraction, where a number out of range becomes the nearest integer in it, and NaN
// and −0 become 0. Arrays are converted so; sums and products of integers wrap around instead.
func (d DType) Round(v float64) float64 {
	switch d {
	case F32:
		return float64(float32(v))
	case F16:
		return half.Round(v)
	case BF16:
		return half.RoundBrain(v)
	case I32, I64, I8, U8:
		if v != v {
			return 0
		}
		least, greatest := d.ends()
		return math.Trunc(max(least, min(greatest, v))) + 0
	case Bool:
		if v != 0 {
			return 1
		}
		return 0
	}
	return v
}

// equal compares by bits, so that a NaN equals itself and 0 differs from -0.
func (v Value) equal(w Value) bool {
	if v.Type != w.Type || len(v.Data) != len(w.Data) {
		return false
	}
	for i, x := range v.Data {
		if math.Float64bits(x) != math.Float64bits(w.Data[i]) {
			return false
		}
	}
	return true
}

// uniform reports whether all elements have the same bits, and gives the first.
func (v Value) uniform() (float64, bool) {
	if len(v.Data) == 0 {
		return 0, false
	}
	for _, x := range v.Data {
		if math.Float64bits(x) != math.Float64bits(v.Data[0]) {
			return 0, false
		}
	}
	return v.Data[0], true
}

// String returns the type and the numbers: "f32[2]: 1 0.5". Equal elements are printed once:
// "f32[9]: ×1".
func (v Value) String() string {
	var b strings.Builder
	b.WriteString(v.Type.String())
	b.WriteString(":")
	if x, ok := v.uniform(); ok && len(v.Data) > 1 {
		fmt.Fprintf(&b, " ×%v", attr.FloatOf(x))
		return b.String()
	}
	for _, x := range v.Data {
		fmt.Fprintf(&b, " %v", attr.FloatOf(x))
	}
	return b.String()
}

// parse reads the text of String.
func (v *Value) parse(text string) error {
	head, body, ok := strings.Cut(text, ":")
	if !ok {
		return fmt.Errorf("value %q: want f32[2]: 1 0.5", text)
	}
	var w Value
	if err := w.Type.UnmarshalText([]byte(head)); err != nil {
		return err
	}
	fields := strings.Fields(body)
	n := w.Type.Shape.Len()
	if n > maxParsed {
		return fmt.Errorf("a constant of %d elements: at most %d are read", n, maxParsed)
	}
	repeat := n > 0 && len(fields) == 1 && strings.HasPrefix(fields[0], "×")
	if len(fields) != n && !repeat {
		return fmt.Errorf("value of %v: want %d numbers, got %d", w.Type, n, len(fields))
	}
	w.Data = make([]float64, n)
	for i := range w.Data {
		f := fields[min(i, len(fields)-1)]
		var x attr.Float
		if err := x.UnmarshalText([]byte(strings.TrimPrefix(f, "×"))); err != nil {
			return err
		}
		w.Data[i] = x.Value()
		if math.Float64bits(w.Type.DType.Round(w.Data[i])) != math.Float64bits(w.Data[i]) && w.Data[i] == w.Data[i] {
			return fmt.Errorf("%s is not a value of type %v", f, w.Type.DType)
		}
	}
	*v = w
	return nil
}
