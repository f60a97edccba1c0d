package builders_test

import (
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/nn"
)

// TestRegistry: every entry is complete and builds in both float types; its
// examples are a value for every input without a default, the same from the same
// source.
func TestRegistry(t *testing.T) {
	seen := map[string]bool{}
	for _, b := range builders.All() {
		if b.Name == "" || b.Title == "" || b.Notes == "" || b.Formula == "" || len(b.Hyperparameters) == 0 || seen[b.Name] {
			t.Errorf("%+v is incomplete, or there twice", b)
		}
		seen[b.Name] = true
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			m, err := b.Build(nil, dt)
			if err != nil {
				t.Fatal(err)
			}
			if err := graph.Verify(m.Graph); err != nil {
				t.Errorf("%s: %v", b.Name, err)
			}
			if m.Output == nil || m.Loss != nil && (m.Loss.Rank() != 0 || m.Loss.DType() != dt) {
				t.Errorf("%s: output %v, loss %v", b.Name, m.Output, m.Loss)
			}
			examples(t, m)
		}
	}
}

func examples(t *testing.T, m *builders.Model) {
	t.Helper()
	first, again := m.Examples(rand.New(rand.NewPCG(1, 2))), m.Examples(rand.New(rand.NewPCG(1, 2)))
	for _, in := range m.Graph.Leaves(graph.RoleInput) {
		if _, has := in.Default(); has {
			continue
		}
		v, ok := first[in]
		if !ok || v.Type != in.Type() || len(v.Data) != in.Shape().Len() {
			t.Errorf("%s: the examples of %v have type %v and %d values", m.Builder.Name, in, v.Type, len(v.Data))
		}
		if !slices.Equal(v.Data, again[in].Data) {
			t.Errorf("%s: the examples of %v differ from call to call", m.Builder.Name, in)
		}
		for _, x := range v.Data {
			if in.DType().Round(x) != x {
				t.Errorf("%s: %v is no %v of %v", m.Builder.Name, x, in.DType(), in)
				break
			}
		}
	}
}

func TestSmallClusterings(t *testing.T) {
	for _, name := range []string{"kmeans-lloyd", "kmeans-sgd", "kmeans-softmax", "kmeans-goofy"} {
		m, err := builders.Build(name, builders.Settings{"n": 7, "d": 1, "k": 1}, graph.F32)
		if err != nil || m.Centres().Dim(0) != 1 || m.Points().Dim(0) != 7 {
			t.Errorf("%s with n=7 d=1 k=1: %v, %v", name, m, err)
		}
	}
}

func TestSettingsErrors(t *testing.T) {
	for _, c := range []struct {
		name string
		s    builders.Settings
		dt   graph.DType
		want string
	}{
		{"kmeans", nil, graph.F32, `unknown model "kmeans": did you mean "kmeans-sgd"? (tapestry list shows all)`},
		{"kmeans-goofy", builders.Settings{"m": 3}, graph.F32, `kmeans-goofy has no setting "m": it has n, d, k, gamma`},
		{"kmeans-goofy", builders.Settings{"k": 0}, graph.F32, "kmeans-goofy: k = 0: want a whole number of at least 1"},
		{"kmeans-goofy", builders.Settings{"n": 1.5}, graph.F32, "kmeans-goofy: n = 1.5: want a whole number of at least 1"},
		{"kmeans-goofy", builders.Settings{"gamma": math.NaN()}, graph.F32, "kmeans-goofy: gamma = NaN: want a finite number"},
		{"kmeans-goofy", nil, graph.I32, "kmeans-goofy: element type i32: want f32 or f64"},
	} {
		_, err := builders.Build(c.name, c.s, c.dt)
		if err == nil || err.Error() != c.want {
			t.Errorf("%s %v: got %v, want %s", c.name, c.s, err, c.want)
		}
	}
	if _, err := builders.Lookup("x"); !errors.Is(err, builders.ErrUnknown) {
		t.Errorf("%v is not ErrUnknown", err)
	}
}

// eval evaluates nodes of a model with the given points and centres.
func eval(t *testing.T, m *builders.Model, x, r []float64, nodes ...*graph.Node) []graph.Value {
	t.Helper()
	points, centres := m.Points(), m.Centres()
	return layertest.Values(t, graph.Values{points: layertest.ValueOf(points, x...), centres: layertest.ValueOf(centres, r...)}, nodes...)
}

// Step 3 of the first attempt: r ← r + η·2(x − r) for the nearest centre alone.
func TestHardGradientOfOnePoint(t *testing.T) {
	m := layertest.Build(t, "kmeans-sgd", builders.Settings{"n": 1, "d": 2, "k": 2})
	dr := grad.Of(m.Loss, m.Centres())[0]
	out := eval(t, m, []float64{1, 2}, []float64{0, 0, 9, 9}, dr, m.Graph.Lookup("a"))
	want := []float64{-2, -4, 0, 0} // −2(x − r) for centre 0
	for i, w := range want {
		if out[0].Data[i] != w {
			t.Errorf("gradient %v, want %v", out[0].Data, want)
		}
	}
	if out[1].Data[0] != 0 {
		t.Errorf("nearest centre is %v", out[1].Data)
	}
}

func TestLloydRound(t *testing.T) {
	m := layertest.Build(t, "kmeans-lloyd", builders.Settings{"n": 4, "d": 1, "k": 3})
	next := m.Step[0].Value
	// Centre 2 has no points and stays.
	out := eval(t, m, []float64{0, 2, 10, 14}, []float64{1, 11, 100}, next, m.Loss)
	for i, w := range []float64{1, 12, 100} {
		if out[0].Data[i] != w {
			t.Errorf("centres %v, want [1 12 100]", out[0].Data)
		}
	}
	if got, want := out[1].Data[0], (1.+1+1+9)/4; got != want {
		t.Errorf("loss %v, want %v", got, want)
	}
}

// The identity that the report states: soft = goofy + spread, for any centres.
func TestSpreadIsTheDifference(t *testing.T) {
	g := graph.New("both")
	x := g.Input("x", graph.F64, graph.Ax("i", 5), graph.Ax("d", 2))
	r := g.Param("r", graph.F64, graph.Ax("j", 3), graph.Ax("d", 2))
	γ := g.Scalar("γ", 0.3, graph.F64)
	soft, goofy := builders.SoftKMeans(x, r, γ), builders.GoofyKMeans(x, r, γ)
	if soft.Alpha != goofy.Alpha || soft.SqDist != goofy.SqDist {
		t.Error("the two objectives do not share their assignment")
	}
	spread := builders.Spread(soft.Alpha, r)
	xs := []float64{1, 2, -1, 0.5, 3, 3, 0, -2, 1, 1}
	rs := []float64{0, 0, 2, 2, -1, 3}
	out := layertest.Values(t, graph.Values{x: layertest.ValueOf(x, xs...), r: layertest.ValueOf(r, rs...)}, soft.Loss, goofy.Loss, spread)
	if d := out[0].Data[0] - out[1].Data[0] - out[2].Data[0]; math.Abs(d) > 1e-14 {
		t.Errorf("soft − goofy − spread = %g", d)
	}
	if out[2].Data[0] <= 0 {
		t.Errorf("spread %v is not positive", out[2].Data[0])
	}
}

// TestNilOperands are recorded mistakes of every objective.
func TestNilOperands(t *testing.T) {
	layertest.Mistaken(t, layertest.ArrayOf(graph.F32, graph.Ax("i", 3), graph.Ax("d", 2)), map[string]func(g *graph.Graph, x *graph.Node){
		"soft":   func(_ *graph.Graph, x *graph.Node) { builders.SoftKMeans(x, nil, nil) },
		"goofy":  func(_ *graph.Graph, x *graph.Node) { builders.GoofyKMeans(x, nil, nil) },
		"hard":   func(_ *graph.Graph, x *graph.Node) { builders.HardKMeans(x, nil) },
		"lloyd":  func(_ *graph.Graph, x *graph.Node) { builders.Lloyd(x, nil) },
		"spread": func(_ *graph.Graph, x *graph.Node) { builders.Spread(x, nil) },
	})
}

// TestSquareLinear: a map from an axis to itself names it once.
func TestSquareLinear(t *testing.T) {
	g := graph.New("square")
	m := graph.Ax("m", 4)
	l := nn.NewLinear(g, "fc", graph.F32, m, m)
	y := l.Of(l.Of(g.Input("x", graph.F32, graph.Ax("b", 2), m)))
	if g.Err() != nil || y.Shape().String() != "[b=2 m=4]" || l.W.Shape().String() != "[4 m=4]" {
		t.Errorf("%v for weights %v, %v", y, l.W, g.Err())
	}
}

// TestInputs: the temperature of a clustering has a default, its points have none.
func TestInputs(t *testing.T) {
	m, err := builders.Build("kmeans-softmax", nil, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	if in := m.Inputs(); m.Gamma() == nil || len(in) != 1 || in[0] != m.Points() {
		t.Errorf("the inputs are %v, want %v alone", in, m.Points())
	}
	if in := (*builders.Model)(nil).Inputs(); in != nil {
		t.Errorf("no model has the inputs %v", in)
	}
}
