package ops

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/kernel"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// random is a draw. Its key is fixed when the graph is built and kept through
// rewrites; seed, step and the runs of that step are added at run time. Element i of a
// draw is a pure function of (key, seed, step, runs, i), so equal keys share their noise.
type random struct {
	flat
	Key    string
	Normal bool
	Type   graph.Type
}

// RandomUniform returns random floats from [0, 1) of type dt over the given axes, drawn anew in
// every run of a program, with or without updates; "Random numbers" in package tape has the
// details. Within a run the draw has one value, which all nodes that use it and its derivatives
// share. The key of the draw is the name with the scope and the element type: equal keys in two
// graphs have equal numbers. No derivative flows through it.
func RandomUniform(g *graph.Graph, name string, dt graph.DType, axes ...graph.Axis) *graph.Node {
	return draw(g, "RandomUniform", name, false, dt, axes)
}

// RandomNormal returns normal random floats of mean 0 and variance 1; it is otherwise like
// [RandomUniform].
func RandomNormal(g *graph.Graph, name string, dt graph.DType, axes ...graph.Axis) *graph.Node {
	return draw(g, "RandomNormal", name, true, dt, axes)
}

func draw(g *graph.Graph, what, name string, normal bool, dt graph.DType, axes []graph.Axis) *graph.Node {
	if g == nil {
		return graph.Of().Fail(what, errors.New("the graph is nil"))
	}
	defer g.Calling(what)()
	s, err := graph.NewShape(axes...)
	if err != nil {
		return g.Fail("Random", err)
	}
	return g.Apply(random{Key: g.DrawKey(name), Normal: normal, Type: graph.Type{DType: dt, Shape: s}})
}

func (random) Name() string     { return "Random" }
func (random) Kind() match.Kind { return match.Random }
func (random) Doc() string      { return "random numbers, uniform in [0, 1) or normal, anew in every run" }

func (op random) Infer(in []*graph.Node) (graph.Type, error) {
	if err := arity(in, 0); err != nil {
		return graph.Type{}, err
	}
	if !op.Type.DType.IsFloat() {
		return graph.Type{}, fmt.Errorf("element type %v: want f32 or f64", op.Type.DType)
	}
	return op.Type, nil
}

// Batch draws for every example anew, with the same key: the first has the noise
// that it would have alone.
func (op random) Batch(y *graph.Node, _ []*graph.Node, _ []bool, b graph.Axis) *graph.Node {
	op.Type.Shape = inFront(b, op.Type.Shape)
	return y.Graph().Apply(op)
}

// key separates the element types, whose draws differ.
func (op random) key() uint64 { return kernel.KeyOf(op.Key + " " + op.Type.DType.String()) }

func (op random) Eval(env trait.Env, y *graph.Node, _ []graph.Value) graph.Value {
	out, seed := graph.NewValue(y.Type()), kernel.Stream(env.Seed, env.Runs)
	for i := range out.Data {
		out.Data[i] = kernel.Draw(kernel.DType(op.Type.DType), op.Normal, op.key(), seed, env.Step, uint64(i))
	}
	return out
}

func (op random) Kernel(*graph.Node) kernel.Kernel {
	return kernel.Random{Key: op.key(), Normal: op.Normal}
}

func (op random) Notation(y *graph.Node, _ []expr.Expr) expr.Expr {
	return expr.Sym(op.Key, indices(y, 1<<y.Rank()-1)...)
}

func (random) Cases() []Case {
	return []Case{
		{nil, func([]*graph.Node) *graph.Node {
			return RandomNormal(graph.New("draw"), "ε", graph.F32, graph.Ax("i", 5))
		}},
		{nil, func([]*graph.Node) *graph.Node {
			return RandomUniform(graph.New("draw"), "u", graph.F64, graph.Dims(3, 2)...)
		}},
	}
}
