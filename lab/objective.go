package lab

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// Variant is an objective that takes part in [Compare], or that judges there.
type Variant struct {
	Name string
	// Build makes the model, a graph of its own in every call. The element type is
	// the plan's; a variant whose graph says which it has may ignore it.
	Build func(dt graph.DType) (*builders.Model, error)
}

// Objective is a variant that makes a whole model, with examples of its own if it
// has any. An empty name stands for that of the model's builder.
func Objective(name string, build func() (*builders.Model, error)) Variant {
	if build == nil {
		return Variant{Name: name}
	}
	return Variant{name, func(graph.DType) (*builders.Model, error) { return build() }}
}

// LossFunc is a variant made of nodes alone: f builds into a fresh graph and gives the
// loss, a float scalar. It is trained on the examples or on the table of the [Config],
// or on those of another variant that has its inputs, by name and type.
//
//	lab.LossFunc("absolute error", func(g *graph.Graph) *graph.Node {
//		x, y := g.Input("x", graph.F64, i), g.Input("y", graph.F64, i)
//		return ops.Mean(ops.Abs(ops.Sub(ops.Mul(x, g.Param("w", graph.F64)), y)))
//	})
func LossFunc(name string, f func(g *graph.Graph) (loss *graph.Node)) Variant {
	if f == nil {
		return Variant{Name: name}
	}
	return Variant{name, func(graph.DType) (*builders.Model, error) {
		g := graph.New(name)
		loss := f(g)
		if err := g.Err(); err != nil {
			return nil, fmt.Errorf("%s: %w", name, err)
		}
		switch {
		case loss == nil:
			return nil, fmt.Errorf("%s: the function gives no loss", name)
		case loss.Graph() != g:
			return nil, fmt.Errorf("%s: the loss belongs to another graph than the one given", name)
		case loss.Rank() != 0 || !loss.DType().IsFloat():
			return nil, fmt.Errorf("%s: the loss is %v: want a float scalar", name, loss)
		}
		return &builders.Model{Builder: builders.Builder{Name: name, Title: name}, Graph: g, Output: loss, Loss: loss}, nil
	}}
}

// Registered is a model of the registry with the given settings.
func Registered(name string, settings builders.Settings) Variant {
	return Variant{name, func(dt graph.DType) (*builders.Model, error) { return builders.Build(name, settings, dt) }}
}

var (
	errNoModel  = errors.New("the function that builds the model is nil")
	errNilModel = errors.New("the model is nil")
	errNilHeld  = errors.New("there is nothing to measure with (HeldOut of a configuration makes it)")
)

// model builds the variant, and names it if it has no name.
func (v *Variant) model(dt graph.DType) (*builders.Model, error) {
	if v.Build == nil {
		return nil, v.wrap(errNoModel)
	}
	m, err := v.Build(dt)
	switch {
	case err != nil:
		return nil, err
	case m == nil || m.Graph == nil:
		return nil, v.wrap(errors.New("the function that builds the model gives none"))
	case v.Name == "":
		v.Name = m.Builder.Name
	}
	if err := m.Graph.Err(); err != nil {
		return nil, v.wrap(err)
	}
	if m.Loss == nil {
		return nil, fmt.Errorf("%s has %w", v.Name, ErrNoLoss)
	}
	return m, nil
}

func (v *Variant) wrap(err error) error {
	if v.Name == "" {
		return fmt.Errorf("compare: %w", err)
	}
	return fmt.Errorf("%s: %w", v.Name, err)
}
