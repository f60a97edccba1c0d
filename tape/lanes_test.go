package tape_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"io"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// centred is y = (x − mean over the rows of all lanes)·w, and its derivative by w.
type centred struct {
	g              *graph.Graph
	x, y, mean, dw *graph.Node
}

const perLane, lanes, width = 6, 4, 5

func newCentred(dtype graph.DType, rows, lanes int) centred {
	g := graph.New("centred")
	x := g.Input("x", dtype, graph.Ax("i", rows), graph.Ax("d", width))
	w := g.Param("w", dtype, graph.Ax("d", width))
	mean := ops.Scale(ops.SumRanks(ops.Sum(x, "i").As("s")), 1/float64(rows*lanes)).As("mean")
	y := ops.Mul(ops.Sub(x, ops.CopyRanks(mean)), w).As("y")
	loss := ops.Scale(ops.Sum(ops.Tanh(y)), 1/float64(rows*lanes)).As("loss")
	return centred{g, x, y, mean, ops.SumRanks(grad.Of(loss, w)[0])}
}

func compiled(t testing.TB, g *graph.Graph, options ...tape.Option) *tape.Program {
	t.Helper()
	p, err := tape.Compile(g, append(options, tape.Debug(nil))...)
	if err != nil {
		t.Fatal(err)
	}
	return p
}

func drawn(t graph.Type, seed uint64) graph.Value {
	v, r := graph.NewValue(t), rand.New(rand.NewPCG(seed, 1))
	for i := range v.Data {
		v.Data[i] = r.NormFloat64()
	}
	return v
}

// inLanes runs a program at once on VMs that are lanes of a step, and returns what each run returns.
func inLanes(ctx context.Context, vms []*tape.VM, feed func(lane int) tape.Feed) []error {
	errs, done := make([]error, len(vms)), make(chan struct{})
	for k, vm := range vms {
		go func() {
			errs[k] = vm.Run(ctx, feed(k))
			done <- struct{}{}
		}()
	}
	for range vms {
		<-done
	}
	return errs
}

func TestLanesSumAsOneBatch(t *testing.T) {
	for _, option := range [][]tape.Option{nil, {tape.Unfused()}, {tape.Fine()}, {tape.Passes()}} {
		whole := newCentred(graph.F64, perLane*lanes, 1)
		part := newCentred(graph.F64, perLane, lanes)
		x := drawn(whole.x.Type(), 1)
		ref := tapetest.VM(t, compiled(t, whole.g, append(option, tape.Fetch(whole.y, whole.dw))...), tape.NewStore(whole.g, tape.Seed(3)))
		if err := ref.Run(context.Background(), tape.Feed{whole.x: tape.Tensor(x)}); err != nil {
			t.Fatal(err)
		}
		want, err := ref.Value(whole.y)
		if err != nil {
			t.Fatal(err)
		}
		wantDW, _ := ref.Value(whole.dw)

		p, store := compiled(t, part.g, append(option, tape.Fetch(part.y, part.dw))...), tape.NewStore(part.g, tape.Seed(3))
		vms := make([]*tape.VM, lanes)
		for k, s := range tapetest.Lanes(lanes) {
			vms[k] = tapetest.VM(t, p, store.Share(), tape.Lanes(s))
		}
		n := perLane * width
		errs := inLanes(context.Background(), vms, func(k int) tape.Feed {
			return tape.Feed{part.x: tape.Tensor(graph.Value{Type: part.x.Type(), Data: x.Data[k*n : (k+1)*n]})}
		})
		if err := errors.Join(errs...); err != nil {
			t.Fatal(err)
		}
		for k, vm := range vms {
			y, _ := vm.Value(part.y)
			within(t, fmt.Sprintf("y of lane %d", k), y.Float64s(), want.Float64s()[k*n:(k+1)*n])
			dw, _ := vm.Value(part.dw)
			within(t, fmt.Sprintf("the derivative of lane %d", k), dw.Float64s(), wantDW.Float64s())
		}
	}
}

func within(t *testing.T, what string, got, want []float64) {
	t.Helper()
	for i := range want {
		if d := got[i] - want[i]; len(got) != len(want) || d > 1e-13 || d < -1e-13 {
			t.Fatalf("%s: %v, want %v", what, got, want)
		}
	}
}

// twice makes every sum twice the term, and keeps what it was called with.
type twice struct {
	sites []int
	types []string
	err   error
}

func (s *twice) Sum(_ context.Context, site int, x tape.Array) error {
	s.sites, s.types = append(s.sites, site), append(s.types, x.Type.String())
	for i := range x.Type.Shape.Len() {
		x.Set(i, 2*x.At(i))
	}
	return s.err
}

func TestSumOverLanesOfAnyFloats(t *testing.T) {
	for _, dtype := range []graph.DType{graph.F32, graph.F64, graph.F16, graph.BF16} {
		g := graph.New("g")
		x := g.Input("x", dtype, graph.Ax("i", 3), graph.Ax("d", 2))
		turned := ops.SumRanks(ops.Transpose(x)) // read through strides
		y := ops.Exp(ops.SumRanks(x))            // x is needed by others, and is not overwritten
		s := &twice{}
		vm := tapetest.VM(t, compiled(t, g, tape.Fetch(turned, y, ops.Square(x))), tape.NewStore(g), tape.Lanes(s))
		v := graph.Value{Type: x.Type(), Data: []float64{1, 2, 3, 4, 5, 6}}
		if err := vm.Run(context.Background(), tape.Feed{x: tape.Tensor(v)}); err != nil {
			t.Fatal(err)
		}
		out, err := vm.Value(turned)
		if err != nil {
			t.Fatal(err)
		}
		a, err := tape.ArrayOf(turned.Type(), out)
		if err != nil {
			t.Fatal(err)
		}
		if got := a.Value().Data; !slices.Equal(got, []float64{2, 6, 10, 4, 8, 12}) {
			t.Errorf("%v: sums of transposed terms are %v", dtype, got)
		}
		if want := []int{0, 1}; !slices.Equal(s.sites, want) {
			t.Errorf("%v: sites %v, want %v", dtype, s.sites, want)
		}
		if want := fmt.Sprintf("%v[d=2 i=3]", dtype.Wide()); s.types[0] != want {
			t.Errorf("%v: the sum gets a %s, want %s", dtype, s.types[0], want)
		}
	}
}

// TestFailedSum: the error of a sum ends the run before anything is committed, and before other lanes
// are waited for once more.
func TestFailedSum(t *testing.T) {
	g := graph.New("g")
	w := g.Param("w", graph.F32, graph.Ax("d", 3))
	a := ops.SumRanks(ops.Scale(w, 0.5))
	b := ops.SumRanks(ops.Exp(a))
	p := compiled(t, g, tape.Fetch(b), tape.Do(graph.Step{g.Assign(w, a)}))
	store := tape.NewStore(g, tape.Seed(1))
	before := store.Clone()
	s := &twice{err: context.DeadlineExceeded}
	vm := tapetest.VM(t, p, store, tape.Lanes(s))
	err := vm.Run(context.Background(), nil)
	if !errors.Is(err, context.DeadlineExceeded) || !strings.Contains(err.Error(), "over lanes") || !strings.Contains(err.Error(), "nothing was committed") {
		t.Errorf("a failed sum gives %v", err)
	}
	if len(s.sites) != 1 {
		t.Errorf("after a sum has failed, the run comes to sums %v", s.sites)
	}
	if x, y := stored(t, store, "w"), stored(t, before, "w"); !slices.Equal(x, y) || store.Step() != 0 {
		t.Errorf("a failed sum changes the store: %v in step %d, before %v", x, store.Step(), y)
	}
	s.err = nil
	if err := vm.Run(context.Background(), nil); err != nil {
		t.Fatal(err)
	}
	if x, y := stored(t, store, "w"), stored(t, before, "w"); !slices.Equal(x, y) || store.Step() != 1 { // twice the half
		t.Errorf("the next run commits %v in step %d, want %v", x, store.Step(), y)
	}
}

// TestLaneThatLeaves: a lane whose run ends early does not come to the sum; the context of the others
// ends their wait.
func TestLaneThatLeaves(t *testing.T) {
	c := newCentred(graph.F32, perLane, 2)
	p, store := compiled(t, c.g, tape.Fetch(c.y)), tape.NewStore(c.g)
	ctx, cancel := context.WithCancel(context.Background())
	defer cancel()
	vms := make([]*tape.VM, 2)
	for k, s := range tapetest.Lanes(2) {
		vms[k] = tapetest.VM(t, p, store.Share(), tape.Lanes(s))
	}
	errs := inLanes(ctx, vms, func(k int) tape.Feed {
		if k == 1 {
			cancel()
			return tape.Feed{}
		}
		return tape.Feed{c.x: tape.Tensor(drawn(c.x.Type(), 1))}
	})
	if errs[0] == nil || errs[1] == nil {
		t.Errorf("the runs return %v", errs)
	}
}

// TestSumsKeepTheirOrder: sums come in the order of the graph, also where another order takes less
// memory.
func TestSumsKeepTheirOrder(t *testing.T) {
	for _, options := range [][]tape.Option{{}, {tape.Unfused()}, {tape.Budget(5 << 10)}} {
		g := graph.New("order")
		x := g.Input("x", graph.F32, graph.Ax("i", 1024))
		var large, sums []*graph.Node
		for k := range 6 {
			large = append(large, ops.SumRanks(ops.Softmax(ops.Scale(x, float64(k+1)), "i")).As(fmt.Sprint("s", k)))
		}
		for _, l := range large {
			sums = append(sums, ops.SumRanks(ops.Max(l)))
		}
		sums = append(sums, ops.SumRanks(g.Param("scale", graph.F32))) // numbers that depend on leaves alone come first, sums do not
		p := compiled(t, g, append(options, tape.Fetch(sums...))...)
		next := 0
		for _, r := range p.Rows() {
			if !r.Lanes {
				continue
			}
			if want := fmt.Sprint("s", next); r.Site != next || next < len(large) && r.Node.Label() != want {
				t.Errorf("sum %d over lanes is number %d, %v", next, r.Site, r.Node)
			}
			next++
		}
		if next != 2*len(large)+1 {
			t.Errorf("%d sums over lanes, want %d:\n%v", next, 2*len(large)+1, p)
		}
	}
}

// TestSumsAreNotMadeAgain: a value that needs a sum over lanes is dropped under a budget, the sum itself
// never: each run comes to each sum once.
func TestSumsAreNotMadeAgain(t *testing.T) {
	g := graph.New("chain")
	x := g.Input("x", graph.F32, graph.Ax("i", 4096))
	y, n := x, 6
	for range n {
		y = ops.Sin(ops.SumRanks(ops.Sin(y)))
	}
	dx := grad.Of(ops.Sum(y), x)[0]
	free := compiled(t, g, tape.Fetch(dx), tape.Unfused())
	p := compiled(t, g, tape.Fetch(dx), tape.Unfused(), tape.Budget(free.Arena()*2/3))
	if again, _ := p.Recomputed(); len(again) == 0 {
		t.Errorf("nothing is made again in %d B of %d", p.Arena(), free.Arena())
	}
	s := &twice{}
	vm := tapetest.VM(t, p, tape.NewStore(g), tape.Lanes(s))
	if err := vm.Run(context.Background(), tape.Feed{x: tape.Tensor(drawn(x.Type(), 1))}); err != nil {
		t.Fatal(err)
	}
	if len(s.sites) != n || !slices.IsSorted(s.sites) {
		t.Errorf("the run comes to sums %v, want %d", s.sites, n)
	}
}

// TestSumsArePassedByNever: a sum that only a discarded update needs is computed in every run, and before
// the checks.
func TestSumsArePassedByNever(t *testing.T) {
	g := graph.New("guarded")
	w, full := g.Param("w", graph.F32, graph.Ax("d", 64)), g.Input("full", graph.Bool)
	next := ops.Select(full, ops.Exp(ops.SumRanks(ops.Sin(w))), w)
	p := compiled(t, g, tape.Do(graph.Step{g.Assign(w, next), g.Assign(g.State("m", graph.F32, graph.Ax("d", 64)), ops.SumRanks(ops.Cos(w)))}))
	s := &twice{}
	vm := tapetest.VM(t, p, tape.NewStore(g), tape.Lanes(s))
	for _, v := range []float64{0, 1} {
		s.sites = nil
		if err := vm.Run(context.Background(), tape.Feed{full: tape.Tensor(graph.Value{Type: full.Type(), Data: []float64{v}})}); err != nil {
			t.Fatal(err)
		}
		if len(s.sites) != 2 {
			t.Errorf("with full = %v the run comes to sums %v, want 2:\n%v", v, s.sites, p)
		}
	}
}

func TestSumInALoopIsRefused(t *testing.T) {
	g := graph.New("loop")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	y := ops.Cond(ops.Less(ops.Sum(x), ops.Lit(x, 0)),
		func(x []*graph.Node) []*graph.Node { return []*graph.Node{ops.SumRanks(x[0])} },
		func(x []*graph.Node) []*graph.Node { return x }, x)[0]
	_, err := tape.Compile(g, tape.Fetch(y))
	if err == nil || !strings.Contains(err.Error(), "lanes_test.go") || !strings.Contains(err.Error(), "over lanes in the body of a loop") {
		t.Errorf("a sum in a branch gives %v", err)
	}
}

func TestSumsStandInListingAndTrace(t *testing.T) {
	c := newCentred(graph.F32, perLane, 1)
	p := compiled(t, c.g, tape.Fetch(c.y))
	if s := p.String(); !strings.Contains(s, "SumRanks s[d=5]  · sum 0 over lanes\n") {
		t.Errorf("the listing shows no sum over lanes:\n%s", s)
	}
	s := &twice{}
	vm := tapetest.VM(t, p, tape.NewStore(c.g), tape.Lanes(s))
	feed := tape.Feed{c.x: tape.Tensor(drawn(c.x.Type(), 1))}
	var trace bytes.Buffer
	if err := vm.Trace(context.Background(), feed, 1, &trace); err != nil {
		t.Fatal(err)
	}
	if got := trace.String(); !strings.Contains(got, `"cat":"sum over lanes"`) || !strings.Contains(got, `"bytes":20`) {
		t.Errorf("the trace shows no sum over lanes:\n%s", got)
	}
	if len(s.sites) == 0 {
		t.Error("a traced lane is alone")
	}
	s.sites = nil
	profile, err := vm.Profile(context.Background(), feed, 1)
	if err != nil {
		t.Fatal(err)
	}
	if !strings.Contains(profile.String(), "SumRanks s[d=5]") || len(s.sites) == 0 {
		t.Errorf("the profile of a lane shows no sum over lanes:\n%v", profile)
	}
	if _, err := tape.Compile(c.g, tape.Fetch(c.y), tape.Debug(io.Discard)); err != nil {
		t.Error(err)
	}
}

func TestShare(t *testing.T) {
	g := graph.New("g")
	w := g.Param("w", graph.F32, graph.Ax("d", 3))
	z := ops.Add(w, ops.RandomNormal(g, "ε", graph.F32, graph.Ax("d", 3)))
	p := compiled(t, g, tape.Fetch(z))
	s := tape.NewStore(g, tape.Seed(7))
	s.Resume(7, 4, 2)
	lane := s.Share()
	if lane.Seed() != 7 || lane.Step() != 4 || lane.Runs() != 2 {
		t.Errorf("a shared store begins at %d, %d, %d", lane.Seed(), lane.Step(), lane.Runs())
	}
	lane.Resume(8, 4, 0)
	a, b := tapetest.VM(t, p, s), tapetest.VM(t, p, lane)
	for _, vm := range []*tape.VM{a, b} {
		if err := vm.Run(context.Background(), nil); err != nil {
			t.Fatal(err)
		}
	}
	if slices.Equal(value(t, a, z), value(t, b, z)) {
		t.Error("a store with another seed draws the same numbers")
	}
	if s.Runs() != 3 || lane.Runs() != 1 {
		t.Errorf("runs are %d and %d, want 3 and 1", s.Runs(), lane.Runs())
	}
	if err := s.Set("w", tape.Tensor(graph.Value{Type: w.Type(), Data: []float64{1, 2, 3}})); err != nil {
		t.Fatal(err)
	}
	if got := stored(t, lane, "w"); !slices.Equal(got, []float64{1, 2, 3}) {
		t.Errorf("what the store sets is %v in the one that shares it", got)
	}
	empty := tape.NewStore(nil)
	shared := empty.Share()
	if err := shared.Complete(g); err != nil || len(empty.Paths()) != 1 {
		t.Errorf("an entry made by a shared store is not the other's: %v, %v", empty.Paths(), err)
	}
}

func TestSumsOfAProgram(t *testing.T) {
	c := newCentred(graph.F16, perLane, 1)
	want := fmt.Sprint([]string{"f32[d=5]", "f32[d=5]"})
	if got := fmt.Sprint(compiled(t, c.g, tape.Fetch(c.y, c.dw)).Sums()); got != want {
		t.Errorf("sums %v, want %v", got, want)
	}
}
