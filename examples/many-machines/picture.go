package main

import (
	"github.com/tapestry-ml/tapestry/examples/internal/lesson"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/train"
)

// draw draws the step of one layer on the rows of a lane. Each lane has its copy of the parameters,
// and the transpose of copying to all lanes is the sum over all: it stands between the gradients and
// the optimiser.
func draw(l *lesson.Lesson, rows int) error {
	g := graph.New("one layer in lanes")
	n, p, k := graph.Ax("n", rows), graph.Ax("p", 64), graph.Ax("k", 10)
	x, y := g.Input("x", graph.F32, n, p), g.Input("y", graph.I32, n)
	W, b := g.Param("W", graph.F32, p, k), g.Param("b", graph.F32, k)
	weight := g.Scalar("weight", float64(rows)/64) // the lane's part of the rows
	z := ops.Add(ops.MatMul(x, ops.CopyRanks(W)), ops.CopyRanks(b)).As("z")
	loss := ops.Mul(weight, nn.CrossEntropy(z, y)).As("loss")
	step := train.SGD(0.1).Minimize(loss)
	return l.Draw("step.svg", step[0].Value)
}
