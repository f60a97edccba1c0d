package main

import (
	"context"
	"io"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"github.com/tapestry-ml/tapestry/viz"
)

// draw draws the step of one layer as training makes it, on the rows of one of some lanes. The sum over
// lanes stands between the gradients and the optimiser.
func draw(ctx context.Context, l *lesson.Lesson, lanes int) error {
	ranks, err := parallel.Alone(parallel.Config{Lanes: lanes})
	if err != nil {
		return err
	}
	defer ranks.Close()
	t := &train.Trainer{Build: layer, Optimiser: train.SGD(0.1), Ranks: ranks}
	defer t.Close()
	step, err := t.Lanes(ctx, 64)
	if err != nil {
		return err
	}
	roots := []*graph.Node{step.Loss}
	for _, u := range step.Step {
		roots = append(roots, u.Value)
	}
	weight := map[*graph.Node]float64{roots[0].Graph().Lookup("lanes/weight"): float64(step.Rows[0]) / 64}
	return l.Picture("step.svg", func(w io.Writer) error {
		return viz.SVG(w, roots, viz.At(viz.Notes), viz.Fed(weight), viz.WithoutLines())
	})
}

// layer is softmax regression of ten classes.
func layer(rows int, _ train.Mode) *train.Net {
	g := graph.New("one layer in lanes")
	n, p, k := graph.Ax("n", rows), graph.Ax("p", 64), graph.Ax("k", 10)
	z := nn.NewLinear(g, "fc", graph.F32, p, k).Of(g.Input("x", graph.F32, n, p)).As("z")
	return &train.Net{Loss: nn.CrossEntropy(z, g.Input("y", graph.I32, n)).As("loss"), Output: z}
}
