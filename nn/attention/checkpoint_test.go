package attention_test

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/nn/attention"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// stacked compiles the loss of six causal blocks with dropout behind each, and its gradients, where
// part makes a part of the net of what a block computes.
func stacked(t *testing.T, part func(ops.Function) func(x ...*graph.Node) []*graph.Node) (p *tape.Program, nodes []*graph.Node) {
	t.Helper()
	g := graph.New("gpt")
	b := attention.Blocks{Heads: 2, Width: graph.Ax("m", 16), Hidden: graph.Ax("f", 64), Activation: ops.GELU}
	places := graph.Ax("t", 24)
	x := g.Param("x", graph.F32, graph.Ax("b", 4), places, b.Width).Init(initial.Normal(0, 1))
	mask := attention.Causal(g, places, places)
	rate := g.Constant(graph.F32, []float64{.3})
	h := x
	for _, name := range []string{"a", "b", "c", "d", "e", "f"} {
		block := attention.NewEncoderBlock(g, name, graph.F32, b)
		h = part(func(x []*graph.Node) []*graph.Node { return []*graph.Node{nn.Dropout(block.Of(x[0], mask), rate)} })(h)[0]
	}
	loss := ops.Mean(ops.Square(h))
	nodes = append(grad.Of(loss, g.Params()...), loss)
	p, err := tape.Compile(g, tape.Fetch(nodes...))
	if err != nil {
		t.Fatal(err)
	}
	return p, nodes
}

// TestCheckpointsOfBlocks: the loss and the gradients of a stack of blocks with dropout are the same if
// each block is a checkpoint, in a third of the memory: 280 kB instead of 1361 kB.
func TestCheckpointsOfBlocks(t *testing.T) {
	whole, a := stacked(t, func(f ops.Function) func(x ...*graph.Node) []*graph.Node {
		return func(x ...*graph.Node) []*graph.Node { return f(x) }
	})
	parts, b := stacked(t, grad.Checkpoint)
	alike(t, floats(t, whole, a), floats(t, parts, b))
	if now, was := parts.Arena(), whole.Arena(); now > was/3 {
		t.Errorf("%d B with checkpoints, %d B without: want at most a third", now, was)
	}
}

// TestCheckpointOption: the stacks of encoders and decoders compute the same with the option.
func TestCheckpointOption(t *testing.T) {
	run := func(checkpoint bool) (arena int, results [][]float32) {
		g := graph.New("stacks")
		b := attention.Blocks{Layers: 4, Heads: 2, Width: graph.Ax("m", 8), Hidden: graph.Ax("f", 32), Activation: ops.GELU, Checkpoint: checkpoint}
		x := g.Param("x", graph.F32, graph.Ax("b", 4), graph.Ax("t", 16), b.Width).Init(initial.Normal(0, 1))
		memory := attention.NewEncoder(g, "encoder", graph.F32, b).Levels(x, nil)
		y := attention.NewDecoder(g, "decoder", graph.F32, b, b.Width).Of(x, memory, attention.Causal(g, graph.Ax("t", 16), graph.Ax("t", 16)), nil)
		loss := ops.Mean(ops.Square(ops.Sub(y, x))) // y alone is normalised: the mean of its squares is 1 whatever the parameters
		nodes := append(grad.Of(loss, g.Params()...), loss)
		p, err := tape.Compile(g, tape.Fetch(nodes...))
		if err != nil {
			t.Fatal(err)
		}
		return p.Arena(), floats(t, p, nodes)
	}
	most, was := run(false)
	least, now := run(true)
	alike(t, was, now)
	if least >= most {
		t.Errorf("%d B with checkpoints, %d B without", least, most)
	}
}

// alike holds the losses, which come last, to the same bits, and gradients to the last digits.
func alike(t *testing.T, was, now [][]float32) {
	t.Helper()
	for i := range was {
		largest, most := 0.0, 0.0
		for k := range was[i] {
			largest = max(largest, math.Abs(float64(was[i][k])))
			most = max(most, math.Abs(float64(was[i][k])-float64(now[i][k])))
		}
		if most > 1e-6*largest {
			t.Errorf("result %d differs by %v of %v", i, most, largest)
		}
	}
}

func floats(t *testing.T, p *tape.Program, nodes []*graph.Node) (out [][]float32) {
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
