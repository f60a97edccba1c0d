package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"reflect"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// Op checks an operation: its shape rule on operands that do not fit, its attributes, and, on each
// of its cases (in both float types if these are generic), everything that [Graph] checks. For an
// operation with a Run method (tape.CustomOp) it checks that Run writes all of its result and
// nothing else; for one that is defined on numbers, that engines agree with the definition at
// awkward lengths. The error lists all mistakes.
//
// An operation with a text form needs exported attributes, and a name that no operation of package
// ops has. At least one case must be given. The values of a case keep away from kinks if its domain
// says so; see [ops.Domain].
func Op(op graph.Op, cases ...ops.Case) error { return one(op, nil, cases) }

// Subject is an operation to check, with its cases.
type Subject struct {
	Op    graph.Op
	Cases []ops.Case
}

// Ops is [Op] for operations that need each other: the cases and derivatives of each may use all of
// them.
func Ops(subjects ...Subject) error {
	var all []graph.Op
	for _, s := range subjects {
		if s.Op != nil {
			all = append(all, s.Op)
		}
	}
	var errs []error
	for _, s := range subjects {
		errs = append(errs, one(s.Op, all, s.Cases))
	}
	return errors.Join(errs...)
}

// one checks an operation; beside are those that it may use.
func one(op graph.Op, beside []graph.Op, cases []ops.Case) error {
	if op == nil {
		return errors.New("want an operation, got nil")
	}
	defer Cores()()
	var errs []error
	report := func(err error) {
		if err != nil {
			errs = append(errs, fmt.Errorf("%s: %w", op.Name(), err))
		}
	}
	report(named(op))
	if !reflect.TypeOf(op).Comparable() {
		report(fmt.Errorf("%T is not comparable: attributes are bools, integers, strings and arrays or structs of these", op))
		return errors.Join(errs...)
	}
	report(open(op))
	if len(cases) == 0 {
		report(errors.New("want at least one case"))
	}
	seen := map[graph.Op]bool{op: true}
	report(total(op))
	for i, c := range cases {
		for _, dt := range []graph.DType{graph.F32, graph.F64} {
			if dt == graph.F32 && !generic(c) {
				continue
			}
			t := trial{op: op, beside: beside, cas: c, dt: dt, rng: rand.New(rand.NewPCG(uint64(i), 2))}
			err := t.check(seen)
			if err != nil {
				report(fmt.Errorf("case %d, %v: %w", i, dt, err))
			}
		}
	}
	return errors.Join(errs...)
}

// Register is [Op] for a program that uses an operation only after checking it: it returns the
// constructor if nothing is wrong, and otherwise a zero value with the error. It keeps nothing.
//
//	Swish, err := check.Register(swish{}, func(x *graph.Node) *graph.Node { return graph.Apply(swish{}, x) }, cases...)
func Register[F any](op graph.Op, constructor F, cases ...ops.Case) (F, error) {
	if err := Op(op, cases...); err != nil {
		var none F
		return none, err
	}
	return constructor, nil
}

// Estimator is an operation whose Grad is deliberately not its derivative. Surrogate returns the
// function of the same operands that Grad does differentiate, made of existing operations: the
// identity for rounding with a straight-through derivative, and for a clipped gradient, which is
// checked below its limit.
type Estimator interface {
	Surrogate(in []*graph.Node) *graph.Node
}

// named refuses names that the text form cannot tell from others.
func named(op graph.Op) error {
	name := op.Name()
	if name == "" || !unicode.IsUpper([]rune(name)[0]) || strings.ContainsFunc(name, func(r rune) bool { return !unicode.IsLetter(r) && !unicode.IsDigit(r) }) {
		return fmt.Errorf("the name %q: want CamelCase, as in LogSumExp", name)
	}
	for _, other := range ops.Vocabulary() {
		if other.Name() == name && reflect.TypeOf(other) != reflect.TypeOf(op) {
			return fmt.Errorf("package ops has an operation of this name: no text form with both can be read")
		}
	}
	return nil
}

// open refuses attributes that the text form does not show: it prints and reads
// the exported ones.
func open(op graph.Op) error {
	t := reflect.TypeOf(op)
	if t.Kind() != reflect.Struct {
		return nil
	}
	var errs []error
	for i := range t.NumField() {
		if f := t.Field(i); !f.IsExported() && f.Type.Size() > 0 {
			errs = append(errs, fmt.Errorf("attribute %s is not exported: it would be missing from the text form", f.Name))
		}
	}
	return errors.Join(errs...)
}

// total calls the shape rule with operands that mostly do not fit: it has to give
// a type or an error, and must not panic.
func total(op graph.Op) error {
	g := graph.New("operands")
	var in []*graph.Node
	for _, dt := range []graph.DType{graph.F32, graph.F64, graph.I32, graph.I64, graph.Bool, graph.F16, graph.BF16, graph.I8, graph.U8} {
		for k, axes := range [][]graph.Axis{nil, graph.Dims(1), graph.Dims(2, 3), graph.Dims(0, 3), {graph.Ax("i", 3), graph.Ax("j", 2)}, graph.Dims(2, 1, 3, 2), graph.Dims(1, 2, 1, 2, 1, 2, 1, 2)} {
			in = append(in, g.Input(fmt.Sprint(dt, k), dt, axes...))
		}
	}
	lists := [][]*graph.Node{nil, in[:9], {in[2], in[2], in[2]}, {in[2], in[3], in[2], in[3]}}
	for _, a := range in {
		lists = append(lists, []*graph.Node{a}, []*graph.Node{a, a, a})
		for _, b := range in {
			lists = append(lists, []*graph.Node{a, b})
		}
	}
	for _, l := range lists {
		if err := infers(op, l); err != nil {
			return err
		}
	}
	return nil
}

func infers(op graph.Op, in []*graph.Node) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("its Infer panics on %s: %v", types(in), p)
		}
	}()
	typ, refused := op.Infer(in)
	if refused == nil && typ.DType == graph.InvalidDType {
		return fmt.Errorf("its Infer gives neither a type nor an error for %s", types(in))
	}
	return nil
}

func types(in []*graph.Node) string {
	if len(in) == 0 {
		return "no operands"
	}
	var s []string
	for _, x := range in {
		s = append(s, x.Type().String())
	}
	return strings.Join(s, ", ")
}

// safely makes a panic of the operation's methods an error.
func safely(f func() error) (err error) {
	defer func() {
		if p := recover(); p != nil {
			err = fmt.Errorf("panic: %v", p)
		}
	}()
	return f()
}

// check makes the trial's graph and checks it.
func (t *trial) check(seen map[graph.Op]bool) error {
	if err := safely(t.build); err != nil {
		return err
	}
	if op := t.node.Op(); !seen[op] { // other attributes
		seen[op] = true
		if err := total(op); err != nil {
			return err
		}
	}
	if err := t.defined(); err != nil {
		return err // there is nothing to compare with
	}
	var errs []error
	for _, f := range []func() error{t.written, t.runs, t.lengths, t.estimates} {
		errs = append(errs, safely(f))
	}
	errs = append(errs, Failed(Graph(context.Background(), t.y, Feed(tape.Tensors(t.values)), Vocabulary(t.op), Vocabulary(t.beside...))))
	return errors.Join(errs...)
}

// defined asks for one definition.
func (t *trial) defined() error {
	_, scalar := t.node.Op().(trait.Elementwise)
	_, eval := t.node.Op().(trait.Defined)
	if _, looped := t.node.Op().(trait.Looped); looped {
		return nil // its definition is its body's, step by step
	}
	if scalar == eval {
		return errors.New("want one definition to check against, Scalar(x ...float64) float64 or Eval(env trait.Env, y *graph.Node, in []graph.Value) graph.Value")
	}
	return nil
}

// written asks for a notation, if the operation has any, that says something.
func (t *trial) written() error {
	n, ok := t.node.Op().(trait.Notated)
	if !ok {
		return nil
	}
	var in []expr.Expr
	for i := range t.node.NumIn() {
		in = append(in, expr.Sym(fmt.Sprintf("x%d", i)))
	}
	if e := n.Notation(t.node, in); e.Text == "" && len(e.Args) == 0 {
		return errors.New("its Notation gives nothing")
	}
	return nil
}
