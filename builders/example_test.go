package builders_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz"
)

// A model of the registry, with its own small task, is trained for 100 steps.
func Example() {
	m, err := builders.Build("autoencoder", builders.Settings{"k": 2}, graph.F32)
	if err != nil {
		log.Fatal(err)
	}
	step := train.Adam(0.01).Minimize(m.Loss, m.Params()...)
	program, err := tape.Compile(m.Graph, tape.Fetch(m.Loss), tape.Do(step))
	if err != nil {
		log.Fatal(err)
	}
	vm, err := program.NewVM(tape.NewStore(m.Graph, tape.Seed(1)))
	if err != nil {
		log.Fatal(err)
	}
	defer vm.Close()
	rng := rand.New(rand.NewPCG(1, 2))
	var losses []float32
	for range 100 {
		feed := tape.Tensors(m.Examples(rng))
		if err := vm.Run(context.Background(), feed); err != nil {
			log.Fatal(err)
		}
		loss, err := vm.Value(m.Loss)
		if err != nil {
			log.Fatal(err)
		}
		losses = append(losses, loss.ScalarValue().(float32))
	}
	fmt.Println(m.Builder.Title, losses[99] < losses[0]/2)
	// Output: autoencoder true
}

// A builder says which settings it has; what is missing takes the default.
func ExampleLookup() {
	b, err := builders.Lookup("kmeans-softmax")
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(b.Formula)
	for _, h := range b.Hyperparameters {
		fmt.Printf("%s = %s, a %v: %s\n", h.Name, h.Format(h.Default), h.Kind, h.Doc)
	}
	// Output:
	// αᵢⱼ = softmaxⱼ(−γ‖xᵢ − rⱼ‖²);  loss = meanᵢ Σⱼ αᵢⱼ‖xᵢ − rⱼ‖²
	// n = 150, a count: points in a batch
	// d = 4, a count: features of a point
	// k = 3, a count: clusters
	// gamma = 1, a real: inverse temperature γ: how sharply α prefers the nearest centre
}

// The objective of soft k-means on points of one's own.
func ExampleSoftKMeans() {
	g := graph.New("clusters")
	i, j, d := graph.Ax("i", 4), graph.Ax("j", 2), graph.Ax("d", 2)
	x, γ := g.Input("x", graph.F32, i, d), g.Scalar("γ", 1, graph.F32)
	m := builders.SoftKMeans(x, g.Param("r", graph.F32, j, d), γ)
	fmt.Println(m.SqDist.Shape(), m.Alpha.Shape(), m.Loss.Shape())
	for _, e := range viz.Equations(m.Loss) {
		fmt.Println(e)
	}
	// Output:
	// [i=4 j=2] [i=4 j=2] []
	// Δ_{ijd} = x_{id} − r_{jd}
	// Dᵢⱼ = ‖Δᵢⱼ‖²
	// αᵢⱼ = softmaxⱼ(−γ·Dᵢⱼ)
	// loss = meanᵢ Σⱼ αᵢⱼ·Dᵢⱼ
}

// Ridge regression: the quantities are nodes, to be fetched, drawn or minimised.
func ExampleRidge() {
	g := graph.New("ridge")
	i, d := graph.Ax("i", 100), graph.Ax("d", 3)
	x, y := g.Input("x", graph.F32, i, d), g.Input("y", graph.F32, i)
	m := builders.Ridge(x, g.Param("w", graph.F32, d).Init(initial.Zeros()), y, g.Scalar("λ", 0.1, graph.F32))
	for _, e := range viz.Equations(m.Loss) {
		fmt.Println(e)
	}
	// Output:
	// ŷᵢ = Σ_d x_{id}·w_d
	// penalty = λ·‖w‖²
	// loss = ‖ŷ − y‖² + penalty
}

// An entry of one's own is checked as those of the registry are.
func ExampleDefine() {
	mine := builders.Define(builders.Builder{
		Name: "median", Title: "a centre that outliers barely move",
		Hyperparameters: []builders.Hyperparameter{{Name: "n", Default: 50, Kind: builders.Count, Doc: "points"}},
	}, func(s builders.Settings, dt graph.DType, m *builders.Model) {
		x := m.Graph.Input("x", dt, graph.Ax("i", s.Int("n")))
		m.Output = m.Graph.Param("centre", dt)
		m.Loss = nn.Huber(x, m.Output, ops.Lit(x, 1)).As("loss")
	})
	m, err := mine.Build(builders.Settings{"n": 8}, graph.F64)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(m.Loss.Type(), m.Params())
	_, err = mine.Build(builders.Settings{"n": 0}, graph.F64)
	fmt.Println(err)
	// Output:
	// f64[] [centre[]]
	// median: n = 0: want a whole number of at least 1
}

// A small transformer that says what comes next.
func ExampleCharacterGPT() {
	g := graph.New("gpt")
	vocabulary, t := graph.Ax("w", 65), graph.Ax("t", 32)
	tokens := g.Input("tokens", graph.I64, graph.Ax("b", 4), t)
	net := builders.CharacterGPT(g, graph.F32, vocabulary, t)
	logits := net.Of(tokens)
	numbers := 0
	for _, p := range g.Leaves(graph.RoleParam) {
		numbers += p.Shape().Len()
	}
	fmt.Println(logits.Shape(), numbers, "numbers to learn", g.Err())
	// Output: [b=4 t=32 w=65] 110529 numbers to learn <nil>
}
