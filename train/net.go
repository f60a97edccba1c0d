package train

import "github.com/tapestry-ml/tapestry/graph"

// Mode says what a net is built for.
type Mode uint8

// The modes.
const (
	Training   Mode = iota // noise that regularises, statistics of the batch
	Evaluating             // none of them
)

// String gives training or evaluating.
func (m Mode) String() string {
	if m == Training {
		return "training"
	}
	return "evaluating"
}

// Net is a model for batches of one size: a graph whose inputs are named like the columns
// of the data.
type Net struct {
	Loss   *graph.Node // the mean over the rows, a float scalar; nil for one that only predicts
	Output *graph.Node // what it predicts, rows first; nil where nobody asks
	Step   graph.Step  // what a step of training updates besides the optimiser: running statistics

	// Params are the parameters that the optimiser changes: nil for all parameters that the loss
	// depends on, fewer where some stay as they are (the encoder, in transfer learning), and none,
	// in a slice that is not nil, where Step alone trains.
	Params []*graph.Node
}

// graph is the graph that the net is in; nil for a net of nothing.
func (n *Net) graph() *graph.Graph {
	if n == nil || n.Loss == nil && n.Output == nil {
		return nil
	}
	return graph.Of(n.Loss, n.Output)
}

// Build makes a net for batches of so many rows, in a new graph at each call; the optimiser
// is the trainer's to add. Nets of all sizes and modes must call
// their parameters and states the same, because they share one store. Mistakes are
// recorded in the graph; whoever compiles the net reports them.
//
//	func mlp(rows int, _ train.Mode) *train.Net {
//		g := graph.New("digits")
//		x := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("p", 64))
//		y := g.Input("y", graph.I32, graph.Ax("n", rows))
//		…
//		return &train.Net{Loss: nn.CrossEntropy(logits, y), Output: logits}
//	}
type Build func(rows int, mode Mode) *Net
