package geometry_test

import (
	"math"
	"reflect"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// own is a loss of parameters alone, made by f, at the given values.
func own(t *testing.T, name string, values []float64, f func(w *graph.Node) *graph.Node) geometry.Site {
	t.Helper()
	g := graph.New(name)
	w := g.Param("w", graph.F64, graph.Ax("i", len(values)))
	s := geometry.Site{Name: name, Model: &builders.Model{Graph: g, Loss: f(w).As("loss")}, Store: tape.NewStore(g)}
	if err := g.Err(); err != nil {
		t.Fatal(err)
	}
	if err := s.Store.Set("w", tape.Tensor(graph.Value{Type: w.Type(), Data: values})); err != nil {
		t.Fatal(err)
	}
	return s
}

// bowl is Σ_i i·w_i², i from 1.
func bowl(t *testing.T, values ...float64) geometry.Site {
	return own(t, "bowl", values, func(w *graph.Node) *graph.Node {
		a := make([]float64, len(values))
		for i := range a {
			a[i] = float64(i + 1)
		}
		return ops.Sum(ops.Mul(w.Graph().Constant(graph.F64, a, w.Shape().Axes()...), ops.Square(w)))
	})
}

// TestSurfaceIsTheLoss: every cell is the loss where the landscape says it is, and its
// middle the loss at the site.
func TestSurfaceIsTheLoss(t *testing.T) {
	s := bowl(t, 1, -2, 0.5, 3)
	l, err := geometry.Surface(t.Context(), geometry.SurfaceConfig{Cells: 7, Seed: 3}, s)
	if err != nil {
		t.Fatal(err)
	}
	for j, row := range l.Surfaces[0].Loss {
		for i, got := range row {
			want := 0.0
			for k, v := range l.Origin {
				w := v + l.A[i]*l.Directions[0][k] + l.B[j]*l.Directions[1][k]
				want += float64(k+1) * w * w
			}
			if math.Abs(got-want) > 1e-12*want {
				t.Fatalf("cell %d %d: %v, want %v", i, j, got, want)
			}
		}
	}
	if got, want := l.Surfaces[0].Loss[3][3], 1+8+0.75+36.0; math.Abs(got-want) > 1e-12 {
		t.Errorf("in the middle %v, want %v", got, want)
	}
	for k, d := range l.Directions {
		if long := math.Sqrt(inner(d, d)); math.Abs(long-math.Sqrt(14.25)) > 1e-12 {
			t.Errorf("direction %d is %v long, the parameter %v", k, long, math.Sqrt(14.25))
		}
	}
	if cos := inner(l.Directions[0], l.Directions[1]); math.Abs(cos) > 1e-12 {
		t.Errorf("the directions have the product %v", cos)
	}
	if text := l.String(); !strings.Contains(text, "7 × 7 cells from -1 to 1") || !strings.Contains(text, "random directions at 90°") {
		t.Errorf("printed\n%s", text)
	}
}

func inner(a, b []float64) (s float64) {
	for i := range a {
		s += a[i] * b[i]
	}
	return s
}

// TestSurfaceAlongAPath: a path in a plane has that plane, its largest extent first; the
// projected points are in the places where they were made, and the last is the origin.
func TestSurfaceAlongAPath(t *testing.T) {
	u, v := []float64{0.6, 0.8, 0, 0}, []float64{0, 0, 0.8, -0.6}
	var path [][]float64
	var places [][2]float64
	for k := range 9 {
		a, b := 10*math.Cos(float64(k)), math.Sin(float64(k))
		if k == 8 {
			a, b = 0, 0
		}
		places = append(places, [2]float64{a, b})
		p := []float64{1, 2, 3, 4}
		for i := range p {
			p[i] += a*u[i] + b*v[i]
		}
		path = append(path, p)
	}
	s := bowl(t, 0, 0, 0, 0)
	l, err := geometry.Surface(t.Context(), geometry.SurfaceConfig{Cells: 9, Paths: [][][]float64{path}}, s)
	if err != nil {
		t.Fatal(err)
	}
	if !reflect.DeepEqual(l.Origin, []float64{1, 2, 3, 4}) {
		t.Errorf("the origin is %v", l.Origin)
	}
	if math.Abs(l.Share[0]+l.Share[1]-1) > 1e-12 || l.Share[0] < 0.9 {
		t.Errorf("shares %v", l.Share)
	}
	for k, p := range l.Surfaces[0].Path {
		// The plane is the same, whatever the principal directions in it.
		got := make([]float64, 4)
		for i := range got {
			got[i] = l.Origin[i] + p[0]*l.Directions[0][i] + p[1]*l.Directions[1][i]
			if math.Abs(got[i]-path[k][i]) > 1e-9 {
				t.Fatalf("point %d is at %v, want %v", k, got, path[k])
			}
		}
		if math.Abs(math.Hypot(p[0], p[1])-math.Hypot(places[k][0], places[k][1])) > 1e-9 {
			t.Errorf("point %d is %v from the origin", k, p)
		}
		if p[0] < l.A[0] || p[0] > l.A[8] || p[1] < l.B[0] || p[1] > l.B[8] {
			t.Errorf("point %d at %v lies outside", k, p)
		}
	}
}

// TestProjectionOnSlantedDirections: a single number beside other parameters leaves random
// directions that are not orthogonal; what was put at a place of the plane is found there.
func TestProjectionOnSlantedDirections(t *testing.T) {
	s := own(t, "slanted", []float64{1, 2, 3}, func(w *graph.Node) *graph.Node {
		b := w.Graph().Param("b", graph.F64).Init(initial.Normal(5, 0))
		return ops.Add(ops.Sum(ops.Square(w)), ops.Square(b))
	})
	s.Store = tape.NewStore(s.Model.Graph, tape.Seed(1))
	for path, values := range map[string][]float64{"w": {1, 2, 3}, "b": {5}} {
		n := s.Model.Graph.Lookup(path)
		if err := s.Store.Set(path, tape.Tensor(graph.Value{Type: n.Type(), Data: values})); err != nil {
			t.Fatal(err)
		}
	}
	c := geometry.SurfaceConfig{Cells: 3, Random: true}
	plain, err := geometry.Surface(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	u, v := plain.Directions[0], plain.Directions[1]
	if math.Abs(inner(u, v)) < 1 {
		t.Fatalf("the directions have the product %v: this shows nothing", inner(u, v))
	}
	place, end := []float64{1, 2, 3, 5}, []float64{1, 2, 3, 5}
	for i := range place {
		place[i] += .25*u[i] - .5*v[i]
	}
	c.Paths = [][][]float64{{place, end}}
	l, err := geometry.Surface(t.Context(), c, s)
	if err != nil {
		t.Fatal(err)
	}
	if p := l.Surfaces[0].Path; len(p) != 2 || math.Abs(p[0][0]-.25) > 1e-12 || math.Abs(p[0][1]+.5) > 1e-12 {
		t.Errorf("found at %v", p)
	}
}

// TestSurfaceIsDeterministic: neither workers nor what else is looked at change a bit,
// random draws included.
func TestSurfaceIsDeterministic(t *testing.T) {
	noisy := own(t, "noisy", []float64{1, 2, 3}, func(w *graph.Node) *graph.Node {
		return ops.Sum(ops.Square(ops.Add(w, ops.RandomNormal(w.Graph(), "noise", w.Type().DType, w.Shape().Axes()...))))
	})
	var all []*geometry.Landscape
	for _, workers := range []int{1, 2, 5} {
		l, err := geometry.Surface(t.Context(), geometry.SurfaceConfig{Cells: 6, Workers: workers}, noisy, bowl(t, 1, 2, 3))
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, l)
	}
	if !reflect.DeepEqual(all[0].Surfaces, all[1].Surfaces) || !reflect.DeepEqual(all[0].Surfaces, all[2].Surfaces) {
		t.Error("the number of workers shows")
	}
	// With the same noise in every cell, second differences along a line are constant.
	row := all[0].Surfaces[0].Loss[2]
	second := func(i int) float64 { return row[i] - 2*row[i+1] + row[i+2] }
	if math.Abs(second(0)-second(3)) > 1e-9 || second(0) <= 0 {
		t.Errorf("cells have noise of their own: second differences %v and %v", second(0), second(3))
	}
}

// TestSurfaceKeepsWhatIsNotFinite: the logarithm of a negative number is a cell, not an
// error.
func TestSurfaceKeepsWhatIsNotFinite(t *testing.T) {
	s := own(t, "log", []float64{1, 1}, func(w *graph.Node) *graph.Node { return ops.Sum(ops.Log(w)) })
	l, err := geometry.Surface(t.Context(), geometry.SurfaceConfig{Cells: 11, Reach: 3}, s)
	if err != nil {
		t.Fatal(err)
	}
	bad := 0
	for j, row := range l.Surfaces[0].Loss {
		for i, v := range row {
			wrong := false
			for k, o := range l.Origin {
				wrong = wrong || o+l.A[i]*l.Directions[0][k]+l.B[j]*l.Directions[1][k] < 0
			}
			if wrong != math.IsNaN(v) {
				t.Errorf("cell %d %d: %v", i, j, v)
			}
			if wrong {
				bad++
			}
		}
	}
	if bad == 0 || bad == 121 {
		t.Errorf("%d cells are not finite", bad)
	}
}

// TestSurfaceOfTraining: the path of a training is where its losses were, to what lies
// outside of the plane.
func TestSurfaceOfTraining(t *testing.T) {
	s := bowl(t, 3, 2)
	track, err := s.Train(t.Context(), train.SGD(0.1), 20)
	if err != nil {
		t.Fatal(err)
	}
	if len(track.Path) != 21 || len(track.Loss) != 20 {
		t.Fatalf("%d places, %d losses", len(track.Path), len(track.Loss))
	}
	for k, p := range track.Path {
		// w ← w − 0.1·2·i·w_i
		want := []float64{3 * math.Pow(0.8, float64(k)), 2 * math.Pow(0.6, float64(k))}
		if math.Abs(p[0]-want[0]) > 1e-12 || math.Abs(p[1]-want[1]) > 1e-12 {
			t.Fatalf("step %d: %v, want %v", k, p, want)
		}
		if k < 20 && math.Abs(track.Loss[k]-(want[0]*want[0]+2*want[1]*want[1])) > 1e-12 {
			t.Errorf("step %d: loss %v", k, track.Loss[k])
		}
	}
	begin, err := track.Start()
	if err != nil {
		t.Fatal(err)
	}
	if w, _ := begin.Store.Get("w"); w.Float64s()[0] != 3 || w.Float64s()[1] != 2 {
		t.Errorf("it began at %v", w)
	}
	if w, _ := track.Site.Store.Get("w"); w.Float64s()[0] != track.Path[20][0] {
		t.Errorf("it ended at %v", w)
	}
	if w, _ := s.Store.Get("w"); w.Float64s()[0] != 3 {
		t.Error("training has changed where it began")
	}
	if _, err := geometry.Surface(t.Context(), geometry.SurfaceConfig{Cells: 5, Paths: [][][]float64{track.Path}}, s); err != nil {
		t.Error(err)
	}
}

// TestSurfaceRefuses tells what is wrong.
func TestSurfaceRefuses(t *testing.T) {
	two, three := bowl(t, 1, 2), bowl(t, 1, 2, 3)
	for _, c := range []struct {
		config geometry.SurfaceConfig
		sites  []geometry.Site
		want   string
	}{
		{geometry.SurfaceConfig{}, nil, "there is no site"},
		{geometry.SurfaceConfig{}, []geometry.Site{two, three}, "want the same, by name and type"},
		{geometry.SurfaceConfig{}, []geometry.Site{bowl(t, 1)}, "one number to vary"},
		{geometry.SurfaceConfig{Cells: 1}, []geometry.Site{two}, "want 2 or more"},
		{geometry.SurfaceConfig{Paths: [][][]float64{{{1}}}}, []geometry.Site{two}, "has 1 values"},
		{geometry.SurfaceConfig{Paths: [][][]float64{{{1, 1}}}}, []geometry.Site{two}, "stay where they are"},
		{geometry.SurfaceConfig{}, []geometry.Site{{Name: "void"}}, "void: a site wants a model and a store"},
	} {
		if _, err := geometry.Surface(t.Context(), c.config, c.sites...); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
