package tape_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// doubled is y = 2·γ·x, with an input that y does not need.
func doubled() (g *graph.Graph, x, γ, other, y *graph.Node) {
	g = graph.New("doubled")
	x = g.Input("x", graph.F32, graph.Ax("i", 2), graph.Ax("d", 3))
	γ = g.Scalar("γ", 1)
	other = g.Input("other", graph.F32, graph.Ax("i", 2))
	ops.Tanh(other)
	return g, x, γ, other, ops.Scale(ops.Mul(γ, x), 2).As("y")
}

func TestFeedMistakes(t *testing.T) {
	g, x, γ, _, y := doubled()
	_, foreign, _, _, _ := doubled()
	good := f32([]int{2, 3}, 1, 2, 3, 4, 5, 6)
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	for _, c := range []struct {
		name string
		feed tape.Feed
		want string
	}{
		{"nothing", nil, "input x of type f32[i=2 d=3] is not fed"},
		{"nil", tape.Feed{x: nil}, "input x: want a tensor of type f32[i=2 d=3], got nil"},
		{"an empty tensor", tape.Feed{x: &tensor.Dense{}}, "input x: want a tensor of type f32[i=2 d=3], got nil"},
		{"other sizes", tape.Feed{x: f32([]int{3, 2}, 1, 2, 3, 4, 5, 6)}, "input x: want shape [i=2 d=3], got (3, 2)"},
		{"other rank", tape.Feed{x: f32([]int{6}, 1, 2, 3, 4, 5, 6)}, "input x: want shape [i=2 d=3], got (6)"},
		{"a scalar", tape.Feed{x: tape.Scalar(graph.F32, 1)}, "input x: want shape [i=2 d=3], got (): the number of values is 1, want 6"},
		{"an array for a scalar", tape.Feed{x: good, γ: f32([]int{1}, 1)}, "input γ: want shape [], got (1)"},
		{"float64", tape.Feed{x: tensor.New(tensor.WithShape(2, 3), tensor.Of(tensor.Float64))}, "input x: want elements of type f32, got f64 (tape.Of converts numbers)"},
		{"complex", tape.Feed{x: tensor.New(tensor.WithShape(2, 3), tensor.Of(tensor.Complex64))}, "input x: elements of type complex64: want float32, float64, int32, int64, int8, uint8 or bool"},
		{"a node that is no input", tape.Feed{x: good, y: good}, `feed: y[i=2 d=3] is no input of graph "doubled"`},
		{"another graph's input", tape.Feed{x: good, foreign: good}, `feed: x[i=2 d=3] is no input of graph "doubled": it belongs to another graph, "doubled" (feed the inputs of the graph that was compiled)`},
		{"a nil node", tape.Feed{x: good, nil: good, y: good}, `feed: nil, y[i=2 d=3] is no input of graph "doubled"`},
	} {
		for range 5 { // the order of a map must not show
			if err := vm.Run(context.Background(), c.feed); err == nil || err.Error() != c.want {
				t.Errorf("%s: error %v: want %s", c.name, err, c.want)
			}
		}
	}
	run(t, vm, tape.Feed{x: good})
	if got, want := value(t, vm, y), []float64{2, 4, 6, 8, 10, 12}; !slices.Equal(got, want) {
		t.Errorf("after mistakes y is %v: want %v", got, want)
	}
}

// TestFeedOfAResult: a result may be fed to the run that writes over it.
func TestFeedOfAResult(t *testing.T) {
	g := graph.New("iterate")
	x := g.Input("x", graph.F64, graph.Ax("i", 8))
	early := ops.Exp(ops.Neg(x)) // takes the place of the result, which comes last, if any may
	y := ops.Add(ops.Scale(ops.Sum(early), 0.1), ops.Sin(x)).As("y")
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	want := []float64{0, 0, 0, 0, 0, 0, 0, 0}
	feed := tape.Feed{x: tensor.New(tensor.WithShape(8), tensor.WithBacking(slices.Clone(want)))}
	for range 3 {
		run(t, vm, feed)
		sum := 0.0
		for _, v := range want {
			sum += math.Exp(-v)
		}
		for i, v := range want {
			want[i] = 0.1*sum + math.Sin(v)
		}
		for i, v := range value(t, vm, y) {
			if math.Abs(v-want[i]) > 1e-12 {
				t.Fatalf("y is %v: want %v", value(t, vm, y), want)
			}
		}
		result, err := vm.Value(y)
		if err != nil {
			t.Fatal(err)
		}
		feed[x] = result
	}
}

func TestFeedOfWhatNothingNeeds(t *testing.T) {
	g, x, _, other, y := doubled()
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	run(t, vm, tape.Feed{x: f32([]int{2, 3}, 1, 2, 3, 4, 5, 6), other: f32([]int{2}, 1, 2)})
	if got := value(t, vm, y)[0]; got != 2 {
		t.Errorf("y starts with %v: want 2", got)
	}
}

func TestDefaultAndItsReturn(t *testing.T) {
	g, x, γ, _, y := doubled()
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	feed := tape.Feed{x: f32([]int{2, 3}, 1, 2, 3, 4, 5, 6)}
	for _, c := range []struct{ γ, want float64 }{{-1, 2}, {10, 20}, {-1, 2}} {
		delete(feed, γ)
		if c.γ >= 0 {
			feed[γ] = tape.Scalar(graph.F32, c.γ)
		}
		run(t, vm, feed)
		if got := value(t, vm, y)[0]; got != c.want {
			t.Errorf("with γ = %v (default 1 where negative) y starts with %v: want %v", c.γ, got, c.want)
		}
	}
}

// TestFeedOfViews: tensors that do not lie dense in row-major order mean what
// their shape says.
func TestFeedOfViews(t *testing.T) {
	g, x, _, _, y := doubled()
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	want := []float64{2, 4, 6, 8, 10, 12}
	slice := func(d *tensor.Dense, s ...tensor.Slice) *tensor.Dense {
		v, err := d.Slice(s...)
		if err != nil {
			t.Fatal(err)
		}
		return v.(*tensor.Dense)
	}
	lazy := f32([]int{3, 2}, 1, 4, 2, 5, 3, 6)
	if err := lazy.T(); err != nil {
		t.Fatal(err)
	}
	moved := f32([]int{3, 2}, 1, 4, 2, 5, 3, 6)
	if err := moved.T(); err != nil {
		t.Fatal(err)
	}
	if err := moved.Transpose(); err != nil {
		t.Fatal(err)
	}
	for name, v := range map[string]*tensor.Dense{
		"transposed":        lazy,
		"transposed, moved": moved,
		"some columns":      slice(f32([]int{2, 4}, 9, 1, 2, 3, 9, 4, 5, 6), nil, tensor.S(1, 4)),
		"some rows":         slice(f32([]int{4, 3}, 9, 9, 9, 1, 2, 3, 4, 5, 6, 9, 9, 9), tensor.S(1, 3)),
		"every other row":   slice(f32([]int{4, 3}, 1, 2, 3, 9, 9, 9, 4, 5, 6, 9, 9, 9), tensor.S(0, 4, 2)),
	} {
		if err := vm.Run(context.Background(), tape.Feed{x: v}); err != nil {
			t.Errorf("%s: %v", name, err)
			continue
		}
		if got := value(t, vm, y); !slices.Equal(got, want) {
			t.Errorf("%s: y is %v: want %v", name, got, want)
		}
	}
}

// TestFeedIsOnlyRead: operations that could work in place leave inputs,
// constants and parameters alone.
func TestFeedIsOnlyRead(t *testing.T) {
	g := graph.New("read")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	w := g.Param("w", graph.F32, graph.Ax("i", 3)).Init(initial.Fill(2))
	c := g.Constant(graph.F32, []float64{1, 2, 3}, graph.Ax("i", 3))
	y := ops.Add(ops.Mul(ops.Neg(x), ops.Neg(w)), ops.Exp(ops.Neg(c)))
	store := tape.NewStore(g)
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y, x, w, c), tape.Passes()), store)
	fed := f32([]int{3}, 4, 5, 6)
	for range 3 {
		run(t, vm, tape.Feed{x: fed})
		for _, n := range []*graph.Node{x, w, c} {
			v, err := vm.Value(n)
			if err != nil {
				t.Fatal(err)
			}
			v.Zero() // spoils the result, not what it was read from
		}
	}
	if got, want := numbers(fed), []float64{4, 5, 6}; !slices.Equal(got, want) {
		t.Errorf("what was fed is now %v: want %v", got, want)
	}
	if got, want := stored(t, store, "w"), []float64{2, 2, 2}; !slices.Equal(got, want) {
		t.Errorf("the parameter is now %v: want %v", got, want)
	}
	run(t, vm, tape.Feed{x: fed})
	if got, want := value(t, vm, c), []float64{1, 2, 3}; !slices.Equal(got, want) {
		t.Errorf("the constant is now %v: want %v", got, want)
	}
}

func TestOneInputForManyOperands(t *testing.T) {
	g := graph.New("many")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	y := ops.Add(ops.Mul(x, x), ops.Sub(x, ops.Reverse(x, 0)))
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	for k := range 3 {
		s := float32(k)
		run(t, vm, tape.Feed{x: f32([]int{3}, s, s+1, s+3)})
		v := float64(k)
		want := []float64{v*v - 3, (v + 1) * (v + 1), (v+3)*(v+3) + 3}
		if got := value(t, vm, y); !slices.Equal(got, want) {
			t.Errorf("run %d: y is %v: want %v", k, got, want)
		}
	}
}

// TestNothingIsOverwrittenWhileRead: y ends where it meets itself turned round,
// yet the sum cannot take its place. The array is larger than a tile of the
// elementwise loops.
func TestNothingIsOverwrittenWhileRead(t *testing.T) {
	const n = 5000
	g := graph.New("turned")
	x := g.Input("x", graph.F32, graph.Ax("i", n))
	y := ops.Neg(x)
	z := ops.Add(y, ops.Scale(ops.Reverse(y, 0), 2))
	both := ops.Sub(y, ops.Reverse(y, 0))
	data := make([]float32, n)
	for i := range data {
		data[i] = float32(i)
	}
	for node, want := range map[*graph.Node]func(i int) float64{
		z:    func(i int) float64 { return float64(-i - 2*(n-1-i)) },
		both: func(i int) float64 { return float64(n - 1 - 2*i) },
	} {
		vm := tapetest.VM(t, compile(t, g, tape.Fetch(node)), tape.NewStore(g))
		run(t, vm, tape.Feed{x: f32([]int{n}, data...)})
		for i, v := range value(t, vm, node) {
			if v != want(i) {
				t.Fatalf("element %d of %v is %v: want %v", i, node, v, want(i))
			}
		}
	}
}
