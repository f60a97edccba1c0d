package importer

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/ops"
)

// normalisations has batch normalisation, and dropout, which differ between training and use.
var normalisations = map[string]rule{
	"BatchNormalization": batchNormalization,
	"Dropout":            dropout,
}

// batchNormalization normalises x[n c …] by the running statistics, or by those of the batch in
// training, whose results are then the new running statistics.
func batchNormalization(c *call) []value {
	x, ε, momentum := c.x(0), c.float("epsilon", 1e-5), c.float("momentum", 0.9)
	training := c.version() >= 14 && c.int("training_mode", 0) != 0
	if c.version() < 7 && c.int("is_test", 0) == 0 && len(c.n.Outputs) > 1 {
		training = true
	}
	if c.version() < 9 && c.int("spatial", 1) == 0 {
		c.fail("statistics of each place of an image (spatial = 0)")
	}
	if x.Rank() < 2 {
		c.fail("an array with %d axes: want [n c …]", x.Rank())
	}
	scale, bias, mean, variance := perChannel(c.x(1), x), perChannel(c.x(2), x), c.x(3), c.x(4)
	dt := x.DType()
	if !training {
		// x·a + b with numbers a and b of the channels.
		rstd := ops.Div(ops.Lit(c.x(4), 1), ops.Sqrt(ops.Shift(c.x(4), ε)))
		a := ops.Mul(perChannel(ops.Cast(rstd, dt), x), ops.Cast(scale, dt))
		centred := ops.Sub(x, perChannel(ops.Cast(mean, dt), x))
		return []value{c.is(0, ops.Add(ops.Mul(centred, a), ops.Cast(bias, dt)))}
	}
	axes := append([]any{0}, places(2, x.Rank())...)
	y := ops.Add(ops.Mul(ops.Standardise(x, ε, axes...), ops.Cast(scale, dt)), ops.Cast(bias, dt))
	running := func(old, batch *graph.Node) value {
		now := ops.Add(ops.Scale(bare(old), momentum), ops.Scale(ops.Cast(bare(batch), old.DType()), 1-momentum))
		return value{node: now, elem: c.in[3].elem}
	}
	out := []value{c.is(0, y), running(mean, ops.Mean(x, axes...)), running(variance, ops.Var(x, axes...))}
	if c.version() < 14 { // the statistics of the batch too
		out = append(out, value{node: ops.Mean(x, axes...), elem: c.in[3].elem}, value{node: ops.Var(x, axes...), elem: c.in[3].elem})
	}
	return out
}

// dropout drops elements in training, and scales the others by 1/(1−ratio).
func dropout(c *call) []value {
	x, ratio, training := c.x(0), c.float("ratio", 0.5), false
	switch {
	case c.version() >= 12:
		if c.has(1) {
			ratio = c.known(1)[0]
		}
		if c.has(2) {
			training = c.known(2)[0] != 0
		}
	case c.version() < 7:
		training = c.int("is_test", 0) == 0
		if training && c.attr("is_test") == nil {
			training = false // exported models of that time rarely say it
		}
	}
	kept := func() *graph.Node { return ops.Ones(c.g, graph.Bool, x.Shape().Axes()...) }
	if !training || ratio == 0 {
		if len(c.n.Outputs) < 2 {
			return c.in[:1]
		}
		if c.version() < 10 { // the mask has the type of the array
			return []value{c.in[0], c.is(0, ops.OnesLike(x))}
		}
		return []value{c.in[0], {node: kept(), elem: format.Bool}}
	}
	if ratio < 0 || ratio >= 1 {
		c.fail("a ratio of %v: want at least 0 and less than 1", ratio)
	}
	mask := ops.Less(ops.RandomUniform(c.g, "dropout", x.DType(), x.Shape().Axes()...), ops.Lit(x, 1-ratio))
	y := ops.Select(mask, ops.Scale(x, 1/(1-ratio)), ops.Lit(x, 0))
	return []value{c.is(0, y), {node: mask, elem: format.Bool}}
}
