package ops_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestDegenerateMatrices: one matrix of a batch that is singular, or not definite, spoils its own result
// alone, by the definition and on the tape.
func TestDegenerateMatrices(t *testing.T) {
	nan := math.NaN()
	g := graph.New("degenerate")
	a := g.Constant(graph.F64, []float64{1, 2, 2, 4, 4, 0, 0, 9}, graph.Ax("b", 2), graph.Ax("i", 2), graph.Ax("j", 2))
	d := g.Constant(graph.F64, []float64{0, 1, 1, 4, 4, 0, 0, 9}, graph.Ax("b", 2), graph.Ax("i", 2), graph.Ax("j", 2))
	one := g.Constant(graph.F64, []float64{4, 9}, graph.Ax("i", 2))
	sign, log := ops.SlogDet(a)
	q, r := ops.QR(a)
	for name, c := range map[string]struct {
		y    *graph.Node
		typ  string
		want []float64
	}{
		"Cholesky":        {ops.Cholesky(a), "f64[b=2 i=2 j=2]", []float64{nan, nan, nan, nan, 2, 0, 0, 3}},
		"Solve":           {ops.Solve(a, one), "f64[b=2 j=2]", []float64{nan, nan, 1, 1}},
		"SolveTriangular": {ops.SolveTriangular(d, one), "f64[b=2 j=2]", []float64{nan, nan, 1, 1}},
		"Inv":             {ops.Inv(a), "f64[b=2 j=2 i=2]", []float64{nan, nan, nan, nan, 0.25, 0, 0, 1. / 9}},
		"Q":               {q, "f64[b=2 i=2 2]", []float64{nan, nan, nan, nan, 1, 0, 0, 1}},
		"R":               {r, "f64[b=2 2 j=2]", []float64{nan, nan, nan, nan, 4, 0, 0, 9}},
		"LeastSquares":    {ops.LeastSquares(a, one), "f64[b=2 j=2]", []float64{nan, nan, 1, 1}},
		"LogDet":          {log, "f64[b=2]", []float64{math.Inf(-1), math.Log(36)}},
		"sign":            {sign, "f64[b=2]", []float64{0, 1}},
		"Det":             {ops.Det(a), "f64[b=2]", []float64{0, 36}},
	} {
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		if got := c.y.Type().String(); got != c.typ {
			t.Errorf("%s: type %s, want %s", name, got, c.typ)
		}
		byDefinition, err := ref.Eval(trait.Env{}, graph.Values{}, c.y)
		if err != nil {
			t.Fatal(err)
		}
		onTape, err := reftest.Tape(0, graph.Values{}, []*graph.Node{c.y})
		if err != nil {
			t.Fatal(err)
		}
		for _, got := range []graph.Value{byDefinition[0], onTape[0]} {
			for i, v := range got.Data {
				w := c.want[i]
				if v != w && !(v != v && w != w) && !(math.Abs(v-w) < 1e-12) {
					t.Errorf("%s: %v, want %v", name, got.Data, c.want)
					break
				}
			}
		}
	}
}

// TestSpectraOfDegenerateMatrices: where eigenvalues or singular values are equal, or 0, the vectors are
// orthonormal and the product is the matrix, by the definition and on the tape, and the gradient of a
// function of the values alone is finite: that of the sum of the squares is 2A.
func TestSpectraOfDegenerateMatrices(t *testing.T) {
	for name, data := range map[string][]float64{
		"equal":    {2, 0, 0, 0, 2, 0, 0, 0, 2},
		"in pairs": {2, 1, 1, 1, 2, 1, 1, 1, 2},
		"rank one": {1, 2, 3, 2, 4, 6, 3, 6, 9},
		"zero":     {0, 0, 0, 0, 0, 0, 0, 0, 0},
		"large":    {3e300, 0, 0, 0, 1e300, 0, 0, 0, 2e300},
	} {
		g := graph.New("degenerate")
		a := g.Input("a", graph.F64, graph.Ax("i", 3), graph.Ax("j", 3))
		values, vectors := ops.Eigh(a)
		u, s, v := ops.SVD(a)
		product := func(u, s, v *graph.Node) *graph.Node {
			back := ops.Rename(ops.Rename(v, 0, "j"), 1, "")
			return ops.MatMul(ops.Mul(u, ops.Expand(s, 0, "")), ops.Transpose(back))
		}
		turned := func(x *graph.Node) *graph.Node { return ops.Transpose(ops.Reshape(x, 3, 3)) }
		square := func(x *graph.Node) *graph.Node { return ops.Reshape(x, 3, 3) }
		fetch := []*graph.Node{
			square(product(vectors, values, vectors)), square(product(u, s, v)),
			ops.MatMul(turned(vectors), square(vectors)), ops.MatMul(turned(u), square(u)), ops.MatMul(turned(v), square(v)),
		}
		want := [][]float64{data, data, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}, {1, 0, 0, 0, 1, 0, 0, 0, 1}}
		if name != "large" {
			twice := make([]float64, len(data))
			for i, x := range data {
				twice[i] = 2 * x
			}
			fetch = append(fetch, square(grad.Of(ops.Sum(ops.Square(values)), a)[0]), square(grad.Of(ops.Sum(ops.Square(s)), a)[0]))
			want = append(want, twice, twice)
		}
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		feed := graph.Values{a: graph.Value{Type: a.Type(), Data: data}}
		byDefinition, err := ref.Eval(trait.Env{}, feed, fetch...)
		if err != nil {
			t.Fatal(err)
		}
		onTape, err := reftest.Tape(0, feed, fetch)
		if err != nil {
			t.Fatal(err)
		}
		for way, got := range map[string][]graph.Value{"definition": byDefinition, "tape": onTape} {
			for k, w := range want {
				size := 0.0
				for _, x := range w {
					size = max(size, math.Abs(x))
				}
				for i, x := range w {
					if !(math.Abs(got[k].Data[i]-x) <= 1e-13*size) && x != got[k].Data[i] {
						t.Errorf("%s, %s, result %d: %v, want %v", name, way, k, got[k].Data, w)
						break
					}
				}
			}
		}
	}
}

// TestSmallSingularValues: a singular value of 1e-20 beside one of 1 has all its digits on the tape.
func TestSmallSingularValues(t *testing.T) {
	g := graph.New("small")
	a := g.Input("a", graph.F64, graph.Dims(3, 2)...)
	feed := graph.Values{a: graph.Value{Type: a.Type(), Data: []float64{1, 1e-20, 1, -1e-20, 0, 0}}}
	got, err := reftest.Tape(0, feed, []*graph.Node{ops.SingularValues(a)})
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range []float64{math.Sqrt2, math.Sqrt2 * 1e-20} {
		if x := got[0].Data[i]; !(math.Abs(x-w) < 1e-15*w) {
			t.Errorf("singular value %d is %v, want %v", i, x, w)
		}
	}
}

// TestMatrixExpOfLargeMatrices: a rotation by a large angle, a matrix that is not finite, and one with an
// element far below 0, by the definition and on the tape.
func TestMatrixExpOfLargeMatrices(t *testing.T) {
	g := graph.New("large")
	a := g.Input("a", graph.F64, graph.Dims(3, 2, 2)...)
	data := []float64{0, 100, -100, 0, 1, math.Inf(1), 0, 1, 0, 0, 0, -300}
	feed := graph.Values{a: graph.Value{Type: a.Type(), Data: data}}
	y := ops.MatrixExp(a)
	byDefinition, err := ref.Eval(trait.Env{}, feed, y)
	if err != nil {
		t.Fatal(err)
	}
	onTape, err := reftest.Tape(0, feed, []*graph.Node{y})
	if err != nil {
		t.Fatal(err)
	}
	sin, cos := math.Sincos(100)
	nan := math.NaN()
	for _, got := range []graph.Value{byDefinition[0], onTape[0]} {
		for i, w := range []float64{cos, sin, -sin, cos, nan, nan, nan, nan, 1, 0, 0, math.Exp(-300)} {
			if x := got.Data[i]; !(math.Abs(x-w) < 1e-11) && !(x != x && w != w) {
				t.Errorf("element %d is %v, want %v", i, x, w)
			}
		}
	}
}
