package main

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/chars"
	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// net is a net with its training, of which nothing says on how many machines it runs.
type net struct {
	name      string
	title     string
	steps     int
	build     train.Build
	optimiser train.Optimiser
	batches   func(seed uint64) (data.Source, error)
	loss      float64 // the last of the training is at most this
}

// nets returns the nets of the lesson.
func nets() ([]net, error) {
	fit, _, err := digits.Split()
	if err != nil {
		return nil, err
	}
	text, err := chars.NewText()
	if err != nil {
		return nil, err
	}
	gpt := chars.Study{Name: "gpt", Net: func(g *graph.Graph, characters graph.Axis) chars.Model {
		return builders.CharacterGPT(g, graph.F32, characters, graph.Ax("t", chars.Window))
	}}
	return []net{{
		name: "digits", title: "handwritten digits by a perceptron with dropout, batches of 64 images",
		steps: 400, build: perceptron, optimiser: train.Adam(1e-3, train.ClipNorm(1)), loss: 0.5,
		batches: func(seed uint64) (data.Source, error) {
			return data.Shuffled(fit, 64, seed, data.CarryOver()), nil
		},
	}, {
		name: "gpt", title: "the Constitution by a small GPT, batches of 16 windows of 64 characters",
		steps: 60, build: gpt.Build(text.Vocabulary.Len()), optimiser: train.AdamW(1e-3), loss: 3,
		batches: func(seed uint64) (data.Source, error) { return text.Windows(16, seed) },
	}}, nil
}

// perceptron is 64-128-64-10 with ReLU and dropout between the layers. What a lane drops depends on
// the seed, the step and the lane.
func perceptron(rows int, mode train.Mode) *train.Net {
	g := graph.New("digits: perceptron")
	p, h, m, k := graph.Ax("p", 64), graph.Ax("h", 128), graph.Ax("m", 64), graph.Ax("k", 10)
	ink, y := digits.Inputs(g, rows)
	h1 := dropped(ops.ReLU(nn.NewLinear(g, "fc1", graph.F32, p, h).Of(ink)), mode).As("h₁")
	h2 := dropped(ops.ReLU(nn.NewLinear(g, "fc2", graph.F32, h, m).Of(h1)), mode).As("h₂")
	logits := nn.NewLinear(g, "fc3", graph.F32, m, k).Of(h2).As("z")
	return &train.Net{Loss: nn.CrossEntropy(logits, y).As("loss"), Output: logits}
}

// dropped is x without a fifth of its elements, at random, while it is trained.
func dropped(x *graph.Node, mode train.Mode) *graph.Node {
	if mode == train.Evaluating {
		return x
	}
	return nn.Dropout(x, ops.Lit(x, 0.2))
}

// named returns the nets to show.
func named(name string) ([]net, error) {
	all, err := nets()
	if err != nil || name == "all" {
		return all, err
	}
	for _, n := range all {
		if n.name == name {
			return []net{n}, nil
		}
	}
	return nil, fmt.Errorf("no net %q", name)
}
