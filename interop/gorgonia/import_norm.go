package gorgonia

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
	G "gorgonia.org/gorgonia"
)

// importSoftmax takes gorgonia's default for the axis: the last, but the first of a column [n 1].
func importSoftmax(s theirs) *graph.Node {
	if s.bool("isLog") {
		return ops.LogSoftmax(s.x(0), s.softmaxAxis())
	}
	return ops.Softmax(s.x(0), s.softmaxAxis())
}

func (s theirs) softmaxAxis() int {
	shape := s.arg(0).Shape()
	switch axis := s.int("axis"); {
	case axis != -1:
		return axis
	case shape.IsColVec():
		return 0
	}
	return shape.Dims() - 1
}

// importSoftmaxDiff is the derivative by x of the softmax y or its logarithm, of the operands x, y
// and dy.
func importSoftmaxDiff(s theirs) *graph.Node {
	axis := s.softmaxAxis()
	x, dy := s.x(0), s.x(2)
	if s.bool("isLog") {
		return ops.Sub(dy, ops.Mul(ops.Softmax(x, axis), ops.Sum(dy, axis, ops.Keep)))
	}
	y := ops.Softmax(x, axis)
	return ops.Mul(y, ops.Sub(dy, ops.Sum(ops.Mul(y, dy), axis, ops.Keep)))
}

func importSparsemax(s theirs) *graph.Node { return ops.Sparsemax(s.x(0), s.int("axis")) }

// importDropout multiplies by a factor that is drawn in every run: 1/(1 − p) with probability 1 − p,
// and 0 otherwise.
func importDropout(s theirs) *graph.Node {
	x, p := s.x(0), s.float64("probability")
	if p == 0 || s.evaluating || !s.bool("isTraining") {
		return x
	}
	return through(x, func(z *graph.Node) *graph.Node {
		u := ops.RandomUniform(s.to, s.free("dropout"), z.DType(), z.Shape().Axes()...)
		factor := ops.Scale(ops.Cast(ops.GreaterEqual(u, ops.Lit(u, p)), z.DType()), 1/(1-p))
		s.drawn[s.n] = factor
		if _, order := turnedFrom(x); order != nil {
			s.drawn[s.n] = transposing(factor, order...)
		}
		return ops.Mul(z, factor)
	})
}

// importDropoutDiff is the derivative of a dropout y by x, of the operands x, y and dy, with the
// numbers that were drawn for y.
func importDropoutDiff(s theirs) *graph.Node {
	s.x(1)
	if factor := s.drawn[s.arg(1)]; factor != nil {
		return ops.Mul(s.x(2), factor)
	}
	return s.x(2)
}

// importBatchNorm standardises the channels, axis 1 of [b c] or [b c h w]; gorgonia multiplies by
// the gain and adds the bias in further nodes.
func importBatchNorm(s theirs) *graph.Node {
	x, ε := s.x(0), s.float64("epsilon")
	var op *G.BatchNormOp
	switch o := s.op.(type) {
	case *G.BatchNormOp:
		op = o
	default:
		op = s.primal()
	}
	mean, variance := s.statistics(op, x)
	channel := 1
	if _, order := turnedFrom(x); order != nil {
		channel = order[1]
	}
	return through(x, func(z *graph.Node) *graph.Node {
		over := others(z.Rank(), []int{channel})
		if !s.evaluating && s.bool("training") {
			if s.op == G.Op(op) {
				s.move(z, mean, variance, channel)
			}
			return ops.Standardise(z, ε, anyAxes(over)...)
		}
		sizes := slices.Repeat([]int{1}, z.Rank())
		sizes[channel] = z.Dim(channel)
		μ, σ2 := reshaping(mean, sizes), reshaping(variance, sizes)
		return ops.Div(ops.Sub(z, μ), ops.Sqrt(ops.Shift(σ2, ε)))
	})
}

// primal returns the batch norm that the derivative s belongs to.
func (s theirs) primal() *G.BatchNormOp {
	for _, n := range s.all {
		if op, ok := n.Op().(*G.BatchNormOp); ok && attribute(s.op, "BatchNormOp").Pointer() == pointerOf(op) {
			return op
		}
	}
	panic(noRule{"the batch norm that it derives is not in the graph"})
}

// statistics returns the states of a batch norm's running mean and variance.
func (s theirs) statistics(op *G.BatchNormOp, x *graph.Node) (mean, variance *graph.Node) {
	if both, ok := s.running[op]; ok {
		return both[0], both[1]
	}
	name := s.free("batchnorm")
	state := func(what string, v G.Value) *graph.Node {
		n := s.to.State(name+"/"+what, x.DType(), graph.Dims(x.Dim(1))...)
		a, err := arrayOf(v, n.Type())
		if err != nil {
			panic(noRule{err.Error()})
		}
		return n.Init(starting(a))
	}
	m, v := op.Stats()
	mean = state("mean", m)
	if fresh(v) {
		variance = s.to.State(name+"/var", x.DType(), graph.Dims(x.Dim(1))...).Init(initial.Fill(1))
	} else {
		variance = state("var", v)
	}
	s.running[op] = [2]*graph.Node{mean, variance}
	return mean, variance
}

// fresh reports whether a running variance is still to be set to 1, which the first machine does.
func fresh(v G.Value) bool {
	data, err := numbersOf(v.Data())
	return err == nil && !slices.ContainsFunc(data, func(x float64) bool { return x != 0 })
}

// move adds the updates of the running statistics. The running variance divides by n − 1, that of
// the batch by n.
func (s theirs) move(x, mean, variance *graph.Node, channel int) {
	momentum := s.float64("momentum")
	axes := anyAxes(others(x.Rank(), []int{channel}))
	n := float64(x.Shape().Len() / x.Dim(channel))
	if n < 2 {
		panic(noRule{fmt.Sprintf("it has %g elements of a channel, of which there is no variance", n)})
	}
	towards := func(running, batch *graph.Node) *graph.Node {
		return ops.Add(running, ops.Scale(ops.Sub(batch, running), momentum))
	}
	s.step = append(s.step,
		s.to.Assign(mean, towards(mean, ops.Mean(x, axes...))),
		s.to.Assign(variance, towards(variance, ops.Scale(ops.Var(x, axes...), n/(n-1)))))
}

// importGroupNorm standardises groups of neighbouring channels of each image.
func importGroupNorm(s theirs) *graph.Node {
	x := s.x(0)
	groups := []int{x.Dim(0), s.int("numGroups"), x.Shape().Len() / x.Dim(0) / s.int("numGroups")}
	y := ops.Standardise(reshaping(x, groups), s.float64("epsilon"), 2)
	return reshaping(y, x.Shape().Sizes())
}

// importCTC sums the losses of all examples, or takes the mean of those divided by the numbers of
// labels. Label 0 is the blank.
func importCTC(s theirs) *graph.Node { return s.ctc(s.x(0)) }

func (s theirs) ctc(logs *graph.Node) *graph.Node {
	labels, times, counts := s.x(1), s.x(2), s.x(3)
	if labels.Rank() != 2 {
		panic(noRule{"its targets are one list of all examples: give them as a matrix, a row for an example"})
	}
	flat := func(x *graph.Node) *graph.Node { return reshaping(x, []int{x.Shape().Len()}) }
	each := nn.CTC(logs, labels, flat(times), flat(counts), 0)
	if attribute(s.op, "reduction").Uint() == uint64(G.ReductionSum) {
		return ops.Sum(each)
	}
	n := ops.Cast(flat(counts), each.DType())
	return ops.Mean(ops.Div(each, ops.Maximum(n, ops.Lit(n, 1))))
}
