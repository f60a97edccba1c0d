// Maml learns to learn: it finds weights from which one step of gradient descent on ten points, a part
// of the graph, is enough for a sinusoid that was never seen.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

const (
	seen     = 10         // points of a task to learn from
	trained  = seen + 10  // points in all, with those that it is examined at
	examined = seen + 100 // the same after training
	α        = 0.01       // rate of the inner steps
	tried    = 10         // inner steps that are tried after training
)

// net is y(x) for x[p] and weights W₁ b₁ W₂ b₂ W₃ b₃.
func net(w []*graph.Node, x *graph.Node) *graph.Node {
	h := ops.Tanh(nn.Linear{W: w[0], B: w[1]}.Of(ops.Expand(x, -1, "d")))
	h = ops.Tanh(nn.Linear{W: w[2], B: w[3]}.Of(h))
	return ops.Squeeze(nn.Linear{W: w[4], B: w[5]}.Of(h), -1)
}

// method is a way to find the weights to start from.
type method struct {
	name  string
	steps int  // inner steps after which the error is trained: after none, one net is to fit all tasks
	first bool // the gradients in the inner steps are constants to training
}

var joint, maml, firstOrder = method{name: "joint training"}, method{"MAML", 1, false}, method{"first-order MAML", 1, true}

// adapt returns the predictions at points x[n p] of tasks n, [n t p], and their mean squared errors
// [t], before and after each of some inner steps on the first points. Each task has weights of its
// own, which start at w.
func (m method) adapt(w []*graph.Node, x, y *graph.Node, steps int) (predicted, errors *graph.Node) {
	predicted = vmap.Each(func(task []*graph.Node) []*graph.Node {
		x, y := task[0], task[1]
		xs, ys := ops.Slice(x, "p", 0, seen), ops.Slice(y, "p", 0, seen)
		descent := ops.Scan(ops.Loop{Carry: w, Steps: steps}, func(w, _, _ []*graph.Node) (next, out []*graph.Node) {
			inner := ops.Mean(ops.Square(ops.Sub(net(w, xs), ys))).As("inner loss")
			for i, d := range grad.Of(inner, w...) {
				if m.first {
					d = ops.StopGradient(d)
				}
				next = append(next, ops.Sub(w[i], ops.Scale(d, α)))
			}
			return next, []*graph.Node{net(next, x)}
		})
		return []*graph.Node{ops.Concat("t", ops.Expand(net(w, x), 0, "t"), descent.Out[0])}
	}, x, y)[0]
	off := ops.Slice(ops.Sub(predicted, ops.Expand(y, 1, "t")), "p", seen, y.Dim(1))
	return predicted, ops.Mean(ops.Square(off), "n", "p")
}

// slopes says how steeply the loss after an inner step rises along its gradient: by the gradient, by
// that of first order, and by a difference quotient.
func slopes(w []*graph.Node, x, y *graph.Node) *graph.Node {
	const ε = 1e-5
	loss := func(m method, w ...*graph.Node) *graph.Node {
		_, errors := m.adapt(w, x, y, 1)
		return ops.At(errors, "t", -1)
	}
	whole, first := grad.Of(loss(maml, w...), w...), grad.Of(loss(firstOrder, w...), w...)
	var ahead, behind []*graph.Node
	for i, d := range whole {
		ahead, behind = append(ahead, ops.Add(w[i], ops.Scale(d, ε))), append(behind, ops.Sub(w[i], ops.Scale(d, ε)))
	}
	quotient := ops.Scale(ops.Sub(loss(maml, ahead...), loss(maml, behind...)), 1/(2*ε))
	return ops.Stack(0, "s", nn.SquaredNorm(whole...), ops.MatMul(ops.Flatten(whole...), ops.Flatten(first...)), quotient)
}

// build returns a net whose loss is that at the other points of each task, after the inner steps.
func (m method) build(tasks int, mode train.Mode) *train.Net {
	g := graph.New("maml")
	points, steps := trained, 1
	if mode == train.Evaluating {
		points, steps = examined, tried
	}
	n, p := graph.Ax("n", tasks), graph.Ax("p", points)
	x, y := g.Input("x", graph.F64, n, p), g.Input("y", graph.F64, n, p)
	axes := []graph.Axis{graph.Ax("d", 1), graph.Ax("h", 40), graph.Ax("j", 40), graph.Ax("o", 1)}
	for i := range 3 {
		nn.NewLinear(g, fmt.Sprintf("layer%d", i+1), graph.F64, axes[i], axes[i+1])
	}
	predicted, errors := m.adapt(g.Params(), x, y, steps)
	if mode == train.Evaluating {
		slopes(g.Params(), x, y).As("slopes")
	}
	return &train.Net{Loss: ops.At(errors.As("errors"), "t", m.steps).As("loss"), Output: predicted.As("predicted")}
}

// sinusoids draws tasks y = a·sin(x − φ).
func sinusoids(tasks, points, batches int, seed uint64) data.Source {
	x, y := make([]float64, tasks*points), make([]float64, tasks*points)
	b := data.Batch{Rows: tasks, Values: map[string]*tensor.Dense{"x": lesson.Array(x, tasks, points), "y": lesson.Array(y, tasks, points)}}
	return data.Drawn(b, batches, seed, func(rng *rand.Rand, _ data.Batch) error {
		for i := 0; i < len(x); i += points {
			a, φ := .1+4.9*rng.Float64(), math.Pi*rng.Float64()
			for k := i; k < i+points; k++ {
				x[k] = -5 + 10*rng.Float64()
				y[k] = a * math.Sin(x[k]-φ)
			}
		}
		return nil
	})
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		var outcomes []outcome
		for _, m := range []method{joint, maml, firstOrder} {
			t := &train.Trainer{Build: m.build, Optimiser: train.Adam(0.001), Seed: l.Seed, Workers: l.Workers}
			defer t.Close()
			plan := train.Plan{Data: sinusoids(25, trained, 1000, l.Seed), Steps: l.Few(5000, 50)}
			if err := t.Fit(ctx, l.Plan(m.name, plan)); err != nil {
				return err
			}
			o := outcome{method: m}
			if err := t.Look(ctx, sinusoids(600, examined, 1, l.Seed+1), looked, o.take); err != nil {
				return err
			}
			fmt.Printf("%-17s error %.3f, after one step %.3f, after %d %.3f\n", m.name, o.errors[0], o.errors[1], tried, o.errors[tried])
			outcomes = append(outcomes, o)
		}
		s := outcomes[1].slopes
		fmt.Printf("slope after one step: %.8f by the gradient, %.8f by difference quotients, %.3f by first order\n", s[0], s[2], s[1])
		return errors.Join(
			l.AtMost("error of MAML after one step", outcomes[1].errors[1], 0.8),
			l.AtLeast("that of joint training, as a multiple", outcomes[0].errors[1]/outcomes[1].errors[1], 3),
			l.AtMost("the gradient, off by", math.Abs(s[0]/s[2]-1), 1e-6),
			l.AtLeast("that of first order, off by", math.Abs(s[1]/s[2]-1), 0.1),
			l.Picture("steps.svg", draw(outcomes)),
		)
	})
}
