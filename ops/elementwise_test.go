package ops_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// eachElementwise calls f with one case of every operation that is defined on
// numbers, for each combination of types.
func eachElementwise(t *testing.T, f func(t *testing.T, name string, c ops.Case, dt graph.DType)) {
	for _, op := range ops.List() {
		if _, ok := op.(interface{ Scalar(...float64) float64 }); !ok {
			continue
		}
		seen := map[string]bool{}
		for _, c := range op.Cases() {
			for _, dt := range []graph.DType{graph.F32, graph.F64} {
				name := op.Name() + "/" + dt.String()
				for _, o := range c.Operands {
					name += " " + o.Type[:3]
				}
				name += " to " + build(t, c, dt, nil, source(name)).y.DType().String()
				if !seen[name] && (generic(c) || dt == graph.F64) {
					seen[name] = true
					t.Run(name, func(t *testing.T) { f(t, name, c, dt) })
				}
			}
		}
	}
}

// TestLengths: kernels agree with the definitions at awkward lengths, also where
// the operands are read backwards.
func TestLengths(t *testing.T) {
	eachElementwise(t, func(t *testing.T, name string, c ops.Case, dt graph.DType) {
		r := source(name)
		for n := 1; n <= 67; n++ {
			shape, _ := graph.NewShape(graph.Dims(n)...)
			b := build(t, c, dt, &shape, r)
			turned := make([]*graph.Node, len(b.in))
			for i, x := range b.in {
				turned[i] = ops.Reverse(x, 0)
			}
			agree(t, b.feed, b.y, c.Make(turned))
		}
	})
}

// TestIntegers: operations that take integers compute on them what they are
// defined to be.
func TestIntegers(t *testing.T) {
	taken := map[string]bool{}
	for _, op := range ops.List() {
		if _, ok := op.(interface{ Scalar(...float64) float64 }); !ok {
			continue
		}
		c := op.Cases()[0]
		for _, dt := range []graph.DType{graph.I32, graph.I64} {
			g := graph.New("integers")
			var in []node
			for i, o := range c.Operands {
				typ := operandType(t, o.Type, dt, nil)
				in = append(in, g.Input(fmt.Sprint(i), typ.DType, typ.Shape.Axes()...))
			}
			if c.Make(in).IsValid() {
				taken[op.Name()] = true
				b := build(t, c, dt, nil, source(op.Name()))
				agree(t, b.feed, b.y)
			}
		}
	}
	for _, name := range []string{"Abs", "Add", "Equal", "Less", "Maximum", "Mul", "Neg", "Select", "Sub"} {
		if !taken[name] {
			t.Errorf("%s takes no integers", name)
		}
	}
}

// TestSpecialValues: kernels agree with the definitions at zeros, infinities,
// NaN, and the ends of the range, in every combination.
func TestSpecialValues(t *testing.T) {
	specials := map[graph.DType][]float64{
		graph.Bool: {0, 1},
		graph.I64:  {0, 1, -1, 7, math.MaxInt32, math.MinInt32},
		graph.F32:  {math.SmallestNonzeroFloat32, 1e-40, math.MaxFloat32, 88.8, -104},
		graph.F64:  {math.SmallestNonzeroFloat64, 1e-310, math.MaxFloat64, 709.9, -746},
	}
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		v := specials[dt]
		v = append(v, -v[0], -v[1], -v[2], 0, math.Copysign(0, -1), 1, -1, 0.5, 3, math.Inf(1), math.Inf(-1), math.NaN())
		for i := range v {
			v[i] = dt.Round(v[i])
		}
		specials[dt] = v
	}
	eachElementwise(t, func(t *testing.T, name string, c ops.Case, dt graph.DType) {
		g, feed := graph.New("special"), graph.Values{}
		var in []*graph.Node
		total := 1
		for _, o := range c.Operands {
			total *= len(specials[operandType(t, o.Type, dt, nil).DType])
		}
		repeat := 1
		for i, o := range c.Operands {
			typ := operandType(t, o.Type, dt, nil)
			x := g.Input(fmt.Sprint(i), typ.DType, graph.Dims(total)...)
			v := graph.NewValue(x.Type())
			values := specials[typ.DType]
			for p := range v.Data {
				v.Data[p] = values[p/repeat%len(values)]
			}
			repeat *= len(values)
			in, feed[x] = append(in, x), v
		}
		y := c.Make(in)
		want, err := ref.Eval(trait.Env{}, feed, y)
		if err != nil {
			t.Fatal(err)
		}
		got, err := reftest.Tape(0, feed, []*graph.Node{y}, tape.Passes())
		if err != nil {
			t.Fatal(err)
		}
		for p, w := range want[0].Data {
			if w, g := y.DType().Round(w), got[0].Data[p]; !close(y.DType(), g, w) {
				var at []float64
				for _, x := range in {
					at = append(at, feed[x].Data[p])
				}
				t.Errorf("of %v it is %v, want %v", at, g, w)
			}
		}
	})
}

// close compares to a few units in the last place, zeros by sign, and NaN and
// infinities exactly.
func close(d graph.DType, got, want float64) bool {
	switch {
	case got != got || want != want:
		return got != got && want != want
	case got == 0 && want == 0:
		return math.Signbit(got) == math.Signbit(want)
	}
	tiny := map[graph.DType]float64{graph.F32: 4 * math.SmallestNonzeroFloat32, graph.F64: 4 * math.SmallestNonzeroFloat64}[d]
	return got == want || math.Abs(got-want) <= reftest.Tolerance(d)/8*math.Abs(want)+tiny
}
