package check_test

import (
	"errors"
	"math"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/check"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestOperations holds every operation of package ops to its definition.
func TestOperations(t *testing.T) {
	defer check.Cores()()
	for _, op := range ops.List() {
		t.Run(op.Name(), func(t *testing.T) {
			if err := check.Op(op, op.Cases()...); err != nil {
				t.Error(err)
			}
		})
	}
}

// floats takes one float operand.
type floats struct{}

func (floats) Infer(in []node) (graph.Type, error) {
	if len(in) != 1 || !in[0].DType().IsFloat() {
		return graph.Type{}, errors.New("want one float operand")
	}
	return in[0].Type(), nil
}

// round is a straight-through estimator: its derivative is that of the identity.
type round struct {
	floats
	Wrongly bool
}

func (round) Name() string                { return "StraightRound" }
func (round) Scalar(x ...float64) float64 { return math.Round(x[0]) }
func (r round) Grad(_, dy node, _ int) node {
	if r.Wrongly {
		return ops.Scale(dy, 1.01)
	}
	return dy
}
func (round) Surrogate(in []node) node { return in[0] }
func (round) Run(_ node, out tape.Array, in []tape.Array) {
	for i, x := range in[0].F32 {
		out.F32[i] = float32(math.Round(float64(x)))
	}
	for i, x := range in[0].F64 {
		out.F64[i] = math.Round(x)
	}
}

// TestEstimator: a derivative of one's own is held to the function that it is said
// to be of, and a graph that uses it does not fail for it.
func TestEstimator(t *testing.T) {
	if err := check.Op(round{}, one(round{})...); err != nil {
		t.Error(err)
	}
	err := check.Op(round{Wrongly: true}, one(round{Wrongly: true})...)
	if err == nil || !strings.Contains(err.Error(), "derivative 1 is not that of the surrogate") {
		t.Errorf("got %v", err)
	}
	g := graph.New("rounded")
	x := g.Input("x", graph.F64, graph.Ax("i", 4))
	for _, v := range check.Graph(t.Context(), ops.Sum(graph.Apply(round{}, x)), check.Vocabulary(round{})) {
		if !v.OK() || v.Skipped != (v.Check == "gradient" || v.Check == "second") {
			t.Error(v)
		}
	}
}

// one is a case of an operation on an array of 3 × 5 numbers.
func one(op graph.Op) []ops.Case {
	return []ops.Case{{Operands: []ops.Operand{{Type: "float[i=3 d=5]", Domain: ops.Reals}}, Make: func(in []node) node { return graph.Apply(op, in[0]) }}}
}

// TestRegister gives the constructor only if the operation is right.
func TestRegister(t *testing.T) {
	β := swish{attr.FloatOf(1)}
	f, err := check.Register(β, func(x node) node { return graph.Apply(β, x) }, β.cases()...)
	if err != nil || f == nil {
		t.Fatal(err)
	}
	f, err = check.Register(graph.Op(hasty{β}), f, one(hasty{β})...)
	if err == nil || f != nil {
		t.Errorf("an operation whose derivative is wrong is registered: %v", err)
	}
}

type lower struct{ swish }

func (lower) Name() string { return "swish" }

type taken struct{ swish }

func (taken) Name() string { return "Tanh" }

type rash struct{ swish }

func (rash) Infer(in []node) (graph.Type, error) { return in[0].Type(), nil }

type hidden struct {
	swish
	power int
}

func (h hidden) Scalar(x ...float64) float64 { return h.swish.Scalar(x...) }

type sliced struct {
	swish
	Powers []int
}

type twice struct{ swish }

func (twice) Eval(_ trait.Env, y node, _ []graph.Value) graph.Value { return graph.NewValue(y.Type()) }

type mute struct{ swish }

func (mute) Notation(node, []expr.Expr) expr.Expr { return expr.Expr{} }

type runs struct {
	swish
	How string
}

func (r runs) Run(y node, out tape.Array, in []tape.Array) {
	if len(in[0].F64) == 0 {
		r.swish.Run(y, out, in)
		return
	}
	switch r.How {
	case "past the end":
		r.swish.Run(y, out, in)
		out.F64 = out.F64[:len(out.F64)+1]
		out.F64[len(out.F64)-1] = 7
	case "over the operand":
		r.swish.Run(y, out, in)
		in[0].F64[0] = 7
	case "not all":
		keep := out.F64[2]
		r.swish.Run(y, out, in)
		out.F64[2] = keep
	case "other values":
		r.swish.Run(y, out, in)
		out.F64[1] *= 1 + 1e-8
	case "panic":
		panic("no")
	}
}

type untyped struct{ swish }

func (untyped) Grad(_, dy node, _ int) node { return ops.Cast(dy, graph.I32) }

type fatal struct{ swish }

func (fatal) Grad(y, dy node, i int) node { return y.In(3) }

type stuck struct{ floats }

func (stuck) Name() string                { return "Stuck" }
func (stuck) Scalar(x ...float64) float64 { return x[0] }
func (stuck) Run(_ node, out tape.Array, in []tape.Array) {
	copy(out.F32, in[0].F32)
	copy(out.F64, in[0].F64)
}

type undefined struct{ floats }

func (undefined) Name() string                                { return "Undefined" }
func (undefined) Grad(_, dy node, _ int) node                 { return dy }
func (undefined) Run(_ node, out tape.Array, in []tape.Array) { stuck{}.Run(nil, out, in) }

// TestFaultyOperations: what is wrong with an operation is an error that says so.
func TestFaultyOperations(t *testing.T) {
	s := swish{attr.FloatOf(1)}
	for _, c := range []struct {
		op   graph.Op
		want string
	}{
		{lower{s}, `the name "swish": want CamelCase`},
		{taken{s}, "package ops has an operation of this name"},
		{rash{s}, "Infer panics on no operands"},
		{hidden{s, 2}, "attribute power is not exported"},
		{sliced{swish: s}, "is not comparable"},
		{twice{s}, "want one definition"},
		{undefined{}, "want one definition"},
		{mute{s}, "Notation gives nothing"},
		{runs{s, "past the end"}, "Run writes outside of its result"},
		{runs{s, "over the operand"}, "Run writes to operand 0"},
		{runs{s, "not all"}, "Run is not the definition"},
		{runs{s, "other values"}, "Run is not the definition"},
		{runs{s, "panic"}, "Run panics: no"},
		{untyped{s}, "i32"},
		{fatal{s}, "panic: "},
		{stuck{}, "gradient: the derivative is 0"},
		{hasty{s}, "gradient: the derivative is"},
	} {
		err := check.Op(c.op, one(c.op)...)
		if err == nil || !strings.Contains(err.Error(), c.want) {
			t.Errorf("%T: want an error that says %q, got: %v", c.op, c.want, err)
		}
	}
	if err := check.Op(undefined{}, one(undefined{})...); strings.Count(err.Error(), "\n") != 1 { // one for each float type
		t.Errorf("what follows from the missing definition is said, too: %v", err)
	}
	if err := check.Op(nil); err == nil {
		t.Error("nil is an operation")
	}
	if err := check.Op(s); err == nil || !strings.Contains(err.Error(), "want at least one case") {
		t.Errorf("without cases: %v", err)
	}
	elsewhere := []ops.Case{{Operands: one(s)[0].Operands, Make: func(in []node) node { return ops.Tanh(in[0]) }}}
	if err := check.Op(s, elsewhere...); err == nil || !strings.Contains(err.Error(), "does not use the operation") {
		t.Errorf("cases of something else: %v", err)
	}
}
