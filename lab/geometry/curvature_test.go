package geometry_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gonum.org/v1/gonum/mat"
)

// clustering finds a builder.
func clustering(t *testing.T, name string) builders.Builder {
	t.Helper()
	b, err := builders.Lookup(name)
	if err != nil {
		t.Fatal(err)
	}
	return b
}

// irisSite is a clustering of iris in three, somewhat trained.
func irisSite(t *testing.T, name string, steps int) geometry.Site {
	t.Helper()
	s, err := geometry.ClusterSite(data.Iris(), clustering(t, name), 3, 1, 1, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	track, err := s.Train(t.Context(), train.Adam(lab.DefaultRate(data.Iris())), steps)
	if err != nil {
		t.Fatal(err)
	}
	return track.Site
}

// net is a small net of two layers, with its own examples.
func net(t *testing.T, dt graph.DType) geometry.Site {
	t.Helper()
	g := graph.New("net")
	x := g.Input("x", dt, graph.Ax("i", 9), graph.Ax("d", 3))
	w := g.Param("in/w", dt, graph.Ax("d", 3), graph.Ax("h", 4))
	b := g.Param("in/b", dt, graph.Ax("h", 4))
	v := g.Param("out/w", dt, graph.Ax("h", 4), graph.Ax("o", 1))
	y := ops.Sum(ops.MatMul(ops.Tanh(ops.Add(ops.MatMul(x, w), b)), v), "o")
	loss := ops.Mean(ops.Square(ops.Sub(y, ops.Sum(x, "d"))), "i").As("loss")
	s := geometry.Site{Model: &builders.Model{Graph: g, Loss: loss}, Store: tape.NewStore(g, tape.Seed(4))}
	s.Name = "net"
	values := graph.NewValue(x.Type())
	for i := range values.Data {
		values.Data[i] = math.Sin(float64(3*i + 1))
	}
	s.Feed = tape.Feed{x: tape.Tensor(values)}
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	return s
}

// eigenvalues are those of the dense Hessian, which package grad makes parameter by
// parameter: all second derivatives are one block after the other.
func eigenvalues(t *testing.T, s geometry.Site, params ...*graph.Node) []float64 {
	t.Helper()
	var blocks []*graph.Node
	for _, d := range grad.Of(s.Model.Loss, params...) {
		for _, p := range params {
			blocks = append(blocks, grad.Jacobian(d, p))
		}
	}
	prog, err := tape.Compile(s.Model.Graph, tape.Fetch(blocks...))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, s.Store.Clone())
	defer vm.Close()
	if err := vm.Run(context.Background(), s.Feed); err != nil {
		t.Fatal(err)
	}
	n := 0
	for _, p := range params {
		n += p.Shape().Len()
	}
	h := mat.NewSymDense(n, nil)
	row := 0
	for i, p := range params {
		column := 0
		for j, q := range params {
			v, err := vm.Value(blocks[i*len(params)+j])
			if err != nil {
				t.Fatal(err)
			}
			for a := range p.Shape().Len() {
				for b := range q.Shape().Len() {
					h.SetSym(row+a, column+b, v.Float64s()[a*q.Shape().Len()+b])
				}
			}
			column += q.Shape().Len()
		}
		row += p.Shape().Len()
	}
	var e mat.EigenSym
	if !e.Factorize(h, false) {
		t.Fatal("no eigenvalues")
	}
	return e.Values(nil)
}

// TestCurvatureIsThatOfTheDenseHessian holds both extremes to the eigenvalues of the
// whole matrix, and their bounds to the error.
func TestCurvatureIsThatOfTheDenseHessian(t *testing.T) {
	for name, s := range map[string]geometry.Site{"soft": irisSite(t, "kmeans-softmax", 30), "goofy": irisSite(t, "kmeans-goofy", 3), "net": net(t, graph.F64)} {
		params := s.Model.Params()
		c, err := s.Curvature(t.Context(), geometry.CurvatureConfig{Seed: 7})
		if err != nil {
			t.Fatal(err)
		}
		want := eigenvalues(t, s, params...)
		if len(want) != c.Params {
			t.Fatalf("%s: %d numbers, want %d", name, c.Params, len(want))
		}
		size := max(math.Abs(want[0]), math.Abs(want[len(want)-1]))
		for _, e := range []struct {
			got  geometry.Eigenpair
			want float64
		}{{c.Smallest, want[0]}, {c.Largest, want[len(want)-1]}} {
			if d := math.Abs(e.got.Value - e.want); d > e.got.Residual+1e-12*size || d > 1e-6*size {
				t.Errorf("%s: %v ± %v, the dense Hessian has %v", name, e.got.Value, e.got.Residual, e.want)
			}
		}
		if !c.Converged || c.Products > len(want)+2 {
			t.Errorf("%s: converged: %v, after %d products for %d numbers", name, c.Converged, c.Products, len(want))
		}
	}
}

// TestCurvatureOfQuadratic: of ½Σ a_i w_i² the eigenvalues are the a_i, and their vectors
// the axes. A multiple of the identity, and a loss without curvature, need one product.
func TestCurvatureOfQuadratic(t *testing.T) {
	for _, a := range [][]float64{{3, -2, 7, 0.5, 1}, {4, 4, 4, 4, 4}, {0, 0, 0, 0, 0}} {
		g := graph.New("quadratic")
		w := g.Param("w", graph.F64, graph.Ax("i", 5)).Init(initial.Normal(0, 1))
		half := ops.Mul(ops.Lit(w, 0.5), ops.Mul(g.Constant(graph.F64, a, graph.Ax("i", 5)), ops.Square(w)))
		s := geometry.Site{Name: "quadratic", Model: &builders.Model{Graph: g, Loss: ops.Sum(half)}, Store: tape.NewStore(g)}
		c, err := s.Curvature(t.Context(), geometry.CurvatureConfig{})
		if err != nil {
			t.Fatal(err)
		}
		least, most := a[0], a[0]
		for _, v := range a {
			least, most = min(least, v), max(most, v)
		}
		if math.Abs(c.Largest.Value-most) > 1e-9 || math.Abs(c.Smallest.Value-least) > 1e-9 {
			t.Errorf("%v: largest %v, smallest %v", a, c.Largest.Value, c.Smallest.Value)
		}
		if least < 0 && math.Abs(math.Abs(c.Largest.Vector[2])-1) > 1e-6 {
			t.Errorf("the direction of the largest is %v", c.Largest.Vector)
		}
		if least == most && c.Products != 3 {
			t.Errorf("%d products for a multiple of the identity", c.Products)
		}
		if text := c.String(); least < 0 && !strings.Contains(text, "this is no minimum") || most > 0 != strings.Contains(text, "below 2/λ") {
			t.Errorf("printed\n%s", text)
		}
	}
}

// TestCurvatureThatDoesNotConverge says so, and its bound holds all the same.
func TestCurvatureThatDoesNotConverge(t *testing.T) {
	s := net(t, graph.F64)
	params := s.Model.Params()
	c, err := s.Curvature(t.Context(), geometry.CurvatureConfig{MaxProducts: 2})
	if err != nil {
		t.Fatal(err)
	}
	near := math.Inf(1)
	for _, λ := range eigenvalues(t, s, params...) {
		near = min(near, math.Abs(λ-c.Largest.Value))
	}
	if c.Converged || near > c.Largest.Residual {
		t.Errorf("converged: %v; an eigenvalue is %v from %v ± %v", c.Converged, near, c.Largest.Value, c.Largest.Residual)
	}
	if n := len(s.Model.Graph.Leaves(graph.RoleInput)); n != 1 {
		t.Errorf("the model has %d inputs now", n)
	}
}

// TestCurvatureInFloat32 agrees with float64 within its own tolerance.
func TestCurvatureInFloat32(t *testing.T) {
	double, err := net(t, graph.F64).Curvature(t.Context(), geometry.CurvatureConfig{})
	if err != nil {
		t.Fatal(err)
	}
	single, err := net(t, graph.F32).Curvature(t.Context(), geometry.CurvatureConfig{})
	if err != nil {
		t.Fatal(err)
	}
	if d := math.Abs(single.Largest.Value - double.Largest.Value); !single.Converged || d > 1e-3*double.Largest.Value {
		t.Errorf("float32 gives %v, float64 %v", single.Largest.Value, double.Largest.Value)
	}
}
