package importer

import (
	bytes "encoding/binary"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/internal/half"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
)

// sample is a model of one node with drawn operands and attributes.
type sample struct {
	*rand.Rand
	node    *format.Node
	version int64
	in      []*format.Tensor
	fixed   []bool // operands that are initialisers
	outs    int
	plain   bool // whether all floats are finite
}

// model returns the model and what it is fed.
func (s *sample) model() (*format.Model, map[string]*format.Tensor) {
	g := &format.Graph{Name: "sample"}
	fed := map[string]*format.Tensor{}
	for i, t := range s.in {
		if t == nil {
			s.node.Inputs = append(s.node.Inputs, "")
			continue
		}
		t.Name = fmt.Sprint("x", i)
		s.node.Inputs = append(s.node.Inputs, t.Name)
		if s.fixed[i] {
			g.Init = append(g.Init, t)
			continue
		}
		fed[t.Name] = t
		v := &format.Value{Name: t.Name, Type: &format.Type{Elem: t.Type, Ranked: true}}
		for _, d := range t.Dims {
			v.Type.Dims = append(v.Type.Dims, format.Dim{Size: d})
		}
		g.Inputs = append(g.Inputs, v)
	}
	for i := range max(s.outs, 1) {
		name := fmt.Sprint("y", i)
		s.node.Outputs = append(s.node.Outputs, name)
		g.Outputs = append(g.Outputs, &format.Value{Name: name})
	}
	g.Nodes = []*format.Node{s.node}
	opsets := map[string]int64{"": s.version}
	if s.node.Domain != "" {
		opsets[s.node.Domain] = 1
	}
	return &format.Model{IR: 8, Opsets: opsets, Graph: g}, fed
}

// one returns one of several.
func one[T any](s *sample, of ...T) T { return of[s.IntN(len(of))] }

// sometimes reports true once in n times.
func (s *sample) sometimes(n int) bool { return s.IntN(n) == 0 }

// rank draws sizes of lo to hi axes, seldom 0.
func (s *sample) sizes(lo, hi int) []int {
	out := make([]int, lo+s.IntN(hi-lo+1))
	for i := range out {
		out[i] = 1 + s.IntN(5)
		if s.sometimes(60) {
			out[i] = 0
		}
	}
	return out
}

// narrower returns sizes that broadcast with others.
func (s *sample) narrower(sizes []int) []int {
	out := append([]int{}, sizes[s.IntN(len(sizes)+1):]...)
	for i := range out {
		if s.sometimes(3) {
			out[i] = 1
		}
	}
	return out
}

// put adds an operand of elements that f draws.
func (s *sample) put(elem format.DataType, sizes []int, f func() float64) *format.Tensor {
	data := make([]float64, product(sizes))
	for i := range data {
		data[i] = f()
	}
	t := tensorOf(elem, sizes, data)
	s.in, s.fixed = append(s.in, t), append(s.fixed, false)
	return t
}

// fix makes the last operand an initialiser.
func (s *sample) fix() { s.fixed[len(s.fixed)-1] = true }

// skip leaves an operand out.
func (s *sample) skip() { s.in, s.fixed = append(s.in, nil), append(s.fixed, true) }

// list adds integers as an initialiser.
func (s *sample) list(v ...int) {
	i := 0
	s.put(format.Int64, []int{len(v)}, func() float64 { i++; return float64(v[i-1]) })
	s.fix()
}

// scalar adds an integer without axes as an initialiser.
func (s *sample) scalar(v int) {
	s.put(format.Int64, nil, func() float64 { return float64(v) })
	s.fix()
}

// listed gives integers as an attribute before a version, and as an operand since.
func (s *sample) listed(since int64, name string, v ...int) {
	if s.version < since {
		s.ints(name, v...)
	} else {
		s.list(v...)
	}
}

func (s *sample) attr(a *format.Attr) { s.node.Attrs = append(s.node.Attrs, a) }
func (s *sample) int(name string, v int) {
	s.attr(&format.Attr{Name: name, Type: format.AttrInt, Int: int64(v)})
}
func (s *sample) float(name string, v float64) {
	s.attr(&format.Attr{Name: name, Type: format.AttrFloat, Float: float32(v)})
}
func (s *sample) text(name, v string) {
	s.attr(&format.Attr{Name: name, Type: format.AttrString, String: v})
}
func (s *sample) ints(name string, v ...int) {
	a := &format.Attr{Name: name, Type: format.AttrInts}
	for _, x := range v {
		a.Ints = append(a.Ints, int64(x))
	}
	s.attr(a)
}

// negative returns an axis counted from either end.
func (s *sample) either(axis, rank int) int {
	if s.version >= 11 && s.sometimes(2) {
		return axis - rank
	}
	return axis
}

// axes draws some of the axes, in order, maybe none.
func (s *sample) axes(rank int) []int {
	out := []int{}
	for a := range rank {
		if s.sometimes(2) {
			out = append(out, s.either(a, rank))
		}
	}
	return out
}

// normal draws a number, seldom one that is no finite number or 0.
func (s *sample) normal() float64 {
	if !s.plain && s.sometimes(40) {
		return one(s, math.NaN(), math.Inf(1), math.Inf(-1), 0, 0.5, -1.5, 1e10, -1e-10)
	}
	return 2 * s.NormFloat64()
}

// finite draws a number.
func (s *sample) finite() float64 { return 2 * s.NormFloat64() }

// positive draws a number from 0.2 to 3.
func (s *sample) positive() float64 { return 0.2 + 2.8*s.Float64() }

// truth draws 0 or 1.
func (s *sample) truth() float64 { return float64(s.IntN(2)) }

// within draws an integer from lo to hi.
func (s *sample) within(lo, hi int) func() float64 {
	return func() float64 { return float64(lo + s.IntN(hi-lo+1)) }
}

// of draws elements of a type, at the ends of its range too.
func (s *sample) of(elem format.DataType) func() float64 {
	if elem.IsFloat() {
		return s.normal
	}
	if elem == format.Bool {
		return s.truth
	}
	lo, hi := bounds(elem)
	return func() float64 {
		if s.sometimes(8) {
			return one(s, lo, hi, hi-1)
		}
		return max(lo, float64(s.IntN(41)-20))
	}
}

// bounds returns the least and the largest number of an integer type; those of 8 bytes less, so that
// float64 has all of them.
func bounds(elem format.DataType) (lo, hi float64) {
	switch elem {
	case format.Uint8, format.Uint16, format.Uint32:
		return 0, math.Exp2(bits(elem)) - 1
	case format.Int64:
		return -1 << 52, 1<<52 - 1
	case format.Uint64:
		return 0, 1<<52 - 1
	}
	return -math.Exp2(bits(elem) - 1), math.Exp2(bits(elem)-1) - 1
}

// tensorOf returns a tensor of the file.
func tensorOf(elem format.DataType, sizes []int, data []float64) *format.Tensor {
	t := &format.Tensor{Type: elem}
	for _, n := range sizes {
		t.Dims = append(t.Dims, int64(n))
	}
	var b []byte
	le := bytes.LittleEndian
	for _, v := range data {
		switch elem {
		case format.Float:
			b = le.AppendUint32(b, math.Float32bits(float32(v)))
		case format.Double:
			b = le.AppendUint64(b, math.Float64bits(v))
		case format.Float16:
			b = le.AppendUint16(b, half.Bits(float32(v)))
		case format.BFloat16:
			b = le.AppendUint16(b, half.BrainBits(float32(v)))
		case format.Bool, format.Uint8, format.Int8:
			b = append(b, byte(int64(v)))
		case format.Uint16, format.Int16:
			b = le.AppendUint16(b, uint16(int64(v)))
		case format.Int32, format.Uint32:
			b = le.AppendUint32(b, uint32(int64(v)))
		default:
			b = le.AppendUint64(b, uint64(int64(v)))
		}
	}
	t.Raw = format.Bytes(b)
	return t
}
