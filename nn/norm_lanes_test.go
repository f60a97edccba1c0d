package nn_test

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/internal/layertest"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// normed is a net with norms, for some rows of a batch of all: the part of the loss of those rows, its
// derivatives and those of their squares, and the updates of the running statistics.
type normed struct {
	g       *graph.Graph
	x, y    *graph.Node
	loss    *graph.Node
	by      []*graph.Node // the derivatives by the images and by the parameters
	penalty *graph.Node   // Σ (∂loss/∂x)² over the rows
	twice   []*graph.Node // its derivatives
	running graph.Step
}

const colours, side = 3, 4

// newNormed standardises images, then convolves, standardises the channels, and does it once more.
func newNormed(dtype graph.DType, rows, all int, global bool) *normed {
	g := graph.New("normed")
	x := g.Input("x", dtype, graph.Ax("n", rows), graph.Ax("h", side), graph.Ax("w", side), graph.Ax("c", colours))
	m := &normed{g: g, x: x}
	input := nn.NewInputNorm(g, "input", dtype, graph.Ax("c", colours))
	input.Global = global
	h, step := input.OfTrain(x)
	m.running = append(m.running, step...)
	for i, name := range []string{"first", "second"} {
		c := graph.Ax("c", 4+i)
		h = nn.NewConv2D(g, name, dtype, h.Shape().Axis(3), c, ops.Size(3), ops.Padding(1)).Of(h)
		norm := nn.NewBatchNorm(g, name+"norm", dtype, c)
		norm.Global = global
		h, step = norm.OfTrain(h)
		h = ops.Tanh(h)
		m.running = append(m.running, step...)
	}
	m.y = h
	m.loss = ops.Scale(layertest.Wavy(ops.Sum(ops.Mul(h, ops.Exp(h)), "n")), 1/float64(all)).As("loss") // the same of every row
	leaves := append([]*graph.Node{x}, g.Leaves(graph.RoleParam)...)
	m.by = grad.OrZero(m.loss, leaves...)
	m.penalty = ops.Sum(ops.Square(m.by[0]))
	m.twice = grad.OrZero(m.penalty, leaves...)
	return m
}

// nodes are all that is compared: first what each lane has of its own.
func (m *normed) nodes() []*graph.Node {
	out := []*graph.Node{m.y, m.by[0], m.twice[0], m.loss, m.penalty}
	out = append(append(out, m.by[1:]...), m.twice[1:]...)
	for _, u := range m.running {
		out = append(out, u.Value)
	}
	return out
}

// images are uneven, so that lanes differ.
func images(t graph.Type) graph.Value {
	rng, v := rand.New(rand.NewPCG(5, 6)), graph.NewValue(t)
	for i := range v.Data {
		v.Data[i] = rng.NormFloat64()*(1+float64(i)/200) + float64(i%colours)
	}
	return v
}

// learned returns a store with parameters that are not the fresh ones, so that every derivative counts.
func learned(t *testing.T, g *graph.Graph) *tape.Store {
	t.Helper()
	s, rng := tape.NewStore(g, tape.Seed(1)), rand.New(rand.NewPCG(7, 8))
	for _, n := range g.Leaves(graph.RoleParam, graph.RoleState) {
		v := layertest.Random(rng, n.Type(), 1)
		for i := range v.Data {
			v.Data[i] = math.Abs(v.Data[i]) + 0.5
		}
		if err := s.Set(n.Path(), tape.Tensor(v)); err != nil {
			t.Fatal(err)
		}
	}
	return s
}

// outcome runs a step of one VM for each part of the rows, all at once, and returns their values.
func outcome(t *testing.T, parts []*normed, x graph.Value, joined []tape.Summer) [][]graph.Value {
	t.Helper()
	store := learned(t, parts[0].g)
	vms, feeds, from := make([]*tape.VM, len(parts)), make([]tape.Feed, len(parts)), 0
	for k, m := range parts {
		p, err := tape.Compile(m.g, tape.Fetch(m.nodes()...), tape.Debug(nil))
		if err != nil {
			t.Fatal(err)
		}
		vms[k] = tapetest.VM(t, p, store.Share(), tape.Workers(1), tape.Lanes(joined[k]))
		n := m.x.Shape().Len()
		feeds[k] = tape.Feed{m.x: tape.Tensor(graph.Value{Type: m.x.Type(), Data: x.Data[from : from+n]})}
		from += n
	}
	errs, done := make([]error, len(parts)), make(chan struct{})
	for k, vm := range vms {
		go func() {
			errs[k] = vm.Run(context.Background(), feeds[k])
			done <- struct{}{}
		}()
	}
	for range vms {
		<-done
	}
	if err := errors.Join(errs...); err != nil {
		t.Fatal(err)
	}
	out := make([][]graph.Value, len(parts))
	for k, m := range parts {
		for _, n := range m.nodes() {
			v, err := vms[k].Value(n)
			if err != nil {
				t.Fatal(err)
			}
			a, err := tape.ArrayOf(n.Type(), v)
			if err != nil {
				t.Fatal(err)
			}
			out[k] = append(out[k], a.Value())
		}
	}
	return out
}

// TestGlobalNormsInLanes: lanes of any numbers of rows, that exchange the sums of their norms, have the
// results and the derivatives of one batch with the ordinary norms.
func TestGlobalNormsInLanes(t *testing.T) {
	whole := newNormed(graph.F64, 13, 13, false)
	x := images(whole.x.Type())
	want := outcome(t, []*normed{whole}, x, make([]tape.Summer, 1))[0]
	for _, rows := range [][]int{{13}, {4, 4, 4, 1}, {3, 4, 3, 3}, {1, 2, 3, 7}} {
		var parts []*normed
		for _, n := range rows {
			parts = append(parts, newNormed(graph.F64, n, 13, true))
		}
		got := outcome(t, parts, x, tapetest.Lanes(len(rows)))
		names, own := whole.nodes(), 3
		for i := range want {
			var all []float64
			switch {
			case i < own: // rows below each other
				for k := range got {
					all = append(all, got[k][i].Data...)
				}
			case i < len(want)-len(whole.running): // terms of sums
				all = make([]float64, len(want[i].Data))
				for k := range got {
					for j, v := range got[k][i].Data {
						all[j] += v
					}
				}
			default:
				all = got[0][i].Data
				for k := range got {
					if !slices.Equal(got[k][i].Data, all) {
						t.Errorf("rows %v: lane %d has another %v than lane 0", rows, k, names[i])
					}
				}
			}
			largest := 1.0
			for _, v := range want[i].Data {
				largest = max(largest, math.Abs(v))
			}
			for j, v := range want[i].Data {
				if d := math.Abs(all[j] - v); !(d <= 1e-12*largest) {
					t.Errorf("rows %v: element %d of %v is %v, of one batch %v", rows, j, names[i], all[j], v)
					break
				}
			}
		}
	}
}

// TestNormsInLanesDiffer: without Global each lane has its own statistics.
func TestNormsInLanesDiffer(t *testing.T) {
	whole := newNormed(graph.F64, 8, 8, false)
	x := images(whole.x.Type())
	want := outcome(t, []*normed{whole}, x, make([]tape.Summer, 1))[0]
	got := outcome(t, []*normed{newNormed(graph.F64, 4, 8, false), newNormed(graph.F64, 4, 8, false)}, x, tapetest.Lanes(2))
	if math.Abs(got[0][0].Data[0]-want[0].Data[0]) < 1e-3 {
		t.Errorf("a lane's own norm gives %v, that of the batch %v", got[0][0].Data[0], want[0].Data[0])
	}
}

// TestGlobalNormAlone: in a graph that is run as a whole a global norm is the ordinary one, up to
// rounding, in values, derivatives and second derivatives, by the definitions and on the tape.
func TestGlobalNormAlone(t *testing.T) {
	for _, dtype := range []graph.DType{graph.F64, graph.F32} {
		nodes := func(global bool) (m *normed, out []*graph.Node) {
			m = newNormed(dtype, 3, 3, global)
			second := grad.OrZero(layertest.Wavy(ops.Square(m.by[0])), m.x)
			return m, append(m.nodes(), second...)
		}
		tol := map[graph.DType]float64{graph.F64: 1e-11, graph.F32: 2e-3}[dtype]
		var values [2][]graph.Value
		for i, global := range []bool{false, true} {
			m, out := nodes(global)
			feed := layertest.Filled(m.g, rand.New(rand.NewPCG(3, 4)))
			for n, v := range feed { // variances and counts are not negative
				if n.Role() == graph.RoleState {
					for k := range v.Data {
						v.Data[k] = math.Abs(v.Data[k]) + 0.5
					}
				}
			}
			feed[m.x] = images(m.x.Type())
			values[i] = layertest.Both(t, feed, tol, out...)
		}
		m, out := nodes(false)
		for i, v := range values[0] {
			for k := range v.Data {
				if a, b := v.Data[k], values[1][i].Data[k]; math.Abs(a-b) > tol*max(1, math.Abs(a)) {
					t.Errorf("%v: element %d of %v is %v, with global norms %v", m.g.Name(), k, out[i], a, b)
					break
				}
			}
		}
	}
}

// TestGlobalNormDerivative holds the derivatives to difference quotients and to all that package check
// knows.
func TestGlobalNormDerivative(t *testing.T) {
	m := newNormed(graph.F64, 2, 2, true)
	feed := tape.Feed{m.x: tape.Tensor(images(m.x.Type()))}
	if err := check.Failed(check.Graph(context.Background(), m.loss, check.Feed(feed), check.Do(m.running))); err != nil {
		t.Error(err)
	}
}

// TestGlobalNormFarFromZero: nothing cancels where the mean is large beside the spread.
func TestGlobalNormFarFromZero(t *testing.T) {
	for _, global := range []bool{false, true} {
		g := graph.New("far")
		x := g.Input("x", graph.F32, graph.Ax("n", 4096), graph.Ax("c", 1))
		l := nn.NewBatchNorm(g, "norm", graph.F32, graph.Ax("c", 1))
		l.Global = global
		_, step := l.OfTrain(x)
		v := graph.NewValue(x.Type())
		for i := range v.Data {
			v.Data[i] = 4096 + float64(i%3-1)/4
		}
		l.Momentum = 1
		out := layertest.At(t, 0, graph.Values{x: v, l.Gain: layertest.ValueOf(l.Gain, 1), l.Bias: layertest.ValueOf(l.Bias, 0),
			l.Mean: layertest.ValueOf(l.Mean, 0), l.Var: layertest.ValueOf(l.Var, 0)}, step[1].Value)
		if got, want := out[0].Data[0], 0.1/24; math.Abs(got-want) > 1e-3*want {
			t.Errorf("global %v: a tenth of the variance is %v, want %v", global, got, want)
		}
	}
}

// TestGlobalNormOfHalves: sums of many halves do not overflow, because lanes exchange means.
func TestGlobalNormOfHalves(t *testing.T) {
	g := graph.New("halves")
	x := g.Input("x", graph.F16, graph.Ax("n", 4096), graph.Ax("c", 1))
	l := nn.NewBatchNorm(g, "norm", graph.F16, graph.Ax("c", 1))
	l.Global = true
	y, _ := l.OfTrain(x)
	v := graph.NewValue(x.Type())
	for i := range v.Data {
		v.Data[i] = 64 + float64(i%2)
	}
	out := layertest.At(t, 0, graph.Values{x: v, l.Gain: layertest.ValueOf(l.Gain, 1), l.Bias: layertest.ValueOf(l.Bias, 0)}, y)
	if got := out[0].Data[:2]; math.Abs(got[0]+1) > 0.01 || math.Abs(got[1]-1) > 0.01 {
		t.Errorf("normalised: %v, want −1 and 1", got)
	}
}

// TestGlobalNormOfOne: a lane may have a single element of a channel.
func TestGlobalNormOfOne(t *testing.T) {
	g := graph.New("one")
	x := g.Input("x", graph.F64, graph.Ax("n", 1), graph.Ax("c", 2))
	l := nn.NewBatchNorm(g, "norm", graph.F64, graph.Ax("c", 2))
	l.Global = true
	y, step := l.OfTrain(x)
	out := layertest.At(t, 0, graph.Values{x: layertest.ValueOf(x, 3, 4), l.Gain: layertest.ValueOf(l.Gain, 2, 2), l.Bias: layertest.ValueOf(l.Bias, 5, 6),
		l.Mean: layertest.ValueOf(l.Mean, 0, 0), l.Var: layertest.ValueOf(l.Var, 1, 1)}, y, step[0].Value, step[1].Value)
	layertest.Same(t, "normalised", out[0].Data, []float64{5, 6})
	layertest.Same(t, "running mean", out[1].Data, []float64{0.3, 0.4})
	layertest.Same(t, "running variance", out[2].Data, []float64{0.9, 0.9})

	g = graph.New("none")
	l = nn.NewBatchNorm(g, "norm", graph.F64, graph.Ax("c", 2))
	l.Global = true
	l.OfTrain(g.Input("x", graph.F64, graph.Ax("n", 0), graph.Ax("c", 2)))
	layertest.WantMistake(t, g, "want an array [n … c] with at least one element of a channel")
}

// TestRunningStatisticsOfLanes: those of a global norm are the same on all lanes; those of an ordinary
// one are each lane's own.
func TestRunningStatisticsOfLanes(t *testing.T) {
	for _, global := range []bool{false, true} {
		m := newNormed(graph.F32, 4, 8, global)
		rows := func(n *graph.Node) bool { return n == m.x }
		if err := lanes.Check(rows, m.loss); err != nil {
			t.Error(err)
		}
		own := lanes.Own(rows, m.nodes()...)
		for _, u := range m.running {
			count := u.Target.Path() == "input/count" // of a lane's images, by its shape
			if own[u.Value] == (global || count) {
				t.Errorf("global %v: of %v a lane's own is %v", global, u.Target, own[u.Value])
			}
		}
		if !own[m.loss] || !own[m.y] {
			t.Error(fmt.Sprint("loss and results are not each lane's own: ", own[m.loss], own[m.y]))
		}
	}
}
