package tape

import (
	"fmt"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/ops"
)

// planned is the program of a sum of products whose operands live side by side.
func planned(t *testing.T) *Program {
	t.Helper()
	g := graph.New("planned")
	x := g.Input("x", graph.F32, graph.Ax("i", 40))
	a, b := ops.Tanh(x), ops.Sin(x)
	p, err := Compile(g, Fetch(ops.MatMul(ops.Expand(a, 0, "u"), ops.Expand(b, 1, "v")), a), Passes())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCheckFindsPlantedMistakes moves each buffer of a program onto each other
// one that is alive beside it.
func TestCheckFindsPlantedMistakes(t *testing.T) {
	p := planned(t)
	if err := p.Check(); err != nil {
		t.Fatal(err)
	}
	moved := 0
	for i := range p.instrs {
		for k := range p.instrs {
			a, b := &p.buffers[p.instrs[i].out.buf], p.buffers[p.instrs[k].out.buf]
			if i == k {
				continue
			}
			was := a.offset
			a.offset = b.offset
			if err := p.Check(); err == nil {
				t.Errorf("the result of instruction %d may lie on that of %d, says Check\n%v", i, k, p)
			}
			a.offset = was
			moved++
		}
	}
	if moved != 6 {
		t.Fatalf("%d moves: want 6\n%v", moved, p)
	}
	p.arena -= arenaAlign
	wantText(t, p.Check(), "instruction 2: its result ends at 388, the arena at 384")
}

func TestCheckNamesTheMistake(t *testing.T) {
	p := planned(t)
	b := p.instrs[1].out.buf
	p.buffers[b].offset = p.buffers[p.instrs[0].out.buf].offset
	wantText(t, p.Check(), "instruction 2: buffer 1 at 0 is overwritten")

	p = planned(t)
	p.buffers[p.instrs[2].out.buf].offset = p.buffers[b].offset
	wantText(t, p.Check(), "instruction 2: its result overlaps an operand")

	g := graph.New("end")
	x := g.Input("x", graph.F32)
	p, err := Compile(g, Fetch(ops.Tanh(x), ops.Sin(x)))
	if err != nil {
		t.Fatal(err)
	}
	p.buffers[p.instrs[1].out.buf].offset = 0
	wantText(t, p.Check(), "end: buffer 1 at 0 is overwritten")
}

func wantText(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error %v: want %s", err, want)
	}
}

// TestPlansOfRandomGraphs replays every plan with bytes for elements: each
// instruction writes its own number over its result, and every operand must
// still hold its writer's number, byte by byte.
func TestPlansOfRandomGraphs(t *testing.T) {
	inPlace := 0
	for seed := range uint64(150) {
		m := randgraph.New(seed, 20, graph.F32)
		p, err := Compile(m.Graph, Fetch(m.Loss), Do(m.Step), Passes())
		if err != nil {
			t.Fatal(err)
		}
		arena := make([]int, p.arena)
		holds := func(b int, when string) {
			if p.buffers[b].leaf {
				return
			}
			for _, w := range arena[p.buffers[b].offset:][:p.buffers[b].bytes] {
				if w != b {
					t.Fatalf("seed %d: %s: buffer %d holds bytes of %d\n%v", seed, when, b, w, p)
				}
			}
		}
		for i, ins := range p.instrs {
			for _, v := range ins.in {
				holds(v.buf, fmt.Sprintf("instruction %d", i))
			}
			out := p.buffers[ins.out.buf]
			for k := range out.bytes {
				arena[out.offset+k] = ins.out.buf
			}
			if out.offset%arenaAlign != 0 {
				t.Errorf("seed %d: instruction %d writes to %d", seed, i, out.offset)
			}
			if ins.inPlace {
				inPlace++
			}
		}
		for b := range p.buffers {
			if p.buffers[b].pinned {
				holds(b, "end")
			}
		}
	}
	if inPlace < 100 {
		t.Errorf("%d results were computed in place: the plans do not reuse memory", inPlace)
	}
}
