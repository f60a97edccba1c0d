package geometry_test

import (
	"fmt"
	"math"
	"reflect"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// plain is a site of a loss of one vector of parameters, without inputs.
func plain(n int, loss func(w *graph.Node) *graph.Node) geometry.Site {
	g := graph.New("plain")
	l := loss(g.Param("w", graph.F64, graph.Ax("p", n))).As("loss")
	return geometry.Site{Name: "plain", Model: &builders.Model{Graph: g, Loss: l}, Store: tape.NewStore(g)}
}

// wells is Σ (w²−1)², with minima where every element is 1 or −1, a maximum at 0, and saddles where
// some are 0.
func wells(w *graph.Node) *graph.Node {
	return ops.Sum(ops.Square(ops.Sub(ops.Square(w), ops.Lit(w, 1))))
}

// TestStationary: the minima of a function with two wells in each direction, the saddle and the
// maximum between them, with the second derivatives 12w² − 4, and who came to each.
func TestStationary(t *testing.T) {
	s := plain(2, wells)
	found, err := s.Stationary(t.Context(), geometry.StationaryConfig{}, []float64{.3, .2}, []float64{-.3, .2}, []float64{2, 3}, []float64{0, 0}, []float64{0, .7})
	if err != nil {
		t.Fatal(err)
	}
	type point struct {
		at, eigenvalues []float64
		bends           geometry.Bends
		starts          []int
	}
	want := []point{
		{[]float64{1, 1}, []float64{8, 8}, geometry.Minimum, []int{0, 2}},
		{[]float64{-1, 1}, []float64{8, 8}, geometry.Minimum, []int{1}},
		{[]float64{0, 1}, []float64{-4, 8}, geometry.Saddle, []int{4}},
		{[]float64{0, 0}, []float64{-4, -4}, geometry.Maximum, []int{3}},
	}
	if len(found.Points) != len(want) || found.Moving != 0 || found.Starts != 5 {
		t.Fatalf("found %v", found)
	}
	near := func(a, b []float64) bool {
		return slices.EqualFunc(a, b, func(x, y float64) bool { return math.Abs(x-y) < 1e-9 })
	}
	for i, p := range found.Points {
		w := want[i]
		if i < 2 && !near(p.At, w.at) { // the two have the same loss, up to rounding
			w = want[1-i]
		}
		if !near(p.At, w.at) || !near(p.Eigenvalues, w.eigenvalues) || p.Bends() != w.bends || !slices.Equal(p.Starts, w.starts) || p.Gradient > 1e-9 {
			t.Errorf("point %d is %+v, a %v, want %+v", i, p, p.Bends(), w)
		}
	}
}

// TestStationaryFlat: along a valley the second derivative vanishes, and a loss that falls for ever
// has no stationary point.
func TestStationaryFlat(t *testing.T) {
	valley := plain(2, func(w *graph.Node) *graph.Node { return ops.Square(ops.Sum(w)) })
	found, err := valley.Stationary(t.Context(), geometry.StationaryConfig{}, []float64{3, -1})
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Points) != 1 || found.Points[0].Bends() != geometry.Flat || math.Abs(found.Points[0].Eigenvalues[1]-4) > 1e-9 {
		t.Errorf("found %v", found)
	}
	falling := plain(1, func(w *graph.Node) *graph.Node { return ops.Sum(ops.Neg(w)) })
	if found, err = falling.Stationary(t.Context(), geometry.StationaryConfig{MaxSteps: 5}, []float64{3}); err != nil {
		t.Fatal(err)
	}
	if len(found.Points) != 0 || found.Moving != 1 {
		t.Errorf("found %v", found)
	}
}

// TestStationaryOrder: minima of a clustering that differ by the order of the centres are one, and
// all centres at the mean of the points are a saddle.
func TestStationaryOrder(t *testing.T) {
	table := data.Iris()
	s, err := geometry.ClusterSite(table, clustering(t, "kmeans-softmax"), 3, 0, 1, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	from := lab.Centres(table, 3, lab.PlusPlus, 1)
	turned := append(slices.Clone(from[4:]), from[:4]...)
	mean := make([]float64, 4)
	for i, v := range table.X {
		mean[i%4] += v / 150
	}
	found, err := s.Stationary(t.Context(), geometry.StationaryConfig{}, from, turned, slices.Concat(mean, mean, mean))
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Points) != 2 || !slices.Equal(found.Points[0].Starts, []int{0, 1}) || found.Points[0].Bends() != geometry.Minimum || found.Points[1].Bends() != geometry.Saddle {
		t.Fatalf("found %v", found)
	}
	if scale := lab.Scale(table); math.Abs(found.Points[1].Loss-scale*scale) > 1e-9 {
		t.Errorf("at the mean the loss is %v, want the mean squared distance from it, %v", found.Points[1].Loss, scale*scale)
	}
	again, err := s.Stationary(t.Context(), geometry.StationaryConfig{Workers: 1}, from, turned, slices.Concat(mean, mean, mean))
	if err != nil || !reflect.DeepEqual(found, again) {
		t.Errorf("with one worker it finds\n%v(%v), with several\n%v", again, err, found)
	}
}

// TestStationaryMany: with many parameters the extreme eigenvalues are those of Lanczos.
func TestStationaryMany(t *testing.T) {
	s := plain(geometry.MostEigenvalues+1, wells)
	start := make([]float64, geometry.MostEigenvalues+1)
	for i := range start {
		start[i] = .5 + float64(i)/500
	}
	found, err := s.Stationary(t.Context(), geometry.StationaryConfig{}, start)
	if err != nil {
		t.Fatal(err)
	}
	if len(found.Points) != 1 || len(found.Points[0].Eigenvalues) != 2 || math.Abs(found.Points[0].Eigenvalues[0]-8) > 1e-3 || found.Points[0].Bends() != geometry.Minimum {
		t.Errorf("found %v", found)
	}
}

func TestStationaryErrors(t *testing.T) {
	s := plain(2, wells)
	for _, c := range []struct {
		want   string
		config geometry.StationaryConfig
		starts [][]float64
	}{
		{"plain: there is no start to descend from", geometry.StationaryConfig{}, nil},
		{"plain: step 0 of the path has 1 values, and the parameters have 2", geometry.StationaryConfig{}, [][]float64{{1}}},
		{"plain: stationary points want a positive tolerance and a positive number of steps", geometry.StationaryConfig{Tolerance: -1}, [][]float64{{1, 1}}},
	} {
		if _, err := s.Stationary(t.Context(), c.config, c.starts...); fmt.Sprint(err) != c.want {
			t.Errorf("the error is %v, want %s", err, c.want)
		}
	}
}
