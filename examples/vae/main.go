// Vae learns to write digits: a variational autoencoder of Kingma & Welling (2014).
package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// autoencoder has an encoder, which says what codes z an image may have, and a decoder, which says what
// images a code may have.
type autoencoder struct{ read, mean, spread, write, pixels nn.Linear }

func newAutoencoder(g *graph.Graph, codes int) autoencoder {
	p, h, z, k := graph.Ax("p", 64), graph.Ax("h", 200), graph.Ax("d", codes), graph.Ax("k", 200)
	return autoencoder{
		read: nn.NewLinear(g, "read", graph.F32, p, h), mean: nn.NewLinear(g, "mean", graph.F32, h, z), spread: nn.NewLinear(g, "spread", graph.F32, h, z),
		write: nn.NewLinear(g, "write", graph.F32, z, k), pixels: nn.NewLinear(g, "pixels", graph.F32, k, p),
	}
}

// encode returns mean and log-variance of the normal distribution q(z|x), [n d] each.
func (a autoencoder) encode(x *graph.Node) (μ, logVariance *graph.Node) {
	h := ops.ReLU(a.read.Of(x)).As("h")
	return a.mean.Of(h).As("μ"), a.spread.Of(h).As("log σ²")
}

// decode returns the log-odds of ink in each pixel, [… p], for codes [… d].
func (a autoencoder) decode(z *graph.Node) *graph.Node {
	return a.pixels.Of(ops.ReLU(a.write.Of(z)).As("k")).As("logits")
}

// bound has the terms of the evidence lower bound on log p(x), each [… n]: log p(x|z), for a code z that
// was drawn, and how far q(z|x) is from the prior N(0, I).
type bound struct{ z, logits, logp, kl *graph.Node }

// bound draws a code of every image x[n p] for every index of further axes (Kingma & Welling, 2014, eq. 10).
func (a autoencoder) bound(x *graph.Node, draws ...graph.Axis) bound {
	μ, logVariance := a.encode(x)
	ε := ops.RandomNormal(x.Graph(), "ε", graph.F32, append(draws, μ.Shape().Axes()...)...)
	z := ops.Add(μ, ops.Mul(ops.Exp(ops.Scale(logVariance, 0.5)), ε)).As("z")
	logits := a.decode(z)
	logp := ops.Sum(ops.Sub(ops.Mul(x, logits), ops.Softplus(logits)), "p").As("log p(x|z)")
	excess := ops.Sub(ops.Sub(ops.Add(ops.Square(μ), ops.Exp(logVariance)), logVariance), ops.Lit(μ, 1))
	return bound{z, logits, logp, ops.Scale(ops.Sum(excess, "d"), 0.5).As("KL")}
}

// binary returns images x[n p] whose pixels have ink, 1, or not.
func binary(g *graph.Graph, rows int) *graph.Node {
	ink := g.Input("x", graph.F32, graph.Ax("n", rows), graph.Ax("p", 64))
	return ops.Cast(ops.GreaterEqual(ink, ops.Lit(ink, 8)), graph.F32).As("x̂")
}

func net(codes, rows int) *train.Net {
	g := graph.New("vae")
	b := newAutoencoder(g, codes).bound(binary(g, rows))
	return &train.Net{Loss: ops.Mean(ops.Sub(b.kl, b.logp)).As("loss")}
}

// measured is what held-out images come to, in nats each.
type measured struct{ elbo, kl, drawn, logp float64 }

// measure draws 100 codes of every image. KL is computed by its formula, and by the mean of log q(z|x) − log p(z)
// of the codes that are drawn; log p(x) is at least the mean of p(x, z)/q(z|x) (Burda et al., 2016).
func measure(ctx context.Context, store *tape.Store, codes int, images *tensor.Dense) (m measured, err error) {
	g := graph.New("measure")
	x, a, draws := binary(g, images.Shape()[0]), newAutoencoder(g, codes), graph.Ax("s", 100)
	b := a.bound(x, draws)
	μ, logVariance := a.encode(x)
	square := ops.Div(ops.Square(ops.Sub(b.z, μ)), ops.Exp(logVariance))
	ratio := ops.Scale(ops.Sum(ops.Sub(ops.Square(b.z), ops.Add(square, logVariance)), "d"), 0.5).As("log q(z|x)/p(z)")
	elbo := ops.Mean(ops.Sub(b.logp, b.kl))
	kl, drawn := ops.Mean(b.kl), ops.Mean(ratio)
	logp := ops.Mean(ops.Shift(ops.LogSumExp(ops.Sub(b.logp, ratio), "s"), -math.Log(float64(draws.Size))))
	values, err := store.Eval(ctx, tape.Feed{g.Lookup("x"): images}, elbo, kl, drawn, logp)
	if err != nil {
		return m, err
	}
	return measured{values[elbo].Item(), values[kl].Item(), values[drawn].Item(), values[logp].Item()}, nil
}

// alone returns log p(x) of images on average if all pixels were independent, each as often with ink as it is
// among other images.
func alone(of, images []float32) (logp float64) {
	for p := range 64 {
		share := func(x []float32) (ink float64) {
			for k := p; k < len(x); k += 64 {
				if x[k] >= 8 {
					ink += 64 / float64(len(x))
				}
			}
			return ink
		}
		n := float64(len(images) / 64)
		q := (n*share(images) + 1) / (n + 2) // by Laplace's rule, so that nothing is impossible
		logp += share(of)*math.Log(q) + (1-share(of))*math.Log(1-q)
	}
	return logp
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		fit, test, err := digits.Split()
		if err != nil {
			return err
		}
		fmt.Printf("pixels on their own: log p(x) %.2f\n", alone(test.Column("x").Float32s(), fit.Column("x").Float32s()))
		var judged []error
		for _, of := range []struct {
			codes int
			least float64 // of the ELBO
			draw  func(context.Context, *lesson.Lesson, *tape.Store, *data.Set) error
		}{{2, -20.8, plane}, {10, -18.3, writing}} {
			t := &train.Trainer{Build: func(rows int, _ train.Mode) *train.Net { return net(of.codes, rows) }, Optimiser: train.Adam(3e-3), Seed: l.Seed, Workers: l.Workers}
			defer t.Close()
			plan := train.Plan{Data: data.Shuffled(fit, 64, l.Seed), Epochs: l.Few(400, 2), Rate: train.Geometric(3e-3, 3e-4)}
			if err := t.Fit(ctx, l.Plan(fmt.Sprint("codes-", of.codes), plan)); err != nil {
				return err
			}
			m, err := measure(ctx, t.Store(), of.codes, test.Column("x"))
			if err != nil {
				return err
			}
			fmt.Printf("codes of %d numbers: log p(x) %.2f or more, KL %.3f, by draws %.3f\n", of.codes, m.logp, m.kl, m.drawn)
			judged = append(judged, l.AtLeast("ELBO", m.elbo, of.least), l.AtMost("KL and its draws differ by", math.Abs(m.kl-m.drawn), 0.05), of.draw(ctx, l, t.Store(), test))
		}
		return errors.Join(append(judged, l.Draw("vae.svg", net(2, 64).Loss))...)
	})
}
