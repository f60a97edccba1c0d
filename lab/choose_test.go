package lab_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/train/data"
)

// TestSilhouetteByHand: the silhouette of a point is (b − a)/max(a, b), where a is its mean
// distance to its own cluster and b to the nearest other.
func TestSilhouetteByHand(t *testing.T) {
	table := &data.Table{Columns: []string{"x"}, X: []float64{0, 1, 10, 12, 40}}
	got, err := lab.Silhouette(table, []int{0, 0, 1, 1, 2})
	want := (10./11 + 9./10 + 7.5/9.5 + 9.5/11.5 + 0) / 5
	if err != nil || math.Abs(got-want) > 1e-15 {
		t.Errorf("got %v, %v, want %v", got, err, want)
	}
	if got, err := lab.Silhouette(table, []int{0, 0, 0, 0, 0}); got != 0 || err != nil {
		t.Errorf("one cluster: %v, %v", got, err)
	}
	if _, err := lab.Silhouette(table, []int{0}); err == nil {
		t.Error("too few assignments are taken")
	}
	if _, err := lab.Silhouette(table, []int{0, 0, 1, 1, -1}); err == nil || err.Error() != "row 4 is assigned to cluster -1: clusters are numbered from 0" {
		t.Errorf("a negative cluster: %v", err)
	}
}

// TestChooseK: where data have three or four separated groups, the k that is chosen is their
// number.
func TestChooseK(t *testing.T) {
	for _, clusters := range []int{3, 4} {
		c := lab.Config{Table: data.Clusters(1, clusters, 120, 1), Restarts: 10, Seeds: 5, Steps: 60}
		for _, name := range []string{"kmeans-lloyd", "kmeans-softmax"} {
			got, err := c.ChooseK(context.Background(), name, 2, 6)
			if err != nil {
				t.Fatal(err)
			}
			if got.K != clusters || len(got.Tried) != 5 || len(got.Clustering.Best().Assigned) != 120 {
				t.Errorf("%s chooses %d of %d clusters: %+v", name, got.K, clusters, got.Tried)
			}
		}
		if _, err := c.ChooseK(context.Background(), "kmeans-lloyd", 1, 3); err == nil {
			t.Error("k = 1 is taken")
		}
	}
}

// TestStartGroups: with random groups to start from, centres begin as means of a partition into k
// groups, whose weighted mean is the data's; restarts reach the best inertia known of iris.
func TestStartGroups(t *testing.T) {
	table := data.Iris()
	if a, b := lab.Centres(table, 3, lab.StartGroups, 1), lab.Centres(table, 3, lab.StartGroups, 2); slices.Equal(a, b) || len(a) != 12 {
		t.Errorf("seeds 1 and 2 give %v and %v", a, b)
	}
	all := lab.Centres(table, 150, lab.StartGroups, 5)
	slices.Sort(all)
	want := slices.Clone(table.X)
	slices.Sort(want)
	if !slices.Equal(all, want) {
		t.Error("as many groups as points are not the points")
	}
	v, err := lab.Config{Table: table, K: 3, Start: lab.StartGroups, Restarts: 20}.Lloyd(context.Background())
	if err != nil || math.Abs(v.Best().Inertia()-78.851441426146) > 1e-9 {
		t.Errorf("best inertia %v, %v", v.Best().Inertia(), err)
	}
	if s, err := lab.ParseStart("groups"); err != nil || s != lab.StartGroups || s.String() != "groups" {
		t.Errorf("groups is read as %v, %v", s, err)
	}
}
