package main

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/gorgonia"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
)

// engineNamed returns the constructor of the named engine; nil is the native tape.
func engineNamed(name string) (train.NewEngine, error) {
	switch name {
	case "native":
		return nil, nil
	case "gorgonia":
		return newGorgonia, nil
	case "onnxruntime":
		rt, err := openRuntime()
		return onRuntime{rt}.new, err
	}
	return nil, usagef("--engine %q: want native, gorgonia or onnxruntime", name)
}

// onGorgonia trains on gorgonia's TapeMachine.
type onGorgonia struct {
	*gorgonia.Machine
	store *tape.Store
}

func newGorgonia(_ context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (train.Engine, error) {
	m, err := gorgonia.Compile(g, gorgonia.Fetch(loss), gorgonia.Do(step))
	if err != nil {
		return nil, err
	}
	return onGorgonia{m, store}, nil
}

func (e onGorgonia) Run(ctx context.Context, feed tape.Feed) error {
	return e.Machine.Run(ctx, feed, e.store)
}

// Float returns the loss of the last run.
func (e onGorgonia) Float(n *graph.Node) (float64, error) {
	t, err := e.Value(n)
	switch {
	case err != nil:
		return 0, err
	case n.Rank() != 0:
		return 0, fmt.Errorf("%v is no scalar", n)
	case n.DType() == graph.F32:
		return float64(t.Float32s()[0]), nil
	}
	return t.Float64s()[0], nil
}

func (e onGorgonia) Close() { _ = e.Machine.Close() }
