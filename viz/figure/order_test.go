package figure

import (
	"context"
	"fmt"
	"math/rand"
	"testing"
)

func TestInversions(t *testing.T) {
	r := rand.New(rand.NewSource(1))
	for range 100 {
		arcs := make([]arc, r.Intn(30))
		for i := range arcs {
			arcs[i] = arc{r.Intn(8), r.Intn(8)}
		}
		want := 0
		for i, a := range arcs {
			for _, b := range arcs[:i] {
				if a.from < b.from && a.to > b.to || a.from > b.from && a.to < b.to {
					want++
				}
			}
		}
		if got := inversions(arcs, 8); got != want {
			t.Fatalf("%d crossings, want %d: %v", got, want, arcs)
		}
	}
}

// ordered returns the scene of f with its rows in order, and the crossings
// before and after.
func ordered(t *testing.T, f *Figure) (s *scene, before, after int) {
	t.Helper()
	s = newScene(f)
	s.sortRows()
	before = s.crossings()
	if err := s.orderRows(context.Background()); err != nil {
		t.Fatal(err)
	}
	return s, before, s.crossings()
}

func TestOrderRemovesCrossings(t *testing.T) {
	// Three chains whose ends were declared in the opposite order.
	f := &Figure{}
	for row := range 4 {
		for k := range 3 {
			if row == 3 {
				k = 2 - k
			}
			f.Nodes = append(f.Nodes, Node{ID: fmt.Sprintf("n%d-%d", row, k), Main: "x"})
			if row > 0 {
				f.Edges = append(f.Edges, Edge{From: fmt.Sprintf("n%d-%d", row-1, k), To: fmt.Sprintf("n%d-%d", row, k)})
			}
		}
	}
	if _, before, after := ordered(t, f); before != 3 || after != 0 {
		t.Errorf("%d crossings became %d, want 3 and 0", before, after)
	}
	for seed := range int64(5) {
		f := layered(60, seed, false)
		for i := range f.Nodes {
			f.Nodes[i].Module = ""
		}
		if _, before, after := ordered(t, f); float64(after) > 0.6*float64(before) {
			t.Errorf("seed %d: %d crossings became %d", seed, before, after)
		}
	}
}

// Where many long edges leave one node they share a run; a few have their own.
func TestRunsAreShared(t *testing.T) {
	runs := func(f *Figure) map[int]bool {
		s, _, _ := ordered(t, f)
		used := map[int]bool{}
		for _, r := range s.runs {
			for _, i := range r {
				used[i] = true
			}
		}
		return used
	}
	f := bussed() // five long edges from the mask
	if n := len(runs(f)); n != 1 {
		t.Errorf("%d runs, want 1", n)
	}
	f.Edges = f.Edges[:len(f.Edges)-2] // three are left
	if n := len(runs(f)); n != 3 {
		t.Errorf("%d runs, want 3", n)
	}
}

// A module stands above the sibling that it feeds; siblings that feed each
// other share rows.
func TestModulesAreStacked(t *testing.T) {
	build := func(both bool) (rows []int) {
		f := chain(6)
		for i := range f.Nodes {
			f.Nodes[i].Module = []string{"a", "b"}[i/3]
		}
		// A parameter of b would stand beside the end of a.
		f.Nodes = append(f.Nodes, Node{ID: "w", Role: Param, Module: "b"})
		f.Edges = append(f.Edges, Edge{From: "w", To: "n3"})
		if both {
			f.Nodes[1].Module = "b"
		}
		rows, _ = assignRows(f, f.index())
		return rows
	}
	if rows := build(false); rows[6] != 3 || rows[2] != 2 || rows[3] != 4 {
		t.Errorf("stacked: rows %v", rows)
	}
	if rows := build(true); rows[6] != rows[2] {
		t.Errorf("mixed: rows %v", rows)
	}
}

func TestComponents(t *testing.T) {
	// 0→1→2→0 and 3→4, joined by 2→3; 5 alone.
	part := components(6, []arc{{0, 1}, {1, 2}, {2, 0}, {3, 4}, {2, 3}})
	same := func(a, b int) bool { return part[a] == part[b] }
	if !same(0, 1) || !same(1, 2) || same(2, 3) || same(3, 4) || same(4, 5) || same(0, 5) {
		t.Errorf("components %v", part)
	}
}
