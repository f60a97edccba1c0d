package train_test

import (
	"context"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// quadraticLoss returns Σ c_i (w_i − 1)² with w = 0 at first.
func quadraticLoss() *graph.Node {
	g := graph.New("quadratic")
	w := g.Param("w", graph.F64, graph.Ax("i", 3))
	c := g.Constant(graph.F64, []float64{1, 2, 0.5}, graph.Ax("i", 3))
	return ops.Sum(ops.Mul(c, ops.Square(ops.Shift(w, -1)))).As("loss")
}

// quadratic is a step on quadraticLoss.
func quadratic(t *testing.T, o train.Optimiser) (g *graph.Graph, w, loss *graph.Node, vm *tape.VM) {
	t.Helper()
	loss = quadraticLoss()
	g = loss.Graph()
	w = g.Lookup("w")
	step := o.Minimize(loss)
	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	vm = tapetest.VM(t, prog, tape.NewStore(g))
	t.Cleanup(vm.Close)
	return
}

// quadraticTrainer trains quadraticLoss, which has no inputs.
func quadraticTrainer(t *testing.T, o train.Optimiser) *train.Trainer {
	t.Helper()
	trainer := &train.Trainer{Optimiser: o, Build: func(int, train.Mode) *train.Net { return &train.Net{Loss: quadraticLoss()} }}
	t.Cleanup(trainer.Close)
	return trainer
}

func weights(t *testing.T, vm *tape.VM) []float64 {
	t.Helper()
	d, err := vm.Store().Get("w")
	if err != nil {
		t.Fatal(err)
	}
	return d.Float64s()
}

func TestSGDByHand(t *testing.T) {
	_, _, _, vm := quadratic(t, train.SGD(0.1))
	want := []float64{0, 0, 0}
	for range 5 {
		for i, c := range []float64{1, 2, 0.5} {
			want[i] -= 0.1 * 2 * c * (want[i] - 1)
		}
		if err := vm.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, w := range weights(t, vm) {
		if math.Abs(w-want[i]) > 1e-14 {
			t.Errorf("w[%d] = %v, want %v", i, w, want[i])
		}
	}
}

// Algorithm 1 of Kingma & Ba, step by step.
func TestAdamByHand(t *testing.T) {
	_, _, _, vm := quadratic(t, train.Adam(0.1))
	w, m, v := make([]float64, 3), make([]float64, 3), make([]float64, 3)
	for step := 1; step <= 20; step++ {
		for i, c := range []float64{1, 2, 0.5} {
			g := 2 * c * (w[i] - 1)
			m[i] = 0.9*m[i] + 0.1*g
			v[i] = 0.999*v[i] + 0.001*g*g
			mh, vh := m[i]/(1-math.Pow(0.9, float64(step))), v[i]/(1-math.Pow(0.999, float64(step)))
			w[i] -= 0.1 * mh / (math.Sqrt(vh) + 1e-8)
		}
		if err := vm.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	for i, got := range weights(t, vm) {
		if math.Abs(got-w[i]) > 1e-12 {
			t.Errorf("w[%d] = %v, want %v", i, got, w[i])
		}
	}
}

func TestRateIsAnInput(t *testing.T) {
	o := train.SGD(0.1)
	g, _, _, vm := quadratic(t, o)
	rate := o.Rate(g)
	if rate == nil {
		t.Fatal("no input for the rate")
	}
	if err := vm.Run(context.Background(), tape.Feed{rate: tape.Scalar(graph.F64, 0)}); err != nil {
		t.Fatal(err)
	}
	if w := weights(t, vm); w[0] != 0 {
		t.Errorf("w moved to %v with rate 0", w)
	}
}

func TestMinimizeMistakes(t *testing.T) {
	g := graph.New("mistakes")
	x, w := g.Input("x", graph.F32), g.Param("w", graph.F32)
	_, _, line, _ := runtime.Caller(0)
	train.SGD(1).Minimize(x)
	train.Optimiser{}.Minimize(w)
	train.Adam(math.NaN()).Minimize(w)
	errs, _ := g.Err().(graph.Errors)
	want := []string{
		"the loss depends on no parameter: x[]",
		"the optimiser is the zero value, which makes no step: want one such as train.Adam(0.001), or one of your own by train.Custom: w[]",
		"a learning rate of NaN: want a finite number: w[]",
	}
	if len(errs) != len(want) {
		t.Fatalf("got %v", errs)
	}
	for i, w := range want {
		if w = fmt.Sprintf("train/train_test.go:%d: Minimize: %s", line+1+i, w); errs[i].Error() != w {
			t.Errorf("got %v, want %s", errs[i], w)
		}
	}
}

// TestMixedTypes: parameters need not have the element type of the loss.
func TestMixedTypes(t *testing.T) {
	for _, o := range []train.Optimiser{train.SGD(0.1), train.Adam(0.1)} {
		g := graph.New("mixed")
		a, b := g.Param("a", graph.F32).Init(initial.Fill(2)), g.Param("b", graph.F64).Init(initial.Fill(2))
		step := o.Minimize(ops.Add(ops.Square(a), ops.Cast(ops.Square(b), graph.F32)))
		prog, err := tape.Compile(g, tape.Do(step))
		if err != nil {
			t.Fatalf("%v: %v", o, err)
		}
		vm := tapetest.VM(t, prog, tape.NewStore(g))
		for range 3 {
			if err := vm.Run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
		x, _ := vm.Store().Get("a")
		y, _ := vm.Store().Get("b")
		if p, q := float64(x.Float32s()[0]), y.Float64s()[0]; p >= 1.8 || math.Abs(p-q) > 1e-6 {
			t.Errorf("%v: a is %v, b %v: want the same way down from 2", o, p, q)
		}
	}
}

func TestSchedules(t *testing.T) {
	for _, c := range []struct {
		text        string
		first, last float64
	}{{"2", 2, 2}, {"0.1..10", 0.1, 10}, {"10..0.1", 10, 0.1}} {
		s, err := train.ParseSchedule(c.text)
		if err != nil {
			t.Fatal(err)
		}
		if a, b := s.At(0, 9), s.At(8, 9); math.Abs(a-c.first) > 1e-12 || math.Abs(b-c.last) > 1e-12 || s.String() != c.text {
			t.Errorf("%s goes from %v to %v, prints %s", c.text, a, b, s)
		}
		if mid, want := s.At(4, 9), math.Sqrt(c.first*c.last); math.Abs(mid-want) > 1e-12 {
			t.Errorf("%s is %v in the middle, want %v", c.text, mid, want)
		}
	}
	for _, bad := range []string{"", "x", "1..", "0..1", "-1..2", "NaN", "1..Inf"} {
		if _, err := train.ParseSchedule(bad); err == nil {
			t.Errorf("%q is accepted", bad)
		}
	}
}
