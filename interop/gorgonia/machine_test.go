package gorgonia

import (
	"context"
	"errors"
	"fmt"
	"runtime"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// TestUnsupported: every node that cannot run is named at its line, and errors.As finds it.
func TestUnsupported(t *testing.T) {
	g := graph.New("hard")
	x := g.Input("x", graph.F32, graph.Ax("i", 3), graph.Ax("j", 2))
	_, _, line, _ := runtime.Caller(0)
	a := ops.ArgMin(x, "j").As("a")
	y := ops.Add(ops.Cast(a, graph.F32), ops.Sum(ops.Sin(x), "j"))
	_, err := Compile(g, Fetch(y))
	want := []string{
		fmt.Sprintf("interop/gorgonia/machine_test.go:%d: ArgMin: gorgonia cannot run it: it has no index of a minimum: a[i=3]", line+1),
		fmt.Sprintf("interop/gorgonia/machine_test.go:%d: Sin: gorgonia cannot run it: its float32 sine and cosine lose digits as the argument grows, and are NaN at 1e9: %%3[i=3 j=2]", line+2),
	}
	if err == nil || err.Error() != strings.Join(want, "\n") {
		t.Fatalf("got  %v\nwant %s", err, strings.Join(want, "\n"))
	}
	var u *Unsupported
	if !errors.As(err, &u) || u.Op != "ArgMin" || u.Node != "a[i=3]" || u.Pos.Line != line+1 {
		t.Errorf("got %+v", u)
	}
	if m, err := Compile(g, Fetch(ops.Sum(x))); err != nil {
		t.Error("what the result does not depend on was translated: ", err)
	} else if err := m.Close(); err != nil {
		t.Error(err)
	}
}

// foreign is an operation of another module.
type foreign struct{}

func (foreign) Name() string                               { return "Foreign" }
func (foreign) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }

func TestForeign(t *testing.T) {
	g := graph.New("foreign")
	var u *Unsupported
	_, err := Compile(g, Fetch(graph.Apply(foreign{}, g.Input("x", graph.F64))))
	if !errors.As(err, &u) || u.Op != "Foreign" || u.Reason != "no translation is known" {
		t.Errorf("got %v", err)
	}
}

// TestUnsupportedTypes: integers and conversions between floats are refused.
func TestUnsupportedTypes(t *testing.T) {
	g := graph.New("types")
	n := g.Input("n", graph.I64, graph.Ax("i", 3))
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	for y, want := range map[*graph.Node]string{
		ops.Sum(n):              "does not compute with elements of type i64",
		ops.Cast(x, graph.F64):  "cannot convert f32 to f64",
		ops.Cast(x, graph.I32):  "does not compute with elements of type i32",
		ops.Less(n, ops.Neg(n)): "does not compute with elements of type i64",
	} {
		var u *Unsupported
		if _, err := Compile(g, Fetch(y)); !errors.As(err, &u) || !strings.Contains(u.Reason, want) {
			t.Errorf("%v: %v, want %s", y, err, want)
		}
	}
}

func TestCompileErrors(t *testing.T) {
	g, other := graph.New("g"), graph.New("other")
	p := g.Param("p", graph.F64, graph.Dims(2)...)
	q := other.Param("q", graph.F64)
	u := g.Assign(p, ops.Neg(p))
	for name, c := range map[string]struct {
		options []Option
		want    string
	}{
		"nothing": {nil, "nothing is asked for: name results with Fetch, or a step with Do"},
		"nil":     {[]Option{Fetch(nil)}, `fetch: nil is no node of graph "g"`},
		"foreign": {[]Option{Fetch(q)}, `fetch: q[] is no node of graph "g"`},
		"twice":   {[]Option{Do(graph.Step{u}, graph.Step{u})}, "do: p is updated twice: compile a machine for each step"},
		"empty":   {[]Option{Do(graph.Step{{}})}, `do: an update of graph "g" has no target or value there`},
	} {
		if _, err := Compile(g, c.options...); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
	}
	ops.Add(p, q)
	if _, err := Compile(g, Fetch(p)); err == nil || !strings.Contains(err.Error(), "belongs to graph") {
		t.Errorf("the mistake made while building is not reported: %v", err)
	}
}

// doubling is y = 2x + p, with a step that stores y in p.
func doubling(t *testing.T) (g *graph.Graph, x, y *graph.Node, m *Machine) {
	t.Helper()
	g = graph.New("doubling")
	x = g.Input("x", graph.F64, graph.Ax("i", 2))
	p := g.Param("p", graph.F64, graph.Ax("i", 2))
	y = ops.Add(ops.Scale(x, 2), p).As("y")
	m, err := Compile(g, Fetch(y, x), Do(graph.Step{g.Assign(p, y)}))
	if err != nil {
		t.Fatal(err)
	}
	t.Cleanup(func() { m.Close() })
	return g, x, y, m
}

func floats(v ...float64) *tensor.Dense {
	return tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(v))
}

func TestRun(t *testing.T) {
	g, x, y, m := doubling(t)
	store := tape.NewStore(g)
	fed := floats(1, 2)
	for i := 1; i <= 3; i++ {
		if err := m.Run(t.Context(), tape.Feed{x: fed}, store); err != nil {
			t.Fatal(err)
		}
		got, err := m.Value(y)
		if err != nil {
			t.Fatal(err)
		}
		want := []float64{2 * float64(i), 4 * float64(i)}
		p, err := store.Get("p")
		if err != nil {
			t.Fatal(err)
		}
		if !slices.Equal(got.Float64s(), want) || !slices.Equal(p.Float64s(), want) {
			t.Fatalf("run %d: y is %v and p %v, want %v", i, got, p, want)
		}
	}
	got, err := m.Value(x)
	if err != nil {
		t.Fatal(err)
	}
	got.Float64s()[0] = 9 // a tensor of its own
	if fed.Float64s()[0] != 1 {
		t.Error("a fetched input shares the memory of what was fed")
	}
	matrix := tensor.New(tensor.WithShape(2, 2), tensor.WithBacking([]float64{1, 5, 2, 6}))
	column, err := matrix.Slice(nil, tensor.S(0))
	if err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), tape.Feed{x: column.(*tensor.Dense)}, store); err != nil {
		t.Fatal(err)
	}
	if got, err := m.Value(y); err != nil || !slices.Equal(got.Float64s(), []float64{8, 16}) {
		t.Errorf("of a view: %v, %v", got, err)
	}
}

func TestRunErrors(t *testing.T) {
	g, x, y, m := doubling(t)
	full := func() *tape.Store { return tape.NewStore(g) }
	other := graph.New("other")
	other.Param("p", graph.F64, graph.Ax("i", 3))
	stray := other.Input("z", graph.F64)
	ended, cancel := context.WithCancel(t.Context())
	cancel()
	if _, err := m.Value(y); err == nil || err.Error() != "y[i=2] has no value: no run has ended well" {
		t.Errorf("before a run: %v", err)
	}
	for name, c := range map[string]struct {
		ctx   context.Context
		feed  tape.Feed
		store *tape.Store
		want  string
	}{
		"not fed":      {t.Context(), nil, full(), "input x of type f64[i=2] is not fed"},
		"nil tensor":   {t.Context(), tape.Feed{x: nil}, full(), "input x: want a tensor of type f64[i=2], got none"},
		"empty tensor": {t.Context(), tape.Feed{x: {}}, full(), "input x: want a tensor of type f64[i=2], got none"},
		"shape":        {t.Context(), tape.Feed{x: floats(1, 2, 3)}, full(), "input x: want shape [i=2], got (3)"},
		"type":         {t.Context(), tape.Feed{x: tensor.New(tensor.WithBacking([]float32{1, 2}))}, full(), "input x: want elements of type f64, got float32"},
		"stray":        {t.Context(), tape.Feed{x: floats(1, 2), stray: floats(1)}, full(), `feed: z[] is no input of graph "doubling"`},
		"no input":     {t.Context(), tape.Feed{x: floats(1, 2), y: floats(1, 2)}, full(), `feed: y[i=2] is no input of graph "doubling"`},
		"nil node":     {t.Context(), tape.Feed{nil: floats(1, 2)}, full(), `feed: nil is no input of graph "doubling"`},
		"empty store":  {t.Context(), tape.Feed{x: floats(1, 2)}, tape.NewStore(graph.New("")), `store: nothing under "p": it is empty (NewStore makes the entries of a graph, Store.Add one of a new path)`},
		"other store":  {t.Context(), tape.Feed{x: floats(1, 2)}, tape.NewStore(other), "p: want shape [i=2], got (3)"},
		"nil store":    {t.Context(), tape.Feed{x: floats(1, 2)}, nil, "want a store, got nil"},
		"ended before": {ended, tape.Feed{x: floats(1, 2)}, full(), "context canceled"},
	} {
		if err := m.Run(c.ctx, c.feed, c.store); err == nil || err.Error() != c.want {
			t.Errorf("%s: got %v, want %s", name, err, c.want)
		}
		if c.store != nil && name != "empty store" {
			if p, err := c.store.Get("p"); err != nil || p.Float64s()[0] != 0 {
				t.Errorf("%s: the store has %v, %v", name, p, err)
			}
		}
	}
	if err := m.Run(t.Context(), tape.Feed{x: floats(1, 2)}, full()); err != nil {
		t.Errorf("after failed runs: %v", err)
	}
	if _, err := m.Value(ops.Neg(x)); err == nil || !strings.HasSuffix(err.Error(), "is not kept: name it in gorgonia.Fetch") {
		t.Errorf("not fetched: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Fatal(err)
	}
	if err := m.Run(t.Context(), tape.Feed{x: floats(1, 2)}, full()); err == nil || err.Error() != "the machine is closed" {
		t.Errorf("after Close: %v", err)
	}
	if err := m.Close(); err != nil {
		t.Errorf("a second Close: %v", err)
	}
}

// TestMasks feeds, combines and fetches masks.
func TestMasks(t *testing.T) {
	g := graph.New("masks")
	m := g.Input("m", graph.Bool, graph.Ax("i", 3))
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	y := ops.Or(ops.Not(m), ops.Less(x, ops.Lit(x, 2)))
	count := ops.Sum(ops.Cast(y, graph.F32))
	c, err := Compile(g, Fetch(y, count, ops.And(m, g.Constant(graph.Bool, []float64{1, 1, 0}, graph.Ax("i", 3)))))
	if err != nil {
		t.Fatal(err)
	}
	defer c.Close()
	feed := tape.Feed{m: tensor.New(tensor.WithBacking([]bool{true, false, true})), x: tensor.New(tensor.WithBacking([]float32{1, 5, 5}))}
	if err := c.Run(t.Context(), feed, tape.NewStore(g)); err != nil {
		t.Fatal(err)
	}
	got, err := c.Value(y)
	if err != nil || !slices.Equal(got.Bools(), []bool{true, true, false}) {
		t.Errorf("mask %v, %v", got, err)
	}
	if got, err = c.Value(count); err != nil || got.Float32s()[0] != 2 {
		t.Errorf("count %v, %v", got, err)
	}
}

// TestGuarded: what goes wrong in gorgonia outside of operations names the graph.
func TestGuarded(t *testing.T) {
	_, _, _, m := doubling(t)
	want := `graph "doubling": gorgonia fails: no such register`
	for _, f := range []func() error{
		func() error { panic("no such\nregister") },
		func() error { return errors.New("no such\n\tregister") },
	} {
		if err := m.guarded(f); err == nil || err.Error() != want {
			t.Errorf("got %v, want %s", err, want)
		}
	}
	if err := m.guarded(func() error { return nil }); err != nil {
		t.Error(err)
	}
}

// TestLeaves: results may be inputs and constants alone.
func TestLeaves(t *testing.T) {
	g := graph.New("leaves")
	x, c := g.Scalar("x", 3, graph.F64), g.Constant(graph.F64, []float64{1, 2}, graph.Dims(2)...)
	m, err := Compile(g, Fetch(x, c))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Run(t.Context(), nil, tape.NewStore(g)); err != nil {
		t.Fatal(err)
	}
	vx, err := m.Value(x)
	if err != nil || vx.Float64s()[0] != 3 {
		t.Errorf("x is %v, %v", vx, err)
	}
	if vc, err := m.Value(c); err != nil || !slices.Equal(vc.Float64s(), []float64{1, 2}) {
		t.Errorf("the constant is %v, %v", vc, err)
	}
}

// TestAlike: constants that print alike and operations that gorgonia hashes alike stay apart.
func TestAlike(t *testing.T) {
	g := graph.New("alike")
	const n = 3000 // gorgonia prints the ends of long arrays only, and hashes slices by bytes
	a, b := make([]float64, n), make([]float64, n)
	a[n/2], b[n/2] = 1, 2
	ca, cb := g.Constant(graph.F64, a, graph.Dims(n)...), g.Constant(graph.F64, b, graph.Dims(n)...)
	x := ops.Add(g.Scalar("x", 0, graph.F64), ca)
	y := ops.Add(ops.Slice(x, 0, n/2, n/2+2), ops.Slice(x, 0, n/2-256, n/2-254))
	z := ops.Add(ops.Softmax(x, 0), ops.LogSoftmax(x, 0))
	m, err := Compile(g, Fetch(ops.Sum(ops.Sub(cb, ca)), ops.Sum(y), z, ops.Softmax(x, 0)))
	if err != nil {
		t.Fatal(err)
	}
	defer m.Close()
	if err := m.Run(t.Context(), nil, tape.NewStore(g)); err != nil {
		t.Fatal(err)
	}
	for _, node := range []*graph.Node{ops.Sum(ops.Sub(cb, ca)), ops.Sum(y)} {
		if v, err := m.Value(node); err != nil || v.Float64s()[0] != 1 {
			t.Errorf("%v is %v, %v; want 1", node, v, err)
		}
	}
	vz, err := m.Value(z)
	if err != nil {
		t.Fatal(err)
	}
	vs, err := m.Value(ops.Softmax(x, 0))
	if err != nil {
		t.Fatal(err)
	}
	if vz.Float64s()[0] == 2*vs.Float64s()[0] {
		t.Error("softmax and its logarithm are one node")
	}
}

// TestDistinct: nodes of equal hash are found, which the machine would merge.
func TestDistinct(t *testing.T) {
	one := func(name string) *G.Node { return G.NewScalar(G.NewGraph(), tensor.Float64, G.WithName(name)) }
	if !distinct(G.Nodes{one("a"), one("b")}) || distinct(G.Nodes{one("a"), one("b"), one("a")}) {
		t.Error("equal hashes are not told from different ones")
	}
}

// intercepted is an operation before which something happens.
type intercepted struct {
	G.Op
	first func()
}

func (i intercepted) Do(in ...G.Value) (G.Value, error) {
	i.first()
	return i.Op.Do(in...)
}

// TestInterrupted: a panic of gorgonia's is an error that names our node, the end
// of the context stops between two operations, and both leave the store as it was.
func TestInterrupted(t *testing.T) {
	ctx, cancel := context.WithCancel(t.Context())
	for _, c := range []struct {
		first func()
		want  string
	}{
		{func() { panic("index out\nof range") }, "Mul: gorgonia fails: index out of range: 2x[i=2]"},
		{cancel, "context canceled"},
	} {
		g := graph.New("interrupted")
		x := g.Input("x", graph.F64, graph.Ax("i", 2))
		p := g.Param("p", graph.F64, graph.Ax("i", 2))
		twice := ops.Scale(x, 2).As("2x")
		sum := ops.Add(twice, p)
		m, err := Compile(g, Fetch(twice, sum), Do(graph.Step{g.Assign(p, sum)}))
		if err != nil {
			t.Fatal(err)
		}
		defer m.Close()
		reached := false
		for n, first := range map[*graph.Node]func(){twice: c.first, sum: func() { reached = true }} {
			op := m.results[n].Op().(*call)
			op.Op = intercepted{op.Op, first}
		}
		store := tape.NewStore(g)
		err = m.Run(ctx, tape.Feed{x: floats(1, 2)}, store)
		if err == nil || !strings.HasSuffix(err.Error(), c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		} else if at := "interop/gorgonia/machine_test.go:"; ctx.Err() == nil && !strings.HasPrefix(err.Error(), at) {
			t.Errorf("got %v, want it to begin with %s", err, at)
		}
		if reached {
			t.Errorf("%s: the next operation was run", c.want)
		}
		if p, err := store.Get("p"); err != nil || p.Float64s()[0] != 0 {
			t.Errorf("%s: the store has %v, %v", c.want, p, err)
		}
		if _, err := m.Value(twice); err == nil {
			t.Errorf("%s: a value is given", c.want)
		}
	}
}

// TestViews: an operation on a reshaped array leaves the array as it was. On its
// own gorgonia adds in place, and x + x² comes out as x + x² + y.
func TestViews(t *testing.T) {
	g := graph.New("views")
	x, y := g.Input("x", graph.F64, graph.Dims(2, 2)...), g.Input("y", graph.F64, graph.Dims(4)...)
	square := ops.Square(x)
	moved := ops.Add(ops.Reshape(square, 4), y)
	sum := ops.Add(x, square)
	feed := graph.Values{x: value(x, 1, 2, 3, 4), y: value(y, 10, 10, 10, 10)}
	got, err := evaluate(t, feed, moved, sum)
	if err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(got[0].Data, []float64{11, 14, 19, 26}) || !slices.Equal(got[1].Data, []float64{2, 6, 12, 20}) {
		t.Errorf("got %v", got)
	}
}

// TestConcurrent runs machines of one graph on shared tensors at the same time,
// for the race detector.
func TestConcurrent(t *testing.T) {
	c := newClustering(t, "soft", graph.F64, 8, 3, 2)
	feed := tape.Feed{c.x: points(graph.F64, 1, 0, 8, 2)}
	var wg sync.WaitGroup
	for range 2 {
		wg.Go(func() {
			m, err := Compile(c.g, Fetch(c.results...))
			if err != nil {
				t.Error(err)
				return
			}
			defer m.Close()
			store := tape.NewStore(c.g)
			for range 3 {
				if err := m.Run(t.Context(), feed, store); err != nil {
					t.Error(err)
				}
			}
		})
	}
	wg.Wait()
}
