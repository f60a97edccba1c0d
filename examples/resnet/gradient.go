package main

import (
	"context"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// gradients returns the length of the loss's gradient by the weights of each convolution of the
// blocks, first to last, on a batch before training, in another net with the same parameters.
func gradients(ctx context.Context, k kind, fit *data.Set, seed uint64) (lengths []float64, err error) {
	first, err := fit.Subset(data.Order(seed, 0, fit.Rows())[:64])
	if err != nil {
		return nil, err
	}
	t := &train.Trainer{Seed: seed, Build: func(rows int, _ train.Mode) *train.Net {
		n, layers := k.net(rows, train.Training)
		var weights, lengths []*graph.Node
		for _, block := range layers.Blocks {
			weights = append(weights, block.Conv1.W, block.Conv2.W)
		}
		for _, d := range grad.Of(n.Loss, weights...) {
			lengths = append(lengths, ops.Sqrt(ops.Sum(ops.Square(d))))
		}
		return &train.Net{Output: ops.Stack(0, "layer", lengths...)}
	}}
	defer t.Close()
	err = t.Predict(ctx, data.InOrder(first, 0), func(_ data.Batch, output *tensor.Dense) error {
		for _, v := range output.Float32s() {
			lengths = append(lengths, float64(v))
		}
		return nil
	})
	return lengths, err
}
