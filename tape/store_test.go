package tape_test

import (
	"context"
	"math"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// net is a graph with two parameters, made in either order.
func net(batch int, reversed bool) (g *graph.Graph, x, y *graph.Node, step graph.Step) {
	g = graph.New("net")
	x = g.Input("x", graph.F32, graph.Ax("i", batch), graph.Ax("d", 3))
	var w, b *graph.Node
	params := []func(){
		func() { defer g.Scope("fc")(); w = g.Param("w", graph.F32, graph.Ax("d", 3), graph.Ax("h", 2)) },
		func() {
			defer g.Scope("fc")()
			b = g.Param("b", graph.F32, graph.Ax("h", 2)).Init(initial.Uniform(1, 2))
		},
	}
	if reversed {
		slices.Reverse(params)
	}
	for _, f := range params {
		f()
	}
	y = ops.Add(ops.MatMul(x, w), b)
	return g, x, y, graph.Step{g.Assign(b, ops.Mean(y, "i"))}
}

func TestFreshValues(t *testing.T) {
	g, _, _, _ := net(4, false)
	r, _, _, _ := net(7, true)
	a, b := tape.NewStore(g, tape.Seed(3)), tape.NewStore(r, tape.Seed(3))
	other := tape.NewStore(g, tape.Seed(4))
	if got, want := a.Paths(), []string{"fc/b", "fc/w"}; !slices.Equal(got, want) {
		t.Errorf("paths %q: want %q", got, want)
	}
	for _, p := range a.Paths() {
		if v, w := stored(t, a, p), stored(t, b, p); !slices.Equal(v, w) {
			t.Errorf("%s is %v, or %v where made in another order", p, v, w)
		}
		if v, w := stored(t, a, p), stored(t, other, p); slices.Equal(v, w) {
			t.Errorf("%s is %v with two seeds", p, v)
		}
	}
	for _, v := range stored(t, a, "fc/b") {
		if v < 1 || v >= 2 {
			t.Errorf("uniform(1,2) drew %v", v)
		}
	}
	twins := graph.New("twins")
	for _, name := range []string{"v", "w"} {
		twins.Param(name, graph.F32, graph.Ax("d", 3)).Init(initial.Normal(0, 1))
	}
	s := tape.NewStore(twins)
	if v, w := stored(t, s, "v"), stored(t, s, "w"); v[0] == w[0] || v[0] == v[1] {
		t.Errorf("draws repeat: %v and %v", v, w)
	}
	if again := tape.NewStore(g); !slices.Equal(stored(t, again, "fc/w"), stored(t, tape.NewStore(g, tape.Seed(0)), "fc/w")) {
		t.Error("without a seed the seed is not 0")
	}
}

// TestInitialisers checks mean and deviation of many draws.
func TestInitialisers(t *testing.T) {
	for _, c := range []struct {
		init      initial.Init
		mean, std float64
	}{
		{initial.Zeros(), 0, 0},
		{initial.Fill(0.5), 0.5, 0},
		{initial.Uniform(-1, 3), 1, 1.1547},
		{initial.Normal(2, 0.5), 2, 0.5},
		{initial.Glorot(), 0, 0.1}, // √(2/(100+100))
		{initial.He(), 0, 0.14142}, // √(2/100)
	} {
		g := graph.New("init")
		g.Param("w", graph.F64, graph.Ax("d", 100), graph.Ax("h", 100)).Init(c.init)
		v := stored(t, tape.NewStore(g, tape.Seed(1)), "w")
		sum, squares := 0.0, 0.0
		for _, x := range v {
			sum += x
			squares += (x - c.mean) * (x - c.mean)
		}
		n := float64(len(v))
		// Four standard errors: the seed is fixed, so this holds or never does.
		if d := sum/n - c.mean; d*d > 16*c.std*c.std/n {
			t.Errorf("%v: mean off by %v", c.init, d)
		}
		if d := squares/n - c.std*c.std; d > 0.05*c.std*c.std || d < -0.05*c.std*c.std {
			t.Errorf("%v: variance %v: want %v", c.init, squares/n, c.std*c.std)
		}
	}
}

func TestStoreGetSetClone(t *testing.T) {
	g, x, _, step := net(1, false)
	s := tape.NewStore(g)
	if err := s.Set("fc/b", f32([]int{2}, 5, 6)); err != nil {
		t.Fatal(err)
	}
	c := s.Clone()
	got, err := s.Get("fc/b")
	if err != nil {
		t.Fatal(err)
	}
	got.Zero() // Get gives a copy
	run(t, tapetest.VM(t, compile(t, g, tape.Do(step)), s), tape.Feed{x: f32([]int{1, 3}, 0, 0, 0)})
	if err := c.Set("fc/b", f32([]int{2}, 8, 9)); err != nil {
		t.Fatal(err)
	}
	if v, want := stored(t, s, "fc/b"), []float64{5, 6}; !slices.Equal(v, want) {
		t.Errorf("the store holds %v: want %v", v, want)
	}
	if v, want := stored(t, c, "fc/b"), []float64{8, 9}; !slices.Equal(v, want) {
		t.Errorf("the clone holds %v: want %v", v, want)
	}
	if s.Step() != 1 || c.Step() != 0 {
		t.Errorf("steps %d and %d: want 1 and 0", s.Step(), c.Step())
	}
	if v := stored(t, s.Clone(), "fc/b"); s.Clone().Step() != 1 || v[0] != 5 {
		t.Errorf("a clone has %v after %d steps: want 5 after 1", v, s.Clone().Step())
	}
}

func TestStoreMistakes(t *testing.T) {
	g, _, _, _ := net(1, false)
	s := tape.NewStore(g)
	_, err := s.Get("fc/v")
	wantError(t, err, `store: nothing under "fc/v": it has "fc/b", then ["fc/w"] (Store.Add makes an entry of a new path)`)
	wantError(t, s.Set("w", f32([]int{2}, 1, 2)), `store: nothing under "w": it has "fc/w", then ["fc/b"] (Store.Add makes an entry of a new path)`)
	wantError(t, s.Set("fc/b", nil), "store: fc/b: want a tensor of type f32[h=2], got nil")
	wantError(t, s.Set("fc/b", f32([]int{3}, 1, 2, 3)), "store: fc/b: want shape [h=2], got (3): the number of values is 3, want 2")
	wantError(t, s.Set("fc/b", tensor.New(tensor.WithShape(2), tensor.Of(tensor.Int))), "store: fc/b: want elements of type f32, got int (tape.Of converts numbers)")
}

// TestProgramsShareAStore: programs for batches of several sizes train the same
// parameters.
func TestProgramsShareAStore(t *testing.T) {
	store := (*tape.Store)(nil)
	for _, batch := range []int{4, 1, 3} {
		g, x, y, step := net(batch, false)
		if store == nil {
			store = tape.NewStore(g)
		}
		before := stored(t, store, "fc/b")
		vm := tapetest.VM(t, compile(t, g, tape.Fetch(y), tape.Do(step)), store)
		run(t, vm, tape.Feed{x: tensor.New(tensor.WithShape(batch, 3), tensor.Of(tensor.Float32))})
		if got := value(t, vm, y)[:2]; !slices.Equal(got, before) {
			t.Errorf("batch %d: 0·w + b is %v: want %v", batch, got, before)
		}
	}
	if store.Step() != 3 {
		t.Errorf("%d steps: want 3", store.Step())
	}
}

func TestStoreOfAnotherType(t *testing.T) {
	g := graph.New("a")
	g.Param("w", graph.F32, graph.Ax("d", 3))
	g.Param("v", graph.F32, graph.Ax("d", 3))
	h := graph.New("b")
	w := h.Param("w", graph.F32, graph.Ax("d", 4))
	v := h.Param("v", graph.F64, graph.Ax("d", 3))
	store := tape.NewStore(g)
	h.Param("u", graph.F64)
	_, err := compile(t, h, tape.Fetch(w, v, h.Lookup("u"))).NewVM(store)
	want := "store: w has type f32[d=3], the program wants f32[d=4]\nstore: v has type f32[d=3], the program wants f64[d=3]"
	wantError(t, err, want)
	if got := store.Paths(); !slices.Equal(got, []string{"v", "w"}) {
		t.Errorf("the refused store has %v", got)
	}
	_, err = compile(t, h, tape.Fetch(w)).NewVM(nil)
	wantError(t, err, "the VM has no store")
}

// TestStoreGrows: a program may read parameters that the store was not made with.
func TestStoreGrows(t *testing.T) {
	g, _, _, _ := net(1, false)
	s := tape.NewStore(graph.New("empty"), tape.Seed(3))
	p := compile(t, g, tape.Fetch(g.Lookup("fc/w")))
	run(t, tapetest.VM(t, p, s), nil)
	if got, want := stored(t, s, "fc/w"), stored(t, tape.NewStore(g, tape.Seed(3)), "fc/w"); !slices.Equal(got, want) {
		t.Errorf("made late fc/w is %v: want %v", got, want)
	}
}

// TestEmptyStores take what a program needs.
func TestEmptyStores(t *testing.T) {
	g := graph.New("g")
	w := g.Param("w", graph.F32, graph.Ax("i", 2)).Init(initial.Fill(3))
	prog := compile(t, g, tape.Fetch(w))
	for _, s := range []*tape.Store{tape.NewStore(nil), tape.NewStore(nil, nil), {}} {
		vm := tapetest.VM(t, prog, s)
		run(t, vm, nil)
		if got := value(t, vm, w); got[0] != 3 || got[1] != 3 {
			t.Errorf("w is %v: want 3 3", got)
		}
	}
}

// TestLargestIntegers: the ends of an integer's range are kept, and what lies beyond is a mistake.
func TestLargestIntegers(t *testing.T) {
	g := graph.New("g")
	s := g.Constant(graph.I64, []float64{-0x1p63, 0x1p53, -1}, graph.Dims(3)...)
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(s)), tape.NewStore(g))
	run(t, vm, nil)
	d, err := vm.Value(s)
	if err != nil || !slices.Equal(d.Int64s(), []int64{math.MinInt64, 1 << 53, -1}) {
		t.Errorf("got %v, %v", d, err)
	}
}

// TestNilContext is a mistake, not a crash.
func TestNilContext(t *testing.T) {
	g := graph.New("g")
	vm := tapetest.VM(t, compile(t, g, tape.Fetch(g.Scalar("x", 1))), tape.NewStore(g))
	var none context.Context
	wantError(t, vm.Run(none, nil), "the context is nil")
}

// TestStoreLoad: values, seed, step and runs become those of the other store, in place; what
// does not fit changes nothing.
func TestStoreLoad(t *testing.T) {
	g, x, y, step := net(4, false)
	prog, err := tape.Compile(g, tape.Fetch(y), tape.Do(step))
	if err != nil {
		t.Fatal(err)
	}
	s, from := tape.NewStore(g, tape.Seed(1)), tape.NewStore(g, tape.Seed(2))
	from.Resume(2, 17, 5)
	if err := from.Add("more", tensor.New(tensor.WithShape(2), tensor.WithBacking([]float32{1, 2}))); err != nil {
		t.Fatal(err)
	}
	if err := s.Add("own", tensor.New(tensor.WithShape(1), tensor.WithBacking([]float32{3}))); err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, s)
	defer vm.Close()
	if err := s.Load(from); err != nil {
		t.Fatal(err)
	}
	if got := s.Paths(); !slices.Equal(got, []string{"fc/b", "fc/w", "more", "own"}) || s.Seed() != 2 || s.Step() != 17 || s.Runs() != 5 {
		t.Errorf("%q, seed %d, step %d, runs %d", got, s.Seed(), s.Step(), s.Runs())
	}
	other := tapetest.VM(t, prog, from)
	defer other.Close()
	feed := tape.Feed{x: tensor.New(tensor.WithShape(4, 3), tensor.Of(tensor.Float32))}
	for _, m := range []*tape.VM{vm, other} {
		if err := m.Run(context.Background(), feed); err != nil {
			t.Fatal(err)
		}
	}
	for _, p := range []string{"fc/b", "fc/w", "more"} {
		if a, b := stored(t, s, p), stored(t, from, p); !slices.Equal(a, b) {
			t.Errorf("%s is %v: want %v", p, a, b)
		}
	}
	bad := tape.NewStore(nil)
	for _, p := range []string{"fc/b", "more"} {
		if err := bad.Add(p, tensor.New(tensor.WithShape(2), tensor.WithBacking([]float32{8, 9}[:2]))); err != nil {
			t.Fatal(err)
		}
	}
	if err := bad.Add("own", tensor.New(tensor.WithShape(1), tensor.Of(tensor.Float64))); err != nil {
		t.Fatal(err)
	}
	before := stored(t, s, "fc/b")
	if err := s.Load(bad); err == nil || err.Error() != "store: own has type f32[1], the other store has f64[1]" {
		t.Error(err)
	}
	if got := stored(t, s, "fc/b"); !slices.Equal(got, before) || s.Step() != 18 {
		t.Errorf("a refused store changed something: %v", got)
	}
}

// TestStoreView shows what the store holds, without a copy.
func TestStoreView(t *testing.T) {
	g, _, _, _ := net(4, false)
	s := tape.NewStore(g)
	v, err := s.View("fc/b")
	if err != nil || !slices.Equal(v.Float32s(), []float32{float32(stored(t, s, "fc/b")[0]), float32(stored(t, s, "fc/b")[1])}) {
		t.Fatal(v, err)
	}
	if err := s.Set("fc/b", tensor.New(tensor.WithShape(2), tensor.WithBacking([]float32{5, 6}))); err != nil {
		t.Fatal(err)
	}
	if !slices.Equal(v.Float32s(), []float32{5, 6}) {
		t.Errorf("%v", v)
	}
	if _, err := s.View("fc/c"); err == nil || err.Error() != `store: nothing under "fc/c": it has "fc/b", then ["fc/w"] (Store.Add makes an entry of a new path)` {
		t.Error(err)
	}
}
