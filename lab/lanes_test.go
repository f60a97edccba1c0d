package lab_test

import (
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/fit"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// TestDivisible: a batch is cut where rows are the first axis of all inputs and of no parameter, and
// otherwise it is said what is in the way.
func TestDivisible(t *testing.T) {
	for name, want := range map[string]string{
		"transformer-gpt": "", "conv-2d": "", "kmeans-softmax": "", "rnn-lstm": "", "loss-cross-entropy": "", "norm-batch": "",
		"kmeans-lloyd":              "it moves by a step of its own, which needs all rows at once, and is not cut into lanes",
		"graph-gcn":                 "its batches are not cut into lanes: A[i=8 j=8] has their rows along two axes",
		"init":                      "its batches are not cut into lanes: the first axis of x[i=16 d=8] is not that of their 4 rows",
		"regression-ridge-features": "its batches are not cut into lanes: the shape of ξ[d=16] depends on the rows of a batch",
	} {
		m, err := builders.Build(name, nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		nets := fit.Nets(m)
		said := ""
		if err := lab.Divisible(m, nets); err != nil {
			said = err.Error()
		}
		if said != want {
			t.Errorf("%s: %q, want %q", name, said, want)
		}
	}
	m, err := builders.Build("conv-2d", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	if err := lab.Divisible(m, nil); err == nil || !strings.Contains(err.Error(), "want Config.Build") {
		t.Errorf("without nets: %v", err)
	}
}

// TestLanesAreRefused: what has no lanes is an error that names the model.
func TestLanesAreRefused(t *testing.T) {
	ranks, err := parallel.Alone(parallel.Config{Lanes: 4})
	if err != nil {
		t.Fatal(err)
	}
	m, err := builders.Build("graph-gcn", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	_, err = lab.Learn(t.Context(), func() (*builders.Model, error) { return m, nil }, lab.Config{Seeds: 1, Steps: 1, Build: fit.Nets(m), Ranks: ranks})
	if err == nil || !strings.HasPrefix(err.Error(), "graph-gcn: its batches are not cut into lanes") {
		t.Errorf("%v", err)
	}
	if _, err := lab.Compare(t.Context(), lab.Config{Ranks: ranks}, lab.Variant{Name: "one"}); err == nil || !strings.Contains(err.Error(), "Ranks is for Learn and Cluster") {
		t.Errorf("%v", err)
	}
}

// TestTrainedInLanes: lanes are those of the training. What they drop is each lane's own, so that the
// number of lanes shows.
func TestTrainedInLanes(t *testing.T) {
	m, err := builders.Build("dropout", nil, graph.F64)
	if err != nil {
		t.Fatal(err)
	}
	points, err := data.Iris().Subset([]int{0, 1, 2, 50, 51, 52, 100, 101, 102, 103})
	if err != nil {
		t.Fatal(err)
	}
	loss, inertia := map[int]float64{}, map[int]float64{}
	for _, lanes := range []int{0, 1, 4} {
		var ranks *parallel.Ranks
		if lanes > 0 {
			if ranks, err = parallel.Alone(parallel.Config{Lanes: lanes}); err != nil {
				t.Fatal(err)
			}
		}
		fresh := func() (*builders.Model, error) { return m.Builder.Build(m.Settings, graph.F64) }
		l, err := lab.Learn(t.Context(), fresh, lab.Config{Seeds: 2, Steps: 4, Build: fit.Nets(m), Ranks: ranks})
		if err != nil {
			t.Fatal(err)
		}
		loss[lanes] = l.Runs[1].End()
		c, err := lab.Config{Table: points, K: 3, Seeds: 2, Steps: 30, Ranks: ranks}.Repeat(t.Context(), "kmeans-softmax")
		if err != nil {
			t.Fatal(err)
		}
		inertia[lanes] = c.Best().Inertia()
	}
	if d := math.Abs(loss[1] - loss[0]); d > 1e-12 || loss[4] == loss[1] {
		t.Errorf("losses by lanes: %v", loss)
	}
	if d := math.Abs(inertia[4] - inertia[0]); d > 1e-9 || inertia[4] == inertia[0] {
		t.Errorf("inertias by lanes: %v, want small differences", inertia)
	}
}

// TestDivisibleWithoutOutput: it is the output that tells which axis has the rows of a batch.
func TestDivisibleWithoutOutput(t *testing.T) {
	m, err := builders.Build("regression-ols", nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	const want = "its batches are not cut into lanes: it has no output whose first axis tells their rows: want one, in a file by a line as output z"
	for _, m.Output = range []*graph.Node{nil, m.Loss} { // a file without the line has its objective as the output
		if err := lab.Divisible(m, fit.Nets(m)); err == nil || err.Error() != want {
			t.Errorf("output %v: %v, want %s", m.Output, err, want)
		}
	}
}
