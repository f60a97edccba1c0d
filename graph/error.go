package graph

import (
	"errors"
	"fmt"
	"strings"
)

// Error is one mistake made while building a graph, at the user's line.
type Error struct {
	Pos      Pos
	Scope    string   // the open scopes, "" at top level
	Op       string   // the operation refused
	Operands []string // their texts: x[i=32 f=784]
	Err      error    // what is wrong
	Fix      string   // the likely remedy, "" if none is known
}

// Error returns one line:
//
//	model.go:12: MatMul: inner axes differ: x[i=32 f=784] · w[f=785 h=128] (784 ≠ 785), in encoder/fc1
func (e *Error) Error() string {
	var b strings.Builder
	if p := e.Pos.String(); p != "" {
		b.WriteString(p + ": ")
	}
	b.WriteString(fmt.Sprintf("%s: %v", e.Op, e.Err))
	if len(e.Operands) > 0 {
		b.WriteString(": " + strings.Join(e.Operands, ", "))
	}
	if e.Scope != "" {
		b.WriteString(", in " + e.Scope)
	}
	if e.Fix != "" {
		b.WriteString(" (" + e.Fix + ")")
	}
	return b.String()
}

// Unwrap returns what is wrong, Err.
func (e *Error) Unwrap() error { return e.Err }

// Errors lists the mistakes of a graph, in order of appearance.
type Errors []*Error

// Error returns a line for each mistake.
func (e Errors) Error() string {
	lines := make([]string, len(e))
	for i, x := range e {
		lines[i] = x.Error()
	}
	return strings.Join(lines, "\n")
}

// Unwrap returns the mistakes, for [errors.Is] and [errors.As].
func (e Errors) Unwrap() []error {
	out := make([]error, len(e))
	for i, x := range e {
		out[i] = x
	}
	return out
}

// Err returns all mistakes made while building, as [Errors]; nil if there are none.
func (g *Graph) Err() error {
	if g == nil {
		return errNoGraph
	}
	if len(g.errs) == 0 {
		return nil
	}
	return append(Errors(nil), g.errs...)
}

// Fail records a mistake at the user's line and returns an invalid node. It is
// for functions that combine operations and find a mistake of their own. The string
// what is the name of the function. If an operand is invalid nothing is recorded,
// because its cause already is.
func (g *Graph) Fail(what string, err error, operands ...*Node) *Node {
	if err == nil {
		err = errors.New("refused without a reason")
	}
	if g == nil {
		g = Of(operands...)
	}
	for _, x := range operands {
		if x.Graph() != nil && !x.IsValid() {
			g.adopt(x.g)
			return g.invalid() // the cause is recorded
		}
	}
	return g.fail(named(what), operands, err)
}

// call is a call of a function that combines operations, to which mistakes within it are
// attributed.
type call struct {
	what     string
	operands []*Node
	scope    string
	failed   bool
}

// Calling is for functions that combine operations. Until end is called, a mistake in a node that
// they add is reported as a mistake in a call of the function what with these operands. If such
// functions call each other the outermost is named, which is the one that the user called; of the
// mistakes in one call only the first is reported, because the others follow from it.
//
//	defer g.Calling("Clip", x, lo, hi)()
func (g *Graph) Calling(what string, operands ...*Node) (end func()) {
	if g == nil || g.call != nil {
		return func() {}
	}
	g.call = &call{what: what, operands: operands, scope: g.scope()}
	return func() { g.call = nil }
}

// errNoGraph is the mistake of adding to a nil graph. It is recorded when the invalid node that the
// call returns is used with nodes of a graph.
var errNoGraph = errors.New("the graph is nil (graph.New makes one)")

type named string

func (s named) Name() string              { return string(s) }
func (named) Infer([]*Node) (Type, error) { return Type{}, nil }

func (g *Graph) fail(op Op, in []*Node, err error) *Node {
	at := g.occurrence()
	e := &Error{Pos: at.Pos, Scope: at.Scope, Op: op.Name(), Err: err}
	if c := g.call; c != nil {
		if c.failed {
			return g.invalid()
		}
		e.Op, e.Scope, in, c.failed = c.what, c.scope, c.operands, true
	}
	for _, x := range in {
		s := x.String()
		if p := x.Path(); p != "" { // whose layer it is of, wherever the call stands
			s = p + x.Shape().String()
		}
		e.Operands = append(e.Operands, s)
	}
	var m *Mistake
	if errors.As(err, &m) {
		e.Fix = m.Fix
		if e.Fix == renameOne && len(in) == 0 { // nothing is there yet that could be renamed
			e.Fix = "give one of them another name here"
		}
	}
	g.errs = append(g.errs, e)
	return g.invalid()
}
