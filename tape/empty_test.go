package tape_test

import (
	"fmt"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// TestStepWithoutRows: a batch of no rows runs, commits, and moves no parameter whose gradient is a
// sum over the rows; inputs, parameters and states may have no elements themselves, whatever they
// start as and of whatever type.
func TestStepWithoutRows(t *testing.T) {
	g := graph.New("no rows")
	x, label := g.Input("x", graph.F32, graph.Ax("i", 0), graph.Ax("d", 3)), g.Input("y", graph.U8, graph.Ax("i", 0))
	w := g.Param("w", graph.F32, graph.Ax("d", 3), graph.Ax("k", 2))
	var leaves []*graph.Node
	for k, init := range []initial.Init{initial.Zeros(), initial.Glorot(), initial.He(), initial.Orthogonal(1), initial.Normal(0, 1)} {
		leaves = append(leaves, g.Param(fmt.Sprint("p", k), graph.F32, graph.Ax("e", 0), graph.Ax("k", 2)).Init(init),
			g.Param(fmt.Sprint("q", k), graph.F64, graph.Ax("k", 2), graph.Ax("e", 0)).Init(init))
	}
	s := g.State("s", graph.BF16, graph.Ax("e", 0))
	h := ops.Add(ops.MatMul(x, w), ops.MatMul(ops.Zeros(g, graph.F32, graph.Ax("i", 0), graph.Ax("e", 0)), leaves[0]))
	loss := ops.Sum(ops.Mul(ops.LogSoftmax(h, "k"), ops.OneHot(ops.Cast(label, graph.I64), 1, graph.Ax("k", 2), graph.F32)))
	d := grad.Of(loss, w, leaves[0])
	step := graph.Step{g.Assign(w, ops.Sub(w, d[0])), g.Assign(leaves[0], ops.Sub(leaves[0], d[1])), g.Assign(s, ops.Neg(s))}
	for _, p := range leaves[1:] {
		step = append(step, g.Assign(p, ops.Sin(p)))
	}
	p, err := tape.Compile(g, tape.Fetch(loss, h, d[1], s), tape.Watch(d[0]), tape.Do(step), tape.CheckFinite(loss), tape.Debug(nil))
	if err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(g)
	vm, err := p.NewVM(store)
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	before := fmt.Sprint(got(store.Get("w")).Data())
	none := tensor.New(tensor.WithShape(0, 3), tensor.WithBacking([]float32{})) // as a program makes it with gorgonia
	for _, feed := range []tape.Feed{{x: tape.Of[float64](x), label: tape.Of[int](label)}, {x: none, label: tape.Of[int](label)}} {
		if err := vm.Run(t.Context(), feed); err != nil {
			t.Fatal(err)
		}
	}
	if now := fmt.Sprint(got(store.Get("w")).Data()); now != before || store.Step() != 2 {
		t.Errorf("w is %s after %d steps, was %s", now, store.Step(), before)
	}
	for n, want := range map[*graph.Node]string{loss: "[0]", h: "[]", d[0]: "[0 0 0 0 0 0]", d[1]: "[]", s: "[]"} {
		v, err := vm.Floats(n)
		if shape := got(vm.Value(n)).Shape(); err != nil || fmt.Sprint(v) != want || fmt.Sprint([]int(shape)) != fmt.Sprint(n.Shape().Sizes()) {
			t.Errorf("%v is %v of shape %v, %v: want %s", n, v, shape, err, want)
		}
	}
	if _, err := tape.ArrayOf(x.Type(), tape.Of(x, 1)); err == nil || !strings.Contains(err.Error(), "Of: the number of values for f32[i=0 d=3] is 1, want 0") {
		t.Errorf("a number too many: %v", err)
	}
	for _, text := range []string{p.String(), fmt.Sprint(p.Rows(), p.Stages(), p.Traffic(), p.FLOPs()), g.String()} {
		if text == "" {
			t.Error("nothing is said")
		}
	}
	for _, path := range store.Paths() {
		v := got(store.View(path))
		if err := store.Set(path, v); err != nil {
			t.Error(err)
		}
		if err := store.Set(path, v.Clone().(*tensor.Dense)); err != nil {
			t.Error(err)
		}
		other := tape.NewStore(nil)
		if err := other.Add(path, v); err != nil {
			t.Error(err)
		}
		if typ, _ := store.Type(path); fmt.Sprint(got(other.Get(path)).Shape()) != fmt.Sprint(v.Shape()) {
			t.Errorf("%s of type %v is %v in another store", path, typ, got(other.Get(path)).Shape())
		}
	}
	if _, err := store.Clone().CopyFrom(store, "", ""); err != nil {
		t.Error(err)
	}
}

func got[T any](v T, err error) T {
	if err != nil {
		panic(err)
	}
	return v
}

// TestNoExamples: what is mapped over no examples has none, of the types that it has of any number.
func TestNoExamples(t *testing.T) {
	g := graph.New("no examples")
	x, y := g.Input("x", graph.F64, graph.Ax("n", 0), graph.Ax("d", 3)), g.Input("y", graph.F64, graph.Ax("n", 0), graph.Ax("d", 3))
	out := vmap.Each(func(one []*graph.Node) []*graph.Node {
		p := ops.Sum(ops.Mul(ops.Sin(one[0]), one[1]))
		return []*graph.Node{p, grad.Of(p, one[0])[0], ops.MatMul(one[0], one[1])}
	}, x, y)
	values, err := tape.Eval(t.Context(), tape.Feed{x: tape.Of[float64](x), y: tape.Of[float64](y)}, out...)
	if err != nil {
		t.Fatal(err)
	}
	for k, want := range []string{"f64[n=0]:", "f64[n=0 d=3]:", "f64[n=0]:"} {
		if text := values[out[k]].String(); text != want {
			t.Errorf("%s, want %s", text, want)
		}
	}
}
