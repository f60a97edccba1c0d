package graph_test

import (
	"errors"
	"fmt"
	"math"
	"runtime"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/ops"
)

// line is the caller's.
func line() int {
	_, _, n, _ := runtime.Caller(1)
	return n
}

// sliced, floating and pointing cannot be compared truthfully.
type (
	sliced   struct{ Axes []int }
	floating struct{ Rate float64 }
	pointing struct{ Body *int }
	nested   struct{ Inner struct{ Rates [2]float32 } }
)

func infer() (graph.Type, error) { return graph.Type{DType: graph.F32}, nil }

// exp and param have names of operations of the library; unnamed and spaced have none that a text
// form could tell from what stands beside it; untyped gives nothing.
type (
	exp     struct{}
	unnamed struct{}
	spaced  struct{}
	untyped struct{}
	param   struct{ exp }
)

func (exp) Name() string                                { return "Exp" }
func (unnamed) Name() string                            { return "" }
func (spaced) Name() string                             { return "Two\nWords" }
func (param) Name() string                              { return "param" }
func (untyped) Name() string                            { return "Untyped" }
func (exp) Infer([]*graph.Node) (graph.Type, error)     { return infer() }
func (unnamed) Infer([]*graph.Node) (graph.Type, error) { return infer() }
func (spaced) Infer([]*graph.Node) (graph.Type, error)  { return infer() }
func (untyped) Infer([]*graph.Node) (graph.Type, error) { return graph.Type{}, nil }

func (sliced) Name() string                              { return "Sliced" }
func (floating) Name() string                            { return "Floating" }
func (pointing) Name() string                            { return "Pointing" }
func (nested) Name() string                              { return "Nested" }
func (sliced) Infer([]*graph.Node) (graph.Type, error)   { return infer() }
func (floating) Infer([]*graph.Node) (graph.Type, error) { return infer() }
func (pointing) Infer([]*graph.Node) (graph.Type, error) { return infer() }
func (nested) Infer([]*graph.Node) (graph.Type, error)   { return infer() }

// TestMistakes: the exact text of every mistake that the graph itself finds, at
// the user's line.
func TestMistakes(t *testing.T) {
	g, other := graph.New("mistakes"), graph.New("other")
	x := g.Input("x", graph.F32, graph.Ax("i", 3))
	w := g.Param("w", graph.F32, graph.Ax("i", 3))
	used := g.Param("used", graph.F32, graph.Ax("i", 3))
	ops.Neg(used)
	z := other.Input("z", graph.F32, graph.Ax("i", 3))
	count := g.State("count", graph.I32, graph.Ax("i", 3))
	fractions := func(init string) string {
		return "Init: initialiser " + init + " draws fractions, which type i32 does not hold: count[i=3] (start it with initial.Zeros or initial.Fill, or use a type of floats)"
	}
	const attrs = "attributes are bools, integers, strings and arrays or structs of these"
	for _, row := range []struct {
		line int
		make func()
		want string
	}{
		{line(), func() { g.Input("", graph.F32) }, `input: want a name`},
		{line(), func() { g.Input("x", graph.F32) }, `input: "x" is taken by an earlier input (choose another name, or open a scope around it)`},
		{line(), func() { g.Param("x", graph.F32) }, `param: "x" is taken by an earlier input (choose another name, or open a scope around it)`},
		{line(), func() { g.State("s", graph.F32, graph.Ax("i", 2), graph.Ax("i", 2)) }, `state: two axes are called "i" (give one of them another name here)`},
		{line(), func() { g.Input("t", graph.InvalidDType) }, `input: invalid is not an element type`},
		{line(), func() { g.Input("t", 200) }, `input: dtype(200) is not an element type`},
		{line(), func() { g.Scalar("x", 1) }, `input: "x" is taken by an earlier input (choose another name, or open a scope around it)`},
		{line(), func() { g.Constant(graph.F32, []float64{1, 2}, graph.Dims(3)...) }, `constant: 2 values for shape [3] of 3 elements`},
		{line(), func() { g.Constant(graph.InvalidDType, []float64{1}) }, `constant: invalid is not an element type`},
		{line(), func() { g.ConstantValue(graph.Value{}) }, `constant: 0 values for type invalid[]`},
		{line(), func() { g.ConstantValue(graph.Value{Type: x.Type(), Data: []float64{1}}) }, `constant: 1 values for type f32[i=3]`},
		{line(), func() { g.Param("k", graph.I32) }, `param: a parameter of type i32 cannot be trained: want f32 or f64 (make it a state)`},
		{line(), func() { g.Apply(nil, x) }, `Apply: no operation: x[i=3]`},
		{line(), func() { ops.Add(x, nil) }, `Add: operand 1 is nil: x[i=3], nil`},
		{line(), func() { ops.Add(nil, x) }, `Add: operand 0 is nil: nil, x[i=3]`},
		{line(), func() { ops.Add(x, z) }, `Add: operand 1 belongs to graph "other", not to "mistakes": x[i=3], z[i=3] (build both operands in one graph)`},
		{line(), func() { g.Apply(sliced{}, x) }, `Sliced: attribute Sliced.Axes has type []int: ` + attrs + `: x[i=3]`},
		{line(), func() { g.Apply(floating{0.1}, x) }, `Floating: attribute Floating.Rate has type float64: ` + attrs + `: x[i=3]`},
		{line(), func() { g.Apply(param{}, x) }, `param: the name is a word of the text form: x[i=3] (give it another name)`},
		{line(), func() { g.Apply(unnamed{}, x) }, `Apply: an operation of type graph_test.unnamed has the name "": want CamelCase, as in LogSumExp: x[i=3]`},
		{line(), func() { g.Apply(spaced{}, x) }, `Apply: an operation of type graph_test.spaced has the name "Two\nWords": want CamelCase, as in LogSumExp: x[i=3]`},
		{line(), func() { g.Apply(untyped{}, x) }, `Untyped: its Infer returns neither a type nor an error: x[i=3]`},
		{line(), func() { g.Apply(pointing{}, x) }, `Pointing: attribute Pointing.Body has type *int: ` + attrs + `: x[i=3]`},
		{line(), func() { g.Apply(nested{}, x) }, `Nested: attribute Nested.Inner.Rates has type float32: ` + attrs + `: x[i=3]`},
		{line(), func() { g.Assign(x, w) }, `Assign: x[i=3] is not a parameter or state: x[i=3], w[i=3]`},
		{line(), func() { g.Assign(w, ops.Sum(x)) }, `Assign: w of type f32[i=3] cannot take a value of type f32[]: w[i=3], %5[]`},
		{line(), func() { g.Assign(w, ops.Rename(x, "i", "j")) }, `Assign: w of type f32[i=3] cannot take a value of type f32[j=3]: w[i=3], %6[j=3]`},
		{line(), func() { g.Assign(w, nil) }, `Assign: the value is nil: want a leaf and a value: w[i=3], nil`},
		{line(), func() { g.Assign(w, z) }, `Assign: the value belongs to graph "other", not to "mistakes": w[i=3], z[i=3] (build both operands in one graph)`},
		{line(), func() { x.Init(initial.Zeros()) }, `Init: only parameters and states have an initialiser: x[i=3]`},
		{line(), func() { used.Init(initial.Zeros()) }, `Init: used is already in use: call Init where it is made: used[i=3]`},
		{line(), func() { w.Init(initial.Fill(math.Inf(1))) }, `Init: initialiser fill(+Inf): want finite numbers: w[i=3]`},
		{line(), func() { w.Init(initial.Fill(math.NaN())) }, `Init: initialiser fill(NaN): want finite numbers: w[i=3]`},
		{line(), func() { w.Init(initial.Fill(1e39)) }, `Init: initialiser fill(1e+39): 1e+39 is no value of type f32: w[i=3] (its finite numbers end at 3.4e38: use f64)`},
		{line(), func() { w.Init(initial.Uniform(0, 1e39)) }, `Init: initialiser uniform(0,1e+39): 1e+39 is no value of type f32: w[i=3] (its finite numbers end at 3.4e38: use f64)`},
		{line(), func() { count.Init(initial.Fill(.5)) }, `Init: initialiser fill(0.5): 0.5 is no value of type i32: count[i=3] (write a whole number in its range, or convert the array with ops.Cast)`},
		{line(), func() { count.Init(initial.Uniform(0, 1)) }, fractions("uniform(0,1)")},
		{line(), func() { count.Init(initial.Normal(0, 1)) }, fractions("normal(0,1)")},
		{line(), func() { count.Init(initial.Glorot()) }, fractions("glorot")},
		{line(), func() { count.Init(initial.GlorotUniform()) }, fractions("glorot-uniform")},
		{line(), func() { count.Init(initial.He()) }, fractions("he")},
		{line(), func() { count.Init(initial.HeUniform()) }, fractions("he-uniform")},
		{line(), func() { count.Init(initial.Xavier()) }, fractions("xavier")},
		{line(), func() { count.Init(initial.Orthogonal(1)) }, fractions("orthogonal(1)")},
		{line(), func() { w.Init(initial.Normal(0, -1)) }, `Init: initialiser normal(0,-1): the standard deviation is negative: w[i=3]`},
		{line(), func() { w.Init(initial.Uniform(1, 0)) }, `Init: initialiser uniform(1,0): the upper end is below the lower: w[i=3]`},
		{line(), func() { ops.Add(x, ops.Exp(nil)) }, `Exp: operand 0 is nil: nil`},
		{line(), func() { ops.Add(ops.Exp(nil), x) }, `Exp: operand 0 is nil: nil`},
		{line(), func() { g.Fail("Dense", nil, x) }, `Dense: refused without a reason: x[i=3]`},
		{line(), func() { g.Fail("Dense", errors.New("want a width of at least 1"), x) }, `Dense: want a width of at least 1: x[i=3]`},
		{line(), func() { defer g.Scope("encoder")(); defer g.Scope("fc/1")(); ops.Sum(x, "q") }, `Sum: no axis "q" in [i=3]: x[i=3], in encoder/fc_1`},
		{line(), func() { defer g.Scope("a")(); ops.Add(x, g.Constant(graph.F64, []float64{2})) }, `Add: element types differ: f32 and f64: x[i=3], 2, in a (convert one with ops.Cast)`},
	} {
		before := 0
		if errs, ok := g.Err().(graph.Errors); ok {
			before = len(errs)
		}
		row.make()
		errs, _ := g.Err().(graph.Errors)
		want := fmt.Sprintf("graph/error_test.go:%d: %s", row.line, row.want)
		if len(errs) != before+1 || errs[before].Error() != want {
			t.Errorf("got  %v\nwant %s", errs[min(before, len(errs)):], want)
		}
	}
	if err := other.Err(); err != nil {
		t.Errorf("the other graph has %v", err)
	}
	if err := graph.Verify(g); err != nil {
		t.Error(err)
	}
}

// TestIndependentMistakes: two mistakes in the shapes of one model are both
// reported, each at its line; what follows from them is silent.
func TestIndependentMistakes(t *testing.T) {
	g := graph.New("model")
	x := g.Input("x", graph.F32, graph.Ax("i", 32), graph.Ax("f", 784))
	w1 := g.Param("w1", graph.F32, graph.Ax("f", 785), graph.Ax("h", 128))
	b1 := g.Param("b1", graph.F32, graph.Ax("h", 128))
	h := ops.ReLU(ops.Add(ops.MatMul(x, w1), b1)) // the first mistake: 784 ≠ 785
	first := line() - 1
	c := g.Input("c", graph.F32, graph.Ax("j", 3), graph.Ax("f", 784))
	d := ops.Square(ops.Sub(x, c)) // the second: rows meet centres
	second := line() - 1
	loss := ops.Sum(ops.Add(ops.Sum(h, "i"), ops.Sum(d, "f"))) // depends on both, and names an axis in vain
	if loss.IsValid() || ops.Exp(loss).IsValid() {
		t.Error("the loss is valid")
	}
	want := fmt.Sprintf(`graph/error_test.go:%d: MatMul: inner axes differ (784 ≠ 785): x[i=32 f=784], w1[f=785 h=128]
graph/error_test.go:%d: Sub: axis "i" meets axis "j": x[i=32 f=784], c[j=3 f=784] (lay the operands out with ops.Over, or rename one axis)`, first, second)
	if err := g.Err(); err == nil || err.Error() != want {
		t.Errorf("got\n%v\nwant\n%s", err, want)
	}
}

// TestErrorsUnwrap: a mistake can be found with errors.As and errors.Is.
func TestErrorsUnwrap(t *testing.T) {
	g := graph.New("g")
	if g.Err() != nil {
		t.Fatal(g.Err())
	}
	cause := errors.New("cause")
	g.Fail("A", errors.New("something else"))
	g.Fail("B", fmt.Errorf("wrapped: %w", cause))
	g.Fail("C", fmt.Errorf("wrapped: %w", &graph.Mistake{Problem: "p", Fix: "f"}))
	var e *graph.Error
	if !errors.Is(g.Err(), cause) || !errors.As(g.Err(), &e) || e.Op != "A" {
		t.Errorf("%v does not unwrap", g.Err())
	}
	if errs := g.Err().(graph.Errors); errs[2].Fix != "f" {
		t.Errorf("the fix of a wrapped mistake is lost: %v", errs[2])
	}
}

// TestNoGraph: a call without any node has no graph to record its mistake in,
// and still gives an invalid node.
func TestNoGraph(t *testing.T) {
	for _, n := range []*graph.Node{ops.Add(nil, nil), ops.Concat(0), ops.Exp(nil), graph.Apply(nil)} {
		if n == nil || n.IsValid() {
			t.Errorf("got %v", n)
		}
	}
	var none *graph.Node
	if none.Init(initial.Zeros()) != nil || none.As("x") != nil || none.IsValid() || none.String() != "nil" {
		t.Errorf("a nil node is %v", none)
	}
}
