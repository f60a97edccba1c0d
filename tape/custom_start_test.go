package tape_test

import (
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestCustomStart: values that a function of the user's draws depend on the seed and the path alone,
// and what is wrong with them is said at the parameter's line.
func TestCustomStart(t *testing.T) {
	lecun := initial.Custom("lecun", func(sizes []int, r *rand.Rand) []float64 {
		v := make([]float64, sizes[0]*sizes[1])
		for i := range v {
			v[i] = r.NormFloat64() / math.Sqrt(float64(sizes[0]))
		}
		return v
	})
	drawn := func(seed uint64, before bool, path string) []float64 {
		g := graph.New("start")
		if before {
			g.Param("other", graph.F64, graph.Dims(5, 5)...).Init(lecun)
		}
		w := g.Param(path, graph.F64, graph.Ax("in", 3), graph.Ax("out", 2)).Init(lecun)
		s := tape.NewStore(g, tape.Seed(seed))
		d, err := s.Get(w.Path())
		if err != nil {
			t.Fatal(err)
		}
		return d.Float64s()
	}
	first := drawn(1, false, "w")
	if !slices.Equal(first, drawn(1, true, "w")) {
		t.Error("the values depend on another parameter")
	}
	for what, other := range map[string][]float64{"seed": drawn(2, false, "w"), "path": drawn(1, false, "v")} {
		if slices.Equal(first, other) {
			t.Error("the values do not depend on the " + what)
		}
	}

	g := graph.New("text")
	w := g.Param("w", graph.F32, graph.Dims(3, 2)...).Init(lecun)
	text := g.String()
	if !strings.Contains(text, "init=custom(lecun)") || w.Initialiser() != lecun {
		t.Errorf("%v of %s", w.Initialiser(), text)
	}
	read, err := graph.Parse(strings.NewReader(text))
	if err != nil {
		t.Fatal(err)
	}
	if read.String() != text {
		t.Errorf("reads back as\n%s", read)
	}
	of := func(values ...float64) initial.Init {
		return initial.Custom("own", func([]int, *rand.Rand) []float64 { return values })
	}
	typed := func(dt graph.DType, init initial.Init) *graph.Graph {
		g := graph.New("g")
		g.State("s", dt, graph.Dims(2)...).Init(init)
		return g
	}
	for _, c := range []struct {
		g    *graph.Graph
		want string
	}{
		{read, "param w: initialiser custom(lecun): the text of a graph has its name alone: set the value in the store before, by Store.Add or from a checkpoint"},
		{typed(graph.F32, of(1)), "state s: initialiser custom(own): its function returned 1 value for sizes [2]: want 2"},
		{typed(graph.F32, of(1, math.NaN())), "state s: initialiser custom(own): value 1 of its function is NaN: want finite numbers"},
		{typed(graph.F32, of(1e39, 1)), "state s: initialiser custom(own): 1e+39 is no value of type f32"},
		{typed(graph.I32, of(1, 0.5)), "state s: initialiser custom(own): 0.5 is no value of type i32"},
	} {
		leaf := c.g.Leaves(graph.RoleParam, graph.RoleState)[0]
		want := leaf.First().Pos.String() + ": " + c.want
		s := tape.NewStore(c.g)
		if err := s.Complete(c.g); err == nil || err.Error() != want {
			t.Errorf("Complete: %v, want %s", err, want)
		}
		y := leaf
		if leaf.DType() == graph.F32 {
			y = ops.Sum(leaf)
		}
		p, err := tape.Compile(c.g, tape.Fetch(y))
		if err != nil {
			t.Fatal(err)
		}
		if _, err := p.NewVM(s); err == nil || err.Error() != want {
			t.Errorf("NewVM: %v, want %s", err, want)
		}
	}
	// Whole numbers are held, and a value that is there is not drawn.
	if err := tape.NewStore(nil).Complete(typed(graph.I32, of(1, -3))); err != nil {
		t.Error(err)
	}
	s := tape.NewStore(g)
	if err := s.Complete(read); err != nil {
		t.Error(err)
	}
	for _, bad := range []initial.Init{initial.Custom("", nil), initial.Custom("own", nil)} {
		if typed(graph.F32, bad).Err() == nil {
			t.Errorf("%v is taken", bad)
		}
	}
}
