// Custom-op adds two operations from outside the module: a smooth activation with
// its own derivative and loop, and rounding with a straight-through derivative. Both
// are checked before they are used, trained with, printed and read back; with -out DIR the
// graph is drawn into DIR/custom-op.svg.
package main

import (
	"context"
	"errors"
	"flag"
	"fmt"
	"log"
	"math"
	"os"
	"path/filepath"
	"strings"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train"
	"github.com/tapestry-ml/tapestry/viz"
)

// elementwise is the shape rule of both operations: floats in, floats of the same shape out.
type elementwise struct{}

func (elementwise) Infer(in []*graph.Node) (graph.Type, error) {
	if len(in) != 1 {
		return graph.Type{}, fmt.Errorf("%d operands: want 1", len(in))
	}
	if !in[0].DType().IsFloat() {
		return graph.Type{}, &graph.Mistake{Problem: fmt.Sprintf("an operand of type %v", in[0].DType()), Fix: "convert with ops.Cast"}
	}
	return in[0].Type(), nil
}

// each fills the result with f of every element.
func each(out tape.Array, in []tape.Array, f func(float64) float64) {
	for i, x := range in[0].F32 {
		out.F32[i] = float32(f(float64(x)))
	}
	for i, x := range in[0].F64 {
		out.F64[i] = f(x)
	}
}

// swish is x·σ(βx). Attributes are exported, so that the text form shows them, and
// comparable: a float is held by its bits.
type swish struct {
	elementwise
	Beta attr.Float
}

func (swish) Name() string { return "Swish" }

// Scalar is the definition; everything else is checked against it.
func (s swish) Scalar(x ...float64) float64 { return x[0] / (1 + math.Exp(-s.Beta.Value()*x[0])) }

// Run computes a value on the tape.
func (s swish) Run(_ *graph.Node, out tape.Array, in []tape.Array) {
	each(out, in, func(x float64) float64 { return s.Scalar(x) })
}

// Grad is dy·(σ + β·y·(1 − σ)): made of operations, so it can be differentiated again.
func (s swish) Grad(y, dy *graph.Node, _ int) *graph.Node {
	β := s.Beta.Value()
	σ := ops.Sigmoid(ops.Scale(y.In(0), β))
	return ops.Mul(dy, ops.Add(σ, ops.Scale(ops.Mul(y, ops.Sub(ops.Lit(σ, 1), σ)), β)))
}

// Notation is how formulas and drawings write it.
func (s swish) Notation(_ *graph.Node, in []expr.Expr) expr.Expr { return expr.Call("swish", in[0]) }

// round rounds to whole numbers. Its derivative is 0 wherever it exists, and nothing could be
// learnt: so Grad passes dy on, as that of the identity does, and Surrogate says so.
type round struct{ elementwise }

func (round) Name() string                                    { return "StraightRound" }
func (round) Scalar(x ...float64) float64                     { return math.Round(x[0]) }
func (round) Grad(_, dy *graph.Node, _ int) *graph.Node       { return dy }
func (round) Surrogate(in []*graph.Node) *graph.Node          { return in[0] }
func (round) Run(_ *graph.Node, o tape.Array, i []tape.Array) { each(o, i, math.Round) }

// on is a case: an operation on numbers around 0.
func on(op graph.Op) ops.Case {
	return ops.Case{
		Operands: []ops.Operand{{Type: "float[i=3 d=5]", Domain: ops.Reals}},
		Make:     func(in []*graph.Node) *graph.Node { return graph.Apply(op, in[0]) },
	}
}

func main() {
	out := flag.String("out", "", "`directory` to draw the graph into (default: it is not drawn)")
	quick := flag.Bool("quick", false, "train for a moment only, to see that it works")
	flag.Parse()
	if err := run(*out, *quick); err != nil {
		log.Fatal(err)
	}
}

func run(out string, quick bool) error {
	// graph.Apply adds an operation to a graph; Register returns the constructors if all checks
	// pass.
	Swish, err1 := check.Register(swish{}, func(x *graph.Node, β float64) *graph.Node {
		return graph.Apply(swish{Beta: attr.FloatOf(β)}, x)
	}, on(swish{Beta: attr.FloatOf(1)}), on(swish{Beta: attr.FloatOf(-0.5)}))
	Round, err2 := check.Register(round{}, func(x *graph.Node) *graph.Node { return graph.Apply(round{}, x) }, on(round{}))
	if err := errors.Join(err1, err2); err != nil {
		return err
	}

	// Weights that are whole numbers when used: swish(x·round(w)) learns to be swish(x·w) for w =
	// 3, −2.
	g := graph.New("whole weights")
	x := g.Input("x", graph.F32, graph.Ax("i", 4), graph.Ax("d", 2))
	target := g.Input("t", graph.F32, graph.Ax("i", 4))
	w := g.Param("w", graph.F32, graph.Ax("d", 2))
	y := Swish(ops.Sum(ops.Mul(x, Round(w)), "d"), 1.5).As("y")
	loss := ops.Mean(ops.Square(ops.Sub(y, target)), "i").As("loss")
	step := train.SGD(0.1).Minimize(loss)
	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
	if err != nil {
		return err
	}
	data := []float64{1, 0, 0, 1, 1, 1, -1, 1}
	targets := make([]float64, 4)
	for i := range targets {
		targets[i] = swish{Beta: attr.FloatOf(1.5)}.Scalar(3*data[2*i] - 2*data[2*i+1])
	}
	feed := tape.Feed{x: tape.Of(x, data...), target: tape.Of(target, targets...)}
	store := tape.NewStore(g, tape.Seed(1))
	vm, err := prog.NewVM(store)
	if err != nil {
		return err
	}
	defer vm.Close()
	steps := 200
	if quick {
		steps = 20
	}
	for range steps {
		if err := vm.Run(context.Background(), feed); err != nil {
			return err
		}
	}
	learnt, err := store.Get("w")
	if err != nil {
		return err
	}
	last, err := vm.Float(loss)
	if err != nil {
		return err
	}
	weights := learnt.Float32s()
	for i, w := range weights {
		weights[i] = float32(math.Round(float64(w))) + 0 // no −0
	}
	fmt.Printf("loss %.3g after %d steps, weights round to %v\n", last, steps, weights)
	fmt.Println(viz.Formula(y))
	fmt.Println(viz.Formula(grad.Of(loss, y)[0]))

	// The text form reads the operations back, given a vocabulary that has them.
	again, err := graph.Parse(strings.NewReader(g.String()), append(ops.Vocabulary(), swish{}, round{})...)
	if err != nil {
		return err
	}
	fmt.Println("read back:", again.Lookup("y"))
	if quick {
		fmt.Println("a quick run is not judged")
	}
	if out == "" {
		return nil
	}
	return draw(filepath.Join(out, "custom-op.svg"), y)
}

// draw draws the graph of a node into a file.
func draw(path string, n *graph.Node) error {
	if err := os.MkdirAll(filepath.Dir(path), 0o777); err != nil {
		return err
	}
	f, err := os.Create(path)
	if err != nil {
		return err
	}
	return errors.Join(viz.SVG(f, []*graph.Node{n}), f.Close())
}
