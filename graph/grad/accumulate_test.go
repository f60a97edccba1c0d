package grad_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestAccumulate: what many parts contribute to a derivative is joined where it
// lies side by side, or is one product, and is right however it is put together.
func TestAccumulate(t *testing.T) {
	// sines is a loss of slices of x whose derivatives all differ.
	sines := func(slices ...node) node {
		loss := ops.Lit(slices[0], 0)
		for k, s := range slices {
			loss = ops.Add(loss, ops.Sum(ops.Sin(ops.Scale(s, float64(k+1)))))
		}
		return loss
	}
	// products is a loss of products of the steps of x with w.
	products := func(x, w node, transposed bool) node {
		loss := ops.Lit(x, 0)
		for k := range x.Dim(0) {
			a := ops.Squeeze(ops.Slice(x, 0, k, k+1), 0)
			if transposed {
				a = ops.Transpose(a)
			}
			loss = ops.Add(loss, ops.Sum(ops.Sin(ops.MatMul(a, w))))
		}
		return loss
	}
	for _, c := range []struct {
		name  string
		x     []graph.Axis
		w     []graph.Axis // differentiated by too, if any
		loss  func(x, w node) node
		joins string // operations in the cone of the derivatives: Concat, Place, MatMul
	}{
		{"side by side", graph.Dims(4, 3), nil, func(x, _ node) node {
			return sines(ops.Slice(x, 0, 2, 4), ops.Slice(x, 0, 0, 1), ops.Slice(x, 0, 1, 2))
		}, "1 Concat, 0 Place, 0 MatMul"},
		{"with gaps, by name", []graph.Axis{graph.Ax("i", 2), graph.Ax("t", 7)}, nil, func(x, _ node) node {
			return sines(ops.Slice(x, "t", 1, 3), ops.Slice(x, "t", 4, 5))
		}, "1 Concat, 0 Place, 0 MatMul"},
		{"beside the whole", graph.Dims(4), nil, func(x, _ node) node {
			return sines(ops.Slice(x, 0, 0, 2), x, ops.Slice(x, 0, 2, 4))
		}, "1 Concat, 0 Place, 0 MatMul"},
		{"windows that overlap", graph.Dims(5), nil, func(x, _ node) node {
			return sines(ops.Slice(x, 0, 0, 3), ops.Slice(x, 0, 1, 4), ops.Slice(x, 0, 2, 5), ops.Slice(x, 0, 3, 5))
		}, "1 Concat, 2 Place, 0 MatMul"},
		{"along two axes", graph.Dims(4, 4), nil, func(x, _ node) node {
			return sines(ops.Slice(x, 0, 0, 1), ops.Slice(x, 1, 0, 1), ops.Slice(x, 0, 1, 4), ops.Slice(x, 1, 3, 4))
		}, "2 Concat, 0 Place, 0 MatMul"},
		{"a corner", graph.Dims(4, 4), nil, func(x, _ node) node {
			return sines(ops.Slice(ops.Slice(x, 0, 0, 1), 1, 0, 1), ops.Slice(ops.Slice(x, 0, 1, 2), 1, 0, 1))
		}, "1 Concat, 2 Place, 0 MatMul"},
		{"by steps", graph.Dims(8), nil, func(x, _ node) node {
			return sines(ops.SliceStep(x, 0, 0, 4, 2), ops.SliceStep(x, 0, 4, 8, 2))
		}, "0 Concat, 2 Place, 0 MatMul"},
		{"one alone", graph.Dims(4), nil, func(x, _ node) node { return sines(ops.Slice(x, 0, 0, 1)) }, "0 Concat, 1 Place, 0 MatMul"},

		{"products with a large matrix", graph.Dims(3, 2, 6), graph.Dims(6, 5), func(x, w node) node { return products(x, w, false) },
			"3 Concat, 0 Place, 7 MatMul"}, // 3 forward, 3 by the steps of x, 1 by w
		{"of transposed operands", graph.Dims(3, 6, 2), graph.Dims(6, 5), func(x, w node) node { return products(x, w, true) },
			"3 Concat, 0 Place, 7 MatMul"},
		{"products with a small matrix", graph.Dims(3, 9, 3), graph.Dims(3, 2), func(x, w node) node { return products(x, w, false) },
			"1 Concat, 0 Place, 9 MatMul"},
		{"in two sizes", graph.Dims(3, 2, 6), graph.Dims(6, 5), func(x, w node) node {
			return ops.Add(products(x, w, false), products(ops.Slice(x, 1, 0, 1), w, false))
		}, ""},
	} {
		g := graph.New(c.name)
		x := g.Input("x", graph.F64, c.x...)
		wrt := []node{x}
		var w node
		if c.w != nil {
			w = g.Input("w", graph.F64, c.w...)
			wrt = append(wrt, w)
		}
		loss := c.loss(x, w)
		derivatives := grad.Of(loss, wrt...)
		if err := g.Err(); err != nil {
			t.Fatalf("%s: %v", c.name, err)
		}
		count := map[string]int{}
		for _, n := range graph.Reachable(derivatives...) {
			count[n.Op().Name()]++
		}
		if got := fmt.Sprintf("%d Concat, %d Place, %d MatMul", count["Concat"], count["Place"], count["MatMul"]); c.joins != "" && got != c.joins {
			t.Errorf("%s: %s, want %s\n%v", c.name, got, c.joins, g)
		}
		checkByDifferences(t, c.name, loss, wrt, derivatives)
	}
}

// checkByDifferences compares derivatives with difference quotients at a random point.
func checkByDifferences(t *testing.T, name string, loss node, wrt, derivatives []node) {
	t.Helper()
	const ε = 1e-5
	rnd := rand.New(rand.NewPCG(1, 2))
	feed := graph.Values{}
	for _, x := range wrt {
		v := graph.NewValue(x.Type())
		for i := range v.Data {
			v.Data[i] = rnd.Float64()*2 - 1
		}
		feed[x] = v
	}
	eval := func(nodes ...node) []graph.Value {
		out, err := ref.Eval(trait.Env{}, feed, nodes...)
		if err != nil {
			t.Fatal(err)
		}
		return out
	}
	got := eval(derivatives...)
	for k, x := range wrt {
		for i, v := range feed[x].Data {
			feed[x].Data[i] = v + ε
			up := eval(loss)[0].Data[0]
			feed[x].Data[i] = v - ε
			down := eval(loss)[0].Data[0]
			feed[x].Data[i] = v
			if want := (up - down) / (2 * ε); math.Abs(got[k].Data[i]-want) > 1e-6 {
				t.Errorf("%s: element %d of the derivative by %v is %v, want %v", name, i, x, got[k].Data[i], want)
			}
		}
	}
}
