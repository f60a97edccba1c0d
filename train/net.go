package train

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
)

// Mode is what a net is built for.
type Mode uint8

// The modes.
const (
	Training   Mode = iota // with regularising noise, such as dropout, and statistics of the batch
	Evaluating             // without noise, and with running statistics
)

// String returns training or evaluating.
func (m Mode) String() string {
	if m == Training {
		return "training"
	}
	return "evaluating"
}

// Net is a model for batches of one size: a graph whose inputs have the names of the data's
// columns.
type Net struct {
	Loss   *graph.Node // a float scalar, the mean over the rows; nil for a net that only predicts
	Output *graph.Node // the prediction, with the rows as its first axis; nil if it is not needed
	Step   graph.Step  // updates of a training step besides the optimiser's, as of running statistics

	// Params are the parameters that the optimiser updates. nil stands for all parameters that the
	// loss depends on, and a shorter list leaves the others as they are (such as the encoder's, in
	// transfer learning). An empty slice that is not nil means that Step alone trains.
	Params []*graph.Node
}

// graph returns the graph of the net; nil if there is none.
func (n *Net) graph() *graph.Graph {
	if n == nil || n.Loss == nil && n.Output == nil {
		return nil
	}
	return graph.Of(n.Loss, n.Output)
}

// Build returns a net for batches of so many rows, in a new graph at each call and without an
// optimiser's step, which the trainer adds. Nets of all sizes and modes share one store, so they
// must use the same paths for their parameters and states. Mistakes are recorded in the graph, and
// whoever compiles the net reports them.
//
//	func mlp(rows int, _ train.Mode) *train.Net {
//		g := graph.New("digits")
//		x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("p", 64))
//		y := g.Input("y", graph.I32, graph.Ax("n", rows))
//		…
//		return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
//	}
type Build func(rows int, mode Mode) *Net

// BuildSizes is a [Build] for batches that differ in more than their number of rows. The sizes are
// those of the batch, [data.Batch.Sizes], such as the length of its sequences.
type BuildSizes func(rows int, sizes attr.Ints, mode Mode) *Net
