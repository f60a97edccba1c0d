package grad_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestJacobianOfSoftmax is diag(p) − p·pᵀ.
func TestJacobianOfSoftmax(t *testing.T) {
	g := graph.New("softmax")
	x := g.Input("x", graph.F64, graph.Ax("j", 4))
	p := ops.Softmax(x, "j")
	j := grad.Jacobian(p, x)
	got := both(t, graph.Values{x: values(x, 1)}, j, p)
	if s := j.Shape().String(); s != "[j=4 j′=4]" {
		t.Errorf("its shape is %s", s)
	}
	v, want := got[1].Data, make([]float64, 16)
	for a := range v {
		for b := range v {
			want[a*4+b] = -v[a] * v[b]
		}
		want[a*4+a] += v[a]
	}
	near(t, "softmax", got[0].Data, want, 1e-14)
}

// TestJacobianBothWays: rows by reverse mode and columns by forward mode are what
// difference quotients say, with axes in the order y's, x's.
func TestJacobianBothWays(t *testing.T) {
	for name, c := range map[string]struct {
		x     []graph.Axis
		y     func(x node) node
		shape string
	}{
		"rows": {[]graph.Axis{graph.Ax("i", 3), graph.Ax("d", 2)},
			func(x node) node { return ops.Sum(ops.Tanh(ops.Mul(x, ops.Reverse(x, "i"))), "d") }, "[i=3 i′=3 d=2]"},
		"columns": {[]graph.Axis{graph.Ax("d", 2)},
			func(x node) node {
				return ops.Exp(ops.Mul(ops.Expand(x, 1, ""), ops.Expand(ops.Rename(ops.Sin(x), 0, ""), 0, "")))
			}, "[d=2 2 d′=2]"},
		"one":     {nil, func(x node) node { return ops.Square(x) }, "[]"},
		"itself":  {[]graph.Axis{graph.Ax("d", 2)}, func(x node) node { return x }, "[d=2 d′=2]"},
		"nothing": {[]graph.Axis{graph.Ax("d", 2)}, func(x node) node { return ops.Sign(x) }, "[d=2 d′=2]"},
	} {
		g := graph.New(name)
		x := g.Param("x", graph.F64, c.x...)
		y := c.y(x)
		m := model{params: []node{x}, feed: graph.Values{x: values(x, 3)}}
		j := grad.Jacobian(y, x)
		if s := j.Shape().String(); s != c.shape {
			t.Errorf("%s: its shape is %s, want %s", name, s, c.shape)
		}
		n := x.Shape().Len()
		want := make([]float64, y.Shape().Len()*n)
		for b := range n {
			unit := graph.NewValue(x.Type())
			unit.Data[b] = 1
			for a, v := range m.quotient(t, map[node]graph.Value{x: unit}, []node{y})[0] {
				want[a*n+b] = v
			}
		}
		near(t, name, both(t, m.feed, j)[0].Data, want, 1e-8)
	}
}

// TestJacobianSharesDraws: every row is of the same noise.
func TestJacobianSharesDraws(t *testing.T) {
	g := graph.New("noise")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	ε := ops.RandomNormal(g, "ε", graph.F64, graph.Ax("i", 3))
	got := both(t, graph.Values{x: values(x, 1)}, grad.Jacobian(ops.Mul(x, ε), x), ε)
	want := make([]float64, 9)
	for i, v := range got[1].Data {
		want[i*4] = v
	}
	near(t, "noise", got[0].Data, want, 0)
}

// TestJacobianBesideStops: what the model itself has stopped stands still.
func TestJacobianBesideStops(t *testing.T) {
	g := graph.New("stops")
	x := g.Input("x", graph.F64, graph.Ax("a", 2))
	y := ops.Mul(ops.Expand(x, 1, ""), ops.Rename(ops.StopGradient(x), 0, "b"))
	got := both(t, graph.Values{x: {Data: []float64{3, 5}}}, grad.Jacobian(y, x))
	near(t, "x_a·x_b", got[0].Data, []float64{3, 0, 5, 0, 0, 3, 0, 5}, 0)
}

// TestHessianOfQuadratic: of ½xᵀAx + bᵀx it is the symmetric part of A, twice.
func TestHessianOfQuadratic(t *testing.T) {
	g := graph.New("quadratic")
	x := g.Param("x", graph.F64, graph.Ax("i", 3))
	a := []float64{2, 1, 0, -3, 5, 4, 1, 1, 7}
	A := g.Constant(graph.F64, a, graph.Dims(3, 3)...)
	Ax := ops.Squeeze(ops.MatMul(A, ops.Expand(ops.Rename(x, 0, ""), 1, "")), 1)
	h := grad.Hessian(ops.Add(ops.Scale(ops.Sum(ops.Mul(x, Ax)), 0.5), ops.Sum(x)), x)
	if s := h.Shape().String(); s != "[i=3 i′=3]" {
		t.Errorf("its shape is %s", s)
	}
	var want []float64
	for i := range 3 {
		for j := range 3 {
			want = append(want, (a[i*3+j]+a[j*3+i])/2)
		}
	}
	near(t, "quadratic", both(t, graph.Values{x: values(x, 1)}, h)[0].Data, want, 1e-14)
	linear := grad.Hessian(ops.Sum(x), x)
	near(t, "linear", both(t, graph.Values{x: values(x, 1)}, linear)[0].Data, make([]float64, 9), 0)
}

// TestJacobianIsNotUnrolled: the number of nodes does not depend on the sizes.
func TestJacobianIsNotUnrolled(t *testing.T) {
	count := func(n int) int {
		g := graph.New("sizes")
		x, w := g.Input("x", graph.F32, graph.Ax("i", n)), g.Param("w", graph.F32, graph.Ax("i", n), graph.Ax("j", n))
		grad.Jacobian(ops.Tanh(ops.MatMul(ops.Expand(x, 0, ""), w)), x)
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		return g.Len()
	}
	if few, many := count(2), count(50); few != many {
		t.Errorf("%d nodes for 2 elements, %d for 50", few, many)
	}
}
