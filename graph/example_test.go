package graph_test

import (
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// A straight line through the origin and its squared distance from the targets. The node that an
// operation returns is described by its name and shape; what it is made of stands in the graph.
func Example() {
	g := graph.New("line")
	n := graph.Ax("n", 150)
	x, y := g.Input("x", graph.F32, n), g.Input("y", graph.F32, n)
	w := g.Param("w", graph.F32)
	loss := ops.Mean(ops.Square(ops.Sub(ops.Mul(w, x), y))).As("loss")
	if err := g.Err(); err != nil {
		log.Fatal(err)
	}
	for _, n := range graph.Reachable(loss) {
		fmt.Println(graph.OpText(n.Op()), n.Type())
	}
	// Output:
	// input{path="x" type=f32[n=150]} f32[n=150]
	// input{path="y" type=f32[n=150]} f32[n=150]
	// param{path="w" type=f32[]} f32[]
	// Broadcast{to=[n=150]} f32[n=150]
	// Mul f32[n=150]
	// Sub f32[n=150]
	// Square f32[n=150]
	// Mean{axes=[0]} f32[]
}

// Equal calls give one node.
func ExampleGraph_Apply() {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	a, b := ops.Exp(x), ops.Exp(x)
	fmt.Println(a == b, g.Len())
	// Output: true 2
}

func ExampleGraph_Input() {
	g := graph.New("g")
	image := g.Input("image", graph.F32, graph.Ax("b", 32), graph.Ax("h", 28), graph.Ax("w", 28))
	label := g.Input("label", graph.I64, graph.Ax("b", 32))
	unnamed := g.Input("table", graph.F64, graph.Dims(150, 4)...)
	fmt.Println(image, image.Type())
	fmt.Println(label, label.Type())
	fmt.Println(unnamed, unnamed.Type())
	// Output:
	// image[b=32 h=28 w=28] f32[b=32 h=28 w=28]
	// label[b=32] i64[b=32]
	// table[150 4] f64[150 4]
}

// A scalar input need not be fed.
func ExampleGraph_Scalar() {
	g := graph.New("g")
	temperature := g.Scalar("T", 0.5)
	v, ok := temperature.Default()
	fmt.Println(temperature, v, ok)
	// Output: T[] 0.5 true
}

func ExampleGraph_Param() {
	g := graph.New("g")
	in, out := graph.Ax("in", 784), graph.Ax("out", 10)
	w := g.Param("w", graph.F32, in, out)
	b := g.Param("b", graph.F32, out)
	gain := g.Param("gain", graph.F32, out).Init(initial.Fill(1))
	for _, p := range []*graph.Node{w, b, gain} {
		fmt.Println(p, p.Initialiser())
	}
	// Output:
	// w[in=784 out=10] glorot
	// b[out=10] zeros
	// gain[out=10] fill(1)
}

// A running mean, which each step moves a tenth of the way.
func ExampleGraph_Assign() {
	g := graph.New("g")
	x := g.Input("x", graph.F32)
	mean := g.State("mean", graph.F32)
	u := g.Assign(mean, ops.Add(ops.Scale(mean, 0.9), ops.Scale(x, 0.1)))
	fmt.Println(u.Target, len(g.Updates()), g.Err())
	// Output: mean[] 1 <nil>
}

// Scopes nest, and prefix the paths of parameters.
func ExampleGraph_Scope() {
	g := graph.New("g")
	layer := func(name string) *graph.Node {
		defer g.Scope(name)()
		return g.Param("w", graph.F32, graph.Dims(3, 3)...)
	}
	end := g.Scope("encoder")
	first, second := layer("0"), layer("1")
	end()
	fmt.Println(first.Path(), second.Path(), g.Lookup("encoder/1/w") == second)
	// Output: encoder/0/w encoder/1/w true
}

// Named nodes are found and printed by their names.
func ExampleNode_As() {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	p := ops.Softmax(x, "i").As("p")
	fmt.Println(p, ops.Log(p), g.Lookup("p") == p)
	// Output: p[i=3] %2[i=3] true
}

// Mistakes are collected. Each names the line of the call, which is left out here.
func ExampleGraph_Err() {
	g := graph.New("g")
	x := g.Input("x", graph.F32, graph.Ax("b", 32), graph.Ax("in", 784))
	w := g.Param("w", graph.F32, graph.Ax("in", 785), graph.Ax("out", 10))
	h := ops.ReLU(ops.MatMul(x, w)) // 784 ≠ 785; what follows from a mistake is silent
	ops.Sum(x, "class")
	fmt.Println(h.IsValid())
	for _, e := range g.Err().(graph.Errors) {
		fmt.Println(e.Op, e.Err, e.Operands)
	}
	// Output:
	// false
	// MatMul inner axes differ (784 ≠ 785) [x[b=32 in=784] w[in=785 out=10]]
	// Sum no axis "class" in [b=32 in=784] [x[b=32 in=784]]
}

// Axes meet from the last one; a name is checked, and moves no axis.
func ExampleAlign() {
	shape := func(axes ...graph.Axis) graph.Shape {
		s, err := graph.NewShape(axes...)
		if err != nil {
			log.Fatal(err)
		}
		return s
	}
	points := shape(graph.Ax("n", 150), graph.Ax("d", 4))
	fmt.Println(graph.Align(points, shape(graph.Ax("d", 4))))
	fmt.Println(graph.Align(points, shape(graph.Ax("n", 150), graph.Ax("", 1))))
	_, err := graph.Align(points, shape(graph.Ax("k", 4)))
	fmt.Println(err)
	// Output:
	// [n=150 d=4] <nil>
	// [n=150 d=4] <nil>
	// axis "d" meets axis "k"
}

// A graph that is read from text needs the operations that may stand in it.
func ExampleParse() {
	const text = `graph "line"
%0 = input{path="x" type=f32[i=150]} : f32[i=150] ; "x" @main.go:9
%1 = param{path="w" type=f32[]} : f32[] ; "w" @main.go:10
%2 = Broadcast{to=[i=150]} %1 : f32[i=150] ; @main.go:11
%3 = Mul %0 %2 : f32[i=150] ; "y" @main.go:11
`
	var vocabulary []graph.Op
	for _, op := range ops.List() {
		vocabulary = append(vocabulary, op)
	}
	g, err := graph.Parse(strings.NewReader(text), vocabulary...)
	if err != nil {
		log.Fatal(err)
	}
	y := g.Lookup("y")
	fmt.Println(y, y.First().Pos, g.String() == text)
	_, err = graph.Parse(strings.NewReader(strings.Replace(text, "f32[i=150] ; \"y\"", "f32[i=15] ; \"y\"", 1)), vocabulary...)
	fmt.Println(err)
	// Output:
	// y[i=150] main.go:11 true
	// line 5: Mul has type f32[i=150], not f32[i=15]
}

// Verify is for those who change graphs: what package ops builds is sound.
func ExampleVerify() {
	g := graph.New("g")
	ops.Exp(g.Input("x", graph.F32))
	fmt.Println(graph.Verify(g))
	// Output: <nil>
}

func ExampleNode_DependsOn() {
	g := graph.New("g")
	x, y := g.Input("x", graph.F32), g.Input("y", graph.F32)
	z := ops.Exp(x)
	fmt.Println(z.DependsOn(x), z.DependsOn(y))
	// Output: true false
}
