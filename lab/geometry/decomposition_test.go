package geometry_test

import (
	"fmt"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train/data"
)

// irisPlaces are two places of three centres among the irises, at two temperatures.
func irisPlaces() []geometry.Stop {
	at := lab.Centres(data.Iris(), 3, lab.PlusPlus, 3)
	return []geometry.Stop{{At: at}, {At: at, Scalars: map[string]float64{"γ": 20, "other": 7}}, {At: lab.Centres(data.Iris(), 3, lab.StartPoints, 4)}}
}

// TestSoftIsGoofyAndSpread: loss and gradient of soft k-means are those of the goofy alternative
// and of the spread together, at every temperature, and without the spread they are not.
func TestSoftIsGoofyAndSpread(t *testing.T) {
	soft, goofy := irisSite(t, "kmeans-softmax", 0), irisSite(t, "kmeans-goofy", 0)
	spread, ok := soft.Spread()
	if !ok {
		t.Fatal("soft k-means has no spread")
	}
	d, err := geometry.Decompose(t.Context(), irisPlaces(), soft, goofy, spread)
	if err != nil {
		t.Fatal(err)
	}
	if !d.Holds() || d.Deviation() > 1e-12 {
		t.Errorf("it deviates:\n%v", d)
	}
	if d.Stops[0].Loss == d.Stops[1].Loss {
		t.Error("the temperature of a place changes nothing")
	}
	if !strings.HasPrefix(d.String(), "  gradients, length    step 0    step 1    step 2\n  kmeans-softmax        0.573 ") {
		t.Errorf("the table is\n%v", d)
	}
	if d, err = geometry.Decompose(t.Context(), irisPlaces(), soft, goofy); err != nil || d.Holds() {
		t.Errorf("it holds without the spread: %v %v", d, err)
	}
	if _, ok := irisSite(t, "kmeans-lloyd", 0).Spread(); ok {
		t.Error("Lloyd's algorithm has a spread, though nothing is shared")
	}
}

// TestMinus: the difference of any two objectives of the same parameters is an objective, and its
// gradient the difference of theirs.
func TestMinus(t *testing.T) {
	soft, lloyd := irisSite(t, "kmeans-softmax", 0), irisSite(t, "kmeans-lloyd", 0)
	rest, err := soft.Minus(lloyd)
	if err != nil {
		t.Fatal(err)
	}
	d, err := geometry.Decompose(t.Context(), irisPlaces(), soft, lloyd, rest)
	if err != nil || !d.Holds() {
		t.Errorf("it deviates: %v\n%v", err, d)
	}
	if d.Terms[1] != "kmeans-softmax − kmeans-lloyd" {
		t.Errorf("it is called %q", d.Terms[1])
	}
	_, err = soft.Minus(net(t, graph.F64))
	if want := "kmeans-softmax has the parameters r f64[j=3 d=4], and net has in/w f64[d=3 h=4], in/b f64[h=4], out/w f64[h=4 o=1]: want the same, by name and type"; fmt.Sprint(err) != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	fewer, err := geometry.ClusterSite(&data.Table{Columns: data.Iris().Columns, X: data.Iris().X[:400]}, clustering(t, "kmeans-goofy"), 3, 1, 1, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	_, err = soft.Minus(fewer)
	if want := "kmeans-softmax has x of type f64[i=150 d=4], and kmeans-goofy of type f64[i=100 d=4]: want one type"; fmt.Sprint(err) != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
	a := plain(2, wells)
	b := plain(2, func(w *graph.Node) *graph.Node {
		return ops.Sum(ops.Mul(w, graph.Of(w).Input("target", graph.F64, graph.Ax("p", 2))))
	})
	_, err = a.Minus(b)
	if want := "plain has the input target, and plain has not"; fmt.Sprint(err) != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}

// TestThrough: what flows through the softmax of soft k-means is −γα(D − E[D]) times the derivative
// of D, computed here by hand, and what remains is the pull of the points.
func TestThrough(t *testing.T) {
	s := irisSite(t, "kmeans-softmax", 0)
	held, through, err := s.Through(s.Assignment())
	if err != nil {
		t.Fatal(err)
	}
	stops := irisPlaces()[:1]
	d, err := geometry.Decompose(t.Context(), stops, s, held, through)
	if err != nil || d.Deviation() > 1e-12 {
		t.Fatalf("it deviates: %v\n%v", err, d)
	}
	const γ = 1 // of the site
	var pull, push [12]float64
	x, r := data.Iris().X, stops[0].At
	for i := range 150 {
		var D, α [3]float64
		sum, expected := 0.0, 0.0
		for j := range 3 {
			for f := range 4 {
				D[j] += (x[i*4+f] - r[j*4+f]) * (x[i*4+f] - r[j*4+f])
			}
			α[j] = math.Exp(-γ * D[j])
			sum += α[j]
		}
		for j := range 3 {
			α[j] /= sum
			expected += α[j] * D[j]
		}
		for j := range 3 {
			for f := range 4 {
				Δ := x[i*4+f] - r[j*4+f]
				pull[j*4+f] += -2. / 150 * Δ * α[j]
				push[j*4+f] += 2. / 150 * Δ * γ * α[j] * (D[j] - expected)
			}
		}
	}
	for e := range 12 {
		if got := d.Stops[0].Terms; math.Abs(got[0][e]-pull[e]) > 1e-12 || math.Abs(got[1][e]-push[e]) > 1e-12 {
			t.Errorf("element %d is %v and %v, want %v and %v", e, got[0][e], got[1][e], pull[e], push[e])
		}
	}
	_, _, err = s.Through(nil)
	if want := "kmeans-softmax: the loss does not depend on the node"; fmt.Sprint(err) != want {
		t.Errorf("the error is %v, want %s", err, want)
	}
}
