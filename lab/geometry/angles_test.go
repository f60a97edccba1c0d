package geometry_test

import (
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train/data"
)

// towards has the gradient a everywhere.
func towards(t *testing.T, name string, a ...float64) geometry.Site {
	return own(t, name, make([]float64, len(a)), func(w *graph.Node) *graph.Node {
		return ops.Sum(ops.Mul(w.Graph().Constant(graph.F64, a, w.Shape().Axes()...), w))
	})
}

// TestAnglesAreThoseOfTheGradients: of losses with known gradients, also where they are all
// but parallel, opposite, or nothing.
func TestAnglesAreThoseOfTheGradients(t *testing.T) {
	a, err := geometry.Angles(t.Context(), nil, towards(t, "east", 2, 0), towards(t, "north", 0, 5), towards(t, "west", -1, 0), towards(t, "near", 1, 1e-9), own(t, "flat", []float64{0, 0}, func(w *graph.Node) *graph.Node { return ops.Sum(ops.Square(w)) }))
	if err != nil {
		t.Fatal(err)
	}
	got := a.Steps[0].Overall
	for _, c := range []struct {
		a, b int
		want float64
	}{{0, 1, 90}, {0, 2, 180}, {1, 2, 90}, {0, 0, 0}, {0, 3, 1e-9 * 180 / math.Pi}, {0, 4, math.NaN()}} {
		if g := got[c.a][c.b]; !(math.Abs(g-c.want) <= 1e-12*(1+c.want) && (c.want == 0 || c.want > 1e-3 || math.Abs(g/c.want-1) < 1e-6)) && !(math.IsNaN(g) && math.IsNaN(c.want)) || got[c.b][c.a] != g && !math.IsNaN(g) {
			t.Errorf("%s and %s: %v, want %v", a.Names[c.a], a.Names[c.b], g, c.want)
		}
	}
	if n := a.Steps[0].Norms; n[0] != 2 || n[1] != 5 || n[4] != 0 {
		t.Errorf("lengths %v", n)
	}
	if s := a.String(); !strings.Contains(s, "east, north") || !strings.Contains(s, "90.00") {
		t.Errorf("printed\n%s", s)
	}
}

// TestAnglesByParameter: Σv² + Σw² and Σv² − Σw² agree in v and oppose each other in w.
func TestAnglesByParameter(t *testing.T) {
	two := func(name string, sign float64) geometry.Site {
		return own(t, name, []float64{3, 4}, func(w *graph.Node) *graph.Node {
			v := w.Graph().Param("v", graph.F64, graph.Ax("k", 2)).Init(initial.Normal(1, 1))
			q := ops.Sum(ops.Square(w))
			return ops.Add(ops.Sum(ops.Square(v)), ops.Mul(ops.Lit(q, sign), q))
		})
	}
	plus, minus := two("plus", 1), two("minus", -1)
	path := [][]float64{{3, 4, 3, 4}, {1, 0, 0, 0}}
	a, err := geometry.Angles(t.Context(), path, plus, minus)
	if err != nil {
		t.Fatal(err)
	}
	if strings.Join(a.Params, " ") != "w v" {
		t.Fatalf("parameters %v", a.Params)
	}
	s := a.Steps[0]
	if math.Abs(s.ByParameter[0][0][1]-180) > 1e-9 || s.ByParameter[1][0][1] > 1e-9 || math.Abs(s.Overall[0][1]-90) > 1e-9 {
		t.Errorf("by w %v, by v %v, overall %v", s.ByParameter[0][0][1], s.ByParameter[1][0][1], s.Overall[0][1])
	}
	if s := a.Steps[1]; math.Abs(s.Overall[0][1]-180) > 1e-9 || !math.IsNaN(s.ByParameter[1][0][1]) {
		t.Errorf("where v is 0: overall %v, by v %v", s.Overall[0][1], s.ByParameter[1][0][1])
	}
}

// TestAnglesOfClusterings: they are those of central differences of the two formulas,
// written once more by hand.
func TestAnglesOfClusterings(t *testing.T) {
	soft, goofy := irisSite(t, "kmeans-softmax", 5), irisSite(t, "kmeans-goofy", 0)
	rng := rand.New(rand.NewPCG(1, 2))
	iris := data.Iris()
	for range 3 {
		at := make([]float64, 12)
		for i := range at {
			at[i] = iris.X[rng.IntN(150)*4+i%4] + .1*rng.NormFloat64()
		}
		a, err := geometry.Angles(t.Context(), [][]float64{at}, soft, goofy)
		if err != nil {
			t.Fatal(err)
		}
		ds, dg := byHand(iris.X, at, 1, false), byHand(iris.X, at, 1, true)
		want := math.Acos(inner(ds, dg)/math.Sqrt(inner(ds, ds)*inner(dg, dg))) * 180 / math.Pi
		if got := a.Steps[0].Overall[0][1]; math.Abs(got-want) > 1e-3 {
			t.Errorf("angle %v, by differences %v", got, want)
		}
	}
}

// byHand differentiates an objective of three centres on iris by central differences.
func byHand(x, r []float64, γ float64, goofy bool) []float64 {
	loss := func(r []float64) float64 {
		total := 0.0
		for i := 0; i < len(x); i += 4 {
			var D, α [3]float64
			z, least := 0.0, math.Inf(1)
			for j := range D {
				for f := range 4 {
					D[j] += (x[i+f] - r[4*j+f]) * (x[i+f] - r[4*j+f])
				}
				least = min(least, D[j])
			}
			for j := range D {
				α[j] = math.Exp(-γ * (D[j] - least))
				z += α[j]
			}
			if !goofy {
				for j := range D {
					total += α[j] / z * D[j]
				}
				continue
			}
			for f := range 4 {
				mean := 0.0
				for j := range D {
					mean += α[j] / z * r[4*j+f]
				}
				total += (mean - x[i+f]) * (mean - x[i+f])
			}
		}
		return total / float64(len(x)/4)
	}
	out := make([]float64, len(r))
	for i := range r {
		moved := append([]float64{}, r...)
		moved[i] = r[i] + 1e-5
		up := loss(moved)
		moved[i] = r[i] - 1e-5
		out[i] = (up - loss(moved)) / 2e-5
	}
	return out
}
