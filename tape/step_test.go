package tape_test

import (
	"context"
	"errors"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestStatesSwap: all updates read the values at the step's start.
func TestStatesSwap(t *testing.T) {
	g := graph.New("swap")
	a := g.State("a", graph.F32, graph.Ax("i", 2)).Init(initial.Fill(1))
	b := g.State("b", graph.F32, graph.Ax("i", 2)).Init(initial.Fill(2))
	p := compile(t, g, tape.Do(graph.Step{g.Assign(a, b), g.Assign(b, a)}), tape.Fetch(a))
	store := tape.NewStore(g)
	vm := tapetest.VM(t, p, store)
	for k := range 3 {
		run(t, vm, nil)
		wantA, wantB := []float64{2, 2}, []float64{1, 1}
		if k%2 == 1 {
			wantA, wantB = wantB, wantA
		}
		if got := stored(t, store, "a"); !slices.Equal(got, wantA) {
			t.Errorf("after step %d a is %v: want %v", k+1, got, wantA)
		}
		if got := stored(t, store, "b"); !slices.Equal(got, wantB) {
			t.Errorf("after step %d b is %v: want %v", k+1, got, wantB)
		}
		if got := value(t, vm, a); !slices.Equal(got, wantB) {
			t.Errorf("step %d read a = %v: want %v", k+1, got, wantB)
		}
	}
	if store.Step() != 3 {
		t.Errorf("the store counts %d steps: want 3", store.Step())
	}
}

// TestStateTakesALayout: what a state takes may be another node's elements in
// another order, or repeated.
func TestStateTakesALayout(t *testing.T) {
	g := graph.New("layout")
	a := g.State("a", graph.F32, graph.Dims(2, 2)...)
	b := g.State("b", graph.F32, graph.Dims(2)...).Init(initial.Fill(3))
	x := g.Input("x", graph.F32, graph.Dims(2, 2)...)
	step := graph.Step{g.Assign(a, ops.Transpose(x)), g.Assign(b, ops.Reshape(ops.Slice(ops.Neg(x), 0, 0, 1), 2))}
	store := tape.NewStore(g)
	run(t, tapetest.VM(t, compile(t, g, tape.Do(step)), store), tape.Feed{x: f32([]int{2, 2}, 1, 2, 3, 4)})
	if got, want := stored(t, store, "a"), []float64{1, 3, 2, 4}; !slices.Equal(got, want) {
		t.Errorf("a is %v: want %v", got, want)
	}
	if got, want := stored(t, store, "b"), []float64{-1, -2}; !slices.Equal(got, want) {
		t.Errorf("b is %v: want %v", got, want)
	}
}

// countdown is a context that ends at the n-th look at it.
type countdown struct {
	context.Context
	left int
}

func (c *countdown) Err() error {
	if c.left--; c.left < 0 {
		return context.Canceled
	}
	return nil
}

func TestCancelledRunChangesNothing(t *testing.T) {
	g, x, a, _ := line()
	y := x
	for range 40 {
		y = ops.Tanh(y)
	}
	store := tape.NewStore(g)
	p := compile(t, g, tape.Do(graph.Step{g.Assign(a, y)}), tape.Fetch(y))
	vm := tapetest.VM(t, p, store)
	feed := tape.Feed{x: tape.Scalar(graph.F32, 5)}

	cancelled, cancel := context.WithCancel(context.Background())
	cancel()
	if err := vm.Run(cancelled, feed); !errors.Is(err, context.Canceled) {
		t.Errorf("error %v: want %v", err, context.Canceled)
	}
	looks := 0
	for ; ; looks++ {
		err := vm.Run(&countdown{context.Background(), looks}, feed)
		if err == nil {
			break
		}
		if !errors.Is(err, context.Canceled) {
			t.Fatal(err)
		}
		if got := stored(t, store, "a"); got[0] != 1 || store.Step() != 0 {
			t.Fatalf("cancelled at look %d: a is %v, %d steps: want 1 and none", looks, got, store.Step())
		}
		_, err = vm.Value(y)
		wantError(t, err, y.String()+" has no value: no run has ended well")
	}
	// One look every eight instructions, and one just before the commit.
	if want := (len(p.Rows())+7)/8 + 1; looks != want {
		t.Errorf("the run of %d instructions looked at its context %d times: want %d", len(p.Rows()), looks, want)
	}
	if got := stored(t, store, "a")[0]; got == 1 || store.Step() != 1 {
		t.Errorf("after the run that was not cancelled a is %v, %d steps", got, store.Step())
	}
}

func TestCheckFinite(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("finite")
		x := g.Input("x", dt)
		a := g.Param("a", dt).Init(initial.Fill(1))
		loss := ops.Log(x).As("loss")
		store := tape.NewStore(g)
		vm := tapetest.VM(t, compile(t, g, tape.Do(graph.Step{g.Assign(a, loss)}), tape.CheckFinite(loss)), store)
		for _, c := range []struct {
			x    float64
			want string
		}{
			{-1, "loss[] is NaN: nothing was committed"},
			{0, "loss[] is -Inf: nothing was committed"},
			{math.Inf(1), "loss[] is +Inf: nothing was committed"},
		} {
			err := vm.Run(context.Background(), tape.Feed{x: tape.Scalar(dt, c.x)})
			wantError(t, err, c.want)
			var nf *tape.NotFinite
			if !errors.As(err, &nf) || nf.Name != "loss[]" || !math.IsNaN(nf.Value-nf.Value) {
				t.Errorf("error %#v: want a NotFinite of the loss", err)
			}
			if got := stored(t, store, "a")[0]; got != 1 || store.Step() != 0 {
				t.Errorf("a is %v after %d steps: want 1 and none", got, store.Step())
			}
		}
		run(t, vm, tape.Feed{x: tape.Scalar(dt, 1)})
		if got := stored(t, store, "a")[0]; got != 0 || tapetest.Float(t, vm, loss) != 0 {
			t.Errorf("a is %v, the loss %v: want 0", got, tapetest.Float(t, vm, loss))
		}
	}
}
