package infer_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// The likeliest token, and draws from the two likeliest.
func ExampleSampler_Choose() {
	logits := []float64{1, 3, 2, 0}
	for _, s := range []infer.Sampling{{}, {Temperature: 1, TopK: 2, Seed: 1}} {
		sampler, err := infer.NewSampler(s)
		if err != nil {
			log.Fatal(err)
		}
		var tokens []int32
		for range 8 {
			token, err := sampler.Choose(logits)
			if err != nil {
				log.Fatal(err)
			}
			tokens = append(tokens, token)
		}
		fmt.Println(tokens)
	}
	// Output:
	// [1 1 1 1 1 1 1 1]
	// [1 1 1 1 2 1 1 1]
}

// Five rows by a net for batches of two and a net for one: two batches and one row.
func ExampleNewPredictor() {
	const dt = graph.F32
	d, k := graph.Ax("d", 3), graph.Ax("k", 2)
	var nets []infer.Forward
	var store *tape.Store
	for _, rows := range []int{2, 1} {
		g := graph.New("net")
		x := g.Input("x", dt, graph.Ax("n", rows), d)
		nets = append(nets, infer.Forward{Rows: rows, Output: nn.NewLinear(g, "out", dt, d, k).Of(x)})
		store = tape.NewStore(g, tape.Seed(1))
	}
	p, err := infer.NewPredictor(context.Background(), store, 1, nets...)
	if err != nil {
		log.Fatal(err)
	}
	defer p.Close()
	x := tensor.New(tensor.WithShape(5, 3), tensor.WithBacking(make([]float32, 15)))
	set, err := data.NewSet(map[string]*tensor.Dense{"x": x})
	if err != nil {
		log.Fatal(err)
	}
	y, err := p.Predict(context.Background(), set)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Println(p.Inputs(), p.Output(), y.Shape())
	// Output: [x f32[d=3]]  f32[k=2] (5, 2)
}
