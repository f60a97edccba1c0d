package main

import (
	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// norm is the normalisation between a linear layer and its ReLU.
type norm uint8

const (
	none  norm = iota
	batch      // each unit over the images of a batch
	layer      // all units of one image
	group      // of eight units of one image
)

// variant is a net with some of the techniques switched on, and the results of its trainings.
type variant struct {
	name      string
	smoothing float64 // ε of the labels
	dropout   float64 // ρ, of the units of both hidden layers
	norm      norm

	wrong, loss []float64   // on other digits, seed by seed: errors in per cent, and nats
	curves      [][]float64 // errors after each epoch, seed by seed
}

// variants are a net with no technique, with one each, and with the first three.
func variants() []variant {
	return []variant{
		{name: "nothing"},
		{name: "label smoothing", smoothing: 0.1},
		{name: "dropout", dropout: 0.5},
		{name: "batch norm", norm: batch},
		{name: "all three", smoothing: 0.1, dropout: 0.5, norm: batch},
		{name: "layer norm", norm: layer},
		{name: "group norm", norm: group},
	}
}

// take adds the results of a training.
func (v *variant) take(c *digits.Curve) {
	errors := c.Errors()
	v.curves = append(v.curves, errors)
	v.wrong, v.loss = append(v.wrong, errors[len(errors)-1]), append(v.loss, c.Validation)
}

// net is the net of digits, with a norm and dropout after each of its hidden layers. In evaluation
// there is no noise, statistics are the running ones, and the loss is that of the true labels, so
// that variants can be compared.
func (v *variant) net(rows int, mode train.Mode) *train.Net {
	g := graph.New(v.name)
	n := &train.Net{}
	p, h, m, k := graph.Ax("p", 64), graph.Ax("h", 128), graph.Ax("m", 128), graph.Ax("k", 10)
	x, y := digits.Inputs(g, rows)
	noise := func(x *graph.Node) *graph.Node { return x }
	var labels []nn.CrossEntropyOption
	if mode == train.Training {
		if v.dropout > 0 {
			rate := g.Scalar("ρ", v.dropout)
			noise = func(x *graph.Node) *graph.Node { return nn.Dropout(x, rate) }
		}
		if v.smoothing > 0 {
			labels = append(labels, nn.Smoothed(g.Scalar("ε", v.smoothing)))
		}
	}
	hidden := func(name string, x *graph.Node, in, out graph.Axis) *graph.Node {
		defer g.Scope(name)()
		u := nn.NewLinear(g, "fc", graph.F32, in, out).Of(x).As("u")
		return noise(ops.ReLU(v.normalised(n, u, mode)).As("a")).As(name)
	}
	n.Output = nn.NewLinear(g, "fc", graph.F32, m, k).Of(hidden("h₂", hidden("h₁", x, p, h), h, m)).As("z")
	n.Loss = nn.CrossEntropy(n.Output, y, labels...).As("loss")
	return n
}

// normalised is x by the variant's norm. Running statistics become part of the step.
func (v *variant) normalised(n *train.Net, x *graph.Node, mode train.Mode) *graph.Node {
	g, units := x.Graph(), x.Shape().Axis(1)
	switch v.norm {
	case batch:
		l := nn.NewBatchNorm(g, "norm", graph.F32, units)
		if mode == train.Evaluating {
			return l.Of(x)
		}
		y, step := l.OfTrain(x)
		n.Step = append(n.Step, step...)
		return y
	case layer:
		return nn.NewLayerNorm(g, "norm", graph.F32, units).Of(x)
	case group:
		return nn.NewGroupNorm(g, "norm", graph.F32, units, units.Size/8).Of(x)
	}
	return x
}
