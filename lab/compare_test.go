package lab_test

import (
	"context"
	"errors"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"sync"
	"testing"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

func compared(t *testing.T, p lab.Config, variants ...lab.Variant) *lab.Comparison {
	t.Helper()
	res, err := lab.Compare(context.Background(), p, variants...)
	if err != nil {
		t.Fatal(err)
	}
	return res
}

// absolute is the mean absolute error of x·w + b, which a line's parameters and inputs
// fit, made of nodes alone.
func absolute(name string) lab.Variant {
	return lab.LossFunc(name, func(g *graph.Graph) *graph.Node {
		i := graph.Ax("i", 16)
		x, target := g.Input("x", graph.F64, i), g.Input("t", graph.F64, i)
		w, b := g.Param("w", graph.F64).Init(initial.Normal(0, 1)), g.Param("b", graph.F64)
		return ops.Mean(ops.Abs(ops.Sub(ops.Add(ops.Mul(x, w), b), target)))
	})
}

// A cell is bit for bit what Learn makes of its model, optimiser and seed, however many
// trainings run at a time.
func TestCompareIsLearn(t *testing.T) {
	p := lab.Config{Seeds: 3, Seed: 4, Steps: 12, Optimisers: []train.Optimiser{train.Adam(0.05), train.SGD(0.1)}, Workers: 4}
	builds := map[string]func() (*builders.Model, error){"a": line("a", "", false), "b": line("b", "", true)}
	res := compared(t, p, lab.Objective("", builds["a"]), lab.Objective("b", builds["b"]))
	p.Workers = 1
	alone := compared(t, p, lab.Objective("", builds["a"]), lab.Objective("b", builds["b"]))
	if res.String() != alone.String() {
		t.Errorf("several workers give\n%s\none gives\n%s", res, alone)
	}
	for v, c := range res.Variants {
		for o, optimiser := range p.Optimisers {
			want := learnt(t, builds[c.Name], lab.Config{Seeds: 3, Seed: 4, Steps: 12, Optimisers: []train.Optimiser{optimiser}})
			for s, cell := range res.Cells(v, lab.Setting{Optimiser: o}) {
				if cell.Seed != want.Runs[s].Seed || !slices.Equal(cell.Loss, want.Runs[s].Loss) || cell.Measures[0] != want.Runs[s].End() {
					t.Errorf("%s, %v, seed %d: losses %v, want %v", c.Name, optimiser, cell.Seed, cell.Loss, want.Runs[s].Loss)
				}
			}
		}
		if c.Cost.Params != 2+v || c.Cost.FLOPs <= 0 {
			t.Errorf("%s costs %+v", c.Name, c.Cost)
		}
	}
}

// On a table, clusterings are trained bit for bit as the clustering experiment trains
// them, and measured alike.
func TestCompareIsCluster(t *testing.T) {
	c := lab.Config{Table: data.Iris(), K: 3, Seeds: 2, Steps: 15}
	names := []string{"kmeans-softmax", "kmeans-goofy", "kmeans-sgd", "kmeans-lloyd"}
	var variants []lab.Variant
	for _, name := range names {
		variants = append(variants, c.Variant(name))
	}
	res := compared(t, c, variants...)
	inertia := slices.IndexFunc(res.Metrics, func(y lab.Metric) bool { return y.Name == "inertia" })
	ari := slices.IndexFunc(res.Metrics, func(y lab.Metric) bool { return y.Name == "ARI" && y.Higher })
	silhouette := slices.IndexFunc(res.Metrics, func(y lab.Metric) bool { return y.Name == "silhouette" && y.Higher })
	for v, name := range names[:3] { // Lloyd's algorithm ends when nothing moves, a cell of a matrix does not
		want, err := c.Train(context.Background(), name)
		if err != nil {
			t.Fatal(err)
		}
		for s, cell := range res.Cells(v, lab.Setting{}) {
			run := want.Runs[s]
			if !slices.Equal(cell.Loss, run.Loss) {
				t.Errorf("%s, seed %d: losses %v, want %v", name, cell.Seed, cell.Loss, run.Loss)
			}
			if math.Abs(cell.Measures[inertia]-run.Inertia()) > 1e-9 || cell.Measures[ari] != run.ARI {
				t.Errorf("%s, seed %d: inertia %v, ARI %v, want %v and %v", name, cell.Seed, cell.Measures[inertia], cell.Measures[ari], run.Inertia(), run.ARI)
			}
			if want, err := lab.Silhouette(c.Table, run.Assigned); err != nil || cell.Measures[silhouette] != want {
				t.Errorf("%s, seed %d: silhouette %v, want %v", name, cell.Seed, cell.Measures[silhouette], want)
			}
			// The judges are soft k-means and the goofy alternative at the last temperature.
			if name != "kmeans-sgd" {
				final := run.Final()
				if math.Abs(cell.Measures[1]-final.Soft) > 1e-9 || math.Abs(cell.Measures[2]-final.Goofy) > 1e-9 {
					t.Errorf("%s, seed %d: judged %v, want %v and %v", name, cell.Seed, cell.Measures[1:3], final.Soft, final.Goofy)
				}
			}
		}
	}
}

// fixed draws the same examples whatever the seed, for lines.
func fixed(*rand.Rand) map[string]graph.Value {
	shape, _ := graph.NewShape(graph.Ax("i", 16))
	x := graph.NewValue(graph.Type{DType: graph.F64, Shape: shape})
	y := graph.NewValue(x.Type)
	for i := range x.Data {
		x.Data[i] = math.Sin(float64(i))
		y.Data[i] = 3*x.Data[i] - 1 + 0.5*math.Cos(float64(i*i))
	}
	return map[string]graph.Value{"x": x, "t": y}
}

// final remembers parameters at the end, by model and seed order.
type final struct {
	sync.Mutex
	w map[string][][2]float64
}

func (f *final) probe(m *builders.Model, s *tape.Store) (float64, error) {
	w, err := s.Get("w")
	if err != nil {
		return 0, err
	}
	b, err := s.Get("b")
	if err != nil {
		return 0, err
	}
	f.Lock()
	defer f.Unlock()
	if f.w == nil {
		f.w = map[string][][2]float64{}
	}
	f.w[m.Builder.Name] = append(f.w[m.Builder.Name], [2]float64{w.Float64s()[0], b.Float64s()[0]})
	return w.Float64s()[0], nil
}

// Trained by one, judged by another: what the table says is what the definition of the
// other's loss gives at the parameters that the one left.
func TestCompareJudges(t *testing.T) {
	var f final
	hidden := lab.LossFunc("largest", func(g *graph.Graph) *graph.Node {
		i := graph.Ax("i", 16)
		x, target := g.Input("x", graph.F64, i), g.Input("t", graph.F64, i)
		return ops.Max(ops.Abs(ops.Sub(ops.Add(ops.Mul(x, g.Param("w", graph.F64)), g.Param("b", graph.F64)), target)))
	})
	p := lab.Config{Seeds: 2, Steps: 60, Examples: fixed, Optimisers: []train.Optimiser{train.SGD(0.05)}, Workers: 1,
		Probes: []lab.Probe{lab.Judge(hidden), lab.ProbeFunc("w", f.probe)}}
	res := compared(t, p, lab.Objective("squared", line("squared", "", false)), absolute("absolute"), lab.Objective("wide", line("wide", "", true)))
	var names []string
	for _, y := range res.Metrics {
		names = append(names, y.Name)
	}
	if got := strings.Join(names, ", "); got != "loss at the end, loss of squared, loss of absolute, loss of wide, loss of largest, w" {
		t.Errorf("metrics %s", got)
	}
	examples := fixed(nil)
	for v, name := range []string{"squared", "absolute"} {
		for s, cell := range res.Cells(v, lab.Setting{}) {
			w, b := f.w[name][s][0], f.w[name][s][1]
			var squared, abs, most float64
			for i, x := range examples["x"].Data {
				e := w*x + b - examples["t"].Data[i]
				squared += e * e / 16
				abs += math.Abs(e) / 16
				most = max(most, math.Abs(e))
			}
			for k, want := range []float64{squared, abs, math.NaN(), most, w} {
				if got := cell.Measures[1+k]; !(math.Abs(got-want) < 1e-12 || math.IsNaN(got) && math.IsNaN(want)) {
					t.Errorf("%s, seed %d, %s: %v, want %v", name, s, names[1+k], got, want)
				}
			}
		}
	}
	// The wide model has all parameters of the others, and none of them all of its.
	for _, cell := range res.Cells(2, lab.Setting{}) {
		for k, v := range cell.Measures {
			if math.IsNaN(v) {
				t.Errorf("wide is not measured by %s", names[k])
			}
		}
	}
	if m := res.Marks(3, lab.StudentT); m[0] != "" || m[1] != "" || m[2] != "a" {
		t.Errorf("by the loss of wide the marks are %q", m)
	}
}

// Fresh examples judge with batches that no step was trained on, the same for all.
func TestCompareHeldOut(t *testing.T) {
	var mu sync.Mutex
	drawn := map[float64]int{}
	p := lab.Config{Seeds: 1, Steps: 5, Workers: 1, Optimisers: []train.Optimiser{train.SGD(1e-300)}, Examples: func(rng *rand.Rand) map[string]graph.Value {
		v := fixed(rng)
		v["x"].Data[0] = rng.NormFloat64()
		mu.Lock()
		defer mu.Unlock()
		drawn[v["x"].Data[0]]++
		return v
	}}
	res := compared(t, p, lab.Objective("", line("squared", "", false)), absolute("absolute"))
	if len(drawn) != 5+8 {
		t.Errorf("%d different batches were drawn, want 5 to train on and 8 to judge by", len(drawn))
	}
	if m := res.Cells(0, lab.Setting{})[0].Measures; m[1] == m[0] {
		t.Error("what is judged is the loss that was trained on")
	}
	p.OneBatch = true
	res = compared(t, p, lab.Objective("", line("squared", "", false)))
	if m := res.Cells(0, lab.Setting{})[0].Measures; math.Abs(m[1]-m[0]) > 1e-15 {
		t.Errorf("one batch, no movement: trained with %v, judged %v", m[0], m[1])
	}
}

// A training that diverges is noted with its step; the others are as they are alone.
func TestCompareDiverges(t *testing.T) {
	p := lab.Config{Seeds: 2, Steps: 200, Optimisers: []train.Optimiser{train.SGD(1e6), train.SGD(0.05)}}
	res := compared(t, p, lab.Objective("", line("line", "", false)), absolute("absolute"))
	_, err := lab.Learn(context.Background(), line("line", "", false), lab.Config{Seeds: 1, Steps: 200, Optimisers: []train.Optimiser{train.SGD(1e6)}})
	if bad := (*tape.NotFinite)(nil); !errors.As(err, &bad) {
		t.Fatalf("alone, the training ends with %v", err)
	}
	cell := res.Cells(0, lab.Setting{})[0]
	if n := len(cell.Loss); cell.Diverged != n || cell.Loss[n-1] < 1e9*cell.Loss[0] || cell.Loss[n-2] > 1e9*max(1, cell.Loss[0]) {
		t.Errorf("diverged at step %d after the losses %v, alone: %v", cell.Diverged, cell.Loss, err)
	}
	sudden := lab.LossFunc("sudden", func(g *graph.Graph) *graph.Node { // the second loss is that of log −1
		return ops.Log(ops.Add(g.Param("w", graph.F64).Init(initial.Fill(1)), ops.Scale(ops.Mean(g.Input("x", graph.F64, graph.Ax("i", 16))), 0)))
	})
	nan := compared(t, lab.Config{Seeds: 1, Steps: 9, Optimisers: []train.Optimiser{train.SGD(2)}, Examples: fixed}, sudden)
	if cell := nan.Cells(0, lab.Setting{})[0]; cell.Diverged != 2 || len(cell.Loss) != 1 {
		t.Errorf("log 1 and then log −1: diverged at step %d after the losses %v", cell.Diverged, cell.Loss)
	}
	for k, m := range cell.Measures {
		if !math.IsInf(m, 1) {
			t.Errorf("a diverged training measures %v by %s", m, res.Metrics[k].Name)
		}
	}
	fine := compared(t, lab.Config{Seeds: 2, Steps: 200, Optimisers: p.Optimisers[1:]}, lab.Objective("", line("line", "", false)), absolute("absolute"))
	for v := range 2 {
		for s, cell := range res.Cells(v, lab.Setting{Optimiser: 1}) {
			if cell.Diverged != 0 || !slices.Equal(cell.Loss, fine.Cells(v, lab.Setting{})[s].Loss) {
				t.Errorf("variant %d, seed %d is not what it is alone", v, s)
			}
		}
		if res.Best(v) != (lab.Setting{Optimiser: 1}) {
			t.Errorf("the best setting is %v", res.Best(v))
		}
	}
	if o := res.Outcomes(0, lab.StudentT); o[0].Diverged != 2 || o[1].Diverged != 0 || o[0].Verdict() != "" || o[1].Verdict() != "best" || !math.IsInf(o[0].End.Median, 1) {
		t.Errorf("outcomes %+v", o)
	}
	if text := res.String(); !strings.Contains(text, "2 of 2 diverged") {
		t.Errorf("the table does not say what diverged:\n%s", text)
	}
}

// Where trainings begin.
func TestCompareStarts(t *testing.T) {
	normal := initial.Normal(5, 0.1)
	starts := []lab.Initial{{}, {Scale: 3}, {Init: &normal}, {Init: &normal, Scale: -2}, {Name: "mine", Values: func(seed uint64) map[string]graph.Value {
		return map[string]graph.Value{"w": {Type: graph.Type{DType: graph.F64}, Data: []float64{float64(seed)}}, "elsewhere": {}}
	}}}
	var f final
	p := lab.Config{Seeds: 2, Seed: 1, Steps: 1, Workers: 1, Starts: starts, Optimisers: []train.Optimiser{train.SGD(1e-300)}, Probes: []lab.Probe{lab.ProbeFunc("w", f.probe)}}
	build := line("line", "", false)
	res := compared(t, p, lab.Objective("", build))
	m, err := build()
	if err != nil {
		t.Fatal(err)
	}
	var own []float64
	for seed := range uint64(2) {
		w, err := tape.NewStore(m.Graph, tape.Seed(1+seed)).Get("w")
		if err != nil {
			t.Fatal(err)
		}
		own = append(own, w.Float64s()[0])
	}
	got := f.w["line"] // starts × seeds
	for s := range 2 {
		if got[s][0] != own[s] || got[2+s][0] != 3*own[s] || got[8+s][0] != float64(1+s) {
			t.Errorf("seed %d: w begins at %v, want %v, three times that, and %d", 1+s, got, own[s], 1+s)
		}
		if w := got[4+s][0]; math.Abs(w-5) > 0.5 || got[6+s][0] != -2*w {
			t.Errorf("seed %d: another initialiser gives %v, doubled and turned %v", 1+s, w, got[6+s][0])
		}
		if math.Abs(got[4+s][1]) > 1e-200 { // but for the one step
			t.Errorf("a bias, which begins at 0, is drawn: %v", got[4+s][1])
		}
	}
	if got[4][0] == got[5][0] {
		t.Error("two seeds begin alike")
	}
	var names []string
	for _, s := range res.Settings() {
		names = append(names, res.SettingName(s))
	}
	if got := strings.Join(names, ", "); got != "own start, start × 3, normal(5,0.1), normal(5,0.1) × -2, mine" {
		t.Errorf("the starts are called %s", got)
	}
}

func TestCompareMistakes(t *testing.T) {
	a := lab.Objective("", line("a", "", false))
	i := graph.Ax("i", 150)
	wide := lab.LossFunc("wide", func(g *graph.Graph) *graph.Node {
		return ops.Mean(ops.Mul(g.Input("x", graph.F64, i, graph.Ax("d", 5)), g.Param("w", graph.F64)))
	})
	for _, c := range []struct {
		p        lab.Config
		variants []lab.Variant
		want     string
	}{
		{lab.Config{}, nil, "compare: no variant to train"},
		{lab.Config{}, []lab.Variant{a, a}, "compare: two variants are named a"},
		{lab.Config{}, []lab.Variant{{Name: "v"}}, "v: the function that builds the model is nil"},
		{lab.Config{}, []lab.Variant{lab.Objective("", nil)}, "compare: the function that builds the model is nil"},
		{lab.Config{}, []lab.Variant{lab.LossFunc("f", nil)}, "f: the function that builds the model is nil"},
		{lab.Config{}, []lab.Variant{lab.LossFunc("f", func(g *graph.Graph) *graph.Node { return nil })}, "f: the function gives no loss"},
		{lab.Config{}, []lab.Variant{lab.LossFunc("f", func(*graph.Graph) *graph.Node { return graph.New("b").Param("w", graph.F64) })}, "f: the loss belongs to another graph than the one given"},
		{lab.Config{}, []lab.Variant{lab.LossFunc("f", func(g *graph.Graph) *graph.Node { return g.Param("w", graph.F64, i) })}, "f: the loss is w[i=150]: want a float scalar"},
		{lab.Config{}, []lab.Variant{absolute("f")}, "f has no examples to be trained on, and no other variant has some for its inputs"},
		{lab.Config{Seeds: -1}, []lab.Variant{a}, "compare: numbers of seeds, steps, workers, restarts and rows must not be negative"},
		{lab.Config{Optimisers: []train.Optimiser{train.SGD(1), train.SGD(1)}}, []lab.Variant{a}, "compare: the optimiser sgd(1) is there twice"},
		{lab.Config{Optimisers: []train.Optimiser{{}}}, []lab.Variant{a}, "compare: an optimiser is the zero value, which does nothing"},
		{lab.Config{Starts: []lab.Initial{{}, {Scale: 1}}}, []lab.Variant{a}, "compare: the start own start is there twice"},
		{lab.Config{Table: data.Iris(), Examples: fixed}, []lab.Variant{a}, "compare: there is a table, and a function that draws examples: want one of them"},
		{lab.Config{Table: data.Iris()}, []lab.Variant{wide}, "wide has no input for rows of 4 numbers, which iris.csv has: its inputs are x[i=150 d=5]"},
		{lab.Config{Table: data.Iris()}, []lab.Variant{a}, "a has no input for rows of 4 numbers, which iris.csv has: its inputs are x[i=16], t[i=16]"},
		{lab.Config{Probes: []lab.Probe{{Name: "p"}}, Seeds: 1, Steps: 1, Workers: 1}, []lab.Variant{a}, `a, adam(0.01), own start, seed 0: the probe "p" measures nothing`},
		{lab.Config{Examples: func(*rand.Rand) map[string]graph.Value { return nil }, Workers: 1}, []lab.Variant{a}, "a, adam(0.01), own start, seed 0: a: the examples have no x"},
	} {
		if _, err := lab.Compare(context.Background(), c.p, c.variants...); err == nil || err.Error() != c.want {
			t.Errorf("error %v, want %s", err, c.want)
		}
	}
}

// Cancelling ends the matrix in the middle.
func TestCompareCancelled(t *testing.T) {
	ctx, cancel := context.WithCancel(context.Background())
	last := 0
	p := lab.Config{Seeds: 500, Steps: 20, Progress: func(done, of int, _ string) {
		if of != 500 || done != last+1 {
			t.Errorf("%d of %d after %d", done, of, last)
		}
		if last = done; done == 3 {
			cancel()
		}
	}}
	if _, err := lab.Compare(ctx, p, lab.Objective("", line("a", "", false))); !errors.Is(err, context.Canceled) || last > 100 {
		t.Errorf("error %v after %d trainings", err, last)
	}
}
