package ref_test

import (
	"slices"

	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// PyTorch puts the channels before the spatial axes, the operations put them last.

// moved brings one axis of x to another place.
func moved(x node, from, to int) node {
	var order []any
	for a := range x.Rank() {
		if a != from {
			order = append(order, a)
		}
	}
	return ops.Transpose(x, slices.Insert(order, to, any(from))...)
}

func channelsLast(x node) node  { return moved(x, 1, x.Rank()-1) }
func channelsFirst(x node) node { return moved(x, x.Rank()-1, 1) }

// convolution is the case of x, w and b over its spatial axes.
func (b *builder) convolution() outputs {
	x, w := channelsLast(b.array("x")), channelsLast(b.array("w"))
	option := func(name string, otherwise float64) int { return int(b.number(name, otherwise)) }
	l := nn.Conv{
		W: moved(w, 0, w.Rank()-1), // [o … c] to [… c o]
		B: b.array("b"),
		Window: ops.Windows(
			ops.Stride(option("stride", 1)), ops.Padding(option("padding", 0)), ops.Dilation(option("dilation", 1)),
			ops.Groups(option("groups", 1)),
		),
	}
	return b.weighted(channelsFirst(l.Of(x)))
}

// pooled is the case of windows over x.
func (b *builder) pooled(pool func(x node) node) outputs {
	return b.weighted(channelsFirst(pool(channelsLast(b.array("x")))))
}

// The norms scale and shift the channels of x[n c h w] by gamma and beta.

func (b *builder) batchNormTrain() outputs {
	x := channelsLast(b.array("x"))
	l := nn.NewBatchNorm(b.g, "norm", b.dt, x.Shape().Axis(x.Rank()-1))
	l.Gain, l.Bias = b.array("gamma"), b.array("beta")
	y, _ := l.OfTrain(x)
	return b.weighted(channelsFirst(y))
}

func (b *builder) instanceNorm() outputs {
	return b.pooled(nn.InstanceNorm{Gain: b.array("gamma"), Bias: b.array("beta")}.Of)
}

func (b *builder) groupNorm() outputs {
	l := nn.GroupNorm{Groups: int(b.number("groups", 1)), Gain: b.array("gamma"), Bias: b.array("beta")}
	return b.pooled(l.Of)
}
