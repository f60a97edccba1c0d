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
)

// TestFieldIsTheGradient: of soft k-means with a single centre, the loss is the mean
// squared distance, and the pull leads to the mean of the points, twice as long as the
// way.
func TestFieldIsTheGradient(t *testing.T) {
	f, err := geometry.Field(t.Context(), geometry.FieldConfig{Cells: 7}, square(t, 1, 1))
	if err != nil {
		t.Fatal(err)
	}
	for j, b := range f.B {
		for i, a := range f.A {
			if want := 1 + a*a + b*b; math.Abs(f.Fields[0].Loss[j][i]-want) > 1e-12*want {
				t.Fatalf("loss at (%v, %v): %v, want %v", a, b, f.Fields[0].Loss[j][i], want)
			}
			if d := f.Fields[0].Down[j][i]; math.Abs(d[0]+2*a) > 1e-12 || math.Abs(d[1]+2*b) > 1e-12 {
				t.Fatalf("pull at (%v, %v): %v", a, b, d)
			}
		}
	}
	if !math.IsNaN(f.Joining(0)) {
		t.Errorf("a single centre is pulled to the nearest other from %v", f.Joining(0))
	}
	if a, b, v, ok := f.Lowest(0); !ok || math.Hypot(a, b) > 1e-9 || math.Abs(v-1) > 1e-9 {
		t.Errorf("lowest %v at (%v, %v)", v, a, b)
	}
}

// TestFieldInThePrincipalPlane: for data of more features, the pull is the slope of the loss
// along the plane's axes, and at the centre's own place the loss is the model's.
func TestFieldInThePrincipalPlane(t *testing.T) {
	soft, goofy := irisSite(t, "kmeans-softmax", 10), irisSite(t, "kmeans-goofy", 10)
	// A fine grid, so that differences over neighbours are the slope.
	f, err := geometry.Field(t.Context(), geometry.FieldConfig{Cells: 101, Prototype: 1}, soft, goofy)
	if err != nil {
		t.Fatal(err)
	}
	if !f.Principal || f.Plane.Share[0] < 0.9 || len(f.Points) != 150 {
		t.Fatalf("the plane has %v, %d points", f.Plane.Share, len(f.Points))
	}
	step := f.A[1] - f.A[0]
	for k, o := range f.Fields {
		largest := 0.0
		for _, row := range o.Down {
			for _, d := range row {
				largest = max(largest, math.Hypot(d[0], d[1]))
			}
		}
		for _, c := range [][2]int{{25, 38}, {50, 50}, {75, 44}, {62, 62}} {
			i, j := c[0], c[1]
			slope := (o.Loss[j][i+1] - o.Loss[j][i-1]) / (2 * step)
			rise := (o.Loss[j+1][i] - o.Loss[j-1][i]) / (f.B[j+1] - f.B[j-1])
			if d := o.Down[j][i]; math.Hypot(d[0]+slope, d[1]+rise) > 0.02*largest {
				t.Errorf("objective %d at %v: pull %v, slope (%v, %v)", k, c, d, slope, rise)
			}
		}
	}
	// The table names both, and the order of work does not show.
	again, err := geometry.Field(t.Context(), geometry.FieldConfig{Cells: 101, Prototype: 1, Workers: 3}, soft, goofy)
	if err != nil || !reflect.DeepEqual(f, again) {
		t.Errorf("again it is different: %v", err)
	}
	if s := f.String(); !strings.Contains(s, "kmeans-goofy") || !strings.Contains(s, "principal components (98 % of the variance)") {
		t.Errorf("printed\n%s", s)
	}
}

// TestJoining: where the first prototype is drawn to the second, it is drawn towards the
// nearest other from the places where that is the second, and from some where it is the
// third.
func TestJoining(t *testing.T) {
	g := graph.New("drawn")
	x, r := g.Input("x", graph.F64, graph.Ax("i", 4), graph.Ax("d", 2)), g.Param("r", graph.F64, graph.Ax("j", 3), graph.Ax("d", 2))
	way := ops.Sub(ops.Slice(r, "j", 0, 1), ops.Slice(r, "j", 1, 2))
	loss := ops.Add(ops.Sum(ops.Square(way)), ops.Mul(ops.Lit(ops.Sum(x), 0), ops.Sum(x))).As("loss")
	s := geometry.Site{Name: "drawn", Model: &builders.Model{Graph: g, Loss: loss}, Store: tape.NewStore(g), Feed: tape.Feed{x: randomTensor(x, 1)}}
	second, third := [2]float64{-1, 0}, [2]float64{1, .5}
	if err := s.Store.Set("r", tape.Tensor(graph.Value{Type: r.Type(), Data: []float64{0, 0, second[0], second[1], third[0], third[1]}})); err != nil {
		t.Fatal(err)
	}
	f, err := geometry.Field(t.Context(), geometry.FieldConfig{Cells: 21}, s)
	if err != nil {
		t.Fatal(err)
	}
	joining := 0
	for _, b := range f.B {
		for _, a := range f.A {
			to := second
			if math.Hypot(third[0]-a, third[1]-b) < math.Hypot(second[0]-a, second[1]-b) {
				to = third
			}
			if (second[0]-a)*(to[0]-a)+(second[1]-b)*(to[1]-b) > 0 {
				joining++
			}
		}
	}
	if got, want := f.Joining(0), float64(joining)/(21*21); math.Abs(got-want) > 1e-12 || want < .1 || want > .9 {
		t.Errorf("drawn to the nearest other from %v, want %v", got, want)
	}
	if a, b, _, _ := f.Lowest(0); math.Hypot(a-second[0], b-second[1]) > f.A[1]-f.A[0]+f.B[1]-f.B[0] {
		t.Errorf("lowest at (%v, %v)", a, b)
	}
}

// TestFieldRefuses tells what is wrong.
func TestFieldRefuses(t *testing.T) {
	g := graph.New("one feature")
	x, r := g.Input("x", graph.F64, graph.Ax("i", 4), graph.Ax("d", 1)), g.Param("r", graph.F64, graph.Ax("j", 2), graph.Ax("d", 1)).Init(initial.Rows("x"))
	k := builders.SoftKMeans(x, r, g.Scalar("γ", 1, graph.F64))
	one := geometry.Site{Name: "one", Model: &builders.Model{Graph: g, Loss: k.Loss}, Store: tape.NewStore(g), Feed: tape.Feed{x: randomTensor(x, 1)}}
	for _, c := range []struct {
		config geometry.FieldConfig
		site   geometry.Site
		want   string
	}{
		{geometry.FieldConfig{}, one, "points of one feature"},
		{geometry.FieldConfig{Prototype: 3}, square(t, 3, 1), "prototype 3 of 3"},
		{geometry.FieldConfig{}, net(t, graph.F64), "no prototypes"},
	} {
		if _, err := geometry.Field(t.Context(), c.config, c.site); err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("error %v, want %q", err, c.want)
		}
	}
}
