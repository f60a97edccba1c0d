package lab_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// best is the inertia of the best clustering of iris into three that
// scikit-learn 1.2.1 finds in 50 restarts.
const best = 78.851441426146

func TestCompareOnIris(t *testing.T) {
	res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Iris()})
	if err != nil {
		t.Fatal(err)
	}
	lloyd := res.Baselines[0].Best()
	if math.Abs(lloyd.Inertia()-best) > 1e-4 {
		t.Errorf("Lloyd's algorithm reaches %.6f, want %.6f", lloyd.Inertia(), best)
	}
	soft := res.Variants[0].Best()
	if soft.Inertia() > best*1.01 || soft.ARI < 0.71 {
		t.Errorf("soft k-means reaches inertia %.6f, ARI %.4f; want at most %.6f and at least 0.71", soft.Inertia(), soft.ARI, best*1.01)
	}
	for _, v := range res.Variants {
		if len(v.Runs) != 10 {
			t.Fatalf("%s has %d runs, want 10", v.Name, len(v.Runs))
		}
		if v.Cost.FLOPs <= 0 || v.Cost.Peak <= 0 || v.Cost.Seconds <= 0 || v.Cost.Nodes <= 0 {
			t.Errorf("%s costs %+v", v.Name, v.Cost)
		}
		for _, r := range v.Runs {
			if len(r.Measures) != res.Config.Steps+1 || len(r.Path) != res.Config.Steps+1 || len(r.Movement) != res.Config.Steps {
				t.Fatalf("%s: %d measures, %d places, %d moves in %d steps", v.Name, len(r.Measures), len(r.Path), len(r.Movement), res.Config.Steps)
			}
			for s, m := range r.Measures {
				if d := m.Soft - m.Goofy - m.Spread; math.Abs(d) > 1e-9*m.Soft {
					t.Fatalf("%s, seed %d, step %d: soft − goofy − spread = %g", v.Name, r.Seed, s, d)
				}
				own := m.Soft
				if v.Name == "kmeans-goofy" {
					own = m.Goofy
				}
				if s < len(r.Loss) && math.Abs(own-r.Loss[s]) > 1e-9*own {
					t.Fatalf("%s, seed %d, step %d: the tape's loss is %g, the probe's %g", v.Name, r.Seed, s, r.Loss[s], own)
				}
			}
		}
	}
	for i, r := range res.Variants[0].Runs {
		for p, x := range r.Path[0] {
			if res.Variants[1].Runs[i].Path[0][p] != x {
				t.Fatalf("seed %d starts at different centres", r.Seed)
			}
		}
	}
	if want := 2 * len(res.Config.SweepGamma); len(res.Gamma) != want {
		t.Errorf("%d points of the sweep over γ, want %d", len(res.Gamma), want)
	}
	if want := 2 * len(res.Config.SweepK); len(res.K) != want {
		t.Errorf("%d points of the sweep over k, want %d", len(res.K), want)
	}
	if s := res.Plane.Share; s[0] < 0.92 || s[0] > 0.93 || s[1] < 0.05 || s[1] > 0.06 {
		t.Errorf("principal components hold %v of the variance", s)
	}
}

func TestCompareRepeats(t *testing.T) {
	run := func() *lab.Clusterings {
		res, err := lab.Cluster(context.Background(), lab.Config{Table: data.Clusters(1, 3, 60, 1), Seeds: 2, Steps: 20, Restarts: 3, SweepK: []int{2}, SweepGamma: []float64{1}})
		if err != nil {
			t.Fatal(err)
		}
		return res
	}
	a, b := run(), run()
	for i, v := range append(a.Variants, a.Baselines...) {
		w := append(b.Variants, b.Baselines...)[i]
		for s := range v.Runs {
			for j, x := range v.Runs[s].Centres() {
				if math.Float64bits(x) != math.Float64bits(w.Runs[s].Centres()[j]) {
					t.Fatalf("%s, seed %d: centres differ between two runs", v.Name, s)
				}
			}
		}
	}
}

func TestLloydOnDigits(t *testing.T) {
	if testing.Short() {
		t.Skip("50 restarts on 1797 points of 64 features")
	}
	v, err := lab.Config{Table: data.Digits(), K: 10}.Lloyd(context.Background())
	if err != nil {
		t.Fatal(err)
	}
	if got := v.Best().Inertia(); got > 1166500 {
		t.Errorf("best of %d restarts is %.1f, want at most 1166500", len(v.Runs), got)
	}
}

// clusterings are the names of the models with centres.
func clusterings(t *testing.T) []string {
	t.Helper()
	var out []string
	for _, b := range builders.All() {
		m, err := b.Build(nil, graph.F32)
		if err != nil {
			t.Fatal(err)
		}
		if m.Centres() != nil {
			out = append(out, b.Name)
		}
	}
	if len(out) < 4 {
		t.Fatalf("clusterings are %v", out)
	}
	return out
}

// Figure 2 of the notes: three widely separated clusters. Every clustering finds them.
func TestSeparatedClusters(t *testing.T) {
	table := data.Clusters(7, 3, 90, 0.5)
	for _, name := range clusterings(t) {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			c := lab.Config{Table: table, K: 3, Seeds: 5, DType: dt}
			if name == "kmeans-sgd" {
				c.Optimisers = []train.Optimiser{train.SGD(0.05)}
			}
			v, err := c.Train(context.Background(), name)
			if err != nil {
				t.Fatalf("%s: %v", name, err)
			}
			if ari := v.Best().ARI; ari < 0.99 {
				t.Errorf("%s in %v: ARI %.3f on three separated clusters", name, dt, ari)
			}
		}
	}
}

// TestAssignNewPoints: a new point is assigned to the j that makes ‖x − rⱼ‖² least, and the inertia
// is the sum of these.
func TestAssignNewPoints(t *testing.T) {
	nearest, inertia, err := lab.Assign(context.Background(), []float64{0, 0, 9, 9, 1, 0}, []float64{10, 10, 0, 0}, 2)
	if err != nil {
		t.Fatal(err)
	}
	if nearest[0] != 1 || nearest[1] != 0 || nearest[2] != 1 || inertia != 0+2+1 {
		t.Errorf("assigned %v with inertia %v", nearest, inertia)
	}
}

// TestAssignAgain: an assigner gives for each of several centres what Assign gives for these alone.
func TestAssignAgain(t *testing.T) {
	table := data.Iris()
	a, err := lab.NewAssigner(t.Context(), table.X, 3, 4)
	if err != nil {
		t.Fatal(err)
	}
	defer a.Close()
	for seed := range uint64(4) {
		centres := lab.Centres(table, 3, lab.StartPoints, seed)
		nearest, inertia, err := a.Assign(t.Context(), centres)
		if err != nil {
			t.Fatal(err)
		}
		alone, own, err := lab.Assign(t.Context(), table.X, centres, 4)
		if err != nil || inertia != own || !slices.Equal(nearest, alone) {
			t.Errorf("seed %d: inertia %v, by itself %v (%v)", seed, inertia, own, err)
		}
	}
	if _, _, err := a.Assign(t.Context(), []float64{1, 2}); err == nil || err.Error() != "2 numbers of centres, want 12" {
		t.Errorf("too few centres: %v", err)
	}
}

// TestCentresAreDataPoints: every centre begins at an input point, whether chosen at random or by
// k-means++.
func TestCentresAreDataPoints(t *testing.T) {
	table := data.Iris()
	for _, how := range []lab.Start{lab.PlusPlus, lab.StartPoints} {
		c := lab.Centres(table, 5, how, 3)
		for j := range 5 {
			found := false
			for i := range table.Rows() {
				same := true
				for f := range 4 {
					same = same && table.X[i*4+f] == c[j*4+f]
				}
				found = found || same
			}
			if !found {
				t.Errorf("%v: centre %d is no data point", how, j)
			}
		}
	}
	// k-means++ never takes a place twice while others are left.
	few := &data.Table{Name: "few", Columns: []string{"a"}, X: []float64{1, 1, 1, 1, 1, 1, 1, 2, 3}}
	for seed := range uint64(50) {
		c := lab.Centres(few, 3, lab.PlusPlus, seed)
		if c[0] == c[1] || c[1] == c[2] || c[0] == c[2] {
			t.Fatalf("seed %d: centres %v", seed, c)
		}
	}
	// Points whose squared distances overflow are drawn evenly.
	wide := &data.Table{Name: "wide", Columns: []string{"a"}, X: []float64{1e200, -1e200, 3}}
	if c := lab.Centres(wide, 3, lab.PlusPlus, 1); len(c) != 3 {
		t.Errorf("centres %v", c)
	}
}

func TestConfigErrors(t *testing.T) {
	iris := data.Iris()
	for _, c := range []struct {
		config lab.Config
		want   string
	}{
		{lab.Config{}, "no data: Table has no rows"},
		{lab.Config{Table: &data.Table{Name: "one.csv", Columns: []string{"a"}, X: []float64{1}}, K: 2}, "one.csv: k = 2 clusters, but the file has only 1 row"},
		{lab.Config{Table: iris, K: 151}, "iris.csv: k = 151 clusters, but the file has only 150 rows"},
		{lab.Config{Table: &data.Table{Name: "flat.csv", Columns: []string{"a", "b"}, X: []float64{5, 1, 5, 1, 5, 1}}, K: 2},
			`flat.csv: every column is constant ("a" is 5 in all 3 rows): k = 2 clusters want 2 different rows`},
		{lab.Config{Table: &data.Table{Name: "few.csv", Columns: []string{"a"}, X: []float64{5, 1, 5, 1, 5, 1}}, K: 3},
			"few.csv: k = 3 clusters, but the file has only 2 different rows"},
		{lab.Config{Table: &data.Table{Name: "huge.csv", Columns: []string{"a"}, X: []float64{1e200, -1e200, 1}}, K: 2},
			"huge.csv: squared distances overflow: rescale numbers as large as 1e+200"},
		{lab.Config{Table: iris, K: -1}, "k = -1: want at least 1"},
		{lab.Config{Table: iris, Objectives: []string{"kmeans-sofmax"}}, `unknown model "kmeans-sofmax": did you mean "kmeans-softmax"? (tapestry list shows all)`},
		{lab.Config{Table: iris, Start: lab.StartGiven, Given: []float64{1}}, "1 numbers for 3 start centres of 4 features: want 12"},
	} {
		_, err := lab.Cluster(context.Background(), c.config)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	ctx, cancel := context.WithCancel(context.Background())
	cancel()
	if _, err := lab.Cluster(ctx, lab.Config{Table: iris}); !errors.Is(err, context.Canceled) {
		t.Errorf("cancelled: %v", err)
	}
}

// One cluster, one feature, columns that are constant beside others: data like any other.
func TestDegenerateData(t *testing.T) {
	table := &data.Table{Name: "flat", Columns: []string{"a", "b"}, X: []float64{5, 1, 5, 2, 5, 9, 5, 10}}
	res, err := lab.Cluster(context.Background(), lab.Config{Table: table, K: 2, Seeds: 1, Steps: 5, Restarts: 2})
	if err != nil {
		t.Fatal(err)
	}
	if got := res.Baselines[0].Best().Inertia(); got != 1 {
		t.Errorf("inertia beside a constant column is %v, want 1", got)
	}
	one := &data.Table{Name: "one", Columns: []string{"a"}, X: []float64{1, 2, 3}}
	if res, err = lab.Cluster(context.Background(), lab.Config{Table: one, K: 1, Seeds: 1, Steps: 300, Restarts: 1}); err != nil {
		t.Fatal(err)
	}
	if got := res.Baselines[0].Best().Inertia(); math.Abs(got-2) > 1e-12 {
		t.Errorf("inertia around the mean is %v, want 2", got)
	}
}

func TestMatch(t *testing.T) {
	got := lab.Match([]float64{0, 10, 5}, []float64{9, 5.5, 1}, 1)
	for j, want := range []int{2, 0, 1} {
		if got[j] != want {
			t.Fatalf("matched %v, want [2 0 1]", got)
		}
	}
	// A centre that diverged gets the partner that is left.
	if got := lab.Match([]float64{math.NaN(), 10}, []float64{9, 5.5}, 1); got[0] != 1 || got[1] != 0 {
		t.Errorf("beside NaN matched %v, want [1 0]", got)
	}
}

// A model without centres is refused by name, not by what its settings happen to be called.
func TestNoClustering(t *testing.T) {
	names := clusterings(t)
	for _, name := range builders.Names() {
		_, err := lab.Config{Table: data.Iris(), Seeds: 1, Steps: 1}.Train(context.Background(), name)
		want := name + " is no clustering: it has no centres"
		if clustering := slices.Contains(names, name); clustering != (err == nil) || !clustering && err.Error() != want {
			t.Errorf("%s: error %v", name, err)
		}
	}
}
