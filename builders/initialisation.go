package builders

import (
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// rule starts what belongs to a layer of the given fan in.
type rule struct {
	name string
	init func(in int) initial.Init
}

// always returns a rule that does not look at the fan in itself.
func always(name string, init initial.Init) rule {
	return rule{name, func(int) initial.Init { return init }}
}

// asOneMore treats the bias as one more weight, of an input that is always 1: fan
// in is d + 1, and all d + 1 start as Xavier has them.
func asOneMore(in int) initial.Init { return initial.Normal(0, 1/math.Sqrt(float64(in+1))) }

// weightRules are the ways to start weights.
var weightRules = []rule{
	always("xavier", initial.Xavier()),
	always("he", initial.He()),
	always("glorot", initial.Glorot()),
	always("glorot-uniform", initial.GlorotUniform()),
	always("he-uniform", initial.HeUniform()),
	always("orthogonal", initial.Orthogonal(1)),
	{"xavier-with-bias", asOneMore},
	always("small", initial.Normal(0, 0.01)),
}

// biasRules are the four ways of the notes to start a bias.
var biasRules = []rule{
	always("zero", initial.Zeros()),
	{"weight", asOneMore},
	always("hundredth", initial.Fill(0.01)),
	always("random", initial.Normal(0, 0.01)),
}

// activation is a non-linearity between the layers of a deep net.
type activation struct {
	name string
	of   func(*graph.Node) *graph.Node
}

var activations = []activation{
	{"relu", ops.ReLU},
	{"tanh", ops.Tanh},
	{"linear", func(x *graph.Node) *graph.Node { return x }},
}

// Perceptron applies layers to x[b d], with an activation after each. It returns the last hidden
// values h[b d] and the root mean square of the input of each activation, σ[layer]: with an
// initialisation that suits the activation, σ is much the same in every layer; otherwise it shrinks
// or grows by a factor from each to the next (the notes on initialisation). No layers, or a nil
// activation, are a mistake.
func Perceptron(x *graph.Node, layers []nn.Linear, between func(*graph.Node) *graph.Node) (h, σ *graph.Node) {
	if len(layers) == 0 {
		bad := graph.Of(x).Fail("Perceptron", errors.New("want at least one layer"), x)
		return bad, bad
	}
	if between == nil {
		bad := graph.Of(x).Fail("Perceptron", errors.New("the activation is nil"), x)
		return bad, bad
	}
	spreads := make([]*graph.Node, len(layers))
	for l, layer := range layers {
		end := build.Within(layer.Name, x, layer.W)
		z := nn.Linear{W: layer.W, B: layer.B}.Of(x).As(fmt.Sprintf("z%d", l+1))
		if x = between(z); x != z {
			x.As(fmt.Sprintf("h%d", l+1))
		}
		end()
		spreads[l] = ops.Expand(ops.Sqrt(ops.Mean(ops.Square(z))), -1, "layer")
	}
	return x, ops.Concat(0, spreads...).As("σ")
}
