package tape

import (
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// TestSpans: the blocks of a stage are each of its rows once, and those that are done in all
// stretches before the next ones follow each other.
func TestSpans(t *testing.T) {
	for _, s := range []stage{
		{rows: 60, stretch: 60, block: 7}, {rows: 60, stretch: 20, block: 7}, {rows: 60, stretch: 20, block: 7, visit: 1},
		{rows: 60, stretch: 20, block: 7, visit: 2}, {rows: 60, stretch: 20, block: 3, visit: 3}, {rows: 60, stretch: 20, block: 3, visit: 9},
	} {
		done := make([]bool, s.rows)
		last := 0 // the part of a stretch that was done before
		for b := range s.blocks() {
			row, n := s.span(b)
			if n < 1 || n > s.block || row%s.stretch+n > s.stretch {
				t.Fatalf("%+v: block %d is %d rows from %d on", s, b, n, row)
			}
			for i := range n {
				if done[row+i] {
					t.Fatalf("%+v: row %d is done twice", s, row+i)
				}
				done[row+i] = true
			}
			if s.visit > 0 {
				part := row % s.stretch / (s.visit * s.block)
				if part < last {
					t.Fatalf("%+v: block %d comes back to part %d after part %d", s, b, part, last)
				}
				last = part
			}
		}
		for i, d := range done {
			if !d {
				t.Fatalf("%+v: row %d is not done", s, i)
			}
		}
	}
}

// TestVisits: points that each of several centres meets are read part by part, if they are many,
// and unless rows are added up.
func TestVisits(t *testing.T) {
	visits := func(points int, sum bool) (n int) {
		t.Helper()
		g := graph.New("centred")
		i, d, e, k := graph.Ax("i", points), graph.Ax("d", 32), graph.Ax("e", 32), graph.Ax("k", 5)
		x, r, q := g.Input("x", graph.F64, i, d), g.Input("r", graph.F64, k, d), g.Input("q", graph.F64, k, e, d)
		z := ops.Square(ops.Einsum("k e d, k i d -> k i e", q, ops.Sub(x, ops.Expand(r, 1, "i"))))
		y := ops.Sum(z, "e")
		if sum {
			y = ops.Sum(z)
		}
		p, err := Compile(g, Fetch(y))
		if err != nil {
			t.Fatal(err)
		}
		for _, s := range p.stages {
			n = max(n, s.visit*s.block)
		}
		return n
	}
	if n := visits(4096, false); n == 0 || n > revisitPart/256 {
		t.Errorf("4096 points are done %d at a time: want some, and at most %d", n, revisitPart/256)
	}
	if n := visits(1024, false); n != 0 {
		t.Errorf("1024 points are done %d at a time: want all at once", n)
	}
	if n := visits(4096, true); n != 0 {
		t.Errorf("4096 points whose results are added up are done %d at a time: want all at once", n)
	}
}
