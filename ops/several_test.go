package ops_test

import (
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// TestSeveralOperands: sums and products of several arrays are those of pairs, from left to right.
func TestSeveralOperands(t *testing.T) {
	g := graph.New("several")
	a, b, c := g.Input("a", graph.F64, graph.Ax("i", 2)), g.Input("b", graph.F64), g.Input("c", graph.F64, graph.Ax("i", 1))
	for name, pair := range map[string][2]node{
		"sum":     {ops.Add(a, b, c, a), ops.Add(ops.Add(ops.Add(a, b), c), a)},
		"product": {ops.Mul(a, b, c, a), ops.Mul(ops.Mul(ops.Mul(a, b), c), a)},
		"one":     {ops.Add(a), a},
		"list":    {ops.Mul([]node{a, b}...), ops.Mul(a, b)},
	} {
		if pair[0] != pair[1] {
			t.Errorf("%s: %v, want %v", name, pair[0], pair[1])
		}
	}
	if got := viz.Formula(ops.Add(a, b, c).As("s")); got != "sᵢ = aᵢ + b + c" {
		t.Error(got)
	}
	values, err := ref.Eval(trait.Env{}, graph.Values{a: {Data: []float64{1, 2}}, b: {Data: []float64{1e16}}, c: {Data: []float64{-1e16}}}, ops.Add(a, b, c))
	if err != nil || !slices.Equal(values[0].Data, []float64{0, 2}) { // 1 + 1e16 is 1e16: the order counts
		t.Error(values, err)
	}
	if g.Err() != nil {
		t.Error(g.Err())
	}
	if none := ops.Add(); none.IsValid() || none.Graph().Err() == nil {
		t.Error("no operand is no mistake")
	}
}

// TestMatMulOfVectors: a vector is a row on the left and a column on the right.
func TestMatMulOfVectors(t *testing.T) {
	g := graph.New("vectors")
	in := func(name string, axes ...graph.Axis) node { return g.Input(name, graph.F64, axes...) }
	k, m, n, b := graph.Ax("k", 4), graph.Ax("m", 2), graph.Ax("n", 3), graph.Ax("b", 5)
	v, w := in("v", k), in("w", k)
	M, N := in("M", m, k), in("N", k, n)
	B, C := in("B", b, m, k), in("C", b, k, n)
	rng := 0.0
	values := graph.Values{}
	for _, x := range g.Leaves(graph.RoleInput) {
		values[x] = graph.NewValue(x.Type())
		for i := range values[x].Data {
			rng++
			values[x].Data[i] = math.Sin(rng)
		}
	}
	for _, c := range []struct {
		got  node
		want string // the type
		sum  node   // by definition
	}{
		{ops.MatMul(v, w), "f64[]", ops.Sum(ops.Mul(v, w))},
		{ops.MatMul(v, N), "f64[n=3]", ops.Sum(ops.Mul(ops.Over(v, "k", "n"), N), "k")},
		{ops.MatMul(M, w), "f64[m=2]", ops.Sum(ops.Mul(M, w), "k")},
		{ops.MatMul(B, w), "f64[b=5 m=2]", ops.Sum(ops.Mul(B, w), "k")},
		{ops.MatMul(v, C), "f64[b=5 n=3]", ops.Sum(ops.Mul(ops.Over(v, "k", "n"), C), "k")},
	} {
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		if got := c.got.Type().String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
		found, err := ref.Eval(trait.Env{}, values, c.got, c.sum)
		if err != nil {
			t.Fatal(err)
		}
		for i, x := range found[0].Data {
			if math.Abs(x-found[1].Data[i]) > 1e-15 {
				t.Errorf("%v: %v, want %v", c.want, found[0], found[1])
				break
			}
		}
	}
}

// TestMatMulPrimes: a name that the product would have twice gets primes until it is free, in formulas
// too, and names that differ by primes are contracted.
func TestMatMulPrimes(t *testing.T) {
	g := graph.New("gram")
	x := g.Input("x", graph.F64, graph.Ax("n", 3), graph.Ax("d", 2))
	z := g.Input("z", graph.F64, graph.Ax("n′", 2), graph.Ax("n", 3), graph.Ax("d", 2))
	v := g.Input("v", graph.F64, graph.Ax("n", 3))
	K := ops.MatMul(x, ops.Transpose(x)).As("K")
	for _, c := range []struct {
		y    node
		want string
	}{
		{K, "[n=3 n′=3]"},
		{ops.MatMul(K, K), "[n=3 n′=3]"},
		{ops.MatMul(K, v), "[n=3]"},
		{ops.MatMul(ops.Transpose(x), x), "[d=2 d′=2]"},
		{ops.MatMul(z, ops.Transpose(z, "n′", "d", "n")), "[n′=2 n=3 n′′=3]"},
		{ops.MatMul(z, ops.Transpose(x)), "[n′=2 n=3 n′′=3]"},
	} {
		if got := c.y.Shape().String(); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
	if g.Err() != nil {
		t.Error(g.Err())
	}
	w := g.Input("w", graph.F64, graph.Ax("d", 2))
	for _, c := range []struct {
		y    node
		want string
	}{
		{K, "K_{n,n′} = Σ_d x_{nd}·x_{n′,d}"},
		{ops.MatMul(K, K).As("P"), "P_{n,n′} = Σ_{n′′} K_{n,n′′}·K_{n′′,n′}"},
		{ops.MatMul(x, w).As("q"), "qₙ = Σ_d x_{nd}·w_d"},
		{ops.MatMul(w, w).As("s"), "s = ‖w‖²"},
	} {
		if got := viz.Formula(c.y); got != c.want {
			t.Errorf("%s, want %s", got, c.want)
		}
	}
}

// TestGram: products of vectors and Gram matrices have derivatives, tangents and batches, as written
// and rewritten.
func TestGram(t *testing.T) {
	g := graph.New("gram")
	x, v := g.Input("x", graph.F64, graph.Ax("n", 3), graph.Ax("d", 2)), g.Input("v", graph.F64, graph.Ax("d", 2))
	K := ops.MatMul(x, ops.Transpose(x))
	y := ops.Add(
		ops.Sum(ops.Square(ops.Transpose(K))),
		ops.Sum(ops.Exp(ops.MatMul(x, v))),
		ops.MatMul(v, ops.MatMul(ops.Transpose(x), ops.MatMul(x, v))),
		ops.Sum(ops.Mul(ops.MatMul(v, ops.Transpose(x)), ops.MatMul(x, v))),
		ops.Sum(ops.Mul(ops.MatMul(K, K), K)),
	)
	if err := check.Failed(check.Graph(t.Context(), y)); err != nil {
		t.Error(err)
	}
}
