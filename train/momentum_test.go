package train_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// slopes is the gradient of hilly by hand, λ times the weights added.
func slopes(w []float64, λ float64) []float64 {
	out := make([]float64, len(w))
	for i, x := range w {
		out[i] = math.Sinh(x) + 1.5*math.Cos(3*x)
		if i == 3 {
			out[i] *= 2 // b
		}
		out[i] += λ * x
	}
	return out
}

// start is where hilly begins.
var start = []float64{1.5, -0.5, 2, 0.25}

// TestSmoothedMomentum goes where the recurrence of the notes goes; it is momentum at 1−β of the
// rate; and PyTorch's SGD with dampening = β goes there too once both averages begin with the first
// gradient, as PyTorch's does.
func TestSmoothedMomentum(t *testing.T) {
	const η, β, λ = 0.1, 0.8, 0.05
	w, v := slices.Clone(start), make([]float64, 4)
	for range 10 {
		for i, g := range slopes(w, λ) {
			v[i] = β*v[i] + (1-β)*g
		}
		for i := range w {
			w[i] -= η * v[i]
		}
	}
	o := train.SmoothedMomentum(η, β, train.WeightDecay(λ))
	if o.String() != "smoothed-momentum(0.1, 0.8, weight decay 0.05)" {
		t.Error(o)
	}
	_, prog, store := hilly(t, o, graph.F64)
	run(t, prog, store, 10, nil)
	near(t, "weights", read(t, store, "a", "b"), w, 1e-12)
	near(t, "averages", read(t, store, "smoothed-momentum/v/a", "smoothed-momentum/v/b"), v, 1e-12)

	_, prog, sum := hilly(t, train.Momentum(η*(1-β), β, train.WeightDecay(λ)), graph.F64)
	run(t, prog, sum, 10, nil)
	near(t, "momentum at 1−β of the rate", read(t, sum, "a", "b"), w, 1e-12)

	// torch.optim.SGD(lr=η, momentum=β, dampening=β): the buffer is the first gradient, then
	// β·buffer + (1−β)·gradient.
	torch, buffer := slices.Clone(start), slopes(start, λ)
	for step := range 10 {
		if step > 0 {
			for i, g := range slopes(torch, λ) {
				buffer[i] = β*buffer[i] + (1-β)*g
			}
		}
		for i := range torch {
			torch[i] -= η * buffer[i]
		}
	}
	g, prog, begun := hilly(t, o, graph.F64)
	first := slopes(start, λ)
	for _, c := range []struct {
		path string
		v    []float64
	}{{"smoothed-momentum/v/a", first[:3]}, {"smoothed-momentum/v/b", first[3:]}} {
		value := graph.NewValue(g.Lookup(c.path).Type())
		copy(value.Data, c.v)
		if err := begun.Set(c.path, tape.Tensor(value)); err != nil {
			t.Fatal(err)
		}
	}
	run(t, prog, begun, 10, nil)
	near(t, "PyTorch with dampening", read(t, begun, "a", "b"), torch, 1e-12)
}

// TestNesterovForms: the gradient where momentum will lead goes where the recurrence written out
// goes, and PyTorch's form, whose gradient is at the parameters, is one look ahead of it in every
// step: p − rate·βv of the one is p of the other.
func TestNesterovForms(t *testing.T) {
	const η, β, λ = 0.02, 0.7, 0.1
	options := []train.Option{train.WeightDecay(λ), train.ClipValue(2)}
	peeking, other := train.NesterovPeek(η, β, options...), train.Nesterov(η, β, options...)
	w, v, ahead := slices.Clone(start), make([]float64, 4), make([]float64, 4)
	_, peekProg, peek := hilly(t, peeking, graph.F64)
	_, progOther, torch := hilly(t, other, graph.F64)
	for step := range 30 {
		for i := range w {
			ahead[i] = w[i] - η*β*v[i]
		}
		near(t, "PyTorch's form", read(t, torch, "a", "b"), ahead, 1e-12)
		for i, g := range slopes(ahead, 0) {
			v[i] = β*v[i] + max(-2, min(2, g)) + λ*ahead[i]
			w[i] -= η * v[i]
		}
		run(t, peekProg, peek, 1, nil)
		run(t, progOther, torch, 1, nil)
		near(t, "peeking", read(t, peek, "a", "b"), w, 1e-12)
		near(t, "velocity", read(t, peek, "nesterov-peek/v/a", "nesterov-peek/v/b"), v, 1e-12)
		if t.Failed() {
			t.Fatalf("after step %d", step+1)
		}
	}
	if slices.Equal(read(t, peek, "a"), read(t, torch, "a")) {
		t.Error("the two forms have the same parameters on the way: nothing was compared")
	}
}

// TestPeekOfWhatIsDrawn: the loss where momentum leads has the noise of the loss at the parameters,
// and what the loss does not need of them is there once.
func TestPeekOfWhatIsDrawn(t *testing.T) {
	g := graph.New("noisy")
	x := g.Input("x", graph.F64, graph.Ax("i", 3))
	w := g.Param("w", graph.F64, graph.Ax("i", 3))
	noise := ops.RandomNormal(g, "noise", graph.F64, graph.Ax("i", 3)).As("noise")
	target := ops.Exp(x).As("target")
	loss := ops.Sum(ops.Square(ops.Sub(ops.Mul(w, noise), target))).As("loss")
	step := train.NesterovPeek(0.1, 0.5).Minimize(loss)
	slope := grad.Of(loss, w)[0]
	prog, err := tape.Compile(g, tape.Fetch(loss, slope), tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	store := tape.NewStore(g, tape.Seed(3))
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	twice := map[string]int{}
	for _, n := range g.Nodes() {
		twice[n.Label()]++
	}
	if twice["noise"] != 1 || twice["target"] != 1 || twice["loss"] != 2 {
		t.Errorf("noise, target and loss are there %d, %d and %d times, want 1, 1 and 2", twice["noise"], twice["target"], twice["loss"])
	}
	// At the first step v is 0, so both gradients are taken at w with the same noise.
	if err := vm.Run(t.Context(), tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{1, 2, 3}})}); err != nil {
		t.Fatal(err)
	}
	at, err := vm.Value(slope)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "velocity", read(t, store, "nesterov-peek/v/w"), at.Float64s(), 0)
}

// TestPeekMistakes are those of any optimiser, about the parameter itself.
func TestPeekMistakes(t *testing.T) {
	for _, o := range []train.Optimiser{train.SGD(1), train.NesterovPeek(1, 0.5)} {
		g := graph.New("mistake")
		w, idle := g.Param("w", graph.F32), g.Param("idle", graph.F32)
		o.Minimize(ops.Square(w), w, idle)
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), "idle") || strings.Contains(err.Error(), "ahead") {
			t.Errorf("%v of a parameter that the loss does not depend on: %v", o, err)
		}
	}
}
