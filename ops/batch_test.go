package ops_test

import (
	"fmt"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/internal/ref"
	"github.com/tapestry-ml/tapestry/internal/ref/reftest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

const examples = 3

// TestBatch: whichever operands have a batch of values, the mapped operation gives
// what the operation gives for one example after the other, by its definition and on
// the tape.
func TestBatch(t *testing.T) {
	eachCase(t, func(t *testing.T, op ops.Op, b built) {
		if len(b.in) == 0 {
			return // a draw: TestDraws
		}
		for _, batched := range subsets(len(b.in)) {
			for _, name := range []string{"ex", ""} {
				sameAsLoop(t, b, batched, name)
			}
		}
		if err := b.g.Err(); err != nil {
			t.Fatal(err)
		}
		roundTrip(t, b.g)
	})
}

// sameAsLoop maps b.y over batches of the operands for which batched is true; their
// examples are the values of b with the elements in other orders.
func sameAsLoop(t *testing.T, b built, batched []bool, name string) {
	t.Helper()
	feed := graph.Values{}
	each := make([]graph.Values, examples)
	for e := range each {
		each[e] = graph.Values{}
	}
	var over []vmap.Over
	for i, x := range b.in {
		feed[x] = b.feed[x]
		for e := range each {
			each[e][x] = b.feed[x]
		}
		if !batched[i] {
			continue
		}
		axes := append([]graph.Axis{{Name: name, Size: examples}}, x.Shape().Axes()...)
		xs := b.g.Input(fmt.Sprintf("%s of %s %v", x.Path(), name, batched), x.DType(), axes...)
		v := graph.NewValue(xs.Type())
		for e := range each {
			one := graph.NewValue(x.Type())
			for p := range one.Data {
				one.Data[p] = b.feed[x].Data[(p+e)%len(one.Data)]
				if len(one.Data) == 1 && x.DType().IsFloat() { // no other order: a value close by
					one.Data[p] = x.DType().Round(one.Data[p] * (1 + float64(e)/8))
				}
			}
			each[e][x] = one
			copy(v.Data[e*len(one.Data):], one.Data)
		}
		feed[xs] = v
		over = append(over, vmap.Over{X: x, Batch: xs})
	}
	ys := vmap.Map([]*graph.Node{b.y}, over...)[0]
	if err := b.g.Err(); err != nil {
		t.Fatalf("batched %v: %v", batched, err)
	}
	axes := append([]graph.Axis{{Name: name, Size: examples}}, b.y.Shape().Axes()...)
	if s, _ := graph.NewShape(axes...); ys.Shape() != s || ys.DType() != b.y.DType() {
		t.Fatalf("batched %v: %v of a batch has type %v", batched, b.y.Type(), ys.Type())
	}
	var want []float64
	for e := range each {
		v, err := ref.Eval(trait.Env{}, each[e], b.y)
		if err != nil {
			t.Fatal(err)
		}
		want = append(want, v[0].Data...)
	}
	got, err := ref.Eval(trait.Env{}, feed, ys)
	if err != nil {
		t.Fatal(err)
	}
	if err := reftest.Near(got[0].Data, want, 1e-12*max(1, reftest.Largest(want))); err != nil {
		t.Errorf("batched %v: %v\n%v", batched, err, b.g)
	}
	agree(t, feed, ys)
}

// TestBatchOutside: an index outside of its own example's rows meets no other's, but is refused
// as it was given.
func TestBatchOutside(t *testing.T) {
	g := graph.New("outside")
	index := g.Input("k", graph.I32, graph.Ax("i", 3))
	table := g.Input("x", graph.F64, graph.Ax("j", 3))
	values := g.Input("v", graph.F64, graph.Ax("i", 3))
	e := graph.Ax("e", 2)
	var over []vmap.Over
	feed := graph.Values{}
	for i, data := range [][]float64{{0, 1, 2, 1, 3, 0}, {1, 2, 3, 4, 5, 6}, {1, 2, 4, 1, 2, 4}} {
		x := []*graph.Node{index, table, values}[i]
		xs := g.Input(x.Path()+"s", x.DType(), append([]graph.Axis{e}, x.Shape().Axes()...)...)
		feed[xs] = graph.Value{Type: xs.Type(), Data: data}
		over = append(over, vmap.Over{X: x, Batch: xs})
	}
	for _, y := range []*graph.Node{ops.Gather(table, index, "j"), ops.ScatterAdd(index, values, 0, graph.Ax("j", 3))} {
		ys := vmap.Map([]*graph.Node{y}, over...)[0]
		_, exact := ref.Eval(trait.Env{}, feed, ys)
		_, run := reftest.Tape(0, feed, []*graph.Node{ys})
		for _, err := range []error{exact, run} {
			if err == nil || !strings.Contains(err.Error(), "[e=1 i=1] is 3: want an index from 0 to 2") {
				t.Errorf("%v: %v", y, err)
			}
		}
		taken, err := reftest.Tape(0, feed, []*graph.Node{ys}, tape.TrustIndices())
		if err != nil {
			t.Fatal(err)
		}
		if want := map[string]string{"Gather": "f64[e=2 i=3]: 1 2 3 5 NaN 4", "ScatterAdd": "f64[e=2 j=3]: 1 2 4 4 1 0"}[y.Op().Name()]; taken[0].String() != want {
			t.Errorf("%v: trusted, it gives %v, want %s", y, taken[0], want)
		}
	}
}

// TestDraws: every example has noise of its own, the first that which it would have
// alone.
func TestDraws(t *testing.T) {
	for _, c := range (ops.List()[slices.IndexFunc(ops.List(), func(op ops.Op) bool { return op.Name() == "Random" })]).Cases() {
		y := c.Make(nil)
		g := y.Graph()
		x := g.Scalar("x", 0, y.DType())
		xs := g.Input("xs", y.DType(), graph.Ax("ex", examples))
		alone := ops.Add(y, x)
		over := vmap.Over{X: x, Batch: xs}
		own, same := vmap.Map([]*graph.Node{alone}, over)[0], vmap.MapSameDraws([]*graph.Node{alone}, over)[0]
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		feed := graph.Values{xs: graph.NewValue(xs.Type())}
		v, err := ref.Eval(trait.Env{Seed: 3}, feed, alone, own, same)
		if err != nil {
			t.Fatal(err)
		}
		n := len(v[0].Data)
		if !slices.Equal(v[1].Data[:n], v[0].Data) || slices.Equal(v[1].Data[n:2*n], v[0].Data) {
			t.Errorf("alone %v, each its own %v", v[0], v[1])
		}
		if !slices.Equal(v[2].Data[n:2*n], v[0].Data) || math.IsNaN(v[2].Data[0]) {
			t.Errorf("alone %v, shared %v", v[0], v[2])
		}
		agree(t, feed, own, same)
	}
}

// TestOneProduct: a matrix that all examples share is multiplied once, and so are
// the centres that all examples are compared with.
func TestOneProduct(t *testing.T) {
	for _, c := range []struct {
		op       string
		x, w     []graph.Axis
		f        func(x, w *graph.Node) *graph.Node
		operands int // elements of the operands of the batch's one operation
	}{
		{"MatMul", []graph.Axis{graph.Ax("i", 2), graph.Ax("k", 5)}, []graph.Axis{graph.Ax("k", 5), graph.Ax("d", 4)}, ops.MatMul, 3*2*5 + 5*4},
		{"MatMul", []graph.Axis{graph.Ax("k", 5), graph.Ax("d", 1)}, []graph.Axis{graph.Ax("j", 4), graph.Ax("k", 5)},
			func(x, w *graph.Node) *graph.Node { return ops.MatMul(w, x) }, 3*5 + 5*4},
		{"SqDist", []graph.Axis{graph.Ax("i", 2), graph.Ax("k", 5)}, []graph.Axis{graph.Ax("j", 4), graph.Ax("k", 5)}, ops.SqDist, 3*2*5 + 5*4},
		{"Conv", []graph.Axis{graph.Ax("t", 6), graph.Ax("c", 5)}, []graph.Axis{graph.Dims(3)[0], graph.Ax("c", 5), graph.Ax("o", 4)},
			func(x, w *graph.Node) *graph.Node { return ops.Conv1D(x, w) }, 3*6*5 + 3*5*4},
	} {
		g := graph.New("shared")
		x, w := g.Input("x", graph.F32, c.x...), g.Param("w", graph.F32, c.w...)
		xs := g.Input("xs", graph.F32, append([]graph.Axis{graph.Ax("ex", examples)}, c.x...)...)
		first := c.f(x, w).ID()
		y := vmap.Map([]*graph.Node{g.Nodes()[first]}, vmap.Over{X: x, Batch: xs})[0]
		if err := g.Err(); err != nil {
			t.Fatal(err)
		}
		var found []int
		for _, n := range graph.Reachable(y) {
			if n.Op().Name() == c.op {
				found = append(found, n.In(0).Shape().Len()+n.In(1).Shape().Len())
			}
		}
		if !slices.Equal(found, []int{c.operands}) {
			t.Errorf("%s: operands of %v elements, want %v\n%v", c.op, found, c.operands, g)
		}
	}
}
