package tape_test

import (
	"context"
	"errors"
	"fmt"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/internal/tapetest"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// cube is an operation as a user of the module would define it.
type cube struct{}

func (cube) Name() string { return "Cube" }
func (cube) Infer(in []*graph.Node) (graph.Type, error) {
	if len(in) != 1 || in[0].DType() != graph.F64 {
		return graph.Type{}, errors.New("want one f64 operand")
	}
	return in[0].Type(), nil
}
func (cube) Grad(y, dy *graph.Node, _ int) *graph.Node {
	return ops.Mul(dy, ops.Scale(ops.Square(y.In(0)), 3))
}
func (cube) Run(_ *graph.Node, out tape.Array, in []tape.Array) {
	for i, x := range in[0].F64 {
		out.F64[i] = x * x * x
	}
}

func TestRunnerFromOutside(t *testing.T) {
	g := graph.New("cube")
	x := g.Input("x", graph.F64, graph.Ax("i", 2), graph.Ax("j", 3))
	loss := ops.Sum(graph.Apply(cube{}, ops.Transpose(x)))
	dx := grad.Of(loss, x)[0]
	prog, err := tape.Compile(g, tape.Fetch(loss, dx))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, tape.NewStore(g))
	defer vm.Close()
	data := []float64{1, 2, 3, 4, 5, 6}
	if err := vm.Run(context.Background(), tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: data})}); err != nil {
		t.Fatal(err)
	}
	if got := tapetest.Float(t, vm, loss); got != 1+8+27+64+125+216 {
		t.Errorf("loss %v", got)
	}
	d, err := vm.Value(dx)
	if err != nil {
		t.Fatal(err)
	}
	for i, v := range d.Float64s() {
		if v != 3*data[i]*data[i] {
			t.Errorf("derivative %v", d)
		}
	}
}

// silent computes nothing.
type silent struct{}

func (silent) Name() string                               { return "Silent" }
func (silent) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }

func TestOperationThatCannotRun(t *testing.T) {
	g := graph.New("silent")
	x := g.Input("x", graph.F64)
	_, err := tape.Compile(g, tape.Fetch(graph.Apply(silent{}, x)))
	if err == nil || !strings.HasSuffix(err.Error(), ": operation Silent has no Run method: see tape.CustomOp") {
		t.Errorf("got %v", err)
	}
}

// between is defined on numbers and says nothing of how it runs.
type between struct{}

func (between) Name() string { return "Between" }
func (between) Infer(in []*graph.Node) (graph.Type, error) {
	return graph.Type{DType: graph.Bool, Shape: in[0].Shape()}, nil
}
func (between) Scalar(x ...float64) float64 {
	if x[0] <= x[1] && x[1] <= x[2] {
		return 1
	}
	return 0
}

// halved rounds to its element type.
type halved struct{}

func (halved) Name() string                               { return "Halved" }
func (halved) Infer(in []*graph.Node) (graph.Type, error) { return in[0].Type(), nil }
func (halved) Scalar(x ...float64) float64                { return x[0] / 2 }

// TestDefinitionRuns: an elementwise operation without a kernel is run by its
// definition, whatever the element types and the strides of its operands.
func TestDefinitionRuns(t *testing.T) {
	g := graph.New("definition")
	axes := []graph.Axis{graph.Ax("i", 2), graph.Ax("j", 3)}
	x, k := g.Input("x", graph.F32, axes...), g.Input("k", graph.I64, axes...)
	turned := ops.Transpose(x)
	inside := graph.Apply(between{}, turned, ops.Scale(turned, 2), ops.BroadcastTo(ops.Lit(turned, 7), turned.Shape()))
	half, whole := graph.Apply(halved{}, turned), graph.Apply(halved{}, k)
	prog, err := tape.Compile(g, tape.Fetch(inside, half, whole))
	if err != nil {
		t.Fatal(err)
	}
	vm := tapetest.VM(t, prog, tape.NewStore(g))
	defer vm.Close()
	numbers := []float64{-1, 1, 2, 3, 4, 5}
	feed := tape.Feed{x: tape.Tensor(graph.Value{Type: x.Type(), Data: numbers}), k: tape.Tensor(graph.Value{Type: k.Type(), Data: numbers})}
	if err := vm.Run(context.Background(), feed); err != nil {
		t.Fatal(err)
	}
	for n, want := range map[*graph.Node]string{
		inside: "[false true true false true false]", // of −1 3 1 4 2 5: x ≤ 2x ≤ 7
		half:   "[-0.5 1.5 0.5 2 1 2.5]",
		whole:  "[0 0 1 1 2 2]",
	} {
		v, err := vm.Value(n)
		if err != nil {
			t.Fatal(err)
		}
		if got := fmt.Sprint(v.Data()); got != want {
			t.Errorf("%v is %s, want %s", n, got, want)
		}
	}
}
