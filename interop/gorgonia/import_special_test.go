package gorgonia_test

import (
	"context"
	"math"
	"math/rand/v2"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/tape"
	G "gorgonia.org/gorgonia"
	"gorgonia.org/tensor"
)

// imports imports a graph, and gives the value of a node.
func imports(t *testing.T, g *G.ExprGraph, n *G.Node, options ...gorgonia.ImportOption) (*gorgonia.Imported, []float64) {
	t.Helper()
	m, err := gorgonia.Import(g, options...)
	if err != nil {
		t.Fatal(err)
	}
	feed, err := m.Feed()
	if err != nil {
		t.Fatal(err)
	}
	y := m.Node(n)
	v, err := m.Store.Eval(context.Background(), feed, y)
	if err != nil {
		t.Fatal(err)
	}
	return m, v[y].Data
}

// TestImportedBoxes: the detection layer of YOLO gives gorgonia's boxes.
func TestImportedBoxes(t *testing.T) {
	const anchors, classes, grid = 2, 3, 3
	r := rand.New(rand.NewPCG(5, 5))
	data := make([]float32, anchors*(5+classes)*grid*grid)
	for i := range data {
		data[i] = float32(r.NormFloat64())
	}
	g := G.NewGraph()
	x := G.NewTensor(g, G.Float32, 4, G.WithShape(1, anchors*(5+classes), grid, grid), G.WithName("x"),
		G.WithValue(tensor.New(tensor.WithShape(1, anchors*(5+classes), grid, grid), tensor.WithBacking(data))))
	y := G.Must(G.YOLOv3(x, []float32{10, 14, 23, 27}, []int{0, 1}, 96, classes, 0.5))
	_, got := imports(t, g, y)
	v, err := G.CloneValue(x.Value())
	if err != nil {
		t.Fatal(err)
	}
	want, err := y.Op().Do(v)
	if err != nil {
		t.Fatal(err)
	}
	for i, w := range want.Data().([]float32) {
		if !(math.Abs(got[i]-float64(w)) <= 1e-4*max(1, math.Abs(float64(w)))) {
			t.Fatalf("element %d is %v, want %v", i, got[i], w)
		}
	}
}

// TestImportedPadding: four numbers of padding are above, below, left and right, or, for a program
// that has come to terms with gorgonia, what gorgonia makes of them.
func TestImportedPadding(t *testing.T) {
	g := G.NewGraph()
	x := G.NewTensor(g, G.Float64, 4, G.WithShape(1, 1, 2, 2), G.WithName("x"),
		G.WithValue(tensor.New(tensor.WithShape(1, 1, 2, 2), tensor.WithBacking([]float64{1, 2, 3, 4}))))
	y := G.Must(G.MaxPool2D(x, tensor.Shape{2, 2}, []int{1, 0, 1, 0}, []int{1, 1}))
	if _, got := imports(t, g, y); !near(got, []float64{1, 2, 3, 4}) {
		t.Errorf("padded above and left: %v", got)
	}
	if _, got := imports(t, g, y, gorgonia.Mirrored()); !near(got, ran(t, g, y)) || !near(got, []float64{4, 4, 4, 4}) {
		t.Errorf("as gorgonia computes it: %v, want %v", got, ran(t, g, y))
	}
}

// TestImportedRoles: what Grad was asked for is a parameter; where it was asked for nothing, what has
// a value; and what the program says goes before both.
func TestImportedRoles(t *testing.T) {
	made := func() (g *G.ExprGraph, x, w, y *G.Node) {
		g = G.NewGraph()
		x, w = array(g, "x", 2, 3), array(g, "w", 3, 2)
		return g, x, w, G.Must(G.Sum(G.Must(G.Mul(x, w))))
	}
	roles := func(g *G.ExprGraph, y *G.Node, nodes G.Nodes, options ...gorgonia.ImportOption) string {
		m, _ := imports(t, g, y, options...)
		var all []string
		for _, n := range m.Nodes(nodes...) {
			all = append(all, n.Role().String())
		}
		return strings.Join(all, " ")
	}
	g, x, w, y := made()
	for want, options := range map[string][]gorgonia.ImportOption{
		"param param": nil, "input param": {gorgonia.Params(w)}, "param input": {gorgonia.Inputs(w)},
	} {
		if got := roles(g, y, G.Nodes{x, w}, options...); got != want {
			t.Errorf("%s, want %s", got, want)
		}
	}
	g, x, w, y = made()
	if _, err := G.Grad(y, w); err != nil {
		t.Fatal(err)
	}
	if got := roles(g, y, G.Nodes{x, w}); got != "input param" {
		t.Errorf("after Grad by w: %s", got)
	}
}

// TestImportedNames: variables of one name and different shapes have paths of their own, and one
// without a name has its number.
func TestImportedNames(t *testing.T) {
	g := G.NewGraph()
	a, b := array(g, "w", 2, 3), array(g, "w", 3, 2)
	c := G.NewMatrix(g, G.Float64, G.WithShape(2, 2), G.WithInit(G.Ones()))
	y := G.Must(G.Add(G.Must(G.Mul(a, b)), c))
	m, _ := imports(t, g, y)
	for i, want := range []string{"w", "w-2", "x2"} {
		if n := m.Node(G.Nodes{a, b, c}[i]); n.Path() != want {
			t.Errorf("%v has the path %q, want %q", n, n.Path(), want)
		}
	}
}

// TestImportedIndices: the model's examples draw indices within the table that they index.
func TestImportedIndices(t *testing.T) {
	g := G.NewGraph()
	table := array(g, "table", 5, 2)
	at := G.NewVector(g, G.Int, G.WithShape(50), G.WithName("at"))
	y := G.Must(G.Sum(G.Must(G.Square(G.Must(G.ByIndices(table, at, 0))))))
	m, err := gorgonia.Import(g)
	if err != nil {
		t.Fatal(err)
	}
	model, err := m.Builder("rows", nil, y).Build(nil, graph.F32)
	if err != nil {
		t.Fatal(err)
	}
	if dt := model.Loss.DType(); dt != graph.F32 {
		t.Errorf("the loss is of type %v", dt)
	}
	values, err := model.Draw(rand.New(rand.NewPCG(1, 2)))
	if err != nil {
		t.Fatal(err)
	}
	seen := map[float64]bool{}
	for _, i := range values[model.Inputs()[0]].Data {
		seen[i] = true
	}
	if len(seen) != 5 {
		t.Errorf("indices %v", seen)
	}
	if _, err := tape.Eval(context.Background(), tape.Tensors(values), model.Loss); err != nil {
		t.Error(err)
	}
}

// TestImportedDraws: random nodes have gorgonia's distributions.
func TestImportedDraws(t *testing.T) {
	const n = 20000
	for _, c := range []struct {
		name           string
		draw           func(g *G.ExprGraph) *G.Node
		mean, variance float64
	}{
		{"uniform", func(g *G.ExprGraph) *G.Node { return G.UniformRandomNode(g, G.Float64, 2, 5, n) }, 3.5, 0.75},
		{"normal", func(g *G.ExprGraph) *G.Node { return G.GaussianRandomNode(g, G.Float64, 2, 0.5, n) }, 2, 0.25},
		{"binomial", func(g *G.ExprGraph) *G.Node { return G.BinomialRandomNode(g, G.Float64, 3, 0.25, n) }, 0.75, 0.5625},
	} {
		g := G.NewGraph()
		x := c.draw(g)
		_, v := imports(t, g, x)
		mean, square := 0.0, 0.0
		for _, e := range v {
			mean += e / n
			square += e * e / n
		}
		if math.Abs(mean-c.mean) > 0.05 || math.Abs(square-mean*mean-c.variance) > 0.05 {
			t.Errorf("%s: mean %v and variance %v, want %v and %v", c.name, mean, square-mean*mean, c.mean, c.variance)
		}
	}
}

// TestImportedOddments: operations that nothing else of the tests builds.
func TestImportedOddments(t *testing.T) {
	g := G.NewGraph()
	x := array(g, "x", 2, 3)
	p := G.Must(G.Sigmoid(x))
	for name, y := range map[string]*G.Node{
		"At":         G.Must(G.At(x, 1, 2)),
		"DiagFlat":   G.Must(G.DiagFlat(x)),
		"BinaryXent": G.Must(G.BinaryXent(p, p)),
		"Gt":         G.Must(G.Gt(x, p, true)),
		"step":       G.Must(G.Slice(array(g, "long", 7), G.S(1, 7, 2))),
		"ConvType":   G.Must(G.ConvType(G.Must(G.ConvType(x, G.Float64, G.Int)), G.Int, G.Float64)),
	} {
		_, got := imports(t, g, y)
		want, err := y.Op().Do(argumentsOf(t, g, y)...)
		if err != nil {
			t.Fatalf("%s: %v", name, err)
		}
		var numbers []float64
		switch d := want.Data().(type) {
		case []float64:
			numbers = d
		case float64:
			numbers = []float64{d}
		}
		if name == "step" {
			numbers = []float64{}
			for i := 1; i < 7; i += 2 {
				numbers = append(numbers, array(G.NewGraph(), "long", 7).Value().Data().([]float64)[i])
			}
		}
		if !near(got, numbers) {
			t.Errorf("%s is %v, want %v", name, got, numbers)
		}
	}
}

// argumentsOf evaluates the operands of a node, operation by operation.
func argumentsOf(t *testing.T, g *G.ExprGraph, n *G.Node) (in []G.Value) {
	t.Helper()
	for it := g.From(n.ID()); it.Next(); {
		x := it.Node().(*G.Node)
		if x.Value() != nil {
			in = append(in, x.Value())
			continue
		}
		v, err := x.Op().Do(argumentsOf(t, g, x)...)
		if err != nil {
			t.Fatal(err)
		}
		in = append(in, v)
	}
	return in
}

// TestImportedDropoutOfImages: gorgonia's derivative of a dropout behind a convolution has the mask of
// the dropout, so that it is our own derivative; gorgonia's divides by the rate.
func TestImportedDropoutOfImages(t *testing.T) {
	g := G.NewGraph()
	x, w := array(g, "x", 2, 1, 5, 5), array(g, "w", 3, 1, 2, 2)
	h := G.Must(G.Conv2d(x, w, tensor.Shape{2, 2}, []int{0, 0}, []int{1, 1}, []int{1, 1}))
	y := G.Must(G.Sum(G.Must(G.Square(G.Must(G.Dropout(h, 0.4))))))
	d, err := G.Grad(y, w)
	if err != nil {
		t.Fatal(err)
	}
	m, err := gorgonia.Import(g)
	if err != nil {
		t.Fatal(err)
	}
	feed, err := m.Feed()
	if err != nil {
		t.Fatal(err)
	}
	theirs, ours := m.Node(d[0]), grad.Of(m.Node(y), m.Node(w))[0]
	v, err := m.Store.Eval(context.Background(), feed, theirs, ours)
	if err != nil {
		t.Fatal(err)
	}
	if !near(v[theirs].Data, v[ours].Data) {
		t.Errorf("gorgonia's derivative is %v, ours %v", v[theirs].Data, v[ours].Data)
	}
}

// TestImportedDetector: what gorgonia's tiny-yolo programs build: convolutions with biases of the
// image's shape, leaky rectifiers, pooling that is padded at one end, upsampling and joining.
func TestImportedDetector(t *testing.T) {
	g := G.NewGraph()
	layer := func(name string, x *G.Node, to int) *G.Node {
		c := G.Must(G.Conv2d(x, array(g, "w"+name, to, x.Shape()[1], 3, 3), tensor.Shape{3, 3}, []int{1, 1}, []int{1, 1}, []int{1, 1}))
		return G.Must(G.LeakyRelu(G.Must(G.Add(c, array(g, "bias"+name, c.Shape()...))), 0.1))
	}
	x := array(g, "x", 1, 3, 8, 8)
	a := G.Must(G.MaxPool2D(layer("a", x, 4), tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2}))
	b := G.Must(G.MaxPool2D(layer("b_", a, 5), tensor.Shape{2, 2}, []int{1, 0, 1, 0}, []int{1, 1}))
	c := G.Must(G.Upsample2D(G.Must(G.MaxPool2D(b, tensor.Shape{2, 2}, []int{0, 0}, []int{2, 2})), 2))
	y := layer("c__", G.Must(G.Concat(1, a, c)), 2)
	m, got := imports(t, g, y, gorgonia.Mirrored(), gorgonia.Inputs(x))
	if want := ran(t, g, y); !near(got, want) {
		t.Errorf("got  %v\nwant %v", got, want)
	}
	convolutions := 0
	for _, n := range graph.Reachable(m.Node(y)) {
		if n.Op().Name() == "Conv" {
			convolutions++
		}
	}
	if convolutions != 3 {
		t.Errorf("%d convolutions, want 3", convolutions)
	}
}

// TestImportedLabels: a loss that picks elements one by one, as gorgonia's stacked autoencoder does.
func TestImportedLabels(t *testing.T) {
	g := G.NewGraph()
	x, w := array(g, "x", 3, 4), array(g, "w", 4, 5)
	logs := G.Must(G.Neg(G.Must(G.Log(G.Must(G.SoftMax(G.Must(G.Mul(x, w))))))))
	var losses G.Nodes
	for i, correct := range []int{4, 0, 2} {
		losses = append(losses, G.Must(G.Slice(logs, G.S(i), G.S(correct))))
	}
	y := G.Must(G.Div(G.Must(G.ReduceAdd(losses)), G.NewConstant(3.0)))
	_, got := imports(t, g, y)
	if want := ran(t, g, y); !near(got, want) {
		t.Errorf("got %v, want %v", got, want)
	}
}
