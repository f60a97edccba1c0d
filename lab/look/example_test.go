package look_test

import (
	"context"
	"fmt"
	"log"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/lab/look"
	"github.com/tapestry-ml/tapestry/train"
)

func ExampleTrain() {
	ctx := context.Background()
	m, err := builders.Build("regression-relu", nil, graph.F64)
	if err != nil {
		log.Fatal(err)
	}
	r, err := look.Train(ctx, m, lab.Config{Steps: 100}, look.Spaced(100))
	if err != nil {
		log.Fatal(err)
	}
	units, err := r.Units(ctx)
	if err != nil {
		log.Fatal(err)
	}
	last := len(units[0].Steps) - 1
	fmt.Println("dead ReLUs:", units[0].Dead(0), "at the start,", units[0].Dead(last), "at the end")
	e, err := r.Elbows(ctx)
	if err != nil {
		log.Fatal(err)
	}
	fmt.Printf("the first elbow moves from %.2f to %.2f\n", e.At[0][0], e.At[len(e.At)-1][0])
	// Output:
	// dead ReLUs: 2 at the start, 3 at the end
	// the first elbow moves from 0.52 to 0.74
}

func ExampleRun_Quadratic() {
	ctx := context.Background()
	m, err := builders.Build("regression-ols", nil, graph.F64)
	if err != nil {
		log.Fatal(err)
	}
	const rate = 0.02
	r, err := look.Train(ctx, m, lab.Config{Steps: 20, OneBatch: true, Optimisers: []train.Optimiser{train.SGD(rate)}}, nil)
	if err != nil {
		log.Fatal(err)
	}
	q, err := r.Quadratic(ctx)
	if err != nil {
		log.Fatal(err)
	}
	l, err := q.Learned(ctx, rate)
	if err != nil {
		log.Fatal(err)
	}
	for k, σ := range q.Sigma {
		fmt.Printf("σ = %.3f: %.4f of the solution after %d steps, predicted %.4f\n", σ, l.Part[1][k], l.Steps[1], l.Predicted[1][k])
	}
	// Output:
	// σ = 3.718: 1.0000 of the solution after 20 steps, predicted 1.0000
	// σ = 2.170: 0.9846 of the solution after 20 steps, predicted 0.9846
	// σ = 1.213: 0.7029 of the solution after 20 steps, predicted 0.7029
	// σ = 0.876: 0.4638 of the solution after 20 steps, predicted 0.4638
}

func ExampleRun_Receptive() {
	ctx := context.Background()
	m, err := builders.Build("unet", builders.Settings{"size": 32}, graph.F64)
	if err != nil {
		log.Fatal(err)
	}
	store, err := lab.NewStore(m, 0)
	if err != nil {
		log.Fatal(err)
	}
	r, err := look.At(m, store, 0)
	if err != nil {
		log.Fatal(err)
	}
	f, err := r.Receptive(ctx)
	if err != nil {
		log.Fatal(err)
	}
	for _, l := range f.Layers[:5] {
		fmt.Println(l.Name, l.Extent)
	}
	// Output:
	// unet/down1 [3 3]
	// unet (1) [4 4]
	// unet/down2 [8 8]
	// unet (2) [10 10]
	// unet/bottom [18 18]
}
