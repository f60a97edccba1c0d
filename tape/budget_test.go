package tape_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"runtime"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// tanhs is a chain of n layers of tanh on 16 KiB, with its gradient.
func tanhs(n int) (x, loss, dx *graph.Node) {
	g := graph.New("tanhs")
	x = g.Input("x", graph.F32, graph.Ax("i", 64), graph.Ax("j", 64))
	h := x
	for range n {
		h = ops.Tanh(h)
	}
	loss = ops.Sum(h)
	return x, loss, grad.Of(loss, x)[0]
}

// TestBudgetOfAChain: half the memory costs little, √n layers one more forward pass, and less
// nests.
func TestBudgetOfAChain(t *testing.T) {
	const layers, layer = 64, 64 * 64 * 4
	x, loss, dx := tanhs(layers)
	var want []float64
	for _, c := range []struct {
		kept  int // layers
		extra float64
	}{{layers + 1, 0}, {layers / 2, 0.15}, {16, 0.25}, {12, 0.35}, {6, 0.8}} {
		p := compile(t, x.Graph(), tape.Fetch(loss, dx), tape.Unfused(), tape.Passes(), tape.Budget(c.kept*layer))
		vm := tapetest.VM(t, p, tape.NewStore(x.Graph()))
		run(t, vm, tape.Feed{x: points(64, 64)})
		got := append(value(t, vm, dx), tapetest.Float(t, vm, loss))
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("%d layers: the bits differ", c.kept)
		}
		again, flops := p.Recomputed()
		if p.Arena() > c.kept*layer || float64(flops) > c.extra*float64(p.FLOPs()-flops) || (len(again) > 0) != (c.kept <= layers) {
			t.Errorf("%d layers: the arena has %d bytes, %d instructions run again for %d FLOP of %d", c.kept, p.Arena(), len(again),
				flops, p.FLOPs())
		}
	}
}

// perceptron is a training step of layers of w·tanh, each w², on a batch. What a layer makes is
// batch·w·4 bytes.
func perceptron(layers, batch, w int) (x, loss *graph.Node, step graph.Step) {
	g := graph.New("perceptron")
	x = g.Input("x", graph.F32, graph.Ax("i", batch), graph.Ax("f", w))
	h := x
	var params []*graph.Node
	for l := range layers {
		p := g.Param(fmt.Sprint("w", l), graph.F32, graph.Ax("f", w), graph.Ax("o", w)).Init(initial.Normal(0, 1/math.Sqrt(float64(w))))
		params = append(params, p)
		h = ops.Rename(ops.Tanh(ops.MatMul(h, p)), "o", "f")
	}
	loss = ops.Mean(ops.Square(h))
	for i, d := range grad.Of(loss, params...) {
		step = append(step, g.Assign(params[i], ops.Sub(params[i], ops.Scale(d, 0.1))))
	}
	return x, loss, step
}

// train gives the losses of three steps and a parameter after them.
func trainedWith(t *testing.T, p *tape.Program, x, loss *graph.Node, workers int) (out []float64) {
	t.Helper()
	store := tape.NewStore(x.Graph(), tape.Seed(3))
	vm := tapetest.VM(t, p, store, tape.Workers(workers))
	defer vm.Close()
	s := x.Shape()
	for range 3 {
		run(t, vm, tape.Feed{x: points(s.Dim(0), s.Dim(1))})
		out = append(out, tapetest.Float(t, vm, loss))
	}
	return append(out, stored(t, store, "w0")...)
}

// TestBudgetOfLayers: products are computed again where nothing else suffices, fused and not; the
// results are those without a budget, up to the order of sums, and the same bits for any number of
// workers.
func TestBudgetOfLayers(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	x, loss, step := perceptron(24, 256, 32)
	for _, options := range [][]tape.Option{nil, {tape.Unfused()}, {tape.Small()}} {
		options = append(options, tape.Fetch(loss), tape.Do(step))
		free := compile(t, x.Graph(), options...)
		want := trainedWith(t, free, x, loss, 1)
		for _, part := range []float64{0.7, 0.4} {
			budget := int(part * float64(free.Arena()))
			p := compile(t, x.Graph(), append(options, tape.Budget(budget))...)
			if p.Arena() > budget {
				t.Errorf("the arena has %d bytes of %d", p.Arena(), budget)
			}
			got := trainedWith(t, p, x, loss, 1)
			for i := range got {
				if math.Abs(got[i]-want[i]) > 1e-4*max(1, math.Abs(want[i])) {
					t.Fatalf("budget %d: element %d is %v: want %v\n%v", budget, i, got[i], want[i], p)
				}
			}
			for _, workers := range []int{2, 8} {
				if !slices.Equal(trainedWith(t, p, x, loss, workers), got) {
					t.Errorf("budget %d: %d workers give other bits than one", budget, workers)
				}
			}
		}
	}
}

// TestBudgetPrefersCheapWork: of two values as large, the one that a product makes is kept as long
// as the other one suffices.
func TestBudgetPrefersCheapWork(t *testing.T) {
	g := graph.New("cheap")
	x := g.Input("x", graph.F32, graph.Ax("i", 64), graph.Ax("j", 64))
	u, v := g.Input("u", graph.F32, graph.Ax("i", 64), graph.Ax("c", 1)), g.Input("v", graph.F32, graph.Ax("c", 1), graph.Ax("k", 64))
	product := ops.MatMul(u, v).As("product") // its few operations take less time than 4096 exponentials
	e := ops.Rename(ops.Exp(x), "j", "k").As("e")
	between := ops.Add(ops.Rename(x, "j", "k"), ops.Mul(ops.Max(product), ops.Max(e)))
	between = ops.Mul(ops.Tanh(between), ops.Sin(between))
	result := ops.Add(ops.Mul(ops.Max(between), product), e)
	options := []tape.Option{tape.Fetch(result), tape.Unfused(), tape.Passes()}
	arena := compile(t, g, options...).Arena()
	for i, want := range []string{"", "Exp", "MatMul Exp"} {
		p := compile(t, g, append(options, tape.Budget(arena-i*64*64*4))...)
		var got []string
		again, _ := p.Recomputed()
		for _, r := range again {
			got = append(got, r.Op)
		}
		if strings.Join(got, " ") != want {
			t.Errorf("%d arrays less: %v run again: want %s\n%v", i, got, want, p)
		}
	}
}

// TestBudgetRepeatsDraws: noise that is needed in the derivative again is drawn again, with the
// same bits.
func TestBudgetRepeatsDraws(t *testing.T) {
	const layers = 12
	g := graph.New("noise")
	x := g.Input("x", graph.F32, graph.Ax("i", 64), graph.Ax("j", 64))
	h := x
	for l := range layers {
		noise := ops.RandomUniform(g, fmt.Sprint("noise", l), graph.F32, graph.Ax("i", 64), graph.Ax("j", 64))
		h = ops.Mul(ops.Tanh(h), noise)
	}
	loss := ops.Sum(h)
	dx := grad.Of(loss, x)[0]
	results := func(options ...tape.Option) (*tape.Program, []float64) {
		p := compile(t, g, append(options, tape.Fetch(dx), tape.Unfused(), tape.Passes())...)
		vm := tapetest.VM(t, p, tape.NewStore(g, tape.Seed(7)))
		defer vm.Close()
		run(t, vm, tape.Feed{x: points(64, 64)})
		return p, value(t, vm, dx)
	}
	free, want := results()
	p, got := results(tape.Budget(free.Arena() / 3))
	if !slices.Equal(got, want) {
		t.Error("the bits differ")
	}
	again, _ := p.Recomputed()
	if !slices.ContainsFunc(again, func(r tape.Row) bool { return r.Op == "Random" }) {
		t.Errorf("no draw is repeated: the test shows nothing\n%v", p)
	}
}

// TestBudgetLeavesTheUsersOperations: an operation of the user's runs once, whatever it costs to
// keep its result.
func TestBudgetLeavesTheUsersOperations(t *testing.T) {
	g := graph.New("cubes")
	x := g.Input("x", graph.F64, graph.Ax("i", 1024))
	h := x
	for range 16 {
		h = ops.Tanh(graph.Apply(cube{}, ops.Tanh(h)))
	}
	dx := grad.Of(ops.Sum(h), x)[0]
	options := []tape.Option{tape.Fetch(dx), tape.Unfused(), tape.Passes()}
	free := compile(t, g, options...)
	cubes := func(p *tape.Program) (n int) {
		for _, r := range p.Rows() {
			if r.Op == "Cube" {
				n++
			}
		}
		return n
	}
	for _, percent := range []int{80, 55} {
		p := compile(t, g, append(options, tape.Budget(free.Arena()*percent/100))...)
		if again, _ := p.Recomputed(); len(again) == 0 || cubes(p) != 16 {
			t.Errorf("%d instructions run again, %d cubes: want some and 16\n%v", len(again), cubes(p), p)
		}
	}
	if p, err := tape.Compile(g, append(options, tape.Budget(free.Arena()/8))...); err == nil {
		t.Errorf("the results of 16 cubes do not fit into an eighth\n%v", p)
	}
}

func TestBudgetThatCannotBeMet(t *testing.T) {
	x, loss, dx := tanhs(8)
	_, err := tape.Compile(x.Graph(), tape.Fetch(loss, dx), tape.Unfused(), tape.Passes(), tape.Budget(20000))
	wantError(t, err, "tape: budget of 19.5 KiB: the least found is 48.1 KiB, held by %7[i=64 j=64] at tape/budget_test.go:26 (16.0 KiB), "+
		"%4[i=64 j=64] at tape/budget_test.go:26 (16.0 KiB), %8[i=64 j=64] at tape/budget_test.go:26 (16.0 KiB), 1 more")
	_, err = tape.Compile(x.Graph(), tape.Fetch(loss), tape.Budget(-1))
	wantError(t, err, "tape: budget of -1 B: want 0 or more")
}

// TestListingMarksWhatRunsAgain: the lines say what each saves.
func TestListingMarksWhatRunsAgain(t *testing.T) {
	x, loss, dx := tanhs(16)
	p := compile(t, x.Graph(), tape.Fetch(loss, dx), tape.Unfused(), tape.Passes(), tape.Budget(8*64*64*4))
	again, flops := p.Recomputed()
	marked := strings.Count(p.String(), "  · again: recomputed to save 16.0 KiB\n")
	if marked == 0 || marked != len(again) || flops != int64(marked)*64*64 {
		t.Errorf("%d lines are marked, %d instructions run again for %d FLOP\n%v", marked, len(again), flops, p)
	}
	first := map[*graph.Node]bool{}
	for _, r := range p.Rows() {
		if first[r.Node] != (r.Again > 0) {
			t.Errorf("%s: again %d, although it was there %v", r.Result, r.Again, first[r.Node])
		}
		first[r.Node] = true
	}
}

// TestBudgetLeavesNoOrphans: an array that is made again wherever it is read is not made the first
// time, and takes no place: here it is larger than the arena.
func TestBudgetLeavesNoOrphans(t *testing.T) {
	g := graph.New("orphans")
	w, x := g.Param("w", graph.F64, graph.Dims(3, 5)...), g.Input("x", graph.F64, graph.Dims(2520)...)
	loss := ops.Add(ops.Mean(ops.Tanh(w)), ops.Mean(ops.Tanh(x)))
	dw := grad.Of(loss, w)[0]
	feed := tape.Feed{x: tape.Tensor(graph.NewValue(x.Type()))}
	var want []float64
	for _, options := range [][]tape.Option{nil, {tape.Budget(192)}, {tape.Budget(256)}, {tape.Budget(320)}} {
		p := compile(t, g, append(options, tape.Fetch(loss, dw))...)
		vm := tapetest.VM(t, p, tape.NewStore(g, tape.Seed(3)))
		run(t, vm, feed)
		got := append(value(t, vm, dw), tapetest.Float(t, vm, loss))
		vm.Close()
		if want == nil {
			want = got
		}
		if !slices.Equal(got, want) {
			t.Errorf("an arena of %d bytes gives %v: want %v", p.Arena(), got, want)
		}
	}
}

// TestBudgetsOfRandomGraphs: with budgets drawn at random, random graphs agree with their
// definitions, whatever is recomputed.
func TestBudgetsOfRandomGraphs(t *testing.T) {
	fits, again := 0, 0
	graphs := 40
	if testing.Short() {
		graphs = 16
	}
	for _, options := range [][]tape.Option{{tape.Unfused()}, {tape.Passes()}, {tape.Small()}} {
		for seed := range uint64(graphs) {
			rng := rand.New(rand.NewPCG(seed, 1))
			size := 10 + int(seed%40)
			m, wanted := randomModel(t, seed, size, graph.F64)
			free := compile(t, m.Graph, append(options, tape.Fetch(wanted...), tape.Do(m.Step))...)
			budget := tape.Budget(int(float64(free.Arena()) * (0.5 + 0.5*rng.Float64())))
			err := compareWithRef(seed, size, graph.F64, t, append(options, budget)...)
			if err != nil && strings.HasPrefix(err.Error(), "tape: budget of ") {
				continue
			}
			if err != nil {
				t.Fatalf("seed %d: %v", seed, err)
			}
			fits++
			p := compile(t, m.Graph, append(options, budget, tape.Fetch(wanted...), tape.Do(m.Step))...)
			if rows, _ := p.Recomputed(); len(rows) > 0 {
				again++
			}
		}
	}
	if fits < graphs/2 || again < graphs/4 {
		t.Errorf("%d programs fit, %d of them with work done again: the graphs test too little", fits, again)
	}
}
