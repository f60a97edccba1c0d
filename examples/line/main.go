// Line fits a line to points, and then a curve by many short lines: a net with one hidden
// layer of rectifiers, whose elbows move to where the curve bends.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab/linear"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
	"gorgonia.org/tensor"
)

// line is ŷ = w·x + b.
func line(rows int, _ train.Mode) *train.Net {
	g := graph.New("a line")
	i := graph.Ax("i", rows)
	x, y := g.Input("x", graph.F64, i), g.Input("y", graph.F64, i)
	ŷ := ops.Add(ops.Mul(g.Param("w", graph.F64), x), g.Param("b", graph.F64)).As("ŷ")
	return &train.Net{Loss: nn.SquaredError(ŷ, y).As("loss"), Output: ŷ}
}

const units = 16

// elbows is ŷ = Σ_h v_h·max(0, w_h·x + b_h) + c: every unit bends the curve at x = −b/w.
func elbows(rows int, _ train.Mode) *train.Net {
	g := graph.New("a sum of elbows")
	i := graph.Ax("i", rows)
	x, y := g.Input("x", graph.F64, i), g.Input("y", graph.F64, i)
	ŷ := builders.NewReLU1D(g, graph.F64, graph.Ax("h", units)).Of(x)
	return &train.Net{Loss: nn.SquaredError(ŷ, y).As("loss"), Output: ŷ}
}

// points draws x from [−2, 2] and y = f(x) with a little noise.
func points(seed uint64, n int, f func(x float64) float64) (*data.Set, error) {
	rng := rand.New(rand.NewPCG(seed, 0))
	x, y := make([]float64, n), make([]float64, n)
	for i := range x {
		x[i] = 4*rng.Float64() - 2
		y[i] = f(x[i]) + 0.1*rng.NormFloat64()
	}
	return data.NewSet(map[string]*tensor.Dense{"x": column(x), "y": column(y)})
}

func column(v []float64) *tensor.Dense {
	return tensor.New(tensor.WithShape(len(v)), tensor.WithBacking(v))
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		if err := fitLine(ctx, l); err != nil {
			return err
		}
		return fitCurve(ctx, l)
	})
}

// fitLine descends to the solution that the equations of least squares give directly.
func fitLine(ctx context.Context, l *lesson.Lesson) error {
	set, err := points(l.Seed, 40, func(x float64) float64 { return 2*x - 1 })
	if err != nil {
		return err
	}
	t := &train.Trainer{Build: line, Optimiser: train.SGD(0.1), Seed: l.Seed, Workers: l.Workers}
	defer t.Close()
	if err := t.Fit(ctx, train.Plan{Data: data.InOrder(set, 0), Steps: 200}); err != nil {
		return err
	}
	p, err := numbers(t, "w", "b")
	if err != nil {
		return err
	}
	w, b := p[0][0], p[1][0]
	sign := "+"
	if b < 0 {
		sign = "−"
	}
	fmt.Printf("%s\nŷ = %.4f·x %s %.4f\n", viz.Formula(line(set.Rows(), train.Training).Loss), w, sign, math.Abs(b))

	equations := linear.LeastSquares{N: set.Rows(), D: 2, Y: set.Column("y").Float64s()}
	for _, x := range set.Column("x").Float64s() {
		equations.X = append(equations.X, x, 1)
	}
	best, err := equations.Solve(0)
	if err != nil {
		return err
	}
	if err := l.Picture("line.svg", drawLine(set, w, b)); err != nil {
		return err
	}
	return l.AtMost("distance from the least squares line", math.Hypot(w-best[0], b-best[1]), 1e-9)
}

// fitCurve fits the elbows, and draws where they are as training goes on.
func fitCurve(ctx context.Context, l *lesson.Lesson) error {
	set, err := points(l.Seed+1, 60, func(x float64) float64 { return math.Sin(3 * x) })
	if err != nil {
		return err
	}
	t := &train.Trainer{Build: elbows, Optimiser: train.Adam(0.02), Seed: l.Seed, Workers: l.Workers}
	defer t.Close()
	before, err := t.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil {
		return err
	}
	film, steps := &film{trainer: t}, l.Few(3000, 300)
	plan := train.Plan{Data: data.InOrder(set, 0), Steps: steps, Rate: train.Cosine(0.02, steps), Observers: []train.Observer{film}}
	if err := t.Fit(ctx, plan); err != nil {
		return err
	}
	after, err := t.Evaluate(ctx, data.InOrder(set, 0))
	if err != nil {
		return err
	}
	fmt.Printf("\n%s\n", viz.Formula(elbows(set.Rows(), train.Training).Output))
	fmt.Printf("%v → %v, elbows among the data: %d → %d of %d\n", before, after,
		film.shots[0].within(), film.shots[steps].within(), units)
	moments := []int{0, steps / 100, steps / 30, steps / 10, steps / 3, steps}
	if err := errors.Join(
		l.Picture("moments.svg", func(w io.Writer) error { return film.drawMoments(w, set, moments) }),
		l.Picture("paths.svg", film.drawPaths),
	); err != nil {
		return err
	}
	loss, _ := after.Get("loss")
	return l.AtMost("mean squared error, 0.01 of it noise,", loss, 0.05)
}
