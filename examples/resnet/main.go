// Resnet trains plain and residual nets of growing depth on handwritten digits.
package main

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// kind makes a net of the given number of blocks, of two convolutions each.
type kind struct {
	blocks int
	plain  bool // without skips
}

func (k kind) String() string {
	if k.plain {
		return "plain"
	}
	return "residual"
}

// layers is the number of layers with weights: the stem and the head, and two to a block.
func (k kind) layers() int { return 2 + 2*k.blocks }

// net is the net with 8 channels, and the layers that it is made of. Both kinds have the
// same parameters, and start from the same values.
func (k kind) net(rows int, mode train.Mode) (*train.Net, builders.ResNet) {
	g := graph.New(k.String())
	ink, y := digits.Inputs(g, rows)
	image := digits.AsImage(ink)
	layers := builders.NewResNet(g, graph.F32, graph.Ax("c", 1), graph.Ax("d", 8), graph.Ax("k", 10), k.blocks, k.plain)
	n := &train.Net{}
	if mode == train.Training {
		n.Output, n.Step = layers.OfTrain(image)
	} else {
		n.Output = layers.Of(image)
	}
	n.Loss = nn.CrossEntropy(n.Output.As("z"), y).As("loss")
	return n, layers
}

func main() {
	seeds := lesson.Count("seeds", 1, 3, "trainings of each net")
	epochs := lesson.Count("epochs", 1, 10, "passes over the data")
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		fit, test, err := digits.Split()
		if err != nil {
			return err
		}
		depths := []int{1, 2, 4, 8, 16}
		if l.Quick {
			depths = []int{1, 2}
		}
		var all trainings
		for _, blocks := range depths {
			for _, plain := range []bool{true, false} {
				of := training{kind: kind{blocks, plain}}
				for i := range l.Few(*seeds, 1) {
					seed := l.Seed + uint64(i)
					t := &train.Trainer{
						Build: func(rows int, mode train.Mode) *train.Net {
							n, _ := of.net(rows, mode)
							return n
						},
						Optimiser: train.Adam(3e-3),
						Seed:      seed,
						Workers:   l.Workers,
					}
					curve := &digits.Curve{}
					err := t.Fit(ctx, train.Plan{
						Data:      data.Shuffled(fit, 64, seed),
						Epochs:    l.Few(*epochs, 1),
						Validate:  digits.Accuracy(t, test),
						Observers: append(l.Observers(), curve),
					})
					t.Close()
					if err != nil {
						return err
					}
					of.runs = append(of.runs, curve)
				}
				fmt.Printf("%2d layers, %-8v  training loss %.4f, test accuracy %.4f\n", of.layers(), of.kind, of.loss(), of.accuracy())
				all = append(all, of)
			}
		}
		if err := draw(ctx, l, all, fit); err != nil {
			return err
		}
		deepest := depths[len(depths)-1]
		least := all.find(kind{depths[0], true}).loss()
		for _, blocks := range depths {
			least = min(least, all.find(kind{blocks, true}).loss())
		}
		if err := l.AtLeast("loss of the deepest plain net over the least of any", all.find(kind{deepest, true}).loss()/least, 1.5); err != nil {
			return err
		}
		return l.AtMost("loss of the deepest residual net over that of the shallowest", all.find(kind{deepest, false}).loss()/all.find(kind{depths[0], false}).loss(), 0.5)
	})
}

// draw draws a block, the results of the trainings, and the reason for them.
func draw(ctx context.Context, l *lesson.Lesson, all trainings, fit *data.Set) error {
	if err := l.Draw("block.svg", block()); err != nil {
		return err
	}
	norms := map[kind][]float64{}
	for _, t := range all[len(all)-2:] {
		lengths, err := gradients(ctx, t.kind, fit, l.Seed)
		if err != nil {
			return err
		}
		norms[t.kind] = lengths
	}
	return l.Picture("depth.svg", all.picture(norms))
}

// block is the residual block by itself, as it is trained.
func block() *graph.Node {
	g := graph.New("y = relu(x + F(x))")
	d := graph.Ax("d", 8)
	x := g.Input("x", graph.F32, graph.Ax("n", 64), graph.Ax("h", 8), graph.Ax("w", 8), d)
	y, _ := builders.NewResNetBlock(g, "block", graph.F32, d, d, 1).OfTrain(x)
	return y
}
