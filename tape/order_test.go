package tape

import (
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/randgraph"
	"github.com/tapestry-ml/tapestry/ops"
)

// branches is a graph that makes n large arrays, and reduces each to a scalar only then.
func branches(t *testing.T, n int, options ...Option) *Program {
	t.Helper()
	g := graph.New("branches")
	x := g.Input("x", graph.F32, graph.Ax("i", 1024))
	large := make([]*graph.Node, n)
	for i := range large {
		large[i] = ops.Softmax(ops.Scale(x, float64(i+1)), "i")
	}
	sum := ops.Lit(ops.Sum(x), 0)
	for _, l := range large {
		sum = ops.Add(sum, ops.Max(l))
	}
	p, err := Compile(g, append(options, Fetch(sum), Passes())...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

// inOrder returns the bytes that a program needs that runs its instructions as they were written,
// none of them fused.
func inOrder(p *Program) int {
	q := staged{sequence: p.sequence, how: &settings{tooLong: tooLong}}
	q.stages = slices.Clone(p.stages)
	slices.SortFunc(q.stages[:q.late], asWritten(p))
	given := order(&q).orders[0]
	return newPlanning(&ordered{&q, nil}, given).arena()
}

// asWritten compares stages of one instruction each by where they were written. Panels of an
// operand come before the first product that reads them.
func asWritten(p *Program) func(a, b stage) int {
	panels := map[int]int{} // by buffer: the first reader
	for i := range p.stages {
		st := p.stages[i].steps[0]
		for _, r := range st.in {
			if first, ok := panels[r.buf]; !ok || st.ins < first {
				panels[r.buf] = st.ins
			}
		}
	}
	place := func(s stage) int {
		st := s.steps[0]
		if p.instrs[st.ins].does == packs {
			return 2*panels[st.out.buf] - 1
		}
		return 2 * st.ins
	}
	return func(a, b stage) int { return place(a) - place(b) }
}

func TestOrderLowersThePeak(t *testing.T) {
	p := branches(t, 32, Unfused())
	if was := inOrder(p); was < 32*4096 {
		t.Errorf("as written the arena has %d bytes: the test shows nothing", was)
	}
	if p.Arena() > 3*4096 {
		t.Errorf("the arena has %d bytes: want no more than a branch or two\n%v", p.Arena(), p)
	}
}

// TestOrderOfRandomGraphs: no program needs more than as it was written, and one that does not gain
// stays so.
func TestOrderOfRandomGraphs(t *testing.T) {
	better, same := 0, 0
	for seed := range uint64(200) {
		m := randgraph.New(seed, 40, graph.F32)
		p, err := Compile(m.Graph, Fetch(m.Loss), Fetch(m.Outputs...), Do(m.Step), Unfused())
		if err != nil {
			t.Fatal(err)
		}
		written := slices.IsSortedFunc(p.stages[:p.late], asWritten(p))
		switch was := inOrder(p); {
		case p.arena > was:
			t.Errorf("seed %d: the arena has %d bytes: as written, %d", seed, p.arena, was)
		case p.arena < was:
			better++
		case written:
			same++
		default: // the late stages may have gained
		}
	}
	if better < 5 || same < 20 {
		t.Errorf("%d programs are better and %d as they were: the graphs test too little", better, same)
	}
}

// TestOrderKeepsWrites: a stage that writes a leaf stays between those that read its old value and
// its new one, even though it frees memory and they take some.
func TestOrderKeepsWrites(t *testing.T) {
	const leaf, freed, before, after = 0, 1, 2, 3 // buffers
	touch := func(out int, in ...int) stage {
		st := step{out: ref{buf: out}}
		for _, b := range in {
			st.in = append(st.in, ref{buf: b})
		}
		return stage{steps: []step{st}}
	}
	q := &sequence{
		instrs: make([]instr, 1), // of all stages
		tables: tables{buffers: []buffer{{home: outside, bytes: 64}, {bytes: 4096}, {bytes: 64, pinned: true}, {bytes: 64, pinned: true}}},
		stages: []stage{touch(freed), touch(after, leaf), touch(leaf, freed), touch(before, leaf)},
	}
	order := func() (out []int) {
		for _, i := range q.scheduled(1, 4) {
			out = append(out, q.stages[i].steps[0].out.buf)
		}
		return out
	}
	if got := order(); !slices.Equal(got, []int{after, leaf, before}) {
		t.Errorf("order %v: want %v", got, []int{after, leaf, before})
	}
	q.stages[2].steps[0].out.buf, q.buffers[before].home = before, inArena
	q.stages[3].steps[0].out.buf = leaf // now no stage but the last writes it, and the one that frees memory comes first
	if got := order(); !slices.Equal(got, []int{before, after, leaf}) {
		t.Errorf("order %v: want %v", got, []int{before, after, leaf})
	}
}
