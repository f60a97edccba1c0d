// Ddpm makes digits of noise: the denoising diffusion model of Ho, Jain & Abbeel (2020).
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/examples/internal/digits"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

const (
	times  = 100 // from a digit to noise
	blocks = 3
	waves  = 16   // that tell the time
	drawn  = 1000 // digits
)

// schedule returns β[t] and ᾱ[t], in f64: of a digit x₀ there is √ᾱ_t·x₀ + √(1−ᾱ_t)·ε left at time t.
func schedule(g *graph.Graph) (β, ᾱ *graph.Node) {
	β = ops.Linspace(g, graph.F64, 0.001, 0.2, graph.Ax("t", times)).As("β")
	return β, ops.CumProd(ops.OneMinus(β), "t").As("ᾱ")
}

// denoiser says what noise there is in images x[n p]: residual blocks that are told the time.
type denoiser struct {
	in, out        nn.Linear
	time, to, from [blocks]nn.Linear
}

func newDenoiser(g *graph.Graph) (d denoiser) {
	p, h, k, f := graph.Ax("p", 64), graph.Ax("h", 128), graph.Ax("k", 256), graph.Ax("f", 2*waves)
	d.in, d.out = nn.NewLinear(g, "in", graph.F32, p, h), nn.NewLinear(g, "out", graph.F32, h, p)
	for i := range blocks {
		name := fmt.Sprint("block", i+1)
		d.time[i] = nn.NewLinear(g, name+"/time", graph.F32, f, k)
		d.to[i], d.from[i] = nn.NewLinear(g, name+"/to", graph.F32, h, k), nn.NewLinear(g, name+"/from", graph.F32, k, h)
	}
	return d
}

// of returns the noise at times t, one for every image or one for all.
func (d denoiser) of(x, t *graph.Node) *graph.Node {
	powers := ops.Linspace(graph.Of(x, t), graph.F32, 0, -math.Log(times), graph.Ax("f", waves))
	angle := ops.Mul(ops.Expand(ops.Cast(t, graph.F32), -1, "f"), ops.Exp(powers)) // from 1 radian a step to a hundredth
	clock := ops.Concat("f", ops.Sin(angle), ops.Cos(angle)).As("clock")
	h := d.in.Of(x).As("h")
	for i := range blocks {
		k := ops.SiLU(ops.Add(d.to[i].Of(h), d.time[i].Of(clock))).As(fmt.Sprint("k", i+1))
		h = ops.Add(h, d.from[i].Of(k)).As(fmt.Sprint("h", i+1))
	}
	return d.out.Of(h).As("ε̂")
}

// net is Algorithm 1: every image is seen at a time that is drawn, and the loss is the mean square of what is
// wrong about its noise.
func net(rows int, _ train.Mode) *train.Net {
	g, n, p := graph.New("ddpm"), graph.Ax("n", rows), graph.Ax("p", 64)
	x0 := ops.Shift(ops.Scale(g.Input("x", graph.F32, n, p), 1.0/8), -1).As("x₀")
	t, ε := ops.RandomInt(g, "t", graph.I32, 0, times, n), ops.RandomNormal(g, "ε", graph.F32, n, p)
	_, ᾱ := schedule(g)
	at := func(table *graph.Node) *graph.Node {
		return ops.Expand(ops.Gather(ops.Cast(ops.Sqrt(table), graph.F32), t, "t"), 1, "p")
	}
	xt := ops.Add(ops.Mul(at(ᾱ), x0), ops.Mul(at(ops.OneMinus(ᾱ)), ε)).As("x_t")
	return &train.Net{Loss: ops.Mean(ops.Square(ops.Sub(ε, newDenoiser(g).of(xt, t)))).As("loss")}
}

// sample is Algorithm 2 as one loop, whose step draws noise anew at every time; it returns the images at
// all times[t n p], those at time 0 first.
func sample(g *graph.Graph, n graph.Axis) *graph.Node {
	β, ᾱ := schedule(g)
	before := ops.Div(ᾱ, ops.OneMinus(β)) // ᾱ at time t−1
	sequence := []*graph.Node{
		ops.Arange(g, graph.F64, graph.Ax("t", times)),
		ops.Div(β, ops.Sqrt(ops.OneMinus(ᾱ))),
		ops.Sqrt(ops.OneMinus(β)),
		ops.Sqrt(ops.Div(ops.Mul(β, ops.OneMinus(before)), ops.OneMinus(ᾱ))), // eq. 7
	}
	for i, s := range sequence {
		sequence[i] = ops.Cast(s, graph.F32)
	}
	d, p := newDenoiser(g), graph.Ax("p", 64)
	noise := ops.RandomNormal(g, "x_T", graph.F32, n, p)
	path := ops.Scan(ops.Loop{Carry: []*graph.Node{noise}, Over: sequence, Reverse: true}, func(c, at, _ []*graph.Node) (next, _ []*graph.Node) {
		z := ops.RandomNormal(c[0].Graph(), "z", graph.F32, n, p)
		mean := ops.Div(ops.Sub(c[0], ops.Mul(at[1], d.of(c[0], at[0]))), at[2])
		return []*graph.Node{ops.Add(mean, ops.Mul(at[3], z)).As("x_t")}, nil
	}).Trace[0]
	ink := ops.Scale(ops.Shift(path, 1), 8)
	return ops.Clip(ink, ops.Lit(ink, 0), ops.Lit(ink, 16))
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		fit, test, err := digits.Split()
		if err != nil {
			return err
		}
		t := &train.Trainer{Build: net, Optimiser: train.Adam(2e-3, train.EMA(0.999)), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		plan := train.Plan{Data: data.Shuffled(fit, 128, l.Seed), Steps: l.Few(12_000, 20), Rate: train.Geometric(2e-3, 1e-4)}
		if err := t.Fit(ctx, l.Plan("ddpm", plan)); err != nil {
			return err
		}
		r := &train.Trainer{Build: digits.Reader, Optimiser: train.Adam(1e-3), Seed: l.Seed, Workers: l.Workers}
		defer r.Close()
		if err := r.Fit(ctx, l.Plan("reader", train.Plan{Data: data.Shuffled(fit, 64, l.Seed), Epochs: l.Few(30, 2)})); err != nil {
			return err
		}
		store, err := train.Averaged(t.Store())
		if err != nil {
			return err
		}
		path := sample(graph.New("sample"), graph.Ax("n", drawn))
		made := ops.At(path, "t", 0)
		values, err := store.Eval(ctx, nil, path, made)
		like, wrong := digits.Normal(ctx, drawn, fit.Column("x"))
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		verdicts, err := digits.Judge(ctx, r.Store(), fit.Column("x"), test.Column("x"), tape.Tensor(values[made]), like)
		if err != nil {
			return err
		}
		for i, what := range []string{"digits held out:", "made of noise:", "of a normal distribution:"} {
			fmt.Printf("%-28s %v\n", what, verdicts[i])
		}
		held, own, normal := verdicts[0], verdicts[1], verdicts[2]
		return errors.Join(
			l.AtLeast("how sure the reader is of digits made of noise", own.Sure, 0.74),
			l.AtLeast("the rarest digit of 1000", float64(slices.Min(own.Digits[:])), 40),
			l.AtMost("distance to the nearest, over that of a normal distribution", own.Nearest/normal.Nearest, 0.9),
			l.AtLeast("distance to the nearest, over that of digits held out", own.Nearest/held.Nearest, 0.8),
			picture(l, values[path].Data),
			l.Draw("ddpm.svg", net(128, train.Training).Loss),
		)
	})
}
