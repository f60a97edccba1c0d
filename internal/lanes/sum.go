package lanes

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// WeightPath is the path of the input with a lane's part of the rows of a batch.
const WeightPath = "lanes/weight"

// Loss is the loss of a batch that is cut into lanes.
type Loss struct {
	Weight *graph.Node // an input: a lane's part of the rows
	Own    *graph.Node // the lane's loss times its weight, of which derivatives are taken
	Sum    *graph.Node // over the lanes
}

// Weigh adds to the graph of a lane's loss what makes of it the loss of a batch.
func Weigh(loss *graph.Node) (l Loss) {
	g := loss.Graph()
	at := graph.Occurrence{Scope: "lanes", Pos: loss.First().Pos, Call: loss.First().Call}
	g.During(at, graph.Origin{}, func() {
		l.Weight = g.Scalar("weight", 1, loss.DType())
		l.Own = ops.Mul(l.Weight, loss).As("lane-loss")
		l.Sum = ops.SumRanks(l.Own).As("loss")
	})
	return l
}

// Sum returns the sum over the lanes of the derivative of [Loss.Own] by a parameter, which is that of
// [Loss.Sum].
func Sum(param, derivative *graph.Node) (sum *graph.Node) {
	derivative.Graph().During(param.First(), graph.Origin{}, func() {
		sum = ops.SumRanks(derivative).As("∂loss/∂" + param.Label())
	})
	return sum
}

// Mean returns the mean over the lanes, by their rows, of the value that an update assigns.
func (l Loss) Mean(u graph.Update) (mean *graph.Node) {
	x, dt := u.Value, u.Value.DType()
	if dt.IsHalf() {
		dt = graph.F32
	}
	x.Graph().During(x.First(), graph.Origin{}, func() {
		own := ops.Mul(ops.Cast(l.Weight, dt), ops.Cast(x, dt)).As("lane-mean/" + u.Target.Path())
		mean = ops.Cast(ops.SumRanks(own).As("mean/"+u.Target.Path()), x.DType())
	})
	return mean
}
