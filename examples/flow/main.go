// Flow learns the density of points in the plane: an invertible net takes them to a normal
// distribution, whose density is known, and back.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"github.com/tapestry-ml/tapestry/viz"
	"gorgonia.org/tensor"
)

const hidden = 48

// coupling moves one coordinate by an affine map that depends on the other (Dinh et al., 2017):
//
//	b′ = b·eˢ⁽ᵃ⁾ + t(a)      b = (b′ − t(a))·e⁻ˢ⁽ᵃ⁾
type coupling struct {
	name    string
	in, out nn.Linear
}

func newCoupling(g *graph.Graph, name string) coupling {
	defer g.Scope(name)()
	one, h, two := graph.Ax("a", 1), graph.Ax("h", hidden), graph.Ax("st", 2)
	return coupling{name, nn.NewLinear(g, "in", graph.F32, one, h), nn.NewLinear(g, "out", graph.F32, h, two)}
}

// of returns s[i], kept within ±2, and t[i] for a[i].
func (c coupling) of(a *graph.Node) (s, t *graph.Node) {
	st := c.out.Of(ops.Tanh(c.in.Of(ops.Expand(a, 1, "a"))))
	return ops.Scale(ops.Tanh(ops.At(st, "st", 0)), 2).As("s"), ops.At(st, "st", 1).As("t")
}

func (c coupling) forth(a, b *graph.Node) (moved, s *graph.Node) {
	defer a.Graph().Scope(c.name)()
	s, t := c.of(a)
	return ops.Add(ops.Mul(b, ops.Exp(s)), t).As("b′"), s
}

func (c coupling) back(a, moved *graph.Node) *graph.Node {
	defer a.Graph().Scope(c.name)()
	s, t := c.of(a)
	return ops.Mul(ops.Sub(moved, t), ops.Exp(ops.Neg(s))).As("b")
}

// flow builds a net of some couplings for n points: the loss is the mean of −log p(x), in nats, where
//
//	log p(x) = log N(z; 0, 1) + Σ_couplings s
//
// and the output is what becomes of the input z on the way back.
func flow(couplings, n int) *train.Net {
	g := graph.New("flow")
	x := g.Input("x", graph.F32, graph.Ax("i", n), graph.Ax("d", 2))
	a, b := ops.At(x, "d", 0), ops.At(x, "d", 1)
	var net []coupling
	var stretched []*graph.Node
	for k := range couplings {
		net = append(net, newCoupling(g, fmt.Sprintf("coupling%d", k+1)))
		moved, s := net[k].forth(a, b)
		a, b = moved, a // the next layer moves the other coordinate
		stretched = append(stretched, s)
	}
	z := ops.Stack(1, "d", a, b).As("z")
	normal := ops.Shift(ops.Scale(ops.Sum(ops.Square(z), "d"), -.5), -math.Log(2*math.Pi)).As("log N")
	logp := ops.Add(normal, ops.Sum(ops.Stack(1, "k", stretched...), "k")).As("log p")

	a, b = ops.At(x, "d", 0), ops.At(x, "d", 1)
	for _, c := range slices.Backward(net) {
		a, b = b, c.back(b, a)
	}
	return &train.Net{Loss: ops.Neg(ops.Mean(logp)).As("loss"), Output: ops.Stack(1, "d", a, b).As("back")}
}

// moons draws n points near two half circles, with noise of standard deviation 0.1. Their entropy is
// about log 2π, for the moon and the place on it, and that of the noise across.
func moons(rng *rand.Rand, n int) []float32 {
	var out []float32
	for range n {
		φ := rng.Float64() * math.Pi
		x, y := math.Cos(φ), math.Sin(φ)-.25
		if rng.IntN(2) == 1 {
			x, y = 1-x, -y
		}
		out = append(out, float32(x-.5+rng.NormFloat64()/10), float32(y+rng.NormFloat64()/10))
	}
	return out
}

var entropy = math.Log(2*math.Pi) + math.Log(2*math.Pi*math.E*.01)/2

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		rng := rand.New(rand.NewPCG(l.Seed, 0))
		points := moons(rng, 10_000)
		fit, err := data.NewSet(map[string]*tensor.Dense{"x": lesson.Array(points, len(points)/2, 2)})
		if err != nil {
			return err
		}
		seen, z := moons(rng, 1000), make([]float32, 2000)
		build := func(n int, _ train.Mode) *train.Net { return flow(8, n) }
		t := &train.Trainer{Build: build, Optimiser: train.Adam(0.005), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		steps := l.Few(12_000, 50)
		plan := train.Plan{Data: data.Shuffled(fit, 400, l.Seed), Steps: steps, Rate: train.Geometric(0.005, 0.0001)}
		if err := t.Fit(ctx, l.Plan("flow", plan)); err != nil {
			return err
		}
		for i := range z {
			z[i] = float32(rng.NormFloat64())
		}
		learnt := flow(8, 1000)
		x := learnt.Loss.Graph().Lookup("x")
		forth, err := t.Store().Eval(ctx, tape.Feed{x: tape.Of(x, seen...)}, learnt.Loss)
		if err != nil {
			return err
		}
		back, err := t.Store().Eval(ctx, tape.Feed{x: tape.Of(x, z...)}, learnt.Output)
		if err != nil {
			return err
		}
		loss := forth[learnt.Loss].Item()
		two := flow(2, 400)
		for _, e := range viz.Equations(two.Loss) {
			fmt.Println(viz.Formula(e.Node))
		}
		fmt.Printf("%.3f nats a point held out after %d steps; the moons have an entropy of about %.3f\n", loss, steps, entropy)
		return errors.Join(
			l.AtMost("nats above the entropy", loss-entropy, 0.2),
			picture(l, seen, back[learnt.Output].Data),
			l.Draw("flow.svg", two.Loss),
		)
	})
}
