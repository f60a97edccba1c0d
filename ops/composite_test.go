package ops_test

import (
	"fmt"
	"math"
	"strconv"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// orders is f at x with its first and second derivative, as the definitions give
// them, after the tape has been compared with them in both float types.
func orders(t *testing.T, what string, x []float64, f func(x node) node) [3][]float64 {
	t.Helper()
	var out [3][]float64
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New(what)
		in := g.Input("x", dt, graph.Dims(len(x))...)
		y := f(in)
		first := grad.OrZero(ops.Sum(y), in)[0]
		second := grad.OrZero(ops.Sum(first), in)[0]
		if err := g.Err(); err != nil {
			t.Fatalf("%s: %v", what, err)
		}
		v := graph.NewValue(in.Type())
		for i := range x {
			v.Data[i] = dt.Round(x[i])
		}
		agree(t, graph.Values{in: v}, y, first, second)
		values, err := ref.Eval(trait.Env{}, graph.Values{in: v}, y, first, second)
		if err != nil {
			t.Fatal(err)
		}
		for k := range out {
			out[k] = values[k].Data
		}
	}
	return out
}

// TestActivations: values, first and second derivatives, spelt out: at 0, where
// some have a kink, between, and far out, where a naive form overflows.
func TestActivations(t *testing.T) {
	σ := func(x float64) float64 { return 1 / (1 + math.Exp(-x)) }
	softplus := func(x float64) float64 { return max(x, 0) + math.Log1p(math.Exp(-math.Abs(x))) }
	x := []float64{-1000, -100, -3, -0.5, 0, 0.5, 3, 100, 1000}
	step := func(below, above float64) func(float64) float64 { // at 0 it is below
		return func(x float64) float64 {
			if x > 0 {
				return above
			}
			return below
		}
	}
	for name, c := range map[string]struct {
		f    func(x node) node
		want [3]func(x float64) float64
	}{
		"softplus": {ops.Softplus, [3]func(x float64) float64{softplus,
			σ, func(x float64) float64 { return σ(x) * σ(-x) }}},
		"silu": {ops.SiLU, [3]func(x float64) float64{
			func(x float64) float64 { return x * σ(x) },
			func(x float64) float64 { return σ(x) + x*σ(x)*σ(-x) },
			func(x float64) float64 { return σ(x) * σ(-x) * (2 + x*(σ(-x)-σ(x))) }}},
		"mish": {ops.Mish, [3]func(x float64) float64{
			func(x float64) float64 { return x * math.Tanh(softplus(x)) },
			func(x float64) float64 { t := math.Tanh(softplus(x)); return t + x*σ(x)*(1-t*t) },
			func(x float64) float64 {
				t := math.Tanh(softplus(x))
				return (1 - t*t) * σ(x) * (2 + x*(σ(-x)-2*t*σ(x)))
			}}},
		"elu": {ops.ELU, [3]func(x float64) float64{
			func(x float64) float64 { return max(x, math.Expm1(min(x, 0))) },
			func(x float64) float64 { return math.Exp(min(x, 0)) },
			func(x float64) float64 { return step(math.Exp(min(x, 0)), 0)(x) }}},
		"leaky relu": {func(x node) node { return ops.LeakyReLU(x, 0.25) }, [3]func(x float64) float64{
			func(x float64) float64 { return max(x, x/4) }, step(0.25, 1), func(float64) float64 { return 0 }}},
		"clip": {func(x node) node { return ops.Clip(x, ops.Lit(x, -3), ops.Lit(x, 0.5)) }, [3]func(x float64) float64{
			func(x float64) float64 { return min(max(x, -3), 0.5) },
			func(x float64) float64 {
				if -3 <= x && x <= 0.5 {
					return 1
				}
				return 0
			},
			func(float64) float64 { return 0 }}},
	} {
		for k, got := range orders(t, name, x, c.f) {
			want := make([]float64, len(x))
			for i := range x {
				want[i] = c.want[k](x[i])
			}
			if err := reftest.Near(got, want, 1e-13); err != nil {
				t.Errorf("%s, derivative %d: %v", name, k, err)
			}
		}
	}
}

// TestClipBounds: the bound that holds x back has the derivative.
func TestClipBounds(t *testing.T) {
	g := graph.New("clip")
	x, lo, hi := g.Input("x", graph.F64, graph.Dims(3)...), g.Scalar("lo", -1, graph.F64), g.Scalar("hi", 2, graph.F64)
	d := grad.Of(ops.Sum(ops.Mul(ops.Clip(x, lo, hi), g.Constant(graph.F64, []float64{3, 5, 7}, graph.Dims(3)...))), x, lo, hi)
	v, err := ref.Eval(trait.Env{}, graph.Values{x: {Type: x.Type(), Data: []float64{-9, 0, 9}}}, d...)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(v[0].Data, v[1].Data, v[2].Data); got != "[0 5 0] [3] [7]" {
		t.Errorf("derivatives %s", got)
	}
}

// TestReductions: variance, length, product and running sum of the rows of an
// array against loops, over each axis and over all.
func TestReductions(t *testing.T) {
	g := graph.New("reductions")
	x := g.Input("x", graph.F64, graph.Ax("i", 3), graph.Ax("j", 5), graph.Ax("d", 2))
	data := make([]float64, 30)
	for i := range data {
		data[i] = math.Round(10*math.Sin(float64(3*i+1)))/4 + 1000
		if i%7 == 3 {
			data[i] = 0
		}
	}
	feed := graph.Values{x: {Type: x.Type(), Data: data}}
	// rows are the elements that meet, for each element of the result.
	rows := func(axis int) [][]float64 {
		sizes, strides := [3]int{3, 5, 2}, [3]int{10, 2, 1}
		var out [][]float64
		for p := range data {
			if p/strides[axis]%sizes[axis] == 0 {
				var row []float64
				for k := range sizes[axis] {
					row = append(row, data[p+k*strides[axis]])
				}
				out = append(out, row)
			}
		}
		return out
	}
	loops := map[string]func(row []float64) float64{
		"Var": func(row []float64) (v float64) {
			m := 0.0
			for _, x := range row {
				m += x / float64(len(row))
			}
			for _, x := range row {
				v += (x - m) * (x - m) / float64(len(row))
			}
			return v
		},
		"Norm": func(row []float64) (v float64) {
			for _, x := range row {
				v = math.Hypot(v, x)
			}
			return v
		},
		"Prod": func(row []float64) float64 {
			v := 1.0
			for _, x := range row {
				v *= x
			}
			return v
		},
	}
	for name, f := range map[string]func(x node, axes ...any) node{"Var": ops.Var, "Norm": ops.Norm, "Prod": ops.Prod} {
		for axis, axisName := range []string{"i", "j", "d"} {
			var want []float64
			for _, row := range rows(axis) {
				want = append(want, loops[name](row))
			}
			y, kept := f(x, axisName), f(x, axis, ops.Keep)
			agree(t, feed, y, kept)
			v, err := ref.Eval(trait.Env{}, feed, y, kept)
			if err != nil {
				t.Fatal(err)
			}
			if kept.Rank() != 3 || kept.Shape().Axis(axis) != graph.Ax(axisName, 1) || y.Rank() != 2 {
				t.Errorf("%s over %s has shapes %v and %v", name, axisName, y.Shape(), kept.Shape())
			}
			for _, got := range v {
				if err := reftest.Near(got.Data, want, 1e-12*reftest.Largest(want)); err != nil {
					t.Errorf("%s over %s: %v", name, axisName, err)
				}
			}
		}
		y := f(x)
		v, err := ref.Eval(trait.Env{}, feed, y)
		if err != nil {
			t.Fatal(err)
		}
		if want := loops[name](data); y.Rank() != 0 || math.Abs(v[0].Data[0]-want) > 1e-12*want {
			t.Errorf("%s over all is %v, want %v", name, v[0].Data, want)
		}
	}
	for axis := range 3 {
		y := ops.CumSum(x, axis)
		agree(t, feed, y)
		v, err := ref.Eval(trait.Env{}, feed, y, ops.Slice(y, axis, -1, 0), ops.Sum(x, axis, ops.Keep))
		if err != nil {
			t.Fatal(err)
		}
		stride := []int{10, 2, 1}[axis]
		for p := range data {
			want := data[p]
			if p/stride%[]int{3, 5, 2}[axis] > 0 {
				want += v[0].Data[p-stride]
			}
			if got := v[0].Data[p]; math.Abs(got-want) > 1e-11 {
				t.Fatalf("running sum over axis %d is %v at %d, want %v", axis, got, p, want)
			}
		}
		if err := reftest.Near(v[1].Data, v[2].Data, 1e-11); err != nil {
			t.Errorf("the last running sum over axis %d is not the sum: %v", axis, err)
		}
	}
}

// TestCumSumDerivative: the derivative is the running sum from the other end.
func TestCumSumDerivative(t *testing.T) {
	g := graph.New("")
	x := g.Input("x", graph.F64, graph.Dims(7)...)
	w := g.Constant(graph.F64, []float64{1, -2, 3, 5, 8, -13, 21}, graph.Dims(7)...)
	d := grad.Of(ops.Sum(ops.Mul(w, ops.CumSum(x, 0))), x)[0]
	v, err := ref.Eval(trait.Env{}, graph.Values{x: graph.NewValue(x.Type())}, d)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(v[0].Data); got != "[23 22 24 21 16 8 21]" {
		t.Errorf("derivative %s", got)
	}
}

// TestCumulativeEnds: running results at infinities and NaN, and the derivatives of equal elements.
func TestCumulativeEnds(t *testing.T) {
	inf, nan := math.Inf(1), math.NaN()
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("")
		x := g.Input("x", dt, graph.Dims(5)...)
		y := []node{ops.LogCumSumExp(x, 0), ops.CumMax(x, 0), ops.CumMin(x, 0)}
		for _, c := range []struct {
			x    []float64
			want string
		}{
			{[]float64{-inf, -inf, 0, -inf, inf}, "[-Inf -Inf 0 0 +Inf] [-Inf -Inf 0 0 +Inf] [-Inf -Inf -Inf -Inf -Inf]"},
			{[]float64{1, 0, nan, 2, inf}, "[1 1.3132616 NaN NaN NaN] [1 1 NaN NaN NaN] [1 0 NaN NaN NaN]"},
			{[]float64{-1000, 1000, -1000, 0, 0}, "[-1000 1000 1000 1000 1000] [-1000 1000 1000 1000 1000] [-1000 -1000 -1000 -1000 -1000]"},
		} {
			feed := graph.Values{x: {Type: x.Type(), Data: c.x}}
			run, err := reftest.Tape(0, feed, y)
			if err != nil {
				t.Fatal(err)
			}
			defined, err := ref.Eval(trait.Env{}, feed, y...)
			if err != nil {
				t.Fatal(err)
			}
			for _, v := range [][]graph.Value{run, defined} {
				got := make([]string, len(v))
				for i := range v {
					for j, e := range v[i].Data {
						v[i].Data[j], _ = strconv.ParseFloat(strconv.FormatFloat(e, 'g', 8, 32), 64)
					}
					got[i] = fmt.Sprint(v[i].Data)
				}
				if s := strings.Join(got, " "); s != c.want {
					t.Errorf("%v: %s, want %s", dt, s, c.want)
				}
			}
		}
	}
	g := graph.New("")
	x := g.Input("x", graph.F64, graph.Dims(4)...)
	d := grad.Of(ops.Sum(ops.CumMax(x, 0)), x)[0]
	v, err := ref.Eval(trait.Env{}, graph.Values{x: {Type: x.Type(), Data: []float64{1, 2, 2, 1}}}, d)
	if err != nil {
		t.Fatal(err)
	}
	if got := fmt.Sprint(v[0].Data); got != "[1 3 0 0]" {
		t.Errorf("derivative %s", got)
	}
}

// TestProdZeros: the derivative of a product by a factor is the product of the
// others, the second by two factors that of the rest, whichever are 0.
func TestProdZeros(t *testing.T) {
	for _, x := range [][]float64{{2, 3, 5, 7, 11}, {2, 0, 5, 7, 11}, {2, 0, 5, 0, 11}, {0, 0, 0, 7, 11}, {3}, {0}} {
		g := graph.New("product")
		in := g.Input("x", graph.F64, graph.Dims(len(x))...)
		first := grad.Of(ops.Prod(in), in)[0]
		without := func(leave ...int) float64 {
			v := 1.0
			for i := range x {
				if i != leave[0] && i != leave[len(leave)-1] {
					v *= x[i]
				}
			}
			return v
		}
		for i := range x {
			own := ops.Sum(ops.Slice(first, 0, i, i+1))
			second := grad.OrZero(own, in)[0]
			v, err := ref.Eval(trait.Env{}, graph.Values{in: {Type: in.Type(), Data: x}}, own, second)
			if err != nil {
				t.Fatal(err)
			}
			if got, want := v[0].Data[0], without(i); got != want {
				t.Errorf("of %v the derivative by factor %d is %v, want %v", x, i, got, want)
			}
			for j := range x {
				want := 0.0
				if i != j {
					want = without(i, j)
				}
				if got := v[1].Data[j]; got != want {
					t.Errorf("of %v the derivative by factors %d and %d is %v, want %v", x, i, j, got, want)
				}
			}
		}
	}
}

// TestNormAtZero: the length of nothing has derivatives 0, its neighbours theirs.
func TestNormAtZero(t *testing.T) {
	got := orders(t, "norm", []float64{0, 3, 4, 0}, func(x node) node { return ops.Norm(ops.Reshape(x, 2, 2), 0) })
	for k, want := range [][]float64{{4, 3}, {0, 1, 1, 0}} {
		if err := reftest.Near(got[k], want, 0); err != nil {
			t.Errorf("derivative %d: %v", k, err)
		}
	}
	got = orders(t, "norm of zeros", []float64{0, 0}, func(x node) node { return ops.Norm(x) })
	for k, want := range [][]float64{{0}, {0, 0}, {0, 0}} {
		if err := reftest.Near(got[k], want, 0); err != nil {
			t.Errorf("of zeros, derivative %d: %v", k, err)
		}
	}
}

// TestStack: the new axis comes where it should, and its mistakes are one each.
func TestStack(t *testing.T) {
	g := graph.New("")
	a := g.Constant(graph.F64, []float64{1, 2}, graph.Ax("i", 2))
	b := g.Constant(graph.F64, []float64{3, 4}, graph.Ax("i", 2))
	for want, y := range map[string]node{
		"f64[k=2 i=2]: 1 2 3 4":   ops.Stack(0, "k", a, b),
		"f64[i=2 k=2]: 1 3 2 4":   ops.Stack(-1, "k", a, b),
		"f64[i=2 3]: 1 3 1 2 4 2": ops.Stack(1, "", a, b, a),
		"f64[k=1 i=2]: 1 2":       ops.Stack(0, "k", a),
		"f64[2]: 1 3":             ops.Stack(-1, "", ops.Sum(ops.Slice(a, 0, 0, 1)), ops.Sum(ops.Slice(b, 0, 0, 1))),
	} {
		v, err := ref.Eval(trait.Env{}, nil, y)
		if err != nil {
			t.Fatal(err)
		}
		if got := v[0].String(); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	for _, call := range []func(){
		func() { ops.Stack(0, "k") }, // in no graph: nothing is recorded, nothing breaks
		func() { ops.Stack(3, "k", a, b) },
		func() { ops.Stack(0, "k", a, ops.Sum(b)) },
		func() { ops.Stack(0, "i", a, b) },
		func() { ops.Stack(0, "k", a, ops.Slice(b, 0, 0, 1)) },
	} {
		call()
	}
	if all, _ := g.Err().(graph.Errors); len(all) < 4 {
		t.Errorf("%v", g.Err())
	}
}
