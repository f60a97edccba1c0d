package gorgonia_test

import (
	"bytes"
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// array makes a variable with drawn values.
func array(g *G.ExprGraph, name string, sizes ...int) *G.Node {
	r := rand.New(rand.NewPCG(uint64(len(name)), 3))
	v := make([]float64, tensor.Shape(sizes).TotalSize())
	for i := range v {
		v[i] = r.NormFloat64()
	}
	return G.NewTensor(g, G.Float64, len(sizes), G.WithShape(sizes...), G.WithName(name),
		G.WithValue(tensor.New(tensor.WithShape(sizes...), tensor.WithBacking(v))))
}

// classifier is a convolution with a batch norm, a rectifier, a pooling and a product.
type classifier struct {
	g                *G.ExprGraph
	x, y             *G.Node
	learned          G.Nodes
	out, cost        *G.Node
	norm             *G.BatchNormOp
	images, channels int
}

func newClassifier(t *testing.T, dropout float64) classifier {
	t.Helper()
	must := func(n *G.Node, err error) *G.Node {
		if err != nil {
			t.Fatal(err)
		}
		return n
	}
	c := classifier{g: G.NewGraph(), images: 3, channels: 2}
	c.x, c.y = array(c.g, "images", c.images, 1, 6, 6), array(c.g, "y", c.images, 2)
	w, gain, bias := array(c.g, "filter", c.channels, 1, 3, 3), array(c.g, "gain", 1, c.channels, 1, 1), array(c.g, "b", 1, c.channels, 1, 1)
	fc := array(c.g, "weights", c.channels*2*2, 2)
	c.learned = G.Nodes{w, gain, bias, fc}
	h := must(G.Conv2d(c.x, w, tensor.Shape{3, 3}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
	scale := must(G.Auto(G.BroadcastAdd, gain, must(G.Sub(h, h)))) // to the shape that BatchNorm wants
	h, _, _, op, err := G.BatchNorm(h, scale, must(G.Auto(G.BroadcastAdd, bias, must(G.Sub(h, h)))), 0.1, 1e-5)
	if err != nil {
		t.Fatal(err)
	}
	c.norm = op
	h = must(G.Rectify(h))
	h = must(G.MaxPool2D(h, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	h = must(G.Reshape(h, tensor.Shape{c.images, c.channels * 2 * 2}))
	h = must(G.Dropout(h, dropout))
	c.out = must(G.SoftMax(must(G.Mul(h, fc))))
	G.WithName("out")(c.out)
	c.cost = must(G.Mean(must(G.Square(must(G.Sub(c.out, c.y))))))
	G.WithName("cost")(c.cost)
	return c
}

// ran gives gorgonia's value of a node, after one run of its machine.
func ran(t *testing.T, g *G.ExprGraph, n *G.Node, options ...G.VMOpt) []float64 {
	t.Helper()
	var v G.Value
	G.Read(n, &v)
	vm := G.NewTapeMachine(g, options...)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	if x, ok := v.Data().(float64); ok {
		return []float64{x}
	}
	return slices.Clone(v.Data().([]float64))
}

func near(got, want []float64) bool {
	return slices.EqualFunc(got, want, func(a, b float64) bool { return math.Abs(a-b) <= 1e-9 })
}

// TestImportedNetIsAModel: an imported net has gorgonia's value, right derivatives, a drawing and a
// text form, and is trained; its batch norm moves its statistics as gorgonia's does.
func TestImportedNetIsAModel(t *testing.T) {
	ctx := context.Background()
	c := newClassifier(t, 0)
	m, err := gorgonia.Import(c.g, gorgonia.Params(c.learned...))
	if err != nil {
		t.Fatal(err)
	}
	feed, err := m.Feed()
	if err != nil {
		t.Fatal(err)
	}
	cost := m.Node(c.cost)
	v, err := m.Store.Eval(ctx, feed, cost)
	if err != nil {
		t.Fatal(err)
	}
	if want := ran(t, c.g, c.cost); !near(v[cost].Data, want) {
		t.Errorf("the cost is %v, want %v", v[cost].Data, want)
	}
	if cost.Name() != "cost" || m.Node(c.x).Path() != "images" || m.Node(c.x).Role() != graph.RoleInput {
		t.Errorf("names: %s, %s", cost.Name(), m.Node(c.x))
	}
	for i, p := range m.Nodes(c.learned...) {
		if p.Role() != graph.RoleParam || p.Path() != c.learned[i].Name() {
			t.Errorf("%v is no parameter of the name %s", p, c.learned[i].Name())
		}
	}

	model := m.Model(c.out, c.cost)
	values, err := model.Draw(rand.New(rand.NewPCG(1, 1)))
	if err != nil {
		t.Fatal(err)
	}
	if err := check.Failed(check.Graph(ctx, model.Loss, check.Feed(tape.Tensors(values)), check.From(m.Store))); err != nil {
		t.Error(err)
	}
	var drawing bytes.Buffer
	if err := viz.SVG(&drawing, []*graph.Node{model.Loss}); err != nil || !strings.Contains(drawing.String(), "images") {
		t.Errorf("the drawing has no images: %v", err)
	}
	if _, err := graph.Parse(strings.NewReader(m.Graph.String()), ops.Vocabulary()...); err != nil {
		t.Error(err)
	}

	vm := G.NewTapeMachine(c.g)
	defer vm.Close()
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	step := train.SGD(0.1).Minimize(cost, m.Graph.Params()...)
	p, err := tape.Compile(m.Graph, tape.Fetch(cost), tape.Do(step, m.Step))
	if err != nil {
		t.Fatal(err)
	}
	run, err := p.NewVM(m.Store)
	if err != nil {
		t.Fatal(err)
	}
	defer run.Close()
	before := 0.0
	for i := range 20 {
		if err := run.Run(ctx, feed); err != nil {
			t.Fatal(err)
		}
		now, err := run.Float(cost)
		if err != nil {
			t.Fatal(err)
		}
		if i > 0 && now >= before {
			t.Errorf("step %d: the cost rises from %v to %v", i, before, now)
		}
		before = now
		if i == 0 {
			mean, variance := c.norm.Stats()
			for name, want := range map[string]tensor.Tensor{"batchnorm/mean": mean, "batchnorm/var": variance} {
				got, err := m.Store.Get(name)
				if err != nil || !near(got.Float64s(), want.Data().([]float64)) {
					t.Errorf("%s is %v after a step, and gorgonia's %v: %v", name, got, want, err)
				}
			}
		}
	}
}

// TestImportForEvaluation: dropout passes everything, and a batch norm takes its running statistics.
func TestImportForEvaluation(t *testing.T) {
	c := newClassifier(t, 0.5)
	vm := G.NewTapeMachine(c.g) // moves the statistics
	if err := vm.RunAll(); err != nil {
		t.Fatal(err)
	}
	vm.Close()
	m, err := gorgonia.Import(c.g, gorgonia.Params(c.learned...), gorgonia.Evaluating())
	if err != nil {
		t.Fatal(err)
	}
	feed, err := m.Feed()
	if err != nil {
		t.Fatal(err)
	}
	out := m.Node(c.out)
	v, err := m.Store.Eval(context.Background(), feed, out)
	if err != nil {
		t.Fatal(err)
	}
	if want := ran(t, c.g, c.out, G.EvalMode()); !near(v[out].Data, want) {
		t.Errorf("the prediction is %v, want %v", v[out].Data, want)
	}
	if len(m.Step) != 0 {
		t.Errorf("%d updates in evaluation", len(m.Step))
	}
}

// TestImportedDropout: about the rate that is asked for is dropped, and the rest grows, in gorgonia's
// derivative too, where gorgonia divides by the rate.
func TestImportedDropout(t *testing.T) {
	g := G.NewGraph()
	x := G.NewVector(g, G.Float64, G.WithShape(1000), G.WithName("x"), G.WithInit(G.Ones()))
	y := G.Must(G.Dropout(x, 0.25))
	d, err := G.Grad(G.Must(G.Sum(y)), x)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gorgonia.Import(g)
	if err != nil {
		t.Fatal(err)
	}
	ys, ds := m.Node(y), m.Node(d[0])
	v, err := m.Store.Eval(context.Background(), nil, ys, ds)
	if err != nil {
		t.Fatal(err)
	}
	kept := 0
	for i, e := range v[ys].Data {
		switch {
		case e == 0:
		case math.Abs(e-4.0/3) < 1e-9:
			kept++
		default:
			t.Fatalf("element %d is %v", i, e)
		}
		if v[ds].Data[i] != e {
			t.Fatalf("the derivative of element %d is %v, want %v", i, v[ds].Data[i], e)
		}
	}
	if kept < 700 || kept > 800 {
		t.Errorf("%d of 1000 are kept", kept)
	}
}

// odd is an operation of a program's own.
type odd struct{ G.Op }

func (odd) String() string { return "odd" }

// TestNotImported: all nodes without a counterpart are in one error, each with its number, name and
// operation, and none for what only they keep from being imported.
func TestNotImported(t *testing.T) {
	g := G.NewGraph()
	x := array(g, "x", 2, 3)
	op := G.Must(G.Tanh(array(G.NewGraph(), "x", 2, 3))).Op()
	a, err := G.ApplyOpWithName(odd{op}, "mine", x)
	if err != nil {
		t.Fatal(err)
	}
	if _, err = G.Exp(a); err != nil {
		t.Fatal(err)
	}
	boxes := G.NewTensor(g, G.Float32, 4, G.WithShape(1, 12, 2, 2), G.WithName("boxes"))
	marks := G.NewTensor(g, G.Float32, 4, G.WithShape(1, 12, 2, 2), G.WithName("marks"))
	y := G.Must(G.YOLOv3(boxes, []float32{1, 1, 2, 2}, []int{0, 1}, 4, 1, 0.5, marks))
	_, err = gorgonia.Import(g)
	want := fmt.Sprintf("gorgonia's node %d \"mine\", odd: there is no counterpart for it\n"+
		"gorgonia's node %d, YOLO{}(anchors: ([1 1 2 2])): its training chooses among boxes by their overlap with targets, for which there is no counterpart", a.ID(), y.ID())
	if err == nil || err.Error() != want {
		t.Errorf("got  %v\nwant %s", err, want)
	}
	var n *gorgonia.NotImported
	if !errors.As(err, &n) || n.ID != a.ID() || n.Name != "mine" {
		t.Errorf("%+v", n)
	}
	diverged := G.NewGraph()
	G.NewVector(diverged, G.Float64, G.WithName("w"), G.WithShape(2), G.WithValue(tensor.New(tensor.WithBacking([]float64{1, math.NaN()}))))
	if _, err := gorgonia.Import(diverged); err == nil || err.Error() != `gorgonia's node 0 "w", variable: element 1 of its value is NaN: a parameter starts at finite numbers` {
		t.Error(err)
	}
	steps := G.NewGraph()
	part := G.Must(G.Slice(array(steps, "long", 7), G.S(1, 6, 2)))
	if _, err := gorgonia.Import(steps); err == nil || err.Error() != fmt.Sprintf("gorgonia's node %d, T[1:6:2...]: its counterpart has the shape [3], and it [2]", part.ID()) {
		t.Error(err)
	}
	if _, err := gorgonia.Import(steps, gorgonia.Params(part), gorgonia.Inputs(nil)); err == nil || err.Error() != "Params and Inputs want variables: one of them is nil\n"+
		fmt.Sprintf("gorgonia's node %d, T[1:6:2...]: it is computed, and Params and Inputs want variables", part.ID()) {
		t.Error(err)
	}
	if _, err := gorgonia.Import(nil); err == nil || err.Error() != "there is no graph: G.NewGraph makes one" {
		t.Error(err)
	}
}

// TestTrainerOfImportedNets: a trainer builds gorgonia's graph for each size of batch and mode, and
// trains all on one store, which starts at gorgonia's values.
func TestTrainerOfImportedNets(t *testing.T) {
	var failed error
	build := func(rows int, mode train.Mode) *train.Net {
		g := G.NewGraph()
		x := G.NewMatrix(g, G.Float64, G.WithName("x"), G.WithShape(rows, 4))
		y := G.NewVector(g, G.Float64, G.WithName("y"), G.WithShape(rows))
		w := array(g, "w", 4)
		pred := G.Must(G.Mul(G.Must(G.Dropout(x, 0.01)), w))
		cost := G.Must(G.Mean(G.Must(G.Square(G.Must(G.Sub(pred, y))))))
		options := []gorgonia.ImportOption{gorgonia.Params(w)}
		if mode != train.Training {
			options = append(options, gorgonia.Evaluating())
		}
		m, err := gorgonia.Import(g, options...)
		if err != nil {
			failed = err
			return nil
		}
		return &train.Net{Loss: m.Node(cost), Output: m.Node(pred), Step: m.Step}
	}
	x, y := array(G.NewGraph(), "x", 50, 4).Value().(*tensor.Dense), make([]float64, 50)
	for i := range y {
		for k, v := range []float64{1, -2, 0, 3} {
			y[i] += v * x.Float64s()[4*i+k]
		}
	}
	set, err := data.NewSet(map[string]*tensor.Dense{"x": x, "y": tensor.New(tensor.WithBacking(y))})
	if err != nil {
		t.Fatal(err)
	}
	ctx := context.Background()
	trainer := &train.Trainer{Build: build, Optimiser: train.Adam(0.05), Seed: 1}
	defer trainer.Close()
	before, err := trainer.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil || failed != nil {
		t.Fatal(err, failed)
	}
	if w, err := trainer.Store().Get("w"); err != nil || !near(w.Float64s(), array(G.NewGraph(), "w", 4).Value().Data().([]float64)) {
		t.Errorf("training starts at %v: %v", w, err)
	}
	if err := trainer.Fit(ctx, train.Plan{Data: data.Shuffled(set, 16, 1), Epochs: 60}); err != nil {
		t.Fatal(err)
	}
	after, err := trainer.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil {
		t.Fatal(err)
	}
	if !(after[0].Value < 0.02*before[0].Value) {
		t.Errorf("%v before, %v after", before, after)
	}
}
