package main

import (
	"context"
	"errors"
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime"
	"github.com/tapestry-ml/tapestry/interop/onnxruntime/engine"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"gorgonia.org/tensor"
)

// onRuntime trains and checks in ONNX Runtime.
type onRuntime struct{ rt *onnxruntime.Runtime }

func openRuntime() (*onnxruntime.Runtime, error) {
	rt, err := onnxruntime.Open("")
	if err != nil {
		return nil, fmt.Errorf("--engine: %w", err)
	}
	return rt, nil
}

// new is a [train.NewEngine].
func (o onRuntime) new(_ context.Context, g *graph.Graph, loss *graph.Node, step graph.Step, store *tape.Store) (train.Engine, error) {
	m, err := engine.Compile(o.rt, g, store, []*graph.Node{loss}, step, onnxruntime.Options{})
	if err != nil && loss.DType() == graph.F64 && strings.Contains(err.Error(), "Could not find an implementation") {
		return nil, fmt.Errorf("%w (ONNX Runtime lacks some operators in float64: try --dtype f32)", err)
	} else if err != nil {
		return nil, err
	}
	m.CheckFinite(loss)
	return runtimeSteps{m, store}, nil
}

// runtimeSteps is a machine on a store.
type runtimeSteps struct {
	*engine.Machine
	store *tape.Store
}

func (e runtimeSteps) Run(ctx context.Context, feed tape.Feed) error {
	return e.Machine.Run(ctx, feed, e.store)
}

func (e runtimeSteps) Close() { _ = e.Machine.Close() }

// compute is a [check.Engine].
func (o onRuntime) compute(ctx context.Context, g *graph.Graph, feed tape.Feed, store *tape.Store, nodes []*graph.Node) ([]*tensor.Dense, error) {
	m, err := engine.Compile(o.rt, g, store, nodes, nil, onnxruntime.Options{Threads: 1, AsWritten: true})
	if u := new(onnx.Unsupported); errors.As(err, &u) {
		return nil, check.Inapplicable(errors.New(firstLine(err)))
	} else if err != nil {
		return nil, err
	}
	defer m.Close()
	if err := m.Run(ctx, feed, store); err != nil {
		return nil, err
	}
	return results(m, nodes)
}

// checkOnRuntime compares a model in float32, the type for which ONNX Runtime has all operators: its
// result, output, derivatives, and its step, or one of momentum.
func checkOnRuntime(ctx context.Context, o onRuntime, m *builders.Model, seed uint64) ([]check.Verdict, error) {
	options, err := blameOptions(m, seed)
	if err != nil {
		return nil, err
	}
	step := m.Step
	if len(step) == 0 && m.Loss != nil {
		var params []*graph.Node
		for _, n := range graph.Reachable(m.Loss) {
			if n.Role() == graph.RoleParam {
				params = append(params, n)
			}
		}
		if len(params) > 0 {
			step = train.Momentum(0.1, 0.9).Minimize(m.Loss, params...)
		}
	}
	options = append(options, check.Do(step), check.On("onnxruntime", o.compute))
	if m.Output != nil && m.Output != m.Result() {
		options = append(options, check.Also(m.Output))
	}
	return check.Engines(ctx, m.Result(), options...), nil
}
