package viz

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// A convolution names its output channels and not those that it sums over, also where both have
// one name, so that an axis of the kernel has none.
func TestConvolutions(t *testing.T) {
	g := graph.New("convolutions")
	x := g.Param("x", graph.F32, graph.Ax("h", 5), graph.Ax("w", 5), graph.Ax("c", 2))
	same := g.Param("k", graph.F32, graph.Ax("kh", 3), graph.Ax("kw", 3), graph.Axis{Size: 2}, graph.Ax("c", 2))
	other := g.Param("v", graph.F32, graph.Ax("kh", 3), graph.Ax("kw", 3), graph.Ax("c", 2), graph.Ax("o", 4))
	y := ops.Conv2D(x, same).As("y")
	z := ops.Conv2D(x, other).As("z")
	loss := ops.Add(ops.Sum(ops.Square(y)), ops.Sum(ops.Square(z))).As("loss")
	d := grad.Of(loss, same, other)
	for _, c := range []struct {
		n    *graph.Node
		want string
	}{
		{y, "y_{hwc} = conv_{hw}(x_{hw}, k_c)"},
		{z, "z_{hwo} = conv_{hw}(x_{hw}, vₒ)"},
		{d[0], "∂loss/∂k_{kh,kw,c} = convkernel(x, ∂loss/∂y_c)"},
		{d[1], "∂loss/∂v_{kh,kw,c,o} = convkernel(x_c, ∂loss/∂zₒ)"},
	} {
		if got := Formula(c.n, StopAtAdjoints()); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}

// What joins arrays shows them without the axis along which they stand, and a
// sum over it says so.
func TestConcatenations(t *testing.T) {
	g := graph.New("concat")
	a := g.Param("a", graph.F64, graph.Ax("b", 2), graph.Ax("d", 3))
	s := g.Param("s", graph.F64, graph.Ax("b", 2), graph.Ax("d", 2))
	z := g.Param("z", graph.F64, graph.Ax("i", 3))
	u := g.Param("u", graph.F64, graph.Ax("i", 3))
	pair := ops.Concat(1, ops.Expand(z, 1, ""), ops.Expand(u, 1, ""))
	for _, c := range []struct {
		n    *graph.Node
		want string
	}{
		{ops.Concat("d", a, s).As("c"), "c_{bd} = concat_d(a_b, s_b)"},
		{ops.Sum(ops.Concat("d", s, a), "d").As("t"), "t_b = Σ_d concat_d(s_b, a_b)"},
		{ops.LogSumExp(pair, 1).As("p"), "pᵢ = log(Σₗ e^(concatₗ(zᵢ, uᵢ)))"},
		{ops.Gather(a, g.Constant(graph.I64, []float64{0, 1}, graph.Ax("k", 2)), "b").As("r"), "r_{kd} = gather(a_d, k)"},
	} {
		if got := Formula(c.n); got != c.want {
			t.Errorf("got %s, want %s", got, c.want)
		}
	}
	if err := g.Err(); err != nil {
		t.Error(err)
	}
}
