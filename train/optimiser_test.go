package train_test

import (
	"context"
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// wave is Σ cosh w + sin(3w)/2.
func wave(w *graph.Node) *graph.Node {
	cosh := ops.Scale(ops.Add(ops.Exp(w), ops.Exp(ops.Neg(w))), 0.5)
	return ops.Sum(ops.Add(cosh, ops.Scale(ops.Sin(ops.Scale(w, 3)), 0.5)))
}

// hilly is wave(a) + 2·wave(b) with a at 1.5, −0.5, 2 and b at 0.25, minimised.
func hilly(t *testing.T, o train.Optimiser, dt graph.DType) (*graph.Graph, *tape.Program, *tape.Store) {
	t.Helper()
	g := graph.New("hilly")
	a, b := g.Param("a", dt, graph.Ax("i", 3)), g.Param("b", dt).Init(initial.Fill(0.25))
	loss := ops.Add(wave(a), ops.Scale(wave(b), 2))
	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(o.Minimize(loss)))
	if err != nil {
		t.Fatalf("%v: %v", o, err)
	}
	store := tape.NewStore(g)
	v := graph.NewValue(a.Type())
	copy(v.Data, []float64{1.5, -0.5, 2})
	if err := store.Set("a", tape.Tensor(v)); err != nil {
		t.Fatal(err)
	}
	return g, prog, store
}

func run(t *testing.T, prog *tape.Program, store *tape.Store, steps int, feed tape.Feed) {
	t.Helper()
	vm := tapetest.VM(t, prog, store)
	defer vm.Close()
	for range steps {
		if err := vm.Run(context.Background(), feed); err != nil {
			t.Fatal(err)
		}
	}
}

// read returns float64 entries of a store, joined.
func read(t *testing.T, store *tape.Store, paths ...string) (out []float64) {
	t.Helper()
	for _, p := range paths {
		d, err := store.Get(p)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, d.Float64s()...)
	}
	return out
}

func near(t *testing.T, what string, got, want []float64, tol float64) {
	t.Helper()
	if len(got) != len(want) {
		t.Errorf("%s: got %v, want %v", what, got, want)
		return
	}
	for i := range want {
		if !(math.Abs(got[i]-want[i]) <= tol) {
			t.Errorf("%s: got %v, want %v", what, got, want)
			return
		}
	}
}

// TestOptions compares with PyTorch 1.13 after ten steps with the same settings.
func TestOptions(t *testing.T) {
	decay := train.WeightDecay(0.1)
	for _, c := range []struct {
		o    train.Optimiser
		text string
		want []float64
	}{
		{train.Adam(0.1, train.Betas(0.8, 0.95), train.Epsilon(1e-3), decay), "adam(0.1, betas 0.8 0.95, epsilon 0.001, weight decay 0.1)",
			[]float64{0.9557456332642386, -0.39066155965122473, 1.1511560855648777, -0.5657407834481724}},
		{train.AdamW(0.1, train.Betas(0.8, 0.95)), "adamw(0.1, betas 0.8 0.95)",
			[]float64{1.013116512799336, -0.4016155778649427, 1.146958337157857, -0.568123847021151}},
		{train.Momentum(0.02, 0.7, decay), "momentum(0.02, 0.7, weight decay 0.1)",
			[]float64{1.0716709226665175, -0.40287688892693807, 0.9359133697093224, -0.5157906820399473}},
		{train.Nesterov(0.02, 0.7, decay), "nesterov(0.02, 0.7, weight decay 0.1)",
			[]float64{1.1013627726102002, -0.40999257528977723, 1.036250395357819, -0.45700174332313237}},
		{train.RMSProp(0.01, train.Smoothing(0.9), train.Epsilon(1e-4), decay), "rmsprop(0.01, smoothing 0.9, epsilon 0.0001, weight decay 0.1)",
			[]float64{1.3467814682306818, -0.4178879958991949, 1.8325790388897185, 0.07260336512379471}},
		{train.Adagrad(0.1, train.Epsilon(1e-2), decay), "adagrad(0.1, epsilon 0.01, weight decay 0.1)",
			[]float64{1.1878373941368334, -0.41712252610958755, 1.5685034470119419, -0.2307625493678841}},
		{train.SGD(0.1, train.ClipNorm(0.5)), "sgd(0.1, clip-norm 0.5)",
			[]float64{1.3658567640991974, -0.4681793682501399, 1.6188522375132555, -0.038447967328441954}},
		{train.SGD(0.1, train.ClipValue(0.5)), "sgd(0.1, clip-value 0.5)",
			[]float64{1.164181963283007, -0.42490851513522493, 1.4999999999999996, -0.25}},
	} {
		_, prog, store := hilly(t, c.o, graph.F64)
		run(t, prog, store, 10, nil)
		near(t, c.text, read(t, store, "a", "b"), c.want, 1e-12)
		if c.o.String() != c.text {
			t.Errorf("%v prints so, want %s", c.o, c.text)
		}
	}
}

// TestNamed: every name makes an optimiser of that name that lowers the loss.
func TestNamed(t *testing.T) {
	for _, name := range train.Names() {
		o, err := train.Named(name, 0.01)
		if err != nil || o.Name() != name {
			t.Fatalf("%s: %v, %v", name, o, err)
		}
		g, prog, store := hilly(t, o, graph.F64)
		run(t, prog, store, 20, nil)
		if w := read(t, store, "a"); w[0] >= 1.5 || w[2] >= 2 || o.Rate(g) == nil {
			t.Errorf("%s goes to %v", name, w)
		}
	}
	if _, err := train.Named("lion", 1); err == nil || err.Error() != `"lion": want sgd, momentum, smoothed-momentum, nesterov, nesterov-peek, adam, adamw, lazyadam, rmsprop, adagrad or lbfgs` {
		t.Error(err)
	}
}

// TestWhatVaries: feeding an input another value than its default has the same effect as making the
// optimiser with that value.
func TestWhatVaries(t *testing.T) {
	for _, c := range []struct {
		fed, made train.Optimiser
		path      string
		v         float64
	}{
		{train.AdamW(0.1), train.AdamW(0.1, train.WeightDecay(0.5)), "adamw/weight-decay", 0.5},
		{train.SGD(0.1, train.ClipNorm(9)), train.SGD(0.1, train.ClipNorm(0.25)), "sgd/clip-norm", 0.25},
		{train.SGD(0.1, train.ClipValue(9)), train.SGD(0.1, train.ClipValue(0.25)), "sgd/clip-value", 0.25},
		{train.SGD(0.3), train.SGD(0.1), "sgd/rate", 0.1},
	} {
		g, prog, store := hilly(t, c.fed, graph.F64)
		in := g.Lookup(c.path)
		if in == nil {
			t.Errorf("%v has no input %s", c.fed, c.path)
			continue
		}
		run(t, prog, store, 4, tape.Feed{in: tape.Scalar(graph.F64, c.v)})
		_, other, want := hilly(t, c.made, graph.F64)
		run(t, other, want, 4, nil)
		if a, b := read(t, store, "a", "b"), read(t, want, "a", "b"); !slices.Equal(a, b) {
			t.Errorf("%v with %s = %v goes to %v, %v to %v", c.fed, c.path, c.v, a, c.made, b)
		}
	}
}

// TestOptionMistakes: a wrong option is a mistake that names it.
func TestOptionMistakes(t *testing.T) {
	for _, c := range []struct {
		o    train.Optimiser
		want string
	}{
		{train.SGD(1, train.Betas(0.9, 0.9)), "sgd has no betas"},
		{train.Momentum(1, 0.9, train.Epsilon(1)), "momentum has no epsilon"},
		{train.Adam(1, train.Smoothing(0.5)), "adam has no smoothing"},
		{train.Adam(1, train.Betas(0.9, 1)), "β₂ = 1: want a number from 0 to below 1"},
		{train.Nesterov(1, -0.1), "momentum = -0.1: want a number from 0 to below 1"},
		{train.AdamW(1, train.WeightDecay(math.Inf(1))), "weight decay = +Inf: want a finite number of at least 0"},
		{train.RMSProp(1, train.Epsilon(math.NaN())), "ε = NaN: want a finite number of at least 0"},
		{train.SGD(1, train.ClipNorm(0)), "clip-norm 0: want a positive number"},
		{train.SGD(1, train.ClipValue(-1)), "clip-value -1: want a positive number"},
		{train.SGD(1, train.EMA(1)), "EMA decay = 1: want a number from 0 to below 1"},
	} {
		g := graph.New("mistake")
		w := g.Param("w", graph.F32)
		if step := c.o.Minimize(ops.Square(w)); len(step) != 0 {
			t.Errorf("%v: %d updates", c.o, len(step))
		}
		if err := g.Err(); err == nil || !strings.Contains(err.Error(), "Minimize: "+c.want) {
			t.Errorf("got %v, want %s", err, c.want)
		}
	}
	if o := train.Adam(1, train.Option{}); o.String() != "adam(1)" {
		t.Errorf("the zero option makes %v", o)
	}
}

// TestClipNormAtZero: where the gradient is zero nothing moves and nothing is NaN, though clipping
// divides by its norm.
func TestClipNormAtZero(t *testing.T) {
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		g := graph.New("flat")
		w := g.Param("w", dt, graph.Ax("i", 4)).Init(initial.Fill(3))
		step := train.SGD(0.1, train.ClipNorm(1)).Minimize(ops.Sum(ops.Square(ops.Shift(w, -3))))
		prog, err := tape.Compile(g, tape.Do(step))
		if err != nil {
			t.Fatal(err)
		}
		store := tape.NewStore(g)
		run(t, prog, store, 3, nil)
		d, _ := store.Get("w")
		for i := range 4 {
			if v, _ := d.At(i); v != any(float32(3)) && v != any(3.0) {
				t.Errorf("%v: w is %v after three steps, want 3", dt, d.Data())
			}
		}
	}
}

// TestClipWorkers: the norm of a long gradient has the same bits for any number of workers.
func TestClipWorkers(t *testing.T) {
	g := graph.New("long")
	w := g.Param("w", graph.F32, graph.Ax("i", 300), graph.Ax("d", 700)).Init(initial.Normal(0, 1))
	v := g.Param("v", graph.F32, graph.Ax("d", 700)).Init(initial.Normal(0, 1))
	step := train.Adam(0.1, train.ClipNorm(1), train.EMA(0.9)).Minimize(ops.Sum(ops.Square(ops.Sin(ops.Mul(w, v)))))
	prog, err := tape.Compile(g, tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	var first []float32
	for _, workers := range []int{1, 2, 8} {
		store := tape.NewStore(g, tape.Seed(1))
		vm := tapetest.VM(t, prog, store, tape.Workers(workers))
		for range 3 {
			if err := vm.Run(context.Background(), nil); err != nil {
				t.Fatal(err)
			}
		}
		vm.Close()
		var all []float32
		for _, p := range []string{"w", "v", "ema/w"} {
			d, err := store.Get(p)
			if err != nil {
				t.Fatal(err)
			}
			all = append(all, d.Float32s()...)
		}
		if first == nil {
			first = all
		} else if !slices.Equal(first, all) {
			t.Errorf("%d workers change bits", workers)
		}
	}
}

// TestEMA compares with PyTorch's AveragedModel with 0.75·a + 0.25·p over five steps, and checks
// that reading the averages leaves the weights as they are.
func TestEMA(t *testing.T) {
	_, prog, store := hilly(t, train.SGD(0.1, train.EMA(0.75)), graph.F64)
	if _, err := train.Averaged(nil); err == nil {
		t.Error("averages of no store")
	}
	if _, err := train.Averaged(store); err == nil || err.Error() != "averages: no step has been taken" {
		t.Error(err)
	}
	run(t, prog, store, 5, nil)
	weights := []float64{1.177808516592665, -0.4263500021336886, 1.1904520197510415}
	averages := []float64{1.237015379417061, -0.4390751282080941, 1.3114216831075298}
	smooth, err := train.Averaged(store)
	if err != nil {
		t.Fatal(err)
	}
	near(t, "average", read(t, smooth, "a"), averages, 1e-12)
	near(t, "weights", read(t, store, "a"), weights, 1e-12)

	_, prog, plain := hilly(t, train.SGD(0.1), graph.F64)
	run(t, prog, plain, 5, nil)
	near(t, "weights without averages", read(t, plain, "a", "b"), read(t, store, "a", "b"), 0)
	if _, err := train.Averaged(plain); err == nil || !strings.HasPrefix(err.Error(), `averages: store: nothing below "ema"`) {
		t.Error(err)
	}
}
