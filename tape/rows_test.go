package tape_test

import (
	"context"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestRunRows: a run on some rows of what is fed gives what a run on these rows alone does, in place,
// with scalars fed as they are, and allocates nothing.
func TestRunRows(t *testing.T) {
	g, x, γ, _, y := doubled()
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(y)), tape.NewStore(g))
	feed := tape.Feed{x: f32([]int{4, 3}, 1, 2, 3, 4, 5, 6, 7, 8, 9, 10, 11, 12), γ: tape.Scalar(graph.F32, 3)}
	for from, want := range [][]float64{{6, 12, 18, 24, 30, 36}, {24, 30, 36, 42, 48, 54}, {42, 48, 54, 60, 66, 72}} {
		if err := vm.RunRows(context.Background(), feed, from); err != nil {
			t.Fatal(err)
		}
		if got := value(t, vm, y); !slices.Equal(got, want) {
			t.Errorf("from row %d: %v, want %v", from, got, want)
		}
	}
	if n := testing.AllocsPerRun(10, func() { _ = vm.RunRows(context.Background(), feed, 1) }); n > 0 {
		t.Errorf("%v allocations", n)
	}
	for from, want := range map[int]string{
		3:  "input x: want 2 rows from row 3 on, got shape (4, 3)",
		-1: "run: rows from -1 on: want 0 or more",
	} {
		if err := vm.RunRows(context.Background(), feed, from); err == nil || err.Error() != want {
			t.Errorf("from row %d: error %v: want %s", from, err, want)
		}
	}
	wrong := tape.Feed{x: f32([]int{4, 2}, 1, 2, 3, 4, 5, 6, 7, 8)}
	if err := vm.RunRows(context.Background(), wrong, 0); err == nil {
		t.Error("rows of 2 numbers are taken for rows of 3")
	}
}

// TestDelete: an entry that is removed is gone, and is made anew where a program needs it.
func TestDelete(t *testing.T) {
	g := graph.New("g")
	w := g.Param("w", graph.F32, graph.Ax("d", 3))
	s := tape.NewStore(g)
	if err := s.Set("w", f32([]int{3}, 1, 2, 3)); err != nil {
		t.Fatal(err)
	}
	if !s.Delete("w") || s.Delete("w") || len(s.Paths()) != 0 {
		t.Errorf("after Delete the store has %v", s.Paths())
	}
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(w)), s)
	run(t, vm, nil)
	if got := value(t, vm, w); slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("w is %v still", got)
	}
}
