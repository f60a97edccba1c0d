package lab_test

import (
	"context"
	"fmt"
	"log"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// Two ways to fit a line through points of which some are far off: each trains it, and
// each judges what the other left.
func ExampleCompare() {
	i := graph.Ax("i", 64)
	fit := func(name string, distance func(*graph.Node) *graph.Node) lab.Variant {
		return lab.LossFunc(name, func(g *graph.Graph) *graph.Node {
			x, y := g.Input("x", graph.F64, i), g.Input("y", graph.F64, i)
			w, b := g.Param("w", graph.F64), g.Param("b", graph.F64)
			return ops.Mean(distance(ops.Sub(ops.Add(ops.Mul(x, w), b), y)), "i")
		})
	}
	shape, _ := graph.NewShape(i)
	points := func(rng *rand.Rand) map[string]graph.Value {
		x := graph.NewValue(graph.Type{DType: graph.F64, Shape: shape})
		y := graph.NewValue(x.Type)
		for p := range x.Data {
			x.Data[p] = rng.NormFloat64()
			if y.Data[p] = 2 * x.Data[p]; p%4 == 0 {
				y.Data[p] = 20 * rng.Float64()
			}
		}
		return map[string]graph.Value{"x": x, "y": y}
	}
	res, err := lab.Compare(context.Background(), lab.Config{
		Optimisers: []train.Optimiser{train.SGD(0.1), train.SGD(0.01)},
		Seeds:      8,
		Steps:      100,
		Examples:   points,
	}, fit("squared", ops.Square), fit("absolute", ops.Abs))
	if err != nil {
		log.Fatal(err)
	}
	fmt.Print(res)
	// Output:
	// 2 objectives × 2 optimisers × 8 seeds: 32 trainings of 100 steps
	//
	// squared: 2 numbers trained; steps until the loss is down to 29.71
	//   loss at the end  median  quartiles    steps
	//   sgd(0.1)          28.97  28.4 … 30.1      4  not told apart (p = 0.057), 0 of 8 converged
	//   sgd(0.01)         28.96  28.5 … 30.3     11  best, 0 of 8 converged
	//
	// absolute: 2 numbers trained; steps until the loss is down to 2.713
	//   loss at the end  median  quartiles    steps
	//   sgd(0.1)          2.595  2.55 … 2.63     23  best, 0 of 8 converged
	//   sgd(0.01)         3.368  3.29 … 3.43  never  worse (p < 0.001), 0 of 8 converged
	//
	// Trained by the row, judged by the column: median over the seeds at the best setting
	//               by 1         by 2
	//   1  squared  28.17 a      3.649 b
	//   2  absolute 34.61 b      2.538 a
	// In a column, what shares no letter differs by more than noise; a is among the best.
	//
	// Differences at the best settings, seed by seed: mean ± 95 %; p by Student's t, Holm over all pairs
	// loss at the end
	//   absolute − squared: −26.6 ± 1.1, exceeds the noise (p < 0.001)
	// loss of squared
	//   absolute − squared: 6.36 ± 0.57, exceeds the noise (p < 0.001)
	// loss of absolute
	//   absolute − squared: −1.129 ± 0.045, exceeds the noise (p < 0.001)
	//
	// 32 of 32 trainings have not converged: their numbers say where they were stopped, not where
	// the objective leads.
	// A run has converged if in the last tenth of its steps what is trained stays within 0.1 % of
	// its size of where it was before them, while no schedule changes the loss, and if at the end
	// the gradient of the loss, times that size, is at most 0.1 % of the largest loss of the run.
	// The size is the norm of the parameters.
}
