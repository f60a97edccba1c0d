package workload

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/train"
)

// resNet18Step trains the net on so many random images.
func resNet18Step(net resNet18, images int) build {
	return func(b *builder) (*graph.Node, float64) {
		x, y := b.adopt(net.build(b.dt, images, train.Training), 200)
		b.feed(x, values(60, x.Shape().Len(), 1))
		b.feed(y, labels(61, images, net.classes))
		return b.net.Loss, 0.001
	}
}

// gpt2Step trains the net on one random text.
func gpt2Step(net gpt2) build {
	return func(b *builder) (*graph.Node, float64) {
		x, y := b.adopt(net.build(b.dt, 1, train.Training), 300)
		b.feed(x, labels(62, net.length, net.tokens))
		b.feed(y, labels(63, net.length, net.tokens))
		return b.net.Loss, 0.1
	}
}

// adopt makes a net with the inputs x and y the workload's. Gains start at 1, biases at 0, filters
// as He et al. (2015) say, and matrices within ±0.02·√3; the seed of parameter number i is seed + i.
func (b *builder) adopt(net *train.Net, seed uint64) (x, y *graph.Node) {
	b.net, b.Graph = net, graph.Of(net.Loss)
	for i, p := range b.Params() {
		shape := p.Shape()
		b.start(p, func() []float64 {
			switch n := shape.Len(); {
			case p.Name() == "gain":
				return ones(n)
			case shape.Rank() == 1:
				return make([]float64, n)
			case shape.Rank() == 4:
				return values(seed+uint64(i), n, math.Sqrt(6/float64(n/shape.Axis(3).Size)))
			default:
				return values(seed+uint64(i), n, 0.02*math.Sqrt(3))
			}
		})
	}
	inputs := b.Inputs()
	return inputs[0], inputs[1]
}
