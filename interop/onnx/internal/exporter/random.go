package exporter

import (
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

var inf = math.Inf(1)

// random is an input of the model, or a draw of the runtime. Draws of one key are one array; those in a
// loop are drawn before it, for all times.
func random(s site) value {
	key := attribute[string](s, "Key")
	t := attribute[graph.Type](s, "Type")
	sizes := t.Shape.Sizes()
	for _, time := range s.n.Inputs() { // the innermost first
		count, ok := s.times(time)
		if !ok {
			return s.refuse("it draws in a loop whose times are computed")
		}
		sizes = slices.Insert(sizes, 0, count)
	}
	v, ok := s.drawn[drawKey{key, t.DType, fmt.Sprint(sizes)}]
	if !ok {
		v = s.draw(key, t, sizes)
		s.drawn[drawKey{key, t.DType, fmt.Sprint(sizes)}] = v
	}
	for i := s.n.NumIn() - 1; i >= 0; i-- {
		v = s.gather(v, s.whole(i), 0)
	}
	return v
}

type drawKey struct {
	key   string
	dt    graph.DType
	sizes string
}

// draw adds an input, or a draw in the model's own graph.
func (s site) draw(key string, t graph.Type, sizes []int) value {
	law := attribute[string](s, "Law")
	lo, hi := s.float("Lo"), s.float("Hi")
	elem := elemOf(t.DType)
	if !s.Draws {
		name := unique(s.taken, key)
		dims := make([]format.Dim, len(sizes))
		for i, d := range sizes {
			dims[i].Size = int64(d)
			if at := i - (len(sizes) - t.Shape.Rank()); at >= 0 {
				dims[i].Denotation = t.Shape.Axis(at).Name
			}
		}
		s.inputs = append(s.inputs, &format.Value{Name: name, Type: &format.Type{Elem: elem, Dims: dims, Ranked: true}})
		s.draws[name] = draw{Law: law, Lo: finite(lo), Hi: finite(hi), Key: key, Times: s.n.NumIn()}
		return value{name: name, elem: elem, dims: sizes}
	}
	e := s.main
	base := e.base
	defer func() { e.base = base }()
	e.base = key
	dtype := elem
	if !elem.IsFloat() {
		dtype = format.Double
	}
	make := func(op string) value {
		return e.raw(op, dtype, sizes, nil, attrInts("shape", sizes...), attrInt("dtype", int(dtype)))
	}
	uniform := func() value { return make("RandomUniform") }
	switch law {
	case "normal":
		return make("RandomNormal")
	case "gumbel":
		// Away from 0 and 1, where a logarithm is infinite.
		u := e.pointwise("Max", dtype, []value{uniform(), e.lit(dtype, 0x1p-24)})
		u = e.pointwise("Min", dtype, []value{u, e.lit(dtype, 1-0x1p-24)})
		return e.unary("Neg", e.unary("Log", e.unary("Neg", e.unary("Log", u))))
	case "whole":
		return e.cast(e.add2(e.unary("Floor", e.mul(uniform(), e.lit(dtype, hi-lo))), e.lit(dtype, lo)), elem)
	case "truncated":
		return e.truncated(uniform(), lo, hi)
	}
	return uniform()
}

// truncated is the quantile of a normal number between two bounds.
func (e *emitter) truncated(u value, lo, hi float64) value {
	phi := func(x float64) float64 { return math.Erfc(-x/math.Sqrt2) / 2 }
	a, b := phi(lo), phi(hi)
	p := e.add2(e.lit(u.elem, a), e.mul(u, e.lit(u.elem, b-a)))
	x := e.sub(e.mul(p, e.lit(u.elem, 2)), e.lit(u.elem, 1))
	y := e.mul(e.composed(func(x []*graph.Node) *graph.Node { return ops.Erfinv(x[0]) }, x), e.lit(u.elem, math.Sqrt2))
	if !math.IsInf(lo, 0) {
		y = e.pointwise("Max", u.elem, []value{y, e.lit(u.elem, lo)})
	}
	if !math.IsInf(hi, 0) {
		y = e.pointwise("Min", u.elem, []value{y, e.lit(u.elem, hi)})
	}
	return y
}

// finite is a number that JSON has.
func finite(x float64) float64 {
	return max(-math.MaxFloat64, min(math.MaxFloat64, x))
}

// times returns one more than the largest time that a node can be; ok is false if it is not known.
func (e *emitter) times(n *graph.Node) (count int, ok bool) {
	if c, isConstant := n.Constant(); isConstant && len(c.Data) > 0 {
		return int(slices.Max(c.Data)) + 1, true
	}
	if x := e.outside[n]; x != nil {
		return e.times(x)
	}
	switch match.KindOf(n) {
	case match.Reshape, match.Slice, match.Transpose, match.Broadcast:
		return e.times(n.In(0))
	}
	return 0, false
}
