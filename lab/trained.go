package lab

import (
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/train"
)

// Reached returns those of the nodes to which a derivative of the loss flows. A parameter behind an
// ops.StopGradient, for example, is not among them. A loss that is not a float scalar reaches none.
// Nothing is added to the graph.
func Reached(loss *graph.Node, nodes ...*graph.Node) []*graph.Node {
	if !loss.IsValid() || loss.Rank() != 0 || !loss.DType().IsFloat() {
		return nil
	}
	_, copies := cone.Copy("reached", nil, loss)
	var floats, wrt []*graph.Node
	for _, n := range nodes {
		if c := copies[n]; c != nil && n.DType().IsFloat() {
			floats, wrt = append(floats, n), append(wrt, c)
		}
	}
	if len(wrt) == 0 {
		return nil
	}
	var out []*graph.Node
	for i, d := range grad.OrZero(copies[loss], wrt...) {
		if v, constant := match.Literal(d); !constant || v != 0 {
			out = append(out, floats[i])
		}
	}
	return out
}

// Trained returns the parameters that training changes by the derivative of the loss: those that it
// reaches, without those that the model updates by itself.
func Trained(m *builders.Model) []*graph.Node {
	if m == nil || m.Loss == nil {
		return nil
	}
	return slices.DeleteFunc(Reached(m.Loss, m.Params()...), func(p *graph.Node) bool {
		return slices.ContainsFunc(m.Step, func(u graph.Update) bool { return u.Target == p })
	})
}

// Wrt returns the nodes by which the loss of a model is differentiated when its derivatives are
// shown: the centres of a clustering, or what training changes, or the inputs if the loss has no
// parameters. There are none for a model without a loss.
func Wrt(m *builders.Model) []*graph.Node {
	switch trained := Trained(m); {
	case m == nil || m.Loss == nil:
		return nil
	case m.Centres() != nil:
		return []*graph.Node{m.Centres()}
	case len(trained) > 0:
		return trained
	}
	return Reached(m.Loss, m.Graph.Leaves(graph.RoleInput)...)
}

// TrainingStep returns all updates of a training step: those of the trained parameters by the
// optimiser, and those of what the model updates by itself, such as running statistics. It is empty
// for a model with neither. The optimiser adds its nodes to the graph of the model.
func TrainingStep(m *builders.Model, o train.Optimiser) graph.Step {
	var step graph.Step
	if m == nil {
		return step
	}
	if params := Trained(m); len(params) > 0 {
		step = o.Minimize(m.Loss, params...)
	}
	return append(step, m.Step...)
}
