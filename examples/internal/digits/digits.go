// Package digits is shared by the examples about handwritten digits: it has the data, a record of a
// training, pictures of the digits that a net reads, and a judge of those that a net makes.
//
//	fit, test, err := digits.Split()
//	curve := &digits.Curve{}
//	err = t.Fit(ctx, train.Plan{…, Validate: digits.Accuracy(t, test), Observers: []train.Observer{curve}})
//	readings, err := digits.Read(ctx, t, test)
//	err = l.Picture("mistakes.svg", digits.Mistakes(readings))
package digits

import (
	"context"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/train/metric"
	"gorgonia.org/tensor"
)

// Split gives the images to train on and the others, every fifth: pixels x[n 64] from 0 to
// 16, and digits y[n].
func Split() (fit, test *data.Set, err error) {
	all, err := data.Digits().Set("x", "y", tensor.Float32)
	if err != nil {
		return nil, nil, err
	}
	return all.Split(func(i int) bool { return i%5 == 4 })
}

// Inputs are the inputs for a batch of [Split]: x[n p=64], ink from 0 to 1, and digits y[n].
func Inputs(g *graph.Graph, rows int) (x, y *graph.Node) {
	n := graph.Ax("n", rows)
	x = ops.Scale(g.Input("x", graph.F32, n, graph.Ax("p", 64)), 1.0/16).As("ink")
	return x, g.Input("y", graph.I32, n)
}

// AsImage is ink[n p=64] as an image[n h=8 w=8 c=1] of one channel.
func AsImage(ink *graph.Node) *graph.Node {
	return ops.Split(ink, "p", graph.Ax("h", 8), graph.Ax("w", 8), graph.Ax("c", 1)).As("image")
}

// Classes are the names of the classes that a net scores, for checkpoints.
func Classes() map[string]string {
	return map[string]string{infer.MetaClasses: infer.NamesMeta(strings.Split("0123456789", ""))}
}

// Accuracy measures a net on a set: its loss, and the share of the digits that it reads correctly.
func Accuracy(t *train.Trainer, set *data.Set) func(context.Context) (metric.Scores, error) {
	return func(ctx context.Context) (metric.Scores, error) {
		return t.Evaluate(ctx, data.InOrder(set, 0), metric.Accuracy("y"))
	}
}
