// Policy learns to balance a pole on a cart by trying: pushes after which the pole stood longer than
// was to be expected become more likely.
package main

import (
	"context"
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/examples/internal/cart"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/lab"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gonum.org/v1/gonum/stat"
	"gorgonia.org/tensor"
)

var seeds = lesson.Count("seeds", 1, 5, "trainings, each from another seed")

const (
	carts = 16           // that are tried at a time
	most  = 500          // pushes, after which an episode ends
	rows  = most * carts // of a batch
	γ     = 0.99         // by which a push later counts less
)

// policy is π(a|s) and the value v(s) that is expected, of states s[n k].
type policy struct{ s, logp, v *graph.Node }

func newPolicy(g *graph.Graph, states int) (p policy) {
	n, k, h := graph.Ax("n", states), graph.Ax("k", 4), graph.Ax("h", 32)
	p.s = g.Input("s", graph.F32, n, k)
	scaled := ops.Mul(p.s, g.Constant(graph.F32, []float64{1 / 2.4, 1 / 2.0, 1 / 0.21, 1 / 2.0}, k))
	net := func(name string, out graph.Axis) *graph.Node {
		defer g.Scope(name)()
		hidden := ops.Tanh(nn.NewLinear(g, "in", graph.F32, k, h).Of(scaled))
		return nn.NewLinear(g, "out", graph.F32, h, out).Of(hidden)
	}
	p.logp = ops.LogSoftmax(net("policy", graph.Ax("a", 2)), "a").As("log π")
	p.v = ops.Squeeze(net("value", graph.Ax("one", 1)), "one").As("v")
	return p
}

// build returns a net whose loss has the gradient of the policy (Williams, 1992), with what v expects
// as the baseline, and trains v by its squared error. A row that is no push of an episode gains 0,
// and does not count.
func build(baseline bool) train.Build {
	return func(rows int, _ train.Mode) *train.Net {
		g := graph.New("policy gradient")
		p, n := newPolicy(g, rows), graph.Ax("n", rows)
		action, gained := g.Input("action", graph.I32, n), g.Input("gained", graph.F32, n)
		surprise := ops.Sub(gained, p.v).As("surprise")
		by := surprise
		if !baseline {
			by = gained
		}
		chosen := ops.Pick(p.logp, action, "a").As("log π(a)")
		each := ops.Sub(ops.Square(surprise), ops.Mul(ops.StopGradient(by), chosen))
		played := ops.Greater(gained, ops.Lit(gained, 0))
		return &train.Net{Loss: nn.MeanWhere(each, played).As("loss"), Output: p.logp}
	}
}

// player tries a policy on some carts.
type player struct {
	policy
	action  *graph.Node
	vm      *tape.VM
	seed    uint64
	lengths []float64 // of episodes, the mean of each trial
}

func newPlayer(store *tape.Store, seed uint64) (*player, error) {
	p := &player{policy: newPolicy(graph.New("player"), carts), seed: seed}
	p.action = ops.RandomCategorical("action", p.logp, "a")
	prog, err := tape.Compile(p.s.Graph(), tape.Fetch(p.action))
	if err != nil {
		return nil, err
	}
	p.vm, err = prog.NewVM(store)
	return p, err
}

// play is one trial: an episode of each cart, as a batch of all pushes, [push cart …].
func (p *player) play(ctx context.Context, trial int) (map[string]*tensor.Dense, error) {
	tried, err := cart.Try(p.seed, trial, carts, most, func(states []float32) ([]float64, error) {
		if err := p.vm.Run(ctx, tape.Feed{p.s: tape.Of(p.s, states...)}); err != nil {
			return nil, err
		}
		return p.vm.Floats(p.action)
	})
	gained := make([]float32, rows+carts) // which is 0 after the last push
	for at := rows - 1; at >= 0; at-- {
		if tried.Made[at] {
			gained[at] = 1 - γ + γ*gained[at+carts]
		}
	}
	p.lengths = append(p.lengths, tried.Length)
	return map[string]*tensor.Dense{
		"s":      lesson.Array(tried.States, rows, 4),
		"action": lesson.Array(tried.Pushes, rows),
		"gained": lesson.Array(gained[:rows], rows),
	}, err
}

// learn trains by a hundred trials.
func learn(ctx context.Context, l *lesson.Lesson, seed uint64, baseline bool) (*train.Trainer, *player, error) {
	t := &train.Trainer{Build: build(baseline), Optimiser: train.Adam(0.01), Seed: seed, Workers: l.Workers}
	p, err := newPlayer(t.Store(), seed)
	if err != nil {
		return nil, nil, err
	}
	defer p.vm.Close()
	trials := data.Generated("trials", rows, func(trial int) (map[string]*tensor.Dense, error) { return p.play(ctx, trial) })
	return t, p, t.Fit(ctx, train.Plan{Data: trials, Steps: l.Few(100, 3), Observers: l.Observers()})
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		curves := map[bool][][]float64{} // with the baseline and without
		var learnt *train.Trainer
		var last []float64
		for _, baseline := range []bool{true, false} {
			for i := range *seeds {
				t, p, err := learn(ctx, l, l.Seed+uint64(i), baseline)
				if err != nil {
					return err
				}
				defer t.Close()
				end := stat.Mean(p.lengths[max(0, len(p.lengths)-10):], nil)
				fmt.Printf("%-8s seed %d: %3.0f pushes in the first trial, %3.0f in the last ten\n", names[baseline], t.Seed, p.lengths[0], end)
				curves[baseline] = append(curves[baseline], p.lengths)
				if baseline {
					last, learnt = append(last, end), t
				}
			}
		}
		return errors.Join(
			l.AtLeast("pushes in the last ten trials, median of the seeds", lab.Median(last), 450),
			l.Picture("learning.svg", draw(curves, heat(ctx, learnt))),
			l.Draw("policy.svg", build(true)(rows, train.Training).Loss),
		)
	})
}
