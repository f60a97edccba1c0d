package ops_test

import (
	"hash/fnv"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// built is a case of an operation in a graph of its own, with values for its operands.
type built struct {
	g    *graph.Graph
	in   []*graph.Node
	feed graph.Values
	y    *graph.Node
}

// floats are the operands that can be differentiated.
func (b built) floats() []*graph.Node {
	var out []*graph.Node
	for _, x := range b.in {
		if x.DType().IsFloat() {
			out = append(out, x)
		}
	}
	return out
}

// source is a deterministic generator for each name.
func source(name string) *rand.Rand {
	h := fnv.New64a()
	h.Write([]byte(name))
	return rand.New(rand.NewPCG(h.Sum64(), 1))
}

// operandType resolves "float[…]"; shape, unless nil, takes the place of the case's own.
func operandType(t testing.TB, text string, dt graph.DType, shape *graph.Shape) graph.Type {
	t.Helper()
	if rest, ok := strings.CutPrefix(text, "float["); ok {
		text = dt.String() + "[" + rest
	}
	var typ graph.Type
	if err := typ.UnmarshalText([]byte(text)); err != nil {
		t.Fatal(err)
	}
	if shape != nil {
		typ.Shape = *shape
	}
	return typ
}

// build makes a case for one float type.
func build(t testing.TB, c ops.Case, dt graph.DType, shape *graph.Shape, r *rand.Rand) built {
	t.Helper()
	b := built{g: graph.New("case"), feed: graph.Values{}}
	apart := 0 // elements of operands whose values must differ from each other
	for i, o := range c.Operands {
		typ := operandType(t, o.Type, dt, shape)
		x := b.g.Input(string(rune('a'+i)), typ.DType, typ.Shape.Axes()...)
		b.in = append(b.in, x)
		if o.Domain.Distinct {
			apart += typ.Shape.Len()
		}
	}
	places := r.Perm(apart)
	for i, o := range c.Operands {
		v := graph.NewValue(b.in[i].Type())
		for p := range v.Data {
			d, at := o.Domain, r.Float64()
			if d.Distinct {
				at = (float64(places[0]) + 0.3) / float64(apart) // never at the middle, where the kink is
				places = places[1:]
			}
			v.Data[p] = d.Lo + (d.Hi-d.Lo)*at
			if !v.Type.DType.IsFloat() {
				v.Data[p] = math.Round(v.Data[p])
			}
			v.Data[p] = v.Type.DType.Round(v.Data[p])
		}
		b.feed[b.in[i]] = v
	}
	b.y = c.Make(b.in)
	if len(b.in) == 0 {
		b.g = b.y.Graph()
	}
	if err := b.g.Err(); err != nil {
		t.Fatal(err)
	}
	return b
}

// eachCase calls f with every case of every operation, once for each float type
// where it has any.
func eachCase(t *testing.T, f func(t *testing.T, op ops.Op, b built)) {
	for _, op := range ops.List() {
		t.Run(op.Name(), func(t *testing.T) {
			for i, c := range op.Cases() {
				for _, dt := range []graph.DType{graph.F32, graph.F64} {
					if b := build(t, c, dt, nil, source(op.Name()+string(rune('0'+i)))); dt == graph.F64 || generic(c) {
						t.Run(b.y.Type().String(), func(t *testing.T) { f(t, op, b) })
					}
				}
			}
		})
	}
}

func generic(c ops.Case) bool {
	for _, o := range c.Operands {
		if strings.HasPrefix(o.Type, "float[") {
			return true
		}
	}
	return false
}

// weights is a constant like x with values that differ.
func weights(x *graph.Node, r *rand.Rand) *graph.Node {
	w := make([]float64, x.Shape().Len())
	for i := range w {
		w[i] = r.Float64()*2 - 1
	}
	return x.Graph().Constant(x.DType(), w, x.Shape().Axes()...)
}
