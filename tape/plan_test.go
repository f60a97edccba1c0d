package tape

import (
	"fmt"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/ops"
)

// outer is the program of an outer product whose operands live side by side.
func outer(t *testing.T) *Program {
	t.Helper()
	g := graph.New("planned")
	x := g.Input("x", graph.F32, graph.Ax("i", 40))
	a, b := ops.Tanh(x), ops.Sin(x)
	p, err := Compile(g, Fetch(ops.MatMul(ops.Expand(a, 0, "u"), ops.Expand(b, 1, "v")), a), Passes(), Unfused())
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// TestCheckFindsPlantedMistakes moves each buffer of a program onto each other
// one that is alive beside it.
func TestCheckFindsPlantedMistakes(t *testing.T) {
	p := outer(t)
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
	wantText(t, p.Check(), "stage 2, step 0: the result ends at 388, the memory at 384")
}

func TestCheckNamesTheMistake(t *testing.T) {
	p := outer(t)
	b := p.instrs[1].out.buf
	p.buffers[b].offset = p.buffers[p.instrs[0].out.buf].offset
	wantText(t, p.Check(), "stage 2, step 0: buffer 1 at 0 is overwritten")

	p = outer(t)
	p.buffers[p.instrs[2].out.buf].offset = p.buffers[b].offset
	wantText(t, p.Check(), "stage 2, step 0: the result overlaps operand 2 of step 0")

	g := graph.New("end")
	x := g.Input("x", graph.F32)
	p, err := Compile(g, Fetch(ops.Tanh(x), ops.Sin(x)), Unfused())
	if err != nil {
		t.Fatal(err)
	}
	p.buffers[p.instrs[1].out.buf].offset = 0
	wantText(t, p.Check(), "end: buffer 1 at 0 is overwritten")
}

// TestCheckFindsOrphans: a buffer of the arena that no stage makes would be cut from it, at
// whatever place and size it has, by each VM. Check finds it in a program and in the body of a
// loop.
func TestCheckFindsOrphans(t *testing.T) {
	p := outer(t)
	p.buffers = append(p.buffers, buffer{bytes: 1 << 20})
	wantText(t, p.Check(), "end: no stage makes buffer 4, of 1048576 B")

	g := graph.New("loop")
	x, c := g.Input("x", graph.F32, graph.Ax("i", 4)), g.Input("c", graph.F32)
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{c}, Over: []*graph.Node{x}, Axis: "i"}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		return []*graph.Node{ops.Add(c[0], x[0])}, nil
	})
	p, err := Compile(g, Fetch(r.Final[0]))
	if err != nil {
		t.Fatal(err)
	}
	for i := range p.stages {
		if l := p.loopOf(&p.stages[i]); l != nil {
			l.body.buffers = append(l.body.buffers, buffer{bytes: 64})
		}
	}
	wantText(t, p.Check(), "stage 0, step 0: end: no stage makes buffer 3, of 64 B")
}

func wantText(t *testing.T, err error, want string) {
	t.Helper()
	if err == nil || err.Error() != want {
		t.Errorf("error %v: want %s", err, want)
	}
}

// small cuts even small graphs into many blocks and parts.
func small(r *request) {
	r.sizes = sizes{live: 96, product: 30, rows: 4, turn: 1, turned: 96, part: 1, parts: 3, alone: 4, wake: 1, split: 1, grain: 1}
}

// Small is for the tests of package tape_test.
func Small() Option { return small }

// TestPlansOfRandomGraphs replays every plan with bytes for elements, the blocks of each stage in
// an order drawn at random: each step writes its own number over the rows of its result, and every
// operand must still hold its writer's number, byte by byte.
func TestPlansOfRandomGraphs(t *testing.T) {
	var seen counts
	for seed := range uint64(300) {
		m := randgraph.New(seed, 3+int(seed%20), graph.F32)
		wanted := []*graph.Node{m.Loss}
		for i, d := range grad.Of(m.Loss, m.Params...) {
			m.Step = append(m.Step, m.Graph.Assign(m.Params[i], d))
			if seed%2 == 0 {
				wanted = append(wanted, d)
			}
		}
		p, err := Compile(m.Graph, Fetch(wanted...), Do(m.Step), small)
		if err != nil {
			t.Fatal(err)
		}
		vm := &labelling{Program: p, rng: rand.New(rand.NewPCG(seed, 0)), arena: make([]int, p.arena), counts: &seen}
		if err := vm.run(); err != nil {
			t.Fatalf("seed %d: %v\n%v", seed, err, p)
		}
	}
	if seen.inPlace < 200 || seen.blocked < 300 || seen.tiles < 50 || seen.sums < 100 || seen.direct < 100 {
		t.Errorf("%+v: the graphs test too little", seen)
	}
}

// counts say what the plans had: results in place, groups, tilings, sums and direct commits.
type counts struct{ inPlace, blocked, tiles, sums, direct int }

// labelling runs a program on memory whose bytes hold the numbers of the buffers that they were
// written as.
type labelling struct {
	*Program
	rng            *rand.Rand
	arena, scratch []int
	s              *stage
	first          int // row of the block
	*counts
}

// run does one run, and gives an error where an operand is not what was written as it.
func (l *labelling) run() error {
	for i := range l.stages {
		l.s = &l.stages[i]
		if err := l.stage(); err != nil {
			return fmt.Errorf("stage %d: %w", i, err)
		}
	}
	for b := range l.buffers {
		if l.buffers[b].pinned && !l.holds(l.whole(b), b) {
			return fmt.Errorf("end: buffer %d was overwritten", b)
		}
	}
	for _, c := range l.commits {
		if c.direct {
			l.direct++
		}
	}
	return nil
}

// stage runs the blocks of the stage, in any order.
func (l *labelling) stage() error {
	l.sums += len(l.s.sums)
	for _, x := range l.s.sums {
		l.label(l.whole(x.partial), x.partial)
	}
	blocks, tilings := 1, []tiling{{to: 1, rows: 1}}
	if l.s.rows > 0 {
		l.blocked++
		blocks, tilings = l.s.blocks(), l.s.tilings
	}
	for _, b := range l.rng.Perm(blocks) {
		l.scratch = make([]int, l.s.scratch)
		rows := 1
		if l.first = 0; l.s.rows > 0 {
			l.first, rows = l.s.span(b)
		}
		for _, t := range tilings {
			if err := l.tiling(t, rows); err != nil {
				return fmt.Errorf("block %d, %w", b, err)
			}
		}
	}
	for _, x := range l.s.sums {
		l.label(l.whole(x.out), x.out)
	}
	return nil
}

// tiling runs a range of steps, tile by tile of a block of so many rows.
func (l *labelling) tiling(t tiling, rows int) error {
	if t.rows < rows {
		l.tiles++
	}
	for row := l.first; row < l.first+rows; row += t.rows {
		n := min(t.rows, l.first+rows-row)
		for k := t.from; k < t.to; k++ {
			st := &l.s.steps[k]
			for _, r := range st.in {
				if l.made(r.buf) && !l.holds(l.place(r, row, n, 0), r.buf) {
					return fmt.Errorf("row %d, step %d: operand %d was overwritten", row, k, r.buf)
				}
			}
			if b := st.out.buf; l.made(b) {
				l.label(l.place(st.out, row, n, l.rng.IntN(max(1, l.s.parts))), b)
				if l.buffers[b].offset%arenaAlign != 0 {
					return fmt.Errorf("step %d writes to %d", k, l.buffers[b].offset)
				}
			}
			if l.instrs[st.ins].inPlace {
				l.inPlace++
			}
		}
	}
	return nil
}

// made reports whether an instruction makes a buffer in memory of the VM.
func (l *labelling) made(b int) bool {
	return l.buffers[b].home == inArena || l.buffers[b].home == inScratch
}

// place returns where n rows of a buffer from the given one on lie.
func (l *labelling) place(r ref, row, n, part int) []int {
	b := l.buffers[r.buf]
	switch {
	case b.home == inScratch:
		return l.scratch[b.offset+(row-l.first)*r.stride:][:b.bytes/b.rows*n]
	case r.part > 0:
		return l.arena[b.offset+part*r.part:][:r.part]
	case l.s.rows > 0 && r.rows == nil && r.stride > 0:
		return l.arena[b.offset+row*r.stride:][:min(n*r.stride, b.bytes-row*r.stride)]
	}
	return l.whole(r.buf)
}

func (l *labelling) whole(b int) []int { return l.arena[l.buffers[b].offset:][:l.buffers[b].bytes] }

func (l *labelling) label(mem []int, b int) {
	for i := range mem {
		mem[i] = b
	}
}

func (l *labelling) holds(mem []int, b int) bool {
	return !slices.ContainsFunc(mem, func(is int) bool { return is != b })
}

// TestGapsStayBelow: what is taken lies below the length that is too long, and apart from all that
// is taken; once that cannot be, the length says so for good, however often is taken and given.
func TestGapsStayBelow(t *testing.T) {
	rng := rand.New(rand.NewPCG(1, 2))
	for _, limit := range []int{arenaAlign, 40 * arenaAlign, tooLong} {
		size := func() int { return roundUp(1 + rng.IntN(limit/3)) }
		f := gaps{tooLong: limit}
		var taken []gap
		filled := false
		for range 1000 {
			if n := len(taken); n > 0 && rng.IntN(3) == 0 {
				i := rng.IntN(n)
				f.give(taken[i].offset, taken[i].size)
				taken = slices.Delete(taken, i, i+1)
				continue
			}
			g := gap{size: min(size(), limit)}
			g.offset = f.take(g.size)
			if f.full {
				filled = true
				if f.length() != limit {
					t.Fatalf("%d of %d when it is full", f.length(), limit)
				}
				continue
			}
			if filled {
				t.Fatal("it was full before")
			}
			for _, h := range append(taken, gap{limit, 0}) {
				if g.offset < 0 || h.offset < g.offset+g.size && g.offset < h.offset+h.size || g.offset+g.size > limit || g.offset+g.size < 0 {
					t.Fatalf("%+v is taken beside %+v of %d", g, h, limit)
				}
			}
			taken = append(taken, g)
		}
		if !filled {
			t.Errorf("%d bytes are never full", limit)
		}
	}
}

// TestTooLargeForOffsets: a program whose arrays together are longer than an offset can say is an
// error that names them, with a loop's body too; under a budget it is found smaller, or is the same
// error.
func TestTooLargeForOffsets(t *testing.T) {
	shorter := func(bytes int) Option { return func(r *request) { r.tooLong = bytes } }
	g := graph.New("long")
	x := g.Input("x", graph.F32, graph.Ax("i", 1024))
	y := x
	for range 8 {
		y = ops.Sin(y)
	}
	d := grad.Of(ops.Sum(y), x)[0]
	p, err := Compile(g, Fetch(d), Unfused(), Passes())
	if err != nil {
		t.Fatal(err)
	}
	for _, c := range []struct {
		name    string
		options []Option
		want    string // of the error; "" for none
	}{
		{"as long as it is", []Option{shorter(p.Arena() + arenaAlign)}, ""},
		{"too long by one", []Option{shorter(p.Arena())}, `tape: program "long" has arrays of more than `},
		{"too long by far", []Option{shorter(arenaAlign)}, `tape: program "long" has arrays of more than 64 B at a time`},
		{"too long, and recomputed", []Option{shorter(p.Arena()), Budget(p.Arena() - 1)}, ""},
		{"too long in any way", []Option{shorter(1 << 10), Budget(p.Arena())}, `tape: program "long" has arrays of more than 1.0 KiB at a time`},
	} {
		q, err := Compile(g, append(c.options, Fetch(d), Unfused(), Passes())...)
		switch {
		case c.want == "" && err != nil:
			t.Errorf("%s: %v", c.name, err)
		case c.want == "" && q.Arena() > p.Arena():
			t.Errorf("%s: %d B", c.name, q.Arena())
		case c.want != "" && (err == nil || !strings.HasPrefix(err.Error(), c.want) || !strings.Contains(err.Error(), "plan_test.go:")):
			t.Errorf("%s: %v, want %s…", c.name, err, c.want)
		}
	}

	g = graph.New("long loop")
	c, rows := g.Input("c", graph.F32, graph.Ax("d", 64)), g.Input("x", graph.F32, graph.Ax("n", 10), graph.Ax("d", 64))
	r := ops.Scan(ops.Loop{Carry: []*graph.Node{c}, Over: []*graph.Node{rows}, Axis: "n"}, func(c, x, _ []*graph.Node) (next, out []*graph.Node) {
		h := ops.Tanh(ops.MatMul(ops.Expand(ops.Softmax(c[0], 0), 0, ""), ops.Expand(ops.Softmax(x[0], 0), -1, "")))
		return []*graph.Node{ops.Add(c[0], ops.Sum(h))}, nil
	})
	for _, bytes := range []int{arenaAlign, 5 * arenaAlign, 10 * arenaAlign} {
		if _, err := Compile(g, Fetch(r.Final[0]), Unfused(), shorter(bytes)); err == nil || !strings.HasPrefix(err.Error(), `tape: program "long loop" has arrays of more than `) {
			t.Errorf("a loop beyond %d B: %v", bytes, err)
		}
	}
}
