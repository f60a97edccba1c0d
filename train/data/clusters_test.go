package data

import (
	"math"
	"reflect"
	"testing"
)

func TestClusters(t *testing.T) {
	a := Clusters(1, 3, 300, 1)
	if !reflect.DeepEqual(a, Clusters(1, 3, 300, 1)) {
		t.Error("the same seed gives two tables")
	}
	if reflect.DeepEqual(a.X, Clusters(2, 3, 300, 1).X) {
		t.Error("two seeds give the same points")
	}
	if err := a.Check(); err != nil || a.Rows() != 300 || len(a.Columns) != 2 || len(a.Classes()) != 3 {
		t.Fatalf("%d rows, %d classes, %v", a.Rows(), len(a.Classes()), err)
	}
	centres := Clusters(1, 3, 3, 0) // no spread: the points are the centres
	if x, y := centres.X[0], centres.X[1]; x <= 0 || y <= 0 {
		t.Errorf("the first centre (%g, %g) is not to the upper right", x, y)
	}
	distance := func(i, j int) float64 {
		return math.Hypot(a.X[2*i]-centres.X[2*j], a.X[2*i+1]-centres.X[2*j+1])
	}
	squares := 0.0
	for i := range 300 {
		if a.Labels[i] != centres.Labels[i%3] {
			t.Errorf("row %d is labelled %q", i, a.Labels[i])
		}
		for j := range 3 {
			if j != i%3 && distance(i, j) < distance(i, i%3) {
				t.Errorf("row %d lies nearer to centre %d than to its own", i, j)
			}
		}
		squares += distance(i, i%3) * distance(i, i%3)
	}
	// A sum of 600 squared standard normals has mean 600 and deviation 34.6.
	if math.Abs(squares-600) > 4*34.6 {
		t.Errorf("sum of squared distances %g, want about 600", squares)
	}
}

func TestClustersShape(t *testing.T) {
	for k := 2; k < 7; k++ {
		c := Clusters(1, k, k, 0).X
		if side := math.Hypot(c[0]-c[2], c[1]-c[3]); !near(side, 10, 1e-14) {
			t.Errorf("%d clusters: neighbours are %g apart, want 10", k, side)
		}
	}
	if one := Clusters(1, 0, 1, 0); one.X[0] != 0 || one.X[1] != 0 || one.Labels[0] != "0" {
		t.Errorf("no clusters count as one at the origin: %+v", one)
	}
	if none := Clusters(1, 3, -1, 1); none.Rows() != 0 {
		t.Errorf("-1 points: %+v", none)
	}
}
