// Gp predicts how much carbon dioxide there is in the air by Gaussian process regression: a prior over
// functions of time, whose few hyperparameters maximise the likelihood of what was measured.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// prior is a sum of Gaussian processes over time (Rasmussen & Williams, 2006, §5.4.3): their heights in ppm,
// lengths in years and shapes by name, and what two measurements of one moment differ by.
type prior map[string]*graph.Node

// covariance returns the covariance of the process at times a[i] with that at times b[j].
func (p prior) covariance(a, b *graph.Node) *graph.Node {
	i, j := a.Shape().Axis(0).Name, b.Shape().Axis(0).Name
	d := ops.Sub(ops.Over(a, i, j), ops.Over(b, i, j)).As("d")
	d2, shape := ops.Square(d), p["medium shape"]
	bell := func(name string) *graph.Node {
		return ops.Mul(ops.Square(p[name]), ops.Exp(ops.Scale(ops.Div(d2, ops.Square(p[name+" years"])), -.5)))
	}
	wave := ops.Square(ops.Div(ops.Sin(ops.Scale(d, math.Pi)), p["season width"]))
	flat := ops.Div(d2, ops.Scale(ops.Mul(shape, ops.Square(p["medium years"])), 2))
	return ops.Add(
		bell("trend").As("K trend"),
		ops.Mul(bell("season"), ops.Exp(ops.Scale(wave, -2))).As("K season"),
		ops.Mul(ops.Square(p["medium"]), ops.Exp(ops.Neg(ops.Mul(shape, ops.Log1p(flat))))).As("K medium"),
		bell("weather").As("K weather"),
	)
}

// posterior is what measurements y[i] at times t[i] say of the process.
type posterior struct {
	prior
	t, y            *graph.Node
	factor, weights *graph.Node // L[i j] with L·Lᵀ = K + σ²I, and (K + σ²I)⁻¹y
	loss            *graph.Node // −log p(y) for each measurement
}

// newPosterior is Algorithm 2.1 of Rasmussen & Williams (2006). The hyperparameters are positive: what is
// trained is the logarithm of each.
func newPosterior(g *graph.Graph, n int) posterior {
	i, j := graph.Ax("i", n), graph.Ax("j", n)
	p := posterior{prior: prior{}}
	for _, h := range starts {
		p.prior[h.name] = ops.Exp(g.Param("log "+h.name, graph.F64).Init(initial.Fill(math.Log(h.value)))).As(h.name)
	}
	p.t, p.y = g.Input("t", graph.F64, i), g.Input("y", graph.F64, i)
	K := ops.Add(p.covariance(p.t, ops.Rename(p.t, "i", "j")).As("K"), ops.Mul(ops.Square(p.prior["measured"]), ops.Eye(g, graph.F64, i, j)))
	p.factor = ops.Cholesky(K).As("L")
	white := ops.SolveTriangular(p.factor, p.y).As("z")
	p.weights = ops.SolveTriangular(p.factor, white, ops.Transposed).As("α")
	half := ops.Add(ops.Scale(ops.Sum(ops.Square(white)), 0.5), ops.Sum(ops.Log(ops.Diagonal(p.factor).As("diag L"))))
	logp := ops.Neg(ops.Shift(half, float64(n)/2*math.Log(2*math.Pi))).As("log p")
	p.loss = ops.Scale(logp, -1/float64(n)).As("loss")
	return p
}

// prediction is what the posterior says of other times.
type prediction struct {
	mean, deviation, samples []float64
	loss                     float64 // that of the posterior
}

// predict predicts with the hyperparameters of a store; the samples[m draw] are of the process itself,
// without the noise of a measurement.
func predict(ctx context.Context, store *tape.Store, seen months, times []float64) (prediction, error) {
	g := graph.New("prediction")
	p := newPosterior(g, len(seen.years))
	m, other := graph.Ax("m", len(times)), graph.Ax("m′", len(times))
	s := g.Input("s", graph.F64, m)
	cross := p.covariance(p.t, s)
	explained := ops.SolveTriangular(p.factor, cross)
	left := ops.Sub(p.covariance(s, ops.Rename(s, "m", "m′")), ops.MatMul(ops.Transpose(explained), explained)).As("Σ")
	mean := ops.MatMul(p.weights, cross).As("μ")
	deviation := ops.Sqrt(ops.Add(ops.Diagonal(left), ops.Square(p.prior["measured"]))).As("σ")
	jitter := ops.Scale(ops.Eye(g, graph.F64, m, other), 1e-6)
	noise := ops.RandomNormal(g, "draws", graph.F64, other, graph.Ax("draw", draws))
	samples := ops.Add(ops.Over(mean, "m", "draw"), ops.MatMul(ops.Cholesky(ops.Add(left, jitter)), noise))
	values, err := store.Eval(ctx, tape.Feed{p.t: tape.Of(p.t, seen.years...), p.y: tape.Of(p.y, seen.ppm...), s: tape.Of(s, times...)}, mean, deviation, samples, p.loss)
	return prediction{values[mean].Data, values[deviation].Data, values[samples].Data, values[p.loss].Item()}, err
}

// held compares with the measurements of some years: the share that lies in the intervals for 95 of 100,
// and the root of the mean square of the errors.
func (p prediction) held(of months, from, to float64) (share, rms float64) {
	n := 0.
	for k, y := range of.ppm {
		if e := y - p.mean[k]; of.years[k] >= from && of.years[k] < to {
			n++
			rms += e * e
			if math.Abs(e) < 1.96*p.deviation[k] {
				share++
			}
		}
	}
	return share / n, math.Sqrt(rms / n)
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		seen, held, err := read(2)
		fit, wrong := seen.set()
		if err := errors.Join(err, wrong); err != nil {
			return err
		}
		build := func(n int, _ train.Mode) *train.Net { return &train.Net{Loss: newPosterior(graph.New("gp"), n).loss} }
		t := &train.Trainer{Build: build, Optimiser: train.LBFGS(), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		plan := train.Plan{Data: data.InOrder(fit, 0), Steps: l.Few(200, 3), Observers: []train.Observer{lesson.Converged(1e-5)}}
		if err := t.Fit(ctx, l.Plan("gp", plan)); err != nil {
			return err
		}
		for _, h := range starts {
			v, err := t.Store().Get("log " + h.name)
			if err != nil {
				return err
			}
			fmt.Printf("%-14s%8.3g\n", h.name, math.Exp(v.Float64s()[0]))
		}
		p, err := predict(ctx, t.Store(), seen, held.years)
		if err != nil {
			return err
		}
		between, off := p.held(held, 0, until)
		fmt.Printf("months in between: off by %.2f ppm, %.1f%% within the intervals for 95%%\n", off, 100*between)
		for _, to := range []float64{until + 4, 2021} {
			share, off := p.held(held, until, to)
			fmt.Printf("from %d to %.0f: off by %.2f ppm, %.1f%% within\n", until, to-1, off, 100*share)
		}
		n := len(seen.ppm)
		fmt.Printf("log p(y) of %d months is %.1f after %d steps\n", n, -p.loss*float64(n), t.Store().Step())
		return errors.Join(
			l.AtLeast("log p(y) for each month", -p.loss, -0.42),
			l.AtMost("share within, off by", math.Abs(between-0.95), 0.03),
			picture(l, held, p),
			l.Draw("likelihood.svg", newPosterior(graph.New("likelihood"), n).loss),
		)
	})
}
