// Sinkhorn carries one cloud of points to another at the least cost: the plan solves an equation,
// by iteration inside of the graph until nothing changes, and is differentiated there.
package main

import (
	"context"
	"errors"
	"fmt"
	"math"
	"math/rand/v2"

	"github.com/tapestry-ml/tapestry/examples/internal/assignment"
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/train/data"
)

// transport carries equal masses at x[i d] to equal masses at y[j d].
type transport struct {
	f, plan, steps *graph.Node // potentials f[i], how much goes from i to j, and steps of the iteration
	cost, value    *graph.Node // Σ plan·‖xᵢ − yⱼ‖²; what the plan minimises, with ε·KL(plan, 1/nm) added
}

// sinkhorn solves the equations of Cuturi (2013) in logarithms, from given potentials f or from 0.
func sinkhorn(x, y *graph.Node, ε, tolerance float64, from ...*graph.Node) (t transport) {
	c := ops.SqDist(x, y).As("c")
	over := func(h *graph.Node) *graph.Node { return ops.Over(h, "i", "j") }
	// soft is −ε·log meanₖ exp((hₖ − c)/ε) over an axis k.
	soft := func(h *graph.Node, axis string) *graph.Node {
		sum := ops.LogSumExp(ops.Scale(ops.Sub(over(h), c), 1/ε), axis)
		return ops.Scale(ops.Shift(sum, -math.Log(float64(h.Dim(0)))), -ε)
	}
	if from == nil {
		from = []*graph.Node{ops.ZerosLike(ops.Sum(c, "j"))}
	}
	eq := ops.Equation{Start: from, Tolerance: tolerance * ε, Steps: 100_000}
	solved := ops.FixedPoint(eq, func(f, _ []*graph.Node) []*graph.Node {
		next := soft(soft(f[0], "i"), "j")
		return []*graph.Node{ops.Sub(next, ops.Mean(next))} // f + a and g − a are the same plan for any a
	})
	t.f, t.steps = solved.X[0].As("f"), solved.Steps
	g := soft(t.f, "i").As("g")
	t.plan = ops.Scale(ops.Exp(ops.Scale(ops.Sub(ops.Add(over(t.f), over(g)), c), 1/ε)), 1/float64(x.Dim(0)*y.Dim(0))).As("plan")
	t.cost = ops.Sum(ops.Mul(t.plan, c)).As("cost")
	// Where the value is least it does not change with f, so that its derivative needs none of f.
	f := ops.StopGradient(t.f)
	t.value = ops.Add(ops.Mean(f), ops.Mean(soft(f, "i"))).As("value")
	return t
}

// slopes says how steeply the cost and the value rise as x moves along the gradient of the cost: by
// gradients and by difference quotients, and last the cost by the gradient with the plan held.
func slopes(x, y *graph.Node) *graph.Node {
	const step = 1e-4
	at := func(x *graph.Node) transport { return sinkhorn(x, y, 0.1, 1e-10) }
	t := at(x)
	by := grad.Of(t.cost, x)[0]
	ahead, behind := at(ops.Add(x, ops.Scale(by, step))), at(ops.Sub(x, ops.Scale(by, step)))
	held := ops.Sum(ops.Mul(ops.StopGradient(t.plan), ops.SqDist(x, y)))
	slope := func(of *graph.Node) *graph.Node { return ops.Sum(ops.Mul(grad.Of(of, x)[0], by)) }
	quotient := func(a, b *graph.Node) *graph.Node { return ops.Scale(ops.Sub(a, b), 1/(2*step)) }
	return ops.Stack(0, "s", slope(t.cost), quotient(ahead.cost, behind.cost), slope(t.value), quotient(ahead.value, behind.value), slope(held))
}

var sizes = []float64{0.3, 0.1, 0.03, 0.01, 0.003, 0.001} // ε

// compare makes plans[ε i j] between two small clouds; each starts from the one before. The table says
// of each in how many steps, how far what leaves a point is from what is there, how far it costs more
// than the least, and how much of it is on the diagonal.
func compare(ctx context.Context, xs, ys []float64, least float64) (table, plans, slope []float64, err error) {
	g, n := graph.New("plans"), len(xs)/2
	x, y := g.Input("x", graph.F64, graph.Ax("i", n), graph.Ax("d", 2)), g.Input("y", graph.F64, graph.Ax("j", n), graph.Ax("d", 2))
	var from, rows, all []*graph.Node
	for _, ε := range sizes {
		t := sinkhorn(x, y, ε, 1e-4, from...)
		from = []*graph.Node{t.f}
		off := ops.Max(ops.Abs(ops.Shift(ops.Scale(ops.Sum(t.plan, "j"), float64(n)), -1)))
		above := ops.Shift(ops.Scale(t.cost, 1/least), -1)
		rows = append(rows, ops.Stack(0, "", ops.Cast(t.steps, graph.F64), off, above, ops.Trace(t.plan)))
		all = append(all, t.plan)
	}
	of := []*graph.Node{ops.Stack(0, "ε", rows...), ops.Stack(0, "ε", all...), slopes(x, y)}
	values, err := tape.Eval(ctx, tape.Feed{x: tape.Of(x, xs...), y: tape.Of(y, ys...)}, of...)
	return values[of[0]].Data, values[of[1]].Data, values[of[2]].Data, err
}

// flow moves points x onto y: the loss is the divergence of Feydy et al. (2019), the value between
// the clouds less the means of those within them. The parameter is by how much each has moved.
func flow(xs, ys []float64) train.Build {
	return func(int, train.Mode) *train.Net {
		const ε, tolerance = 0.02, 1e-3
		g := graph.New("flow")
		i, j, d := graph.Ax("i", len(xs)/2), graph.Ax("j", len(ys)/2), graph.Ax("d", 2)
		moved := g.Param("moved", graph.F64, i, d).Init(initial.Zeros())
		x, y := ops.Add(g.Constant(graph.F64, xs, i, d), moved).As("x"), g.Constant(graph.F64, ys, j, d).As("y")
		value := func(x, y *graph.Node) *graph.Node { return sinkhorn(x, y, ε, tolerance).value }
		within := ops.Add(value(x, ops.Rename(x, "i", "j")), value(ops.Rename(y, "j", "i"), y))
		loss := ops.Sub(value(x, y), ops.Scale(within, 0.5)).As("loss")
		return &train.Net{Loss: loss, Output: x}
	}
}

func main() {
	lesson.Main(func(ctx context.Context, l *lesson.Lesson) error {
		rng := rand.New(rand.NewPCG(l.Seed, 0))
		square := make([]float64, 2*(12+12+l.Few(150, 30)))
		for i := range square {
			square[i] = rng.Float64()
		}
		x, y, start := square[:24], square[24:48], square[48:]
		y, least := assignment.Match(x, y) // the diagonal of a plan is the best assignment
		table, plans, s, err := compare(ctx, x, y, least)
		if err != nil {
			return err
		}
		fmt.Println("    ε   steps   rows off by   cost above the least   on the best assignment")
		for k, ε := range sizes {
			r := table[4*k : 4*k+4]
			fmt.Printf("%5g%8.0f%14.1g%23.4f%25.4f\n", ε, r[0], r[1], r[2], r[3])
		}
		fmt.Printf("slope of the cost %.9f, by difference quotients %.9f, with the plan held %.4f\n", s[0], s[1], s[4])
		fmt.Printf("slope of the value %.9f, by difference quotients %.9f\n", s[2], s[3])

		target := ring(rng, len(start)/2)
		t := &train.Trainer{Build: flow(start, target), Optimiser: train.SGD(float64(len(start)) / 8), Seed: l.Seed, Workers: l.Workers}
		defer t.Close()
		film := &film{t: t, start: start}
		plan := train.Plan{Data: data.Generated("", 1, nil), Steps: l.Few(30, 3), Observers: append(l.Observers(), film)}
		if err := t.Fit(ctx, plan); err != nil {
			return err
		}
		fmt.Printf("divergence of the clouds %.4f, and %.6f after %d steps\n", film.losses[0], film.losses[len(film.losses)-1], len(film.losses))
		last := table[len(table)-4:]
		return errors.Join(
			l.AtMost("rows of the plan, off by", last[1], 2e-4),
			l.AtMost("its cost, above the least by", math.Abs(last[2]), 0.01),
			l.AtLeast("on the best assignment", last[3], 0.6),
			l.AtMost("slope of the cost, off by", math.Abs(s[0]/s[1]-1), 1e-6),
			l.AtMost("divergence at the end, as a share", film.losses[len(film.losses)-1]/film.losses[0], 0.001),
			l.Picture("plans.svg", images(plans)),
			l.Picture("flow.svg", film.draw(target)),
			l.AtMost("slope of the value, off by", math.Abs(s[2]/s[3]-1), 1e-6),
		)
	})
}
