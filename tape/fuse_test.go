package tape_test

import (
	"math"
	"runtime"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// stepsOf runs a random model for two steps, fetching the loss alone, and gives the losses and what
// the store holds then.
func stepsOf(t *testing.T, seed uint64, dt graph.DType, workers int, options ...tape.Option) (bits []uint64) {
	t.Helper()
	m, _ := randomModel(t, seed, 3+int(seed%25), dt)
	p := compile(t, m.Graph, append(options, tape.Fetch(m.Loss), tape.Do(m.Step))...)
	feed, store := load(t, m, seed)
	vm := tapetest.VM(t, p, store, tape.Workers(workers))
	defer vm.Close()
	for range 2 {
		if err := vm.Run(t.Context(), feed); err != nil {
			t.Fatal(err)
		}
		bits = append(bits, math.Float64bits(tapetest.Float(t, vm, m.Loss)))
	}
	for _, u := range m.Step {
		for _, v := range stored(t, store, u.Target.Path()) {
			bits = append(bits, math.Float64bits(v))
		}
	}
	return bits
}

// TestWorkersChangeNoBit runs random graphs in blocks so small that each stage has many, on 1, 2
// and 8 workers.
func TestWorkersChangeNoBit(t *testing.T) {
	defer runtime.GOMAXPROCS(runtime.GOMAXPROCS(8))
	for _, dt := range []graph.DType{graph.F32, graph.F64} {
		for seed := range uint64(60) {
			want := stepsOf(t, seed, dt, 1, tape.Small())
			for _, workers := range []int{2, 8} {
				if got := stepsOf(t, seed, dt, workers, tape.Small()); !slices.Equal(got, want) {
					t.Fatalf("seed %d: %d workers give other bits than one", seed, workers)
				}
			}
		}
	}
}

// TestElementwiseFusionChangesNoBit: a chain with every kind of broadcast, whole, in blocks and in
// small blocks.
func TestElementwiseFusionChangesNoBit(t *testing.T) {
	g := graph.New("chain")
	x := g.Input("x", graph.F32, graph.Ax("i", 37), graph.Ax("j", 29))
	row, column, s := g.Input("row", graph.F32, graph.Ax("j", 29)), g.Input("column", graph.F32, graph.Ax("i", 37), graph.Ax("j", 1)), g.Input("s", graph.F32)
	y := ops.Mul(ops.Tanh(ops.Add(x, row)), ops.Exp(ops.Neg(ops.Square(ops.Sub(x, column)))))
	y = ops.Select(ops.Less(y, ops.Mul(s, row)), ops.Sigmoid(y), ops.Div(ops.Add(ops.Transpose(ops.Transpose(x)), s), ops.Add(ops.Abs(column), ops.Lit(column, 0.5))))
	z := ops.Maximum(ops.Transpose(y), ops.Transpose(x))
	feed := tape.Feed{x: points(37, 29), row: points(1, 29), column: points(37, 1), s: f32(nil, 0.3)}
	if err := feed[row].Reshape(29); err != nil {
		t.Fatal(err)
	}
	var want []float64
	for i, options := range [][]tape.Option{{tape.Unfused()}, {}, {tape.Small()}} {
		p := compile(t, g, append(options, tape.Fetch(y, z), tape.Passes())...)
		vm := tapetest.VM(t, p, tape.NewStore(g))
		run(t, vm, feed)
		got := append(value(t, vm, y), value(t, vm, z)...)
		if i == 0 {
			want = got
		} else if !slices.Equal(got, want) {
			t.Errorf("options %d give other bits", i)
		}
		if stages := len(p.Stages()); i > 0 && stages > 4 {
			t.Errorf("%d stages: the chain is not fused\n%v", stages, p)
		}
	}
}

// TestAttentionHoldsNoScores: forward and backward, attention runs over parts of the batch; the
// scores of all heads are never in memory.
func TestAttentionHoldsNoScores(t *testing.T) {
	const b, h, n, d = 8, 4, 64, 32
	g := graph.New("attention")
	axes := func(t string) []graph.Axis {
		return []graph.Axis{graph.Ax("b", b), graph.Ax("h", h), graph.Ax(t, n), graph.Ax("d", d)}
	}
	q, k, v := g.Param("q", graph.F32, axes("t")...), g.Param("k", graph.F32, axes("s")...), g.Param("v", graph.F32, axes("s")...)
	scores := ops.Softmax(ops.Scale(ops.MatMul(q, ops.Transpose(k, "b", "h", "d", "s")), 1/math.Sqrt(d)), "s")
	loss := ops.Mean(ops.Square(ops.MatMul(scores, v)))
	step := graph.Step{}
	for i, dx := range grad.Of(loss, q, k, v) {
		p := []*graph.Node{q, k, v}[i]
		step = append(step, g.Assign(p, ops.Sub(p, ops.Scale(dx, 0.1))))
	}
	p := compile(t, g, tape.Fetch(loss), tape.Do(step))
	scoresSeen := 0
	for _, r := range p.Rows() {
		if s := r.Node.Shape(); s.Rank() == 4 && s.Dim(2) == n && s.Dim(3) == n {
			scoresSeen++
			if !r.Scratch {
				t.Errorf("%s is an array of all heads\n%v", r.Result, p)
			}
		}
	}
	if scoresSeen < 5 {
		t.Errorf("%d values over queries and keys: the test shows nothing", scoresSeen)
	}
	if p.Scratch() >= b*h*n*n*4/2 {
		t.Errorf("each worker has %d bytes of scratch: want few heads at a time\n%v", p.Scratch(), p)
	}
}

// TestBackwardMakesCheapValuesAgain: of a layer of tanh and one of GELU, memory keeps the results
// of the elementary functions and what they are taken of; the factors of the derivatives are made
// where they are used.
func TestBackwardMakesCheapValuesAgain(t *testing.T) {
	g := graph.New("layers")
	x := g.Input("x", graph.F32, graph.Ax("i", 512), graph.Ax("f", 512))
	w := []*graph.Node{g.Param("w0", graph.F32, graph.Ax("f", 512), graph.Ax("g", 512)), g.Param("w1", graph.F32, graph.Ax("g", 512), graph.Ax("h", 512))}
	a := ops.Tanh(ops.MatMul(x, w[0])).As("a")
	u := ops.MatMul(a, w[1]).As("u")
	e := ops.Tanh(ops.Add(u, ops.Scale(ops.Mul(u, ops.Square(u)), 0.044715))).As("e")
	loss := ops.Mean(ops.Square(ops.Mul(ops.Scale(u, 0.5), ops.Add(e, ops.Lit(e, 1)))))
	step := graph.Step{}
	for i, d := range grad.Of(loss, w...) {
		step = append(step, g.Assign(w[i], ops.Sub(w[i], d)))
	}
	p := compile(t, g, tape.Fetch(loss), tape.Do(step))
	again, arrays := 0, 0
	for _, r := range p.Rows() {
		if r.Repeat {
			again++
			if !r.Scratch {
				t.Errorf("%s is made again and kept\n%v", r.Result, p)
			}
		}
		if !r.Scratch && r.Bytes == 512*512*4 {
			arrays++
		}
	}
	if again < 2 || arrays > 10 {
		t.Errorf("%d values are made again, %d arrays kept\n%v", again, arrays, p)
	}
}

// TestSumsOverRowsOfTransposedOperands: a sum or mean over the rows of an array runs with what
// makes these rows, also where the array is transposed first.
func TestSumsOverRowsOfTransposedOperands(t *testing.T) {
	const n = 500
	g := graph.New("sums")
	x := g.Input("x", graph.F32, graph.Ax("i", n), graph.Ax("j", 24))
	y := ops.Tanh(x)
	sum, mean := ops.Sum(ops.Transpose(y), "i"), ops.Mean(ops.Transpose(y), "i")
	p := compile(t, g, tape.Fetch(sum, mean), tape.Passes())
	for _, r := range p.Rows() {
		if r.Op == "Tanh" && !r.Scratch {
			t.Errorf("all rows are kept\n%v", p)
		}
	}
	feed := tape.Feed{x: points(n, 24)}
	vm := tapetest.VM(t, p, tape.NewStore(g))
	defer vm.Close()
	run(t, vm, feed)
	gotSum, gotMean := value(t, vm, sum), value(t, vm, mean)
	for j := range 24 {
		want := 0.0
		for i := range n {
			want += math.Tanh(float64(feed[x].Float32s()[24*i+j]))
		}
		if math.Abs(gotSum[j]-want) > 1e-4 || math.Abs(gotMean[j]-want/n) > 1e-6 {
			t.Errorf("column %d: sum %v and mean %v, want %v and %v", j, gotSum[j], gotMean[j], want, want/n)
		}
	}
}

// TestLargeUpdatesAreApart: updates of small parameters, which share the rate alone, are one stage;
// each of a large parameter is a stage of its own, which takes 4 KB of every array by turns.
func TestLargeUpdatesAreApart(t *testing.T) {
	for _, c := range []struct{ width, stages int }{{64, 1}, {512, 3}} {
		g := graph.New("updates")
		rate, step := g.Input("rate", graph.F32), graph.Step{}
		for _, name := range []string{"u", "v", "w"} {
			axes := []graph.Axis{graph.Ax("i", c.width), graph.Ax("j", c.width)}
			p, d := g.Param(name, graph.F32, axes...), g.Input("d"+name, graph.F32, axes...)
			step = append(step, g.Assign(p, ops.Sub(p, ops.Mul(rate, d))))
		}
		p := compile(t, g, tape.Do(step))
		stages := map[int]bool{}
		for _, r := range p.Rows() {
			if r.Op == "Sub" {
				stages[r.Stage] = true
			}
		}
		for _, s := range p.Stages() {
			if c.stages > 1 && (s.Rows != c.width*c.width || s.Block*4 != 4<<10) {
				t.Errorf("a large parameter is updated as %d rows, %d at a time", s.Rows, s.Block)
			}
		}
		if len(stages) != c.stages {
			t.Errorf("parameters of %d bytes are updated in %d stages: want %d\n%v", c.width*c.width*4, len(stages), c.stages, p)
		}
	}
}
