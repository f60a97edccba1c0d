package lab

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// Variant is an objective that [Compare] trains, or that a [Judge] measures by.
type Variant struct {
	Name string // in tables and errors; "" stands for the name of the model's builder
	// Build makes the model, in a graph of its own at every call. The element type is Config.DType; a
	// variant that fixes its own may ignore it.
	Build func(dt graph.DType) (*builders.Model, error)
}

// Objective returns a variant that is a whole model, with its examples if it has any. An empty name
// stands for that of the model's builder.
func Objective(name string, build func() (*builders.Model, error)) Variant {
	if build == nil {
		return Variant{Name: name}
	}
	return Variant{name, func(graph.DType) (*builders.Model, error) { return build() }}
}

// LossFunc returns a variant that is made of nodes alone: f builds into a fresh graph and returns
// the loss, a float scalar. The variant is trained on the examples or the Table of the [Config], or
// on the examples of another variant whose inputs correspond to its own.
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

// Registered returns the variant that is a model of the registry with the given settings. Its Name
// is that of the model; to compare two settings of one model, set the Name of each:
//
//	he := lab.Registered("init", builders.Settings{"weights": 1})
//	he.Name = "init{weights=he}"
func Registered(name string, settings builders.Settings) Variant {
	return Variant{name, func(dt graph.DType) (*builders.Model, error) { return builders.Build(name, settings, dt) }}
}

var (
	errNoModel  = errors.New("the function that builds the model is nil")
	errNoneMade = errors.New("the function that builds the model returns none")
	errNilModel = errors.New("the model is nil")
	errNilHeld  = errors.New("the HeldOut is empty: Config.HeldOut makes one")
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
		return nil, v.wrap(errNoneMade)
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

// wrap adds the name of the variant to an error.
func (v *Variant) wrap(err error) error {
	if v.Name == "" {
		return fmt.Errorf("compare: %w", err)
	}
	return fmt.Errorf("%s: %w", v.Name, err)
}
