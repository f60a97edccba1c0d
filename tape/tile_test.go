package tape

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestRowsByWhatIsAlive: a block has as many rows as fit into sizes.live with all that is alive at
// once, however long the list of steps is and however long a single row.
func TestRowsByWhatIsAlive(t *testing.T) {
	p := graph.Ax("p", 1<<16)
	rows := func(build func(g *graph.Graph) *graph.Node) int {
		t.Helper()
		g := graph.New("alive")
		prog, err := Compile(g, Fetch(build(g)), Passes())
		if err != nil {
			t.Fatal(err)
		}
		if len(prog.stages) != 1 {
			t.Fatalf("%d stages: want 1\n%v", len(prog.stages), prog)
		}
		return prog.stages[0].block
	}
	chain := func(n int) func(g *graph.Graph) *graph.Node {
		return func(g *graph.Graph) *graph.Node {
			x := g.Input("x", graph.F64, p)
			y := x
			for range n {
				y = ops.Sin(y)
			}
			return y
		}
	}
	// Operand and result of a step: 16 bytes a row, whatever the number of steps.
	for _, n := range []int{2, 50} {
		if got := rows(chain(n)); got != standard.live/16 {
			t.Errorf("%d steps: %d rows: want %d", n, got, standard.live/16)
		}
	}
	// An array that several steps read counts once: x, the sum so far, and a sine.
	got := rows(func(g *graph.Graph) *graph.Node {
		x := g.Input("x", graph.F64, p)
		y := ops.Sin(x)
		for range 10 {
			y = ops.Add(y, ops.Sin(ops.Mul(x, y)))
		}
		return y
	})
	if want := standard.live / 24; got > want || got < want*9/10 {
		t.Errorf("an array read often: %d rows: want about %d", got, want)
	}
	// A row of a Gather counts the index and what it picks, not the table's row.
	got = rows(func(g *graph.Graph) *graph.Node {
		q := graph.Ax("q", 64)
		table := g.Input("table", graph.F64, q, graph.Ax("r", 100_000))
		index := g.Input("index", graph.I64, graph.Ax("k", 8))
		return ops.Sin(ops.Gather(table, index, "r"))
	})
	if want := min(64, standard.live/(8*16+8)); got < want {
		t.Errorf("gather: %d rows: want %d at least", got, want)
	}
	// A product that adds up over the rows wants as many rows as others do.
	got = rows(func(g *graph.Graph) *graph.Node {
		x, y := g.Input("x", graph.F64, p, graph.Ax("i", 24)), g.Input("y", graph.F64, p, graph.Ax("j", 24))
		wide := ops.Concat(1, y, ops.Sin(y), ops.Cos(y), ops.Sin(ops.Cos(y)), y, y, y, y, y, y, y, y)
		return ops.MatMul(ops.Transpose(x, 1, 0), ops.Mul(wide, wide))
	})
	if want := standard.rows / 2; got < want {
		t.Errorf("a product over the rows: %d rows: want %d at least", got, want)
	}
}

// TestLargestProductDecides: a block has as many rows as the product with the most operations wants,
// also beside small ones that have many matrix rows in each.
func TestLargestProductDecides(t *testing.T) {
	g := graph.New("sizes")
	x := g.Input("x", graph.F64, graph.Dims(64, 24, 8)...)
	small := ops.MatMul(ops.Sin(x), g.Input("a", graph.F64, graph.Dims(8, 8)...))
	large := ops.MatMul(ops.Reshape(small, 64, 192), g.Input("b", graph.F64, graph.Dims(192, 128)...))
	p, err := Compile(g, Fetch(ops.Sin(large)))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.stages) != 1 || p.stages[0].block < standard.rows {
		t.Errorf("want blocks of at least %d rows\n%v", standard.rows, p)
	}
}

// TestGatherCutsNoGroup: an instruction that reads leaves alone starts a group, which becomes a part
// of the group that its reader's other operands are in.
func TestGatherCutsNoGroup(t *testing.T) {
	g := graph.New("two tables")
	of := func(name string) *graph.Node {
		table := g.Input(name, graph.F64, graph.Ax("n", 50), graph.Ax("v", 3))
		return ops.Gather(table, g.Input("in "+name, graph.I64, graph.Ax("p", 4096)), "n")
	}
	first := ops.Sin(of("camera"))
	out := ops.Mul(first, of("point"))
	p, err := Compile(g, Fetch(out, ops.Sum(out, "p")))
	if err != nil {
		t.Fatal(err)
	}
	if len(p.stages) != 1 {
		t.Errorf("%d stages: want 1\n%v", len(p.stages), p)
	}
}

// TestMergedGroupsAreInOrder: groups are not made one where an instruction needs a third, between
// them, first.
func TestMergedGroupsAreInOrder(t *testing.T) {
	g := graph.New("three groups")
	of := func(name string) *graph.Node {
		table := g.Input(name, graph.F64, graph.Ax("n", 50), graph.Ax("v", 3))
		return ops.Gather(table, g.Input("in "+name, graph.I64, graph.Ax("p", 4096)), "n")
	}
	camera := of("camera")
	mask := ops.Less(camera, ops.Sin(camera))
	scale := ops.Tanh(g.Input("scale", graph.F64, graph.Ax("v", 3)))
	p, err := Compile(g, Fetch(ops.Select(mask, of("point"), scale)))
	if err != nil {
		t.Fatal(err)
	}
	if err := p.Check(); err != nil {
		t.Errorf("%v\n%v", err, p)
	}
}
