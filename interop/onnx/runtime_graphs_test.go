package onnx_test

import (
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// TestRuntimeRandomGraphs: random graphs of everything that package ops has are in ONNX Runtime what they are on
// the tape.
func TestRuntimeRandomGraphs(t *testing.T) {
	rt := runtime(t)
	worst := map[graph.DType]float64{}
	for seed := range uint64(120) {
		if k := int(seed); k < 3 {
			seed = []uint64{719, 2291, 2495}[k]
		} // products that ONNX Runtime fuses
		dt := []graph.DType{graph.F32, graph.F64}[seed%2]
		var m *randgraph.Model
		var nodes []*graph.Node
		if seed%4 < 2 {
			m = randgraph.New(seed, 3+int(seed%23), dt)
			nodes = slices.Concat(m.Outputs, []*graph.Node{m.Loss}, grad.OrZero(m.Loss, m.Params...))
		} else {
			m = randgraph.Wide(seed, 1+int(seed%13), dt)
			nodes = m.Results
		}
		if len(nodes) == 0 {
			continue
		}
		c := comparison{name: fmt.Sprint("random ", seed), feed: m.Values, nodes: nodes, floor: 1e-2, limit: map[graph.DType]float64{graph.F32: 1e-4, graph.F64: 1e-9}[dt]}
		off, err := c.run(t, rt)
		if err != nil {
			t.Errorf("seed %d: %s", seed, short(err))
		} else if !(off <= c.limit) {
			t.Errorf("seed %d, %v: off by %.2g", seed, dt, off)
		}
		worst[dt] = max(worst[dt], off)
	}
	t.Logf("worst differences %v", worst)
}

// gradients returns y and the derivatives of a weighted sum of its squares.
func gradients(y *graph.Node, x ...*graph.Node) []*graph.Node {
	return append([]*graph.Node{y}, grad.OrZero(ops.Sum(ops.Mul(ops.Square(y), ops.Cast(ops.Shift(ops.Abs(ops.StopGradient(y)), 1), y.DType()))), x...)...)
}

// TestRuntimeLoops: loops of all kinds, and their derivatives.
func TestRuntimeLoops(t *testing.T) {
	rt := runtime(t)
	run := func(name string, make func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node) {
		t.Run(name, func(t *testing.T) {
			g := graph.New(name)
			h, x, w := g.Input("h", graph.F32, graph.Ax("d", 3)), g.Input("x", graph.F32, graph.Ax("t", 6), graph.Ax("d", 3)), g.Input("w", graph.F32, graph.Ax("d", 3))
			nodes := make(g, h, x, w)
			if err := g.Err(); err != nil {
				t.Fatal(err)
			}
			rng := rand.New(rand.NewPCG(3, 4))
			c := comparison{name: "loop " + name, feed: graph.Values{}, nodes: nodes, limit: 1e-5}
			for _, n := range []*graph.Node{h, x, w} {
				v := graph.NewValue(n.Type())
				for i := range v.Data {
					v.Data[i] = 0.2 + rng.Float64()
				}
				c.feed[n] = v
			}
			if off, err := c.run(t, rt); err != nil {
				t.Error(short(err))
			} else if !(off <= 1e-5) {
				t.Errorf("off by %.2g", off)
			}
		})
	}
	cell := func(w *graph.Node) ops.StepFunc {
		return func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			h := ops.Tanh(ops.Add(ops.Mul(c[0], w), x[0]))
			return []*graph.Node{h}, []*graph.Node{ops.Square(h)}
		}
	}
	for _, reverse := range []bool{false, true} {
		for _, checkpoint := range []int{0, 2} {
			name := fmt.Sprintf("scan reverse %v checkpoint %d", reverse, checkpoint)
			run(name, func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
				r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}, Reverse: reverse, Checkpoint: checkpoint}, cell(w))
				y := ops.Add(ops.Sum(r.Out[0], 0), r.Final[0])
				return gradients(y, h, x, w)
			})
		}
		run(fmt.Sprint("trace reverse ", reverse), func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
			r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}, Reverse: reverse}, cell(w))
			return append(gradients(r.Trace[0], h, x, w), r.Trace[0], r.Final[0], ops.Slice(r.Trace[0], 0, 2, 4))
		})
	}
	going := func(c, _ []*graph.Node) *graph.Node { return ops.Less(ops.Sum(c[0]), ops.Lit(c[0], 9)) }
	grow := func(w *graph.Node) ops.StepFunc {
		return func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.Add(ops.Scale(c[0], 1.2), ops.Sin(w))}, []*graph.Node{ops.Sin(c[0])}
		}
	}
	for _, checkpoint := range []int{0, 3} {
		run(fmt.Sprint("while checkpoint ", checkpoint), func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
			r := ops.While(ops.Loop{Carry: []*graph.Node{h}, Steps: 9, Checkpoint: checkpoint}, going, grow(w))
			return append(gradients(r.Final[0], h, w), r.Steps, r.Done, r.Out[0])
		})
	}
	run("while alone", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		r := ops.While(ops.Loop{Carry: []*graph.Node{h}, Steps: 30}, going, grow(w))
		return []*graph.Node{r.Final[0], r.Steps}
	})
	run("mixed carries", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		start := []*graph.Node{h, ops.Cast(ops.Lit(h, 1), graph.I64), ops.Greater(ops.Sum(h), ops.Lit(h, 0))}
		r := ops.Scan(ops.Loop{Carry: start, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			y := ops.Sin(ops.Add(ops.Mul(c[0], x[0]), ops.Cast(c[1], c[0].DType())))
			return []*graph.Node{ops.Select(c[2], y, ops.Mul(y, w)), ops.Add(c[1], ops.Lit(c[1], 1)), ops.Not(c[2])}, []*graph.Node{c[1]}
		})
		return append(gradients(r.Final[0], h, x, w), r.Final[1], r.Final[2], r.Out[0])
	})
	run("nested", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			inner := ops.Scan(ops.Loop{Carry: []*graph.Node{c[0]}, Steps: 3}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
				return []*graph.Node{ops.Tanh(ops.Add(ops.Mul(c[0], w), x[0]))}, nil
			})
			return inner.Final, nil
		})
		return gradients(r.Final[0], h, x, w)
	})
	run("branches", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		var all []*graph.Node
		for _, bound := range []float64{0, 100} {
			y := ops.Cond(ops.Greater(ops.Sum(h), ops.Lit(h, bound)), func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Log(ops.Mul(x[0], w)), ops.Sum(x[0])}
			}, func(x []*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Sqrt(x[0]), ops.Sum(ops.Square(w))}
			}, h)
			all = append(all, gradients(ops.Mul(y[0], y[1]), h, w)...)
		}
		return all
	})
	run("a branch in a loop", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			return ops.Cond(ops.Less(ops.Sum(c[0]), ops.Lit(h, 3)), func([]*graph.Node) []*graph.Node {
				return []*graph.Node{ops.Add(c[0], ops.Mul(x[0], w))}
			}, func([]*graph.Node) []*graph.Node { return []*graph.Node{ops.Scale(c[0], 0.5)} }, c[0]), nil
		})
		return gradients(r.Trace[0], h, x, w)
	})
	run("calls", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		block := func(x []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Sin(ops.Mul(x[0], w)), ops.Sum(x[0])}
		}
		a := ops.Closed("block", block, h)
		b := ops.Closed("block", block, a[0])
		return gradients(ops.Mul(ops.Add(a[0], b[0]), b[1]), h, w)
	})
	run("draws", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			noise := ops.RandomNormal(g, "noise", graph.F32, graph.Ax("d", 3))
			return []*graph.Node{ops.Tanh(ops.Add(ops.Mul(c[0], noise), x[0]))}, nil
		})
		u := ops.RandomTruncatedNormal(g, "u", graph.F32, -1, 2, graph.Ax("d", 3))
		return gradients(ops.Mul(r.Final[0], ops.Add(u, w)), h, x, w)
	})
	run("draws with checkpoints", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		r := ops.Scan(ops.Loop{Carry: []*graph.Node{h}, Over: []*graph.Node{x}, Checkpoint: 2}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
			noise := ops.RandomUniform(g, "noise", graph.F32, graph.Ax("d", 3))
			return []*graph.Node{ops.Tanh(ops.Add(ops.Mul(c[0], noise), x[0]))}, nil
		})
		return gradients(r.Final[0], h, x, w)
	})
	run("a fixed point", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		r := ops.FixedPoint(ops.Equation{Start: []*graph.Node{h}, With: []*graph.Node{w}}, func(x, w []*graph.Node) []*graph.Node {
			return []*graph.Node{ops.Scale(ops.Cos(ops.Mul(x[0], w[0])), 0.5)}
		})
		return gradients(r.X[0], w)
	})
	run("a recurrence", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		return gradients(ops.LinearRecurrence(w, x, "t"), x, w)
	})
	run("a derivative of one's own", func(g *graph.Graph, h, x, w *graph.Node) []*graph.Node {
		y := ops.WithVJP([]*graph.Node{ops.Round(h)}, []*graph.Node{h}, func(x, y, dy []*graph.Node) []*graph.Node { return dy })
		return gradients(ops.Mul(y[0], w), h, w)
	})
}

// TestRuntimeTypes: elements of every type are computed as on the tape, rounded and wrapped as there.
func TestRuntimeTypes(t *testing.T) {
	rt := runtime(t)
	for _, dt := range []graph.DType{graph.F16, graph.BF16, graph.I8, graph.U8, graph.I32, graph.I64, graph.F64} {
		g := graph.New("types")
		a, b := g.Input("a", dt, graph.Ax("i", 4), graph.Ax("j", 6)), g.Input("b", dt, graph.Ax("j", 6))
		index := g.Input("index", graph.I32, graph.Ax("k", 3))
		sum := ops.Add(ops.Mul(a, b), a)
		nodes := []*graph.Node{
			sum, ops.Sub(a, b), ops.Maximum(a, b), ops.Less(a, b), ops.Equal(a, b), ops.Abs(ops.Neg(a)), ops.Sum(sum, 0), ops.Max(sum, 1),
			ops.Gather(a, index, 1), ops.Transpose(a, 1, 0), ops.Slice(a, 1, 1, 4), ops.Pad(a, 1, 1, 2, 0), ops.Concat(0, a, sum), ops.Reverse(a, 0),
			ops.ArgMax(a, 1), ops.ArgSort(a, 1), ops.Select(ops.Less(a, b), a, sum), ops.Cast(sum, graph.F32), ops.Cast(sum, graph.I32), ops.Cast(sum, graph.I8), ops.Cast(sum, graph.U8),
			ops.Cast(sum, graph.Bool), ops.Remainder(a, ops.Add(ops.Abs(b), ops.Lit(b, 1))), ops.FloorDiv(a, ops.Add(ops.Abs(b), ops.Lit(b, 1))), ops.CumSum(a, 1), ops.Sign(a),
		}
		if dt.IsInt() {
			nodes = append(nodes, ops.OneHot(ops.Cast(index, dt), -1, graph.Ax("j", 6), graph.F32))
		} else if dt.IsFloat() {
			nodes = append(nodes, ops.Softmax(a, 1), ops.Exp(a), ops.MatMul(a, ops.Transpose(a, 1, 0)), ops.Div(a, ops.Shift(ops.Abs(b), 1)), ops.Mean(a, 1), ops.Square(a), ops.ReLU(a))
		}
		nodes = slices.DeleteFunc(nodes, func(n *graph.Node) bool { return !n.IsValid() })
		c := comparison{name: "type " + dt.String(), feed: graph.Values{}, nodes: nodes}
		rng := rand.New(rand.NewPCG(5, 6))
		for _, n := range []*graph.Node{a, b, index} {
			v := graph.NewValue(n.Type())
			for i := range v.Data {
				switch {
				case n == index:
					v.Data[i] = float64(rng.IntN(6))
				case dt.IsFloat():
					v.Data[i] = dt.Round(4*rng.Float64() - 2)
				case dt == graph.U8:
					v.Data[i] = float64(rng.IntN(40))
				default:
					v.Data[i] = float64(rng.IntN(40) - 20)
				}
			}
			c.feed[n] = v
		}
		limit := map[graph.DType]float64{graph.F16: 2e-3, graph.BF16: 2e-2, graph.F64: 1e-12}[dt]
		c.limit = limit
		off, err := c.run(t, rt)
		if err != nil {
			t.Errorf("%v: %s", dt, short(err))
		} else if off > limit {
			t.Errorf("%v: off by %.2g", dt, off)
		}
	}
}

// TestRuntimeDraws: a model that draws by itself needs no inputs for it, draws anew in each run, and as the laws say.
func TestRuntimeDraws(t *testing.T) {
	rt := runtime(t)
	g := graph.New("draws")
	axes := []graph.Axis{graph.Ax("i", 40), graph.Ax("j", 50)}
	laws := []struct {
		node              *graph.Node
		lo, hi, mean, std float64
	}{
		{ops.RandomUniform(g, "u", graph.F32, axes...), 0, 1, 0.5, 0.2887},
		{ops.RandomNormal(g, "n", graph.F64, axes...), -9, 9, 0, 1},
		{ops.RandomGumbel(g, "g", graph.F32, axes...), -4, 24, 0.5772, 1.2825},
		{ops.RandomTruncatedNormal(g, "t", graph.F32, -1, 2, axes...), -1, 2, 0.2296, 0.7211},
		{ops.RandomInt(g, "k", graph.I32, -3, 5, axes...), -3, 4, 0.5, 2.2913},
		{ops.Scan(ops.Loop{Carry: []*graph.Node{ops.Zeros(g, graph.F32, axes[1])}, Steps: 40}, func(c, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{ops.RandomNormal(g, "loop", graph.F32, axes[1])}, nil
		}).Trace[0], -9, 9, 0, 1},
	}
	var options []onnx.Option
	for i, l := range laws {
		options = append(options, onnx.As(fmt.Sprint("y", i), l.node))
	}
	b, m := written(t, g, append(options, onnx.Draws(onnx.FromRuntime))...)
	if len(m.Graph.Inputs) > 0 {
		t.Errorf("inputs are %v", m.Graph.Inputs)
	}
	s, err := rt.Load(b, onnxruntime.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	var before [][]float64
	for range 2 {
		got, err := s.Run(t.Context(), nil)
		if err != nil {
			t.Fatal(err)
		}
		for i, l := range laws {
			x, err := got[fmt.Sprint("y", i)].Floats()
			if err != nil {
				t.Fatal(err)
			}
			mean, square := 0.0, 0.0
			for _, v := range x {
				mean, square = mean+v/float64(len(x)), square+v*v/float64(len(x))
			}
			std := math.Sqrt(square - mean*mean)
			if slices.Min(x) < l.lo || slices.Max(x) > l.hi || math.Abs(mean-l.mean) > 0.15*l.std || math.Abs(std-l.std) > 0.1*l.std {
				t.Errorf("%v: from %v to %v, mean %v, deviation %v", l.node, slices.Min(x), slices.Max(x), mean, std)
			}
			if len(before) > i && slices.Equal(before[i], x) {
				t.Errorf("%v: the same numbers again", l.node)
			}
			before = append(before, x)
		}
	}
}

// TestRuntimeSteps: feeding the outputs of a step back trains as the tape does.
func TestRuntimeSteps(t *testing.T) {
	rt := runtime(t)
	g := graph.New("steps")
	x, y := g.Input("x", graph.F32, graph.Ax("n", 16), graph.Ax("d", 3)), g.Input("y", graph.F32, graph.Ax("n", 16))
	w, b := g.Param("w", graph.F32, graph.Ax("d", 3)).Init(initial.Normal(0, 1)), g.Param("b", graph.F32)
	loss := ops.Mean(ops.Square(ops.Sub(ops.Add(ops.MatMul(x, w), b), y))).As("loss")
	step := train.Adam(0.05).Minimize(loss, w, b)
	rng := rand.New(rand.NewPCG(7, 8))
	feed := graph.Values{x: graph.NewValue(x.Type()), y: graph.NewValue(y.Type())}
	for _, n := range []*graph.Node{x, y} {
		for i := range feed[n].Data {
			feed[n].Data[i] = float64(float32(rng.NormFloat64()))
		}
	}
	model, _ := written(t, g, onnx.Loss(loss), onnx.Do(step))
	s, err := rt.Load(model, onnxruntime.Options{Threads: 1})
	if err != nil {
		t.Fatal(err)
	}
	defer s.Close()
	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	vm, err := prog.NewVM(tape.NewStore(g, tape.Seed(1)), tape.Workers(1))
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	inputs := map[string]onnxruntime.Array{}
	for n, v := range feed {
		if inputs[n.Path()], err = onnxruntime.FromTensor(n.Type(), tape.Tensor(v)); err != nil {
			t.Fatal(err)
		}
	}
	for k := range 50 {
		if err := vm.Run(t.Context(), tape.Tensors(feed)); err != nil {
			t.Fatal(err)
		}
		want, err := vm.Value(loss)
		if err != nil {
			t.Fatal(err)
		}
		got, err := s.Run(t.Context(), inputs)
		if err != nil {
			t.Fatal(err)
		}
		have, err := got["loss"].Floats()
		if err != nil {
			t.Fatal(err)
		}
		if a, ok := want.ScalarValue().(float32); !ok || math.Abs(float64(a)-have[0]) > 1e-5*math.Abs(float64(a)) {
			t.Fatalf("step %d: the loss is %v, want %v", k, have[0], want)
		}
		for _, u := range step {
			inputs[u.Target.Path()] = got[u.Target.Path()+".next"]
		}
	}
}

// TestRuntimeEmpty: arrays without elements, rewritten and as they are written.
func TestRuntimeEmpty(t *testing.T) {
	rt := runtime(t)
	for _, options := range [][]onnx.Option{nil, {onnx.AsWritten()}} {
		g := graph.New("empty")
		x, w := g.Input("x", graph.F32, graph.Dims(0, 3)...), g.Input("w", graph.F32, graph.Dims(3, 2)...)
		index := g.Input("index", graph.I64, graph.Dims(0)...)
		y := ops.MatMul(x, w)
		nodes := []*graph.Node{
			y, ops.Sum(ops.Sin(x), 0), ops.Sum(x), ops.Concat(0, x, ops.Transpose(w, 1, 0)), ops.Gather(w, index, 0), ops.MatMul(ops.Transpose(x, 1, 0), x),
			ops.ScatterAdd(index, x, 0, graph.Dims(4, 3)...), ops.Pad(x, 0, 1, 1, 0), ops.Softmax(x, 1), ops.Slice(w, 0, 1, 1), ops.Reshape(x, 3, 0),
		}
		nodes = append(nodes, grad.OrZero(ops.Add(ops.Sum(y), ops.Sum(w)), x, w)...)
		c := comparison{name: "empty", feed: graph.Values{x: graph.NewValue(x.Type()), index: graph.NewValue(index.Type()), w: graph.NewValue(w.Type())}, nodes: nodes, limit: 1e-6}
		for i := range c.feed[w].Data {
			c.feed[w].Data[i] = float64(i)
		}
		if off, err := c.run(t, rt, options...); err != nil {
			t.Error(short(err))
		} else if off > c.limit {
			t.Errorf("off by %.2g", off)
		}
	}
}

// TestRuntimeAsWritten: a graph that is not rewritten first.
func TestRuntimeAsWritten(t *testing.T) {
	rt := runtime(t)
	for seed := range uint64(24) {
		m := randgraph.New(seed, 12, graph.F32)
		c := comparison{name: fmt.Sprint("as written ", seed), feed: m.Values, nodes: append(m.Outputs, m.Loss), floor: 1e-2, limit: 1e-4}
		c.nodes = append(c.nodes, grad.OrZero(m.Loss, m.Params...)...)
		if off, err := c.run(t, rt, onnx.AsWritten()); err != nil {
			t.Errorf("seed %d: %s", seed, short(err))
		} else if off > c.limit {
			t.Errorf("seed %d: off by %.2g", seed, off)
		}
	}
}

// TestRuntimeSecond: second derivatives of every model: those of the squared length of its gradient.
func TestRuntimeSecond(t *testing.T) {
	rt := runtime(t)
	for _, bd := range builders.All() {
		m, err := bd.Build(nil, graph.F64)
		if err != nil {
			t.Fatal(err)
		}
		if m.Loss == nil || len(m.Params()) == 0 {
			continue
		}
		c := comparison{name: bd.Name, feed: m.Examples(rand.New(rand.NewPCG(1, 1))), limit: 1e-9}
		var length *graph.Node
		for _, d := range grad.OrZero(m.Loss, m.Params()...) {
			if s := ops.Sum(ops.Square(d)); length == nil {
				length = s
			} else {
				length = ops.Add(length, s)
			}
		}
		c.nodes = append(grad.OrZero(length, m.Params()...), length)
		if off, err := c.run(t, rt); err != nil {
			t.Errorf("%s: %s", bd.Name, short(err))
		} else if off > c.limit {
			t.Errorf("%s: off by %.2g", bd.Name, off)
		}
	}
}
