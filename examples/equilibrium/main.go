// Equilibrium reads handwritten digits by a layer that is applied to itself until nothing changes:
// a net of any depth with the weights of one layer, and the memory of one.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// solver returns z for which z = f(z), or what comes near.
type solver func(z *graph.Node, f func(z *graph.Node) *graph.Node) *graph.Node

// implicit iterates until nothing changes; its derivative is that of the solution.
func implicit(tolerance float64, bound int) solver {
	return func(z *graph.Node, f func(z *graph.Node) *graph.Node) *graph.Node {
		eq := ops.Equation{Start: []*graph.Node{z}, Tolerance: tolerance, Steps: bound}
		solved := ops.FixedPoint(eq, func(z, _ []*graph.Node) []*graph.Node { return []*graph.Node{f(z[0])} })
		solved.Steps.As("course")
		return solved.X[0]
	}
}

// deep applies the layer so many times; its derivative goes back through all of them.
func deep(layers int) solver {
	return func(z *graph.Node, f func(z *graph.Node) *graph.Node) *graph.Node {
		loop := ops.Scan(ops.Loop{Carry: []*graph.Node{z}, Steps: layers}, func(z, _, _ []*graph.Node) (next, out []*graph.Node) {
			return []*graph.Node{f(z[0])}, nil
		})
		way := ops.Sub(loop.Trace[0], ops.Expand(loop.Final[0], 0, "t"))
		ops.Max(ops.Abs(way), 1, 2).As("course")
		return loop.Final[0]
	}
}

// net reads digits x[n p] by
//
//	z = tanh(z·W + x·U + b),  logits = z·V + c
//
// The columns of W have sums of magnitudes of at most 0.9, so that no two z keep more than 0.9 of
// the distance between them: there is one solution, and the iteration finds it.
func net(rows int, solve solver) *train.Net {
	g := graph.New("equilibrium")
	n, p, h, digit := graph.Ax("n", rows), graph.Ax("p", 64), graph.Ax("h", 64), graph.Ax("c", 10)
	x, y := g.Input("x", graph.F64, n, p), g.Input("y", graph.I32, n)
	ink := nn.NewLinear(g, "U", graph.F64, p, h).Of(ops.Scale(x, 1.0/16))
	w := nn.NewProjection(g, "W", graph.F64, h, h).W
	size := ops.Sum(ops.Abs(w), 0, ops.Keep)
	w = ops.Div(w, ops.Maximum(ops.Lit(size, 1), ops.Scale(size, 1/0.9))).As("W")
	z := solve(ops.ZerosLike(ink).As("start"), func(z *graph.Node) *graph.Node { return ops.Tanh(ops.Add(ops.MatMul(z, w), ink)).As("z") }).As("z∞")
	logits := nn.NewLinear(g, "V", graph.F64, h, digit).Of(z)
	return &train.Net{Loss: nn.CrossEntropy(logits, y).As("loss"), Output: logits}
}

// derivative is the gradient of the loss of a batch by all weights, and what it takes.
type derivative struct {
	gradient []float64
	course   []float64 // the number of steps, or how far from the last z each is
	memory   int       // bytes
}

func derive(ctx context.Context, store *tape.Store, batch data.Batch, solve solver) (d derivative, err error) {
	loss := net(batch.Rows, solve).Loss
	g := loss.Graph()
	gradient, course := ops.Flatten(grad.Of(loss, g.Params()...)...), g.Lookup("course")
	prog, err := tape.Compile(g, tape.Fetch(gradient, course))
	if err != nil {
		return d, err
	}
	feed := tape.Feed{g.Lookup("x"): batch.Values["x"], g.Lookup("y"): batch.Values["y"]}
	values, err := store.Eval(ctx, feed, gradient, course)
	return derivative{values[gradient].Data, values[course].Data, prog.Arena()}, err
}

// off returns the largest difference of two gradients, relative to the largest element.
func off(a, b []float64) float64 {
	worst, size := 0.0, 0.0
	for i, v := range b {
		worst, size = max(worst, math.Abs(a[i]-v)), max(size, math.Abs(v))
	}
	return worst / size
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		all, err := data.Digits().Set("x", "y", tensor.Float64)
		if err != nil {
			return err
		}
		fit, test, err := all.Split(func(i int) bool { return i%5 == 4 })
		if err != nil {
			return err
		}
		build := func(rows int, _ train.Mode) *train.Net { return net(rows, implicit(1e-5, 200)) }
		t := &train.Trainer{Build: build, Optimiser: train.Adam(0.003), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		if err := t.Fit(ctx, l.Plan("equilibrium", train.Plan{Data: data.Shuffled(fit, 64, l.Seed), Epochs: l.Few(15, 1)})); err != nil {
			return err
		}
		scores, err := t.Evaluate(ctx, data.InOrder(test, 0), metric.Accuracy("y"))
		if err != nil {
			return err
		}
		batch, err := data.InOrder(test, 100).Next(ctx)
		if err != nil {
			return err
		}
		here := func(solve solver) derivative {
			d, wrong := derive(ctx, t.Store(), batch, solve)
			err = errors.Join(err, wrong)
			return d
		}
		exact, patient := here(implicit(1e-13, 100)), here(implicit(1e-13, 10_000))
		var nets []derivative
		for _, n := range depths {
			nets = append(nets, here(deep(n)))
		}
		fresh, wrong := derive(ctx, tape.NewStore(nil, tape.Seed(l.Seed)), batch, deep(80))
		if err = errors.Join(err, wrong); err != nil {
			return err
		}
		fmt.Printf("equilibrium after %.0f steps: %d KiB\n", exact.course[0], exact.memory/1024)
		for i, d := range nets {
			fmt.Printf("%3d layers: gradient off by %.1e, %d KiB\n", depths[i], off(d.gradient, exact.gradient), d.memory/1024)
		}
		last := nets[len(nets)-1]
		return errors.Join(
			l.AtLeast("accuracy", scores[1].Value, 0.94),
			l.AtMost("gradient of 80 layers, off by", off(last.gradient, exact.gradient), 1e-9),
			l.AtMost("memory for a hundred times as many steps, as a multiple", float64(patient.memory)/float64(exact.memory), 1),
			l.AtLeast("memory of 80 layers, as a multiple", float64(last.memory)/float64(exact.memory), 5),
			l.Picture("course.svg", draw(fresh, nets, exact)),
			l.Draw("equilibrium.svg", net(64, implicit(1e-5, 200)).Loss),
		)
	})
}

var depths = []int{5, 10, 20, 40, 80}
