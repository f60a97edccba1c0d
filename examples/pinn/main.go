// Pinn solves a differential equation by training: a net is a function of time, its derivatives by
// time are nodes of the graph, and the loss is how far they are from obeying the equation.
package main

import (
	"context"
	"errors"
	"fmt"
	"io"
	"math"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/chart"
	"gorgonia.org/tensor"
)

// The oscillator u″ + 2δ·u′ + ω²·u = 0 that is let go at u(0) = 1 with u′(0) = 0.
const (
	δ, ω  = 0.8, 5.0
	until = 3.0 // seconds
)

// exact is the solution that the calculus has.
func exact(t float64) float64 {
	ν := math.Sqrt(ω*ω - δ*δ)
	return math.Exp(-δ*t) * (math.Cos(ν*t) + δ/ν*math.Sin(ν*t))
}

// derivative is ∂yᵢ/∂xᵢ, where yᵢ depends on no other row of x.
func derivative(y, x *graph.Node) *graph.Node { return grad.Of(ops.Sum(y), x)[0] }

// oscillator builds u(t) = 1 + tanh²(ωt/2)·net(t), which starts as it has to whatever the net says:
// the factor and its first derivative are 0 at 0. The units are sines, whose derivatives are as large
// as they are (Sitzmann et al., 2020).
func oscillator(rows int, _ train.Mode) *train.Net {
	g := graph.New("oscillator")
	time, h1, h2, one := graph.Ax("d", 1), graph.Ax("h", 32), graph.Ax("k", 32), graph.Ax("u", 1)
	t := g.Input("t", graph.F64, graph.Ax("i", rows))
	x := ops.Expand(ops.Scale(t, ω), 1, "d")
	x = ops.Sin(nn.NewLinear(g, "first", graph.F64, time, h1).Of(x))
	x = ops.Sin(nn.NewLinear(g, "second", graph.F64, h1, h2).Of(x))
	net := ops.Squeeze(nn.NewLinear(g, "last", graph.F64, h2, one).Of(x), "u").As("net")
	begins := ops.Square(ops.Tanh(ops.Scale(t, ω/2)))
	u := ops.Shift(ops.Mul(begins, net), 1).As("u")
	du := derivative(u, t).As("u′")
	ddu := derivative(du, t).As("u″")
	r := ops.Add(ddu, ops.Scale(du, 2*δ), ops.Scale(u, ω*ω)).As("r")
	return &train.Net{Loss: ops.Mean(ops.Square(r)).As("loss"), Output: u}
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		const n = 100
		times := make([]float64, n)
		for i := range times {
			times[i] = until * float64(i) / (n - 1)
		}
		set, err := data.NewSet(map[string]*tensor.Dense{"t": tensor.New(tensor.WithShape(n), tensor.WithBacking(times))})
		if err != nil {
			return err
		}
		t := &train.Trainer{Build: oscillator, Optimiser: train.Adam(0.01), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		steps := l.Few(20_000, 100)
		if err := t.Fit(ctx, l.Plan("oscillator", train.Plan{Data: data.InOrder(set, 0), Steps: steps, Rate: train.Geometric(0.01, 0.00001)})); err != nil {
			return err
		}
		var u []float64
		err = t.Predict(ctx, data.InOrder(set, 0), func(_ data.Batch, output *tensor.Dense) error {
			u = append(u, output.Float64s()...)
			return nil
		})
		if err != nil {
			return err
		}
		scores, err := t.Evaluate(ctx, data.InOrder(set, 0))
		if err != nil {
			return err
		}
		loss, _ := scores.Get("loss")
		net := oscillator(n, train.Training)
		fmt.Println(viz.Formula(net.Output))
		fmt.Println(viz.Formula(net.Loss))
		worst := 0.
		for i, t := range times {
			worst = max(worst, math.Abs(u[i]-exact(t)))
		}
		fmt.Printf("after %d steps the equation is off by %.2g, root of the mean square\n", steps, math.Sqrt(loss))
		return errors.Join(
			l.AtMost("largest error of u", worst, 1e-3),
			l.Picture("solution.svg", func(w io.Writer) error { return chart.Panels(w, 1, solution(times, u)) }),
			l.Draw("equation.svg", net.Loss),
		)
	})
}

// solution draws what was trained over what the calculus has.
func solution(times, u []float64) chart.Lines {
	net, calculus := chart.Series{Name: "trained", Points: true}, chart.Series{Name: "exact", Group: 1}
	for i, t := range times {
		if i%3 == 0 {
			net.X, net.Y = append(net.X, t), append(net.Y, u[i])
		}
		calculus.X, calculus.Y = append(calculus.X, t), append(calculus.Y, exact(t))
	}
	return chart.Lines{
		Frame: chart.Frame{ID: "u", Title: "An oscillator", Desc: "The net and the solution of the differential equation."},
		X:     "t in seconds", Y: "u", Series: []chart.Series{net, calculus},
	}
}
