package main

import (
	"context"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gonum.org/v1/gonum/mat"
)

// problem is a nonlinear regression as a graph: what is left of every observation, and the derivative
// of that by all parameters.
type problem struct {
	b, prediction, residual, jacobian *graph.Node
	vm                                *tape.VM
	n, p                              int
}

// newProblem builds and compiles the regression of a data set.
func newProblem(d dataset) (*problem, error) {
	g := graph.New(d.name)
	i := graph.Ax("i", len(d.y))
	q := &problem{n: len(d.y), p: len(d.certified)}
	q.b = g.Input("b", graph.F64, graph.Ax("k", q.p))
	b := make([]*graph.Node, q.p)
	for k := range b {
		b[k] = ops.Squeeze(ops.Slice(q.b, "k", k, k+1), "k")
	}
	x := make([]*graph.Node, len(d.x))
	for k := range x {
		x[k] = g.Constant(graph.F64, d.x[k], i).As([]string{"x", "z"}[k])
	}
	y := g.Constant(graph.F64, d.y, i).As("y")
	if d.name == "Nelson" {
		y = ops.Log(y)
	}
	q.prediction = formulas[d.name](b, x).As("f")
	q.residual = ops.Sub(q.prediction, y).As("r")
	q.jacobian = grad.Jacobian(q.residual, q.b).As("J")
	prog, err := tape.Compile(g, tape.Fetch(q.residual, q.jacobian, q.prediction))
	if err != nil {
		return nil, err
	}
	q.vm, err = prog.NewVM(tape.NewStore(g))
	return q, err
}

// at returns the residuals, their sum of squares and the Jacobian at b.
func (q *problem) at(ctx context.Context, b []float64) (r []float64, sum float64, J *mat.Dense, err error) {
	if err := q.vm.Run(ctx, tape.Feed{q.b: tape.Of(q.b, b...)}); err != nil {
		return nil, 0, nil, err
	}
	r, err = q.vm.Floats(q.residual)
	if err != nil {
		return nil, 0, nil, err
	}
	for _, v := range r {
		sum += v * v
	}
	jacobian, err := q.vm.Floats(q.jacobian)
	return r, sum, mat.NewDense(q.n, q.p, jacobian), err
}

// fit minimises the sum of squares from b by the method of Levenberg and Marquardt, with the scaling
// of Moré (1978) and the damping of Nielsen (1999). It returns the parameters, their standard
// deviations s·√diag (JᵀJ)⁻¹ with s² = sum/(n − p), and the sum.
func (q *problem) fit(ctx context.Context, b []float64, steps int) (_, deviation []float64, sum float64, err error) {
	b = append([]float64(nil), b...)
	r, sum, J, err := q.at(ctx, b)
	if err != nil {
		return nil, nil, 0, err
	}
	scale := make([]float64, q.p) // the largest norm so far of each column
	damping, growth := 1e-3, 2.0
	for range steps {
		for k := range scale {
			scale[k] = max(scale[k], mat.Norm(J.ColView(k), 2))
		}
		step, predicted := q.step(J, r, scale, damping)
		trial, moved := make([]float64, q.p), 0.0
		for k := range b {
			trial[k] = b[k] + step[k]
			moved = max(moved, math.Abs(step[k])/(math.Abs(b[k])+1e-300))
		}
		rNew, sumNew, JNew, err := q.at(ctx, trial)
		if err != nil {
			return nil, nil, 0, err
		}
		if gain := (sum - sumNew) / predicted; sumNew < sum {
			b, r, sum, J = trial, rNew, sumNew, JNew
			damping *= max(1./3, 1-math.Pow(2*gain-1, 3))
			growth = 2
		} else {
			damping *= growth
			growth *= 2
		}
		if moved < 1e-14 || math.IsInf(damping, 0) {
			break
		}
	}
	return b, q.deviation(J, sum), sum, nil
}

// step returns p that minimises |Jp + r|² + damping·|scale·p|², by QR of both parts in one matrix, and how
// much smaller the linear model says that the sum of squares gets.
func (q *problem) step(J *mat.Dense, r, scale []float64, damping float64) (p []float64, predicted float64) {
	A, c := mat.NewDense(q.n+q.p, q.p, nil), mat.NewVecDense(q.n+q.p, nil)
	A.Slice(0, q.n, 0, q.p).(*mat.Dense).Copy(J)
	for i, v := range r {
		c.SetVec(i, -v)
	}
	for k, s := range scale {
		A.Set(q.n+k, k, math.Sqrt(damping)*s)
	}
	var qr mat.QR
	qr.Factorize(A)
	var x, Jx mat.VecDense
	_ = qr.SolveVecTo(&x, false, c) // a matrix that is nearly singular gives a long step, which is refused
	Jx.MulVec(J, &x)
	for i, v := range r {
		predicted += v*v - (v+Jx.AtVec(i))*(v+Jx.AtVec(i))
	}
	return x.RawVector().Data, predicted
}

func (q *problem) deviation(J *mat.Dense, sum float64) []float64 {
	var qr mat.QR
	qr.Factorize(J)
	var R, inverse mat.Dense
	qr.RTo(&R)
	top := mat.NewTriDense(q.p, mat.Upper, nil)
	top.Copy(R.Slice(0, q.p, 0, q.p))
	var all mat.TriDense
	_ = all.InverseTri(top) // of a matrix that is nearly singular the deviations are large
	inverse.CloneFrom(&all)
	out := make([]float64, q.p)
	for k := range out {
		out[k] = math.Sqrt(sum/float64(q.n-q.p)) * mat.Norm(inverse.RowView(k), 2)
	}
	return out
}
