package grad_test

import (
	"fmt"
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// deepNet compiles the gradients of a deep perceptron in parts of four layers.
func deepNet(t *testing.T, part func(ops.Function) func(x ...*graph.Node) []*graph.Node) (p *tape.Program, grads []*graph.Node) {
	t.Helper()
	const layers, each, width, rows = 16, 4, 24, 96
	g := graph.New("deep")
	h := g.Param("x", graph.F32, graph.Ax("n", rows), graph.Ax("d", width))
	var params []*graph.Node
	for k := 0; k < layers; k += each {
		in := []*graph.Node{h}
		for l := range each {
			w := g.Param(fmt.Sprint("w", k+l), graph.F32, graph.Ax("d", width), graph.Ax("e", width))
			params, in = append(params, w), append(in, w)
		}
		h = part(func(x []*graph.Node) []*graph.Node {
			h := x[0]
			for _, w := range x[1:] {
				h = ops.Rename(ops.Tanh(ops.MatMul(h, w)), "e", "d")
			}
			return []*graph.Node{h}
		})(in...)[0]
	}
	grads = grad.Of(ops.Sum(ops.Square(h)), params...)
	p, err := tape.Compile(g, tape.Fetch(grads...))
	if err != nil {
		t.Fatal(err)
	}
	return p, grads
}

// TestCheckpoint: the gradients of a deep net have the same bits with checkpoints, and less memory.
func TestCheckpoint(t *testing.T) {
	whole, a := deepNet(t, func(f ops.Function) func(x ...*graph.Node) []*graph.Node {
		return func(x ...*graph.Node) []*graph.Node { return f(x) }
	})
	parts, b := deepNet(t, grad.Checkpoint)
	was, now := floatsOf(t, whole, a), floatsOf(t, parts, b)
	for i := range was {
		for k := range was[i] {
			if math.Float32bits(was[i][k]) != math.Float32bits(now[i][k]) {
				t.Fatalf("gradient %d, element %d: %v, with checkpoints %v", i, k, was[i][k], now[i][k])
			}
		}
	}
	if now, was := parts.Arena(), whole.Arena(); now > was*2/3 {
		t.Errorf("%d B with checkpoints, %d B without: want at most two thirds", now, was)
	}
}

func floatsOf(t *testing.T, p *tape.Program, nodes []*graph.Node) (out [][]float32) {
	t.Helper()
	vm, err := p.NewVM(tape.NewStore(nodes[0].Graph()))
	if err != nil {
		t.Fatal(err)
	}
	defer vm.Close()
	if err := vm.Run(t.Context(), nil); err != nil {
		t.Fatal(err)
	}
	for _, n := range nodes {
		v, err := vm.Value(n)
		if err != nil {
			t.Fatal(err)
		}
		out = append(out, v.Float32s())
	}
	return out
}

// TestCheckpointDrawsOnce: what a part draws is the same when the derivative computes it again.
func TestCheckpointDrawsOnce(t *testing.T) {
	g := graph.New("dropped")
	x := g.Param("x", graph.F64, graph.Ax("n", 40)).Init(initial.Normal(0, 1))
	y := grad.Checkpoint(func(x []*graph.Node) []*graph.Node {
		kept := ops.Less(ops.RandomUniform(x[0].Graph(), "u", graph.F64, graph.Ax("n", 40)), ops.Lit(x[0], .5))
		return []*graph.Node{ops.Select(kept, ops.Sin(x[0]), ops.Lit(x[0], 0))}
	})(x)[0]
	dx := grad.Of(ops.Sum(y), x)[0]
	v, err := tape.Eval(t.Context(), nil, x, y, dx)
	if err != nil {
		t.Fatal(err)
	}
	zeros := 0
	for i, x := range v[x].Data {
		want := math.Cos(x)
		if v[y].Data[i] == 0 {
			want, zeros = 0, zeros+1
		}
		if math.Abs(v[dx].Data[i]-want) > 1e-14 {
			t.Errorf("the derivative at %v is %v where the value is %v", x, v[dx].Data[i], v[y].Data[i])
		}
	}
	if zeros < 8 || zeros > 32 {
		t.Errorf("%d of 40 are dropped", zeros)
	}
}
