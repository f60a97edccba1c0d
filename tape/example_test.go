package tape_test

import (
	"context"
	"fmt"
	"log"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// must ends the program on an error.
func must(err error) {
	if err != nil {
		log.Fatal(err)
	}
}

// distance builds loss = mean_i (x_i − c)², with an input x[i=4] and a parameter c.
func distance() (g *graph.Graph, x, c, loss *graph.Node) {
	g = graph.New("distance")
	x = g.Input("x", graph.F32, graph.Ax("i", 4))
	c = g.Param("c", graph.F32)
	return g, x, c, ops.Mean(ops.Square(ops.Sub(x, c))).As("loss")
}

// fourPoints returns the value [1 2 3 4] for x.
func fourPoints(x *graph.Node) tape.Feed {
	return tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: []float64{1, 2, 3, 4}})}
}

// A graph is compiled once, and run as often as there are data.
func Example() {
	g, x, c, loss := distance()
	program, err := tape.Compile(g, tape.Fetch(loss, grad.Of(loss, c)[0]))
	must(err)
	vm, err := program.NewVM(tape.NewStore(g))
	must(err)
	defer vm.Close()
	must(vm.Run(context.Background(), fourPoints(x)))
	l, err := vm.Float(loss)
	must(err)
	d, err := vm.Float(grad.Of(loss, c)[0]) // an equal node is the same node
	must(err)
	fmt.Println(l, d)
	// Output: 7.5 -5
}

// A graph with a mistake does not compile: the error has all of them, each with its line.
func ExampleCompile() {
	g := graph.New("mistake")
	x := g.Input("x", graph.F32, graph.Ax("i", 4), graph.Ax("d", 3))
	_, err := tape.Compile(g, tape.Fetch(ops.Sum(x, "j")))
	_, mistake, _ := strings.Cut(err.Error(), ": ") // without the line
	fmt.Println(mistake)
	// Output: Sum: no axis "j" in [i=4 d=3]: x[i=4 d=3]
}

// What is fetched can be read after each run; everything else may be fused away.
func ExampleFetch() {
	g, x, c, loss := distance()
	centred := ops.Sub(x, c)
	program, err := tape.Compile(g, tape.Fetch(loss, centred))
	must(err)
	vm, err := program.NewVM(tape.NewStore(g))
	must(err)
	defer vm.Close()
	must(vm.Run(context.Background(), fourPoints(x)))
	v, err := vm.Value(centred)
	must(err)
	fmt.Println(v.Shape(), v.Data())
	// Output: (4) [1 2 3 4]
}

// The updates of a step are written to the store at the end of each run.
func ExampleDo() {
	g, x, c, loss := distance()
	program, err := tape.Compile(g, tape.Fetch(loss), tape.Do(train.SGD(0.25).Minimize(loss)))
	must(err)
	store := tape.NewStore(g)
	vm, err := program.NewVM(store)
	must(err)
	defer vm.Close()
	for range 4 {
		must(vm.Run(context.Background(), fourPoints(x)))
		value, err := store.Get(c.Path())
		must(err)
		fmt.Println(value.Data())
	}
	// Output:
	// 1.25
	// 1.875
	// 2.1875
	// 2.34375
}

// A fresh store fills parameters by their initialisers, from its seed.
func ExampleNewStore() {
	g := graph.New("parameters")
	g.Param("w", graph.F32, graph.Ax("d", 2), graph.Ax("h", 3))
	g.Param("b", graph.F32, graph.Ax("h", 3)).Init(initial.Fill(1))
	for _, seed := range []uint64{1, 1, 2} {
		store := tape.NewStore(g, tape.Seed(seed))
		w, err := store.Get("w")
		must(err)
		b, err := store.Get("b")
		must(err)
		fmt.Printf("%.2f %v\n", w.Data(), b.Data())
	}
	fmt.Println(tape.NewStore(g).Paths())
	// Output:
	// [-0.45 0.79 0.25 -1.11 -0.87 0.49] [1 1 1]
	// [-0.45 0.79 0.25 -1.11 -0.87 0.49] [1 1 1]
	// [1.14 -0.40 -0.62 0.26 -0.59 -1.06] [1 1 1]
	// [b w]
}

// Equal seeds give equal parameters and equal draws.
func ExampleSeed() {
	g := graph.New("draw")
	ε := ops.RandomNormal(g, "ε", graph.F64)
	program, err := tape.Compile(g, tape.Fetch(ε))
	must(err)
	for _, seed := range []uint64{7, 7, 8} {
		vm, err := program.NewVM(tape.NewStore(g, tape.Seed(seed)))
		must(err)
		defer vm.Close()
		for range 2 {
			must(vm.Run(context.Background(), nil))
			v, err := vm.Float(ε)
			must(err)
			fmt.Printf("%.3f ", v)
		}
	}
	// Output: 0.937 -0.529 0.937 -0.529 -1.320 -0.210
}

// Parameters can be read and set by their paths.
func ExampleStore_Set() {
	g, x, c, loss := distance()
	program, err := tape.Compile(g, tape.Fetch(loss))
	must(err)
	store := tape.NewStore(g)
	must(store.Set(c.Path(), tape.Scalar(graph.F32, 2.5)))
	vm, err := program.NewVM(store)
	must(err)
	defer vm.Close()
	must(vm.Run(context.Background(), fourPoints(x)))
	l, err := vm.Float(loss)
	must(err)
	fmt.Println(l)
	// Output: 1.25
}

// A value of a graph, in float64 whatever its type, as a tensor of its type.
func ExampleTensor() {
	shape, err := graph.NewShape(graph.Ax("i", 2), graph.Ax("d", 2))
	must(err)
	v := graph.Value{Type: graph.Type{DType: graph.F32, Shape: shape}, Data: []float64{1, 2, 3, 4}}
	t := tape.Tensor(v)
	fmt.Println(t.Dtype(), t.Shape(), t.Data())
	// Output: float32 (2, 2) [1 2 3 4]
}

// A scalar input with a default takes another value where one is fed.
func ExampleScalar() {
	g := graph.New("scalar")
	γ := g.Scalar("γ", 1)
	y := ops.Square(γ)
	program, err := tape.Compile(g, tape.Fetch(y))
	must(err)
	vm, err := program.NewVM(tape.NewStore(g))
	must(err)
	defer vm.Close()
	for _, feed := range []tape.Feed{nil, {γ: tape.Scalar(γ.DType(), 3)}} {
		must(vm.Run(context.Background(), feed))
		v, err := vm.Float(y)
		must(err)
		fmt.Println(v)
	}
	// Output:
	// 1
	// 9
}

// Results are the same, bit for bit, for any number of workers.
func ExampleWorkers() {
	g := graph.New("sum")
	x := g.ConstantFunc(graph.F32, func(data []float64) {
		for i := range data {
			data[i] = 1 / float64(i+1)
		}
	}, graph.Ax("i", 1<<16))
	y := ops.Sum(ops.Exp(ops.Mul(x, g.Scalar("γ", 1))))
	program, err := tape.Compile(g, tape.Fetch(y))
	must(err)
	var sums []float64
	for _, workers := range []int{1, 4} {
		vm, err := program.NewVM(tape.NewStore(g), tape.Workers(workers))
		must(err)
		defer vm.Close()
		must(vm.Run(context.Background(), nil))
		v, err := vm.Float(y)
		must(err)
		sums = append(sums, v)
	}
	fmt.Println(sums[0] == sums[1])
	// Output: true
}

// Without rewrites, the program computes the graph as it is written.
func ExamplePasses() {
	g := graph.New("log of a sigmoid")
	x := g.Input("x", graph.F32, graph.Ax("i", 4))
	y := ops.Log(ops.Sigmoid(x))
	for _, options := range [][]tape.Option{{}, {tape.Passes()}} {
		program, err := tape.Compile(g, append(options, tape.Fetch(y))...)
		must(err)
		var names []string
		for _, row := range program.Rows() {
			names = append(names, row.Op)
		}
		fmt.Println(names)
	}
	// Output:
	// [LogSigmoid]
	// [Sigmoid Log]
}

// With a budget, values are dropped after use and computed again: less memory, more arithmetic.
func ExampleBudget() {
	g := graph.New("deep")
	x := g.Input("x", graph.F32, graph.Ax("i", 256), graph.Ax("d", 64))
	h := x
	for k := range 32 {
		w := g.Param(fmt.Sprint("w", k), graph.F32, graph.Ax("", 64), graph.Ax("d", 64))
		h = ops.Tanh(ops.MatMul(h, w))
	}
	loss := ops.Mean(ops.Square(h))
	step := train.SGD(0.1).Minimize(loss)
	free, err := tape.Compile(g, tape.Do(step))
	must(err)
	tight, err := tape.Compile(g, tape.Do(step), tape.Budget(free.Arena()/4))
	must(err)
	rows, flops := tight.Recomputed()
	fmt.Println(tight.Arena() <= free.Arena()/4, len(rows) > 0, flops > 0)
	// Output: true true true
}
