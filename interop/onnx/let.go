package onnx

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/exporter"
)

// Let computes an input instead of leaving it to whoever runs the model: wherever the input is read,
// the value stands, a node of the same graph and type that does not depend on it. So a learning rate
// follows its schedule by a step number that is a state:
//
//	step := g.State("step", graph.I64)
//	rate := opt.Rate(g)
//	at := schedule.Node(ops.Cast(step, graph.F64), steps)
//	err := onnx.Write(w, g, store, onnx.Loss(loss), onnx.Do(updates, graph.Step{g.Assign(step, ops.Shift(step, 1))}),
//		onnx.Let(rate, ops.Cast(at, rate.DType())))
func Let(input, value *graph.Node) Option {
	return func(c *exporter.Config) { c.Lets = append(c.Lets, exporter.Let{Input: input, Value: value}) }
}
