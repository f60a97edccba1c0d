package viz

import (
	"math"
	"math/rand"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// Functions that are made of several operations are called by their names, in values and in
// derivatives; what only looks like one is not.
func TestCompositesAreCalledByName(t *testing.T) {
	leaky := func(x *graph.Node) *graph.Node { return ops.LeakyReLU(x, 0.2) }
	for _, c := range []struct {
		f                 func(*graph.Node) *graph.Node
		value, derivative string
	}{
		{ops.GELU, "hᵢ = gelu(wᵢ·xᵢ + b)", "∂ℓ/∂wᵢ = gelu′(wᵢ·xᵢ + b)·xᵢ"},
		{ops.GELUTanh, "hᵢ = gelu tanh(wᵢ·xᵢ + b)", "∂ℓ/∂wᵢ = gelu tanh′(wᵢ·xᵢ + b)·xᵢ"},
		{ops.ELU, "hᵢ = elu(wᵢ·xᵢ + b)", "∂ℓ/∂wᵢ = elu′(wᵢ·xᵢ + b)·xᵢ"},
		{ops.SiLU, "hᵢ = silu(wᵢ·xᵢ + b)", "∂ℓ/∂wᵢ = silu′(wᵢ·xᵢ + b)·xᵢ"},
		{ops.Mish, "hᵢ = mish(wᵢ·xᵢ + b)", "∂ℓ/∂wᵢ = mish′(wᵢ·xᵢ + b)·xᵢ"},
		{leaky, "hᵢ = leaky relu(wᵢ·xᵢ + b, 0.2)", "∂ℓ/∂wᵢ = leaky relu′(wᵢ·xᵢ + b, 0.2)·xᵢ"},
		{ops.LogSigmoid, "hᵢ = log σ(wᵢ·xᵢ + b)", "∂ℓ/∂wᵢ = σ(−wᵢ·xᵢ − b)·xᵢ"},
	} {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			g := graph.New("composite")
			x, w, b := g.Input("x", dt, graph.Ax("i", 3)), g.Param("w", dt, graph.Ax("i", 3)), g.Param("b", dt)
			h := c.f(ops.Add(ops.Mul(w, x), b)).As("h")
			d := grad.Of(ops.Sum(h), w)[0]
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			if got := Formula(h); got != c.value {
				t.Errorf("%s, want %s", got, c.value)
			}
			if got := Formula(d); got != c.derivative {
				t.Errorf("%s, want %s", got, c.derivative)
			}
			if dt == graph.F64 && !strings.Contains(c.value, "tanh") && !strings.Contains(c.value, "log") {
				r := rand.New(rand.NewSource(1))
				feed := graph.Values{x: fill(r, x), w: fill(r, w), b: fill(r, b)}
				checkTrue(t, h, feed)
				checkTrue(t, d, feed)
			}
		}
	}
}

func TestWhatIsNoComposite(t *testing.T) {
	g := graph.New("near misses")
	x, y := g.Input("x", graph.F64, graph.Ax("i", 3)), g.Input("y", graph.F64, graph.Ax("i", 3))
	gate := ops.Sigmoid(x).As("gate")
	for _, c := range []struct {
		n    *graph.Node
		want string
	}{
		{ops.Mul(ops.Scale(x, 0.5), ops.Shift(ops.Erf(ops.Scale(y, 1/math.Sqrt2)), 1)), "%"},
		{ops.Mul(ops.Scale(x, 0.5), ops.Shift(ops.Erf(ops.Scale(x, 0.7)), 1)), "%"},
		{ops.Mul(x, ops.Sigmoid(y)), "%"},
		{ops.Mul(x, gate), "xᵢ·gateᵢ"}, // the user's name is worth more
	} {
		if got := Formula(c.n); strings.Contains(got, "lu(") || !strings.Contains(got, c.want) {
			t.Errorf("%s: want no name of a function", got)
		}
	}
}

// A user's own function has a name in formulas once it is given.
func TestFunctions(t *testing.T) {
	ripple := func(x *graph.Node, _ ...float64) *graph.Node { return ops.Mul(x, ops.Tanh(ops.Sin(x))) }
	g := graph.New("ripple")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	y := ripple(x).As("y")
	if got, want := Formula(y), "yᵢ = xᵢ·tanh(sin(xᵢ))"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	named := Functions(ops.Composite{Name: "ripple", Of: ripple})
	if got, want := Formula(y, named), "yᵢ = ripple(xᵢ)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	box1(t, draw(t, []*graph.Node{y}, named), "y = ripple(xᵢ)")
}

// The scale of a product of arrays is the root of the size that it sums over. Halves are not.
func TestRootOfASize(t *testing.T) {
	for _, c := range []struct {
		size int
		make func(q, k *graph.Node, d float64) *graph.Node
		want string
	}{
		{5, func(q, k *graph.Node, d float64) *graph.Node {
			return ops.Scale(ops.MatMul(q, ops.Transpose(k)), 1/math.Sqrt(d))
		}, "yᵢⱼ = (Σ_d q_{id}·k_{jd})/√5"},
		{4, func(q, k *graph.Node, d float64) *graph.Node {
			return ops.Scale(ops.MatMul(q, ops.Transpose(k)), 1/math.Sqrt(d))
		}, "yᵢⱼ = (Σ_d q_{id}·k_{jd})/√4"},
		{5, func(q, _ *graph.Node, d float64) *graph.Node { return ops.Scale(q, math.Sqrt(d)) }, "y_{id} = √5·q_{id}"},
		{4, func(q, _ *graph.Node, d float64) *graph.Node { return ops.Scale(q, math.Sqrt(d)) }, "y_{id} = 2·q_{id}"},
		{4, func(q, _ *graph.Node, _ float64) *graph.Node { return ops.Scale(ops.Sum(ops.Square(q), "d"), 0.5) }, "yᵢ = 0.5·‖qᵢ‖²"},
		{5, func(q, k *graph.Node, _ float64) *graph.Node {
			return ops.Scale(ops.MatMul(q, ops.Transpose(k)), 1/math.Sqrt(7))
		}, "yᵢⱼ = 0.377964473009·Σ_d q_{id}·k_{jd}"},
	} {
		g := graph.New("roots")
		q, k := g.Input("q", graph.F64, graph.Ax("i", 2), graph.Ax("d", c.size)), g.Input("k", graph.F64, graph.Ax("j", 3), graph.Ax("d", c.size))
		y := c.make(q, k, float64(c.size)).As("y")
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		if got := Formula(y); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		r := rand.New(rand.NewSource(1))
		feed := graph.Values{q: fill(r, q), k: fill(r, k)}
		checkTrue(t, y, feed)
		if strings.Contains(c.want, "/√") {
			d := grad.Of(ops.Sum(ops.Square(y)), q)[0]
			if got := Formula(d, StopAtAdjoints()); !strings.Contains(got, "/√") {
				t.Errorf("the derivative is %s", got)
			}
			checkTrue(t, d, feed)
		}
	}
}

func TestHeadsAreConcatenated(t *testing.T) {
	g := graph.New("heads")
	x := g.Input("x", graph.F64, graph.Ax("h", 2), graph.Ax("t", 3), graph.Ax("e", 4))
	laid := func(x *graph.Node, axes ...graph.Axis) *graph.Node {
		s, err := graph.NewShape(axes...)
		if err != nil {
			t.Fatal(err)
		}
		return ops.ReshapeTo(x, s)
	}
	heads := laid(ops.Transpose(x, "t", "h", "e"), graph.Ax("t", 3), graph.Ax("he", 8)).As("heads")
	flat := laid(x, graph.Ax("h", 2), graph.Ax("te", 12)).As("flat")
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if got, want := Formula(heads), "heads_{t,he} = concatₕ(xₕₜₑ)"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	if got, want := Formula(flat), "flat_{h,te} = xₕₜₑ"; got != want {
		t.Errorf("%s, want %s", got, want)
	}
	checkTrue(t, heads, graph.Values{x: fill(rand.New(rand.NewSource(1)), x)})
}
