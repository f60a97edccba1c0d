package data

import (
	"math"
	"reflect"
	"slices"
	"testing"
)

func TestBuiltin(t *testing.T) {
	for _, c := range []struct {
		name    string
		direct  func() *Table
		n, d    int
		classes []string
		sizes   []int
		label   string
	}{
		{"iris", Iris, 150, 4, []string{"setosa", "versicolor", "virginica"}, []int{50, 50, 50}, "species"},
		{"digits", Digits, 1797, 64, []string{"0", "1", "2", "3", "4", "5", "6", "7", "8", "9"},
			[]int{178, 182, 177, 183, 181, 182, 181, 179, 174, 180}, "digit"},
		{"wine", Wine, 178, 13, []string{"0", "1", "2"}, []int{59, 71, 48}, "cultivar"},
	} {
		table, err := Builtin(c.name)
		if err != nil {
			t.Fatal(err)
		}
		if !reflect.DeepEqual(table, c.direct()) {
			t.Errorf("%s: Builtin and its function differ", c.name)
		}
		if table.Rows() != c.n || len(table.Columns) != c.d || table.LabelName != c.label || table.Name != c.name+".csv" {
			t.Errorf("%s: %q, %d×%d, label %q", c.name, table.Name, table.Rows(), len(table.Columns), table.LabelName)
		}
		codes, classes := Codes(table.Labels)
		sizes := make([]int, len(classes))
		for _, k := range codes {
			sizes[k]++
		}
		if !slices.Equal(classes, c.classes) || !slices.Equal(sizes, c.sizes) {
			t.Errorf("%s: classes %v of sizes %v, want %v of %v", c.name, classes, sizes, c.classes, c.sizes)
		}
	}
}

func TestBuiltinUnknown(t *testing.T) {
	for name, want := range map[string]string{
		"irsi":  `no built-in table "irsi" (did you mean "iris"?); there are clusters, digits, iris, wine`,
		"digit": `no built-in table "digit" (did you mean "digits"?); there are clusters, digits, iris, wine`,
		"mnist": `no built-in table "mnist"; there are clusters, digits, iris, wine`,
		"":      `no built-in table ""; there are clusters, digits, iris, wine`,
	} {
		if _, err := Builtin(name); err == nil || err.Error() != want {
			t.Errorf("got  %v\nwant %s", err, want)
		}
	}
}

// The published moments of the data, as scikit-learn gives them.
func TestMoments(t *testing.T) {
	mean, std := Standardise(Iris())
	wantMean := []float64{5.843333333333334, 3.0573333333333337, 3.7580000000000005, 1.1993333333333336}
	wantStd := []float64{0.8253012917851409, 0.4344109677354946, 1.7594040657753032, 0.7596926279021594}
	for j := range wantMean {
		if !near(mean[j], wantMean[j], 1e-14) || !near(std[j], wantStd[j], 1e-14) {
			t.Errorf("iris column %d: mean %.16g, deviation %.16g, want %.16g, %.16g", j, mean[j], std[j], wantMean[j], wantStd[j])
		}
	}
	sum := 0.0
	for _, v := range Digits().X {
		if v < 0 || v > 16 || v != math.Trunc(v) {
			t.Fatalf("digits: a pixel is %g", v)
		}
		sum += v
	}
	if sum != 561718 {
		t.Errorf("digits: sum of all pixels %g, want 561718", sum)
	}
	if mean := Centre(Wine()); !near(mean[0], 13.00061797752809, 1e-14) || !near(mean[12], 746.8932584269663, 1e-14) {
		t.Errorf("wine: mean alcohol %.16g and proline %.16g", mean[0], mean[12])
	}
}

// TestBuiltinClusters: the separated clusters have a name among the tables.
func TestBuiltinClusters(t *testing.T) {
	table, err := Builtin("clusters")
	if err != nil || !reflect.DeepEqual(table, Clusters(1, 3, 150, 1)) {
		t.Errorf("%v, %v", table, err)
	}
}
