package lab_test

import (
	"context"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// A measure of a baseline takes all the data: the best run alone is followed, in
// about as many places as the variants have steps, however many batches it takes.
func TestBaselinesAreMeasuredSparingly(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris(), Steps: 20, Seeds: 3, Restarts: 3, SweepGamma: []float64{1}, SweepK: []int{2}})
	if err != nil {
		t.Fatal(err)
	}
	for _, v := range res.Baselines {
		best := v.Best()
		for _, r := range v.Runs {
			switch n := len(r.Measures); {
			case r.Seed == best.Seed && (n < 3 || n > 22):
				t.Errorf("%s: %d measures of the best run", v.Name, n)
			case r.Seed != best.Seed && n != 1:
				t.Errorf("%s, seed %d: %d measures, want the last only", v.Name, r.Seed, n)
			}
			if len(r.Loss) != r.Steps || len(r.Path) != len(r.Measures) {
				t.Errorf("%s, seed %d: %d losses, %d steps, %d places, %d measures", v.Name, r.Seed, len(r.Loss), r.Steps, len(r.Path), len(r.Measures))
			}
			checkPlaces(t, v.Name, r)
		}
	}
	if sgd := res.Baselines[1].Best(); sgd.Steps != 100 {
		t.Errorf("SGD takes %d steps, want 10 passes of 10 batches", sgd.Steps)
	}
}

// checkPlaces complains about places that are not of the steps which the run tells: between
// two of them it moved as far as the steps between, or less where these turn.
func checkPlaces(t *testing.T, name string, r lab.ClusterRun) {
	t.Helper()
	if len(r.At) != len(r.Path) || r.At[len(r.At)-1] != r.Steps || len(r.At) > 1 && r.At[0] != 0 {
		t.Fatalf("%s, seed %d: %d places at the steps %d of %d", name, r.Seed, len(r.Path), r.At, r.Steps)
	}
	for i := 1; i < len(r.At); i++ {
		far, way := 0.0, 0.0
		for j, v := range r.Path[i] {
			far += (v - r.Path[i-1][j]) * (v - r.Path[i-1][j])
		}
		between := r.Movement[r.At[i-1]:r.At[i]]
		for _, m := range between {
			way += m
		}
		if far = math.Sqrt(far); far > way*(1+1e-9) || len(between) == 1 && far < way*(1-1e-9) {
			t.Errorf("%s, seed %d: it went %g in the steps %d to %d, which move by %g", name, r.Seed, far, r.At[i-1], r.At[i], way)
		}
	}
}

// A sweep over much data takes one seed at each setting.
func TestSweepSeeds(t *testing.T) {
	few := lab.Config{Table: data.Iris(), Steps: 1, Seeds: 2, Restarts: 1, SweepGamma: []float64{1}, SweepK: []int{2}}
	many := few
	many.Table = &data.Table{Columns: []string{"a"}, X: make([]float64, 100_001)}
	for i := range many.Table.X {
		many.Table.X[i] = float64(i % 7)
	}
	few.Seeds = 5
	for want, c := range map[int]lab.Config{3: few, 1: many} {
		res, err := lab.Cluster(context.Background(), c)
		if err != nil {
			t.Fatal(err)
		}
		if got := res.Config.SweepSeeds; got != want {
			t.Errorf("%d rows: %d seeds in sweeps, want %d", c.Table.Rows(), got, want)
		}
	}
}

func TestVanishingData(t *testing.T) {
	table := &data.Table{Name: "atoms.csv", Columns: []string{"a"}, X: []float64{1e-170, 2e-170, 5e-170}}
	_, err := lab.Cluster(context.Background(), lab.Config{Table: table, K: 2})
	if err == nil || !strings.Contains(err.Error(), "atoms.csv: squared distances vanish") {
		t.Errorf("got %v", err)
	}
}

// TestBatchOfClusterings: clusterings take the rows at a time that they are told to, but for
// Lloyd's algorithm.
func TestBatchOfClusterings(t *testing.T) {
	for _, c := range []struct {
		name        string
		batch, want int
	}{
		{"kmeans-softmax", 0, 150}, {"kmeans-softmax", 40, 40}, {"kmeans-sgd", 0, 16}, {"kmeans-sgd", 7, 7},
		{"kmeans-sgd", 1000, 150}, {"kmeans-lloyd", 40, 150},
	} {
		v, err := lab.Config{Table: data.Iris(), Batch: c.batch, Steps: 8, Seeds: 1, Restarts: 1}.Repeat(t.Context(), c.name)
		if err != nil {
			t.Fatal(err)
		}
		if n := v.Model.Points().Dim(0); n != c.want {
			t.Errorf("%s with batches of %d takes %d rows at a time, want %d", c.name, c.batch, n, c.want)
		}
	}
}
