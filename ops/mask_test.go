package ops_test

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestMasks: reductions, sorts and running values of masks, with the types that they have.
func TestMasks(t *testing.T) {
	g := graph.New("masks")
	x := g.Constant(graph.Bool, []float64{0, 1, 1, 0, 0, 0}, graph.Ax("i", 2), graph.Ax("j", 3))
	one := g.Constant(graph.Bool, []float64{1})
	half := graph.New("half", graph.F64)
	top, at := ops.TopK(x, 2, "j")
	for _, c := range []struct {
		name string
		y    node
		want string
	}{
		{"Any", ops.Any(x, "j"), "bool[i=2]: 1 0"},
		{"Any of all", ops.Any(x), "bool[]: 1"},
		{"Any kept", ops.Any(x, "i", ops.Keep), "bool[i=1 j=3]: 0 1 1"},
		{"Any of one", ops.Any(one), "bool[]: 1"},
		{"All", ops.All(x, "i"), "bool[j=3]: ×0"},
		{"All of rows", ops.All(ops.Slice(x, "j", 1, 3), "j"), "bool[i=2]: 1 0"},
		{"Sum", ops.Sum(x, "j"), "i32[i=2]: 2 0"},
		{"Sum of all", ops.Sum(x), "i32[]: 2"},
		{"Sum of one", ops.Sum(one), "i32[]: 1"},
		{"Mean", ops.Mean(x, "i"), "f32[j=3]: 0 0.5 0.5"},
		{"Mean in f64", ops.Mean(half.Constant(graph.Bool, []float64{0, 1, 1, 1}, graph.Dims(4)...)), "f64[]: 0.75"},
		{"CumSum", ops.CumSum(x, "j"), "i32[i=2 j=3]: 0 1 2 0 0 0"},
		{"CumProd", ops.CumProd(ops.Not(x), "j"), "i32[i=2 j=3]: 1 0 0 1 1 1"},
		{"CumMax", ops.CumMax(x, "j"), "bool[i=2 j=3]: 0 1 1 0 0 0"},
		{"CumMin", ops.CumMin(ops.Not(x), "j"), "bool[i=2 j=3]: 1 0 0 1 1 1"},
		{"Sort", ops.Sort(ops.Not(x), "j"), "bool[i=2 j=3]: 0 0 1 1 1 1"},
		{"ArgSort", ops.ArgSort(ops.Not(x), "j"), "i64[i=2 j=3]: 1 2 0 0 1 2"},
		{"TopK", top, "bool[i=2 j=2]: 1 1 0 0"},
		{"TopK's indices", at, "i64[i=2 j=2]: 1 2 0 1"},
		{"ArgMax", ops.ArgMax(x, "j"), "i64[i=2]: 1 0"},
	} {
		if err := c.y.Graph().Err(); err != nil {
			t.Fatal(err)
		}
		v, err := ref.Eval(trait.Env{}, nil, c.y)
		if err != nil {
			t.Fatal(err)
		}
		if got := v[0].String(); got != c.want {
			t.Errorf("%s: %s, want %s", c.name, got, c.want)
		}
		agree(t, nil, c.y)
	}
}
