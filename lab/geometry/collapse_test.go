package geometry_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// square are four points at the corners of a square around the origin, whose scale is 1,
// clustered into k.
func square(t *testing.T, k int, γ float64) geometry.Site {
	t.Helper()
	h := math.Sqrt(.5)
	table := &data.Table{Columns: []string{"x", "y"}, X: []float64{h, h, -h, h, -h, -h, h, -h}}
	s, err := geometry.ClusterSite(table, clustering(t, "kmeans-softmax"), k, γ, 0, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	return s
}

// TestCollapseOfKnownCentres: three centres at given places, counted by hand.
func TestCollapseOfKnownCentres(t *testing.T) {
	s := square(t, 3, 1e6)
	far := 100.0
	c, err := s.Collapse(t.Context(), [][]float64{
		{-.5, 0, .5, 0, 0, far},       // in a row, and one so far away that it is dead
		{0, 0, 0, 0, .005, 0},         // all one
		{-.5, 0, -.5, 0, .5, 0},       // two are one
		{0, 1, -.866, -.5, .866, -.5}, // a triangle
	})
	if err != nil {
		t.Fatal(err)
	}
	if math.Abs(c.Scale-1) > 1e-12 || c.K != 3 {
		t.Fatalf("scale %v, %d prototypes", c.Scale, c.K)
	}
	for i, want := range []geometry.CollapseStep{
		{Closest: 1, Distance: (1 + 2*math.Hypot(.5, far)) / 3, Distinct: 3, Used: 2, UsedHard: 2, Dead: 1},
		{Closest: 0, Distance: .01 / 3, Distinct: 1, Directions: 1, Used: math.NaN(), UsedHard: math.NaN(), Dead: -1},
		{Closest: 0, Distance: 2. / 3, Distinct: 2, Directions: 1, Used: math.Exp(1.5 * math.Ln2), UsedHard: 2, Dead: 1},
		{Closest: math.Sqrt(3), Distance: math.Sqrt(3), Distinct: 3, Directions: 2, Used: math.NaN(), UsedHard: math.NaN(), Dead: -1},
	} {
		got := c.Steps[i]
		for _, v := range []struct {
			name      string
			got, want float64
		}{{"closest", got.Closest, want.Closest}, {"distance", got.Distance, want.Distance}, {"directions", got.Directions, want.Directions},
			{"used", got.Used, want.Used}, {"used hard", got.UsedHard, want.UsedHard}} {
			if i == 0 && v.name == "directions" {
				v.want = 1 // all but one direction is nothing beside the far one
			}
			if !math.IsNaN(v.want) && math.Abs(v.got-v.want) > 2e-3 {
				t.Errorf("step %d: %s %v, want %v", i, v.name, v.got, v.want)
			}
		}
		if got.Distinct != want.Distinct || want.Dead >= 0 && got.Dead != want.Dead {
			t.Errorf("step %d: %d distinct, %d dead, want %d and %d", i, got.Distinct, got.Dead, want.Distinct, want.Dead)
		}
	}
	if text := c.String(); !strings.Contains(text, "kmeans-softmax, 3 prototypes") || !strings.Contains(text, "dead") {
		t.Errorf("printed\n%s", text)
	}
}

// TestSoftCentresCollapse: at a low temperature γ all points belong to all centres alike.
// Then soft k-means is least where every centre is the mean of the points, and the centres
// become one; the goofy alternative is content once their mean is there, and they stay
// apart. Both begin at the same centres of iris.
func TestSoftCentresCollapse(t *testing.T) {
	ends := map[string]geometry.CollapseStep{}
	for _, name := range []string{"kmeans-softmax", "kmeans-goofy"} {
		s, err := geometry.ClusterSite(data.Iris(), clustering(t, name), 3, 0.01, 1, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		track, err := s.Train(t.Context(), train.Adam(lab.DefaultRate(data.Iris())), 500)
		if err != nil {
			t.Fatal(err)
		}
		c, err := track.Site.Collapse(t.Context(), track.Path)
		if err != nil {
			t.Fatal(err)
		}
		if len(c.Steps) != 501 || c.Steps[0].Distinct != 3 {
			t.Fatalf("%s begins with %+v", name, c.Steps[0])
		}
		ends[name] = c.Steps[500]
	}
	if e := ends["kmeans-softmax"]; e.Distinct != 1 || e.Distance > 0.02 {
		t.Errorf("soft k-means ends with %+v", e)
	}
	if e := ends["kmeans-goofy"]; e.Distinct != 3 || e.Closest < 0.3 {
		t.Errorf("the goofy alternative ends with %+v", e)
	}
}

// TestPrototypesOfOnesOwn are found by the names of their axes, whatever they are called.
func TestPrototypesOfOnesOwn(t *testing.T) {
	g := graph.New("own")
	x := g.Input("points", graph.F64, graph.Ax("n", 4), graph.Ax("f", 2))
	r := g.Param("bias", graph.F64)
	p := g.Param("prototypes", graph.F64, graph.Ax("p", 2), graph.Ax("f", 2))
	α := ops.Softmax(ops.Neg(builders.SqDistances(ops.Rename(ops.Rename(x, "n", "i"), "f", "d"), ops.Rename(ops.Rename(p, "p", "j"), "f", "d"))), "j").As("alpha")
	loss := ops.Add(ops.Sum(ops.Square(α)), ops.Square(r)).As("loss")
	s := geometry.Site{Name: "own", Model: &builders.Model{Graph: g, Loss: loss}, Store: tape.NewStore(g, tape.Seed(3)), Feed: tape.Feed{x: randomTensor(x, 1)}}
	if !s.HasPrototypes() || net(t, graph.F64).HasPrototypes() {
		t.Error("whether there are prototypes")
	}
	// At one place both are used alike, wherever that is among the parameters.
	for _, at := range [][]float64{{7, 1, 2, 1, 2}} {
		c, err := s.Collapse(t.Context(), [][]float64{at})
		if err != nil {
			t.Fatal(err)
		}
		if e := c.Steps[0]; math.Abs(e.Used-2) > 1e-12 || e.Closest != 0 || e.Distinct != 1 || e.Directions != 0 {
			t.Errorf("%+v", e)
		}
	}
	if _, err := net(t, graph.F64).Collapse(t.Context(), nil); err == nil || !strings.Contains(err.Error(), "no prototypes") {
		t.Errorf("error %v", err)
	}
}
