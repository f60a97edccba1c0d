package notation

import (
	"errors"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/greek"
	"github.com/tapestry-ml/tapestry/ops"
)

// Build makes the model in float32 or float64, with the given settings: sizes of axes and values
// of scalars. It is an error if a setting is unknown, or if sizes do not fit together. See
// [File.Builder].
func (f *File) Build(settings builders.Settings, dt graph.DType) (*builders.Model, error) {
	if f == nil {
		return nil, errors.New("the file is nil (notation.Parse makes one)")
	}
	return f.Builder().Build(settings, dt)
}

// Builder returns the file as a builder like those of the registry, to be used wherever one of
// those is. Its settings are the sizes that the file states as numbers, and its scalars by their
// names in Latin letters.
//
// Nodes have the names and the lines of the file, so that errors, drawings and listings cite
// them. Output is the quantity named by output; without one it is the loss, or the last quantity
// of a file without a loss.
func (f *File) Builder() builders.Builder {
	b := builders.Builder{Name: f.name, Title: f.Title(), Notes: f.name, Formula: f.formula()}
	for _, a := range f.axes {
		if a.same == "" {
			b.Hyperparameters = append(b.Hyperparameters, builders.Hyperparameter{Name: a.name, Default: float64(a.number), Doc: "size of axis " + a.name, Kind: builders.Count})
		}
	}
	for _, s := range f.lines {
		if s.kind == wordScalar {
			v, _ := literal(s.value)
			doc := s.comment
			if doc == "" {
				doc = "scalar " + greek.Symbol(s.name)
			}
			b.Hyperparameters = append(b.Hyperparameters, builders.Hyperparameter{Name: greek.Spelled(greek.Symbol(s.name)), Default: v, Doc: doc})
		}
	}
	return builders.Define(b, f.fill)
}

// formula returns the file in one line: what it computes.
func (f *File) formula() string {
	var parts []string
	for _, s := range f.lines {
		if s.kind == signDefine || s.kind == signUpdate {
			parts = append(parts, s.String())
		}
	}
	return strings.Join(parts, ";  ")
}

// try builds the model with its default settings, so that Parse reports, at their lines, mistakes
// that only the graph detects.
func (f *File) try() {
	f.misfits(f.sizes(nil), func(_ int, at span, problem, fix string) { f.fail(at, problem, fix, "") })
	if len(f.errors) > 0 {
		return
	}
	_, err := f.Build(nil, graph.F64)
	var mistakes graph.Errors
	if !errors.As(err, &mistakes) {
		if err != nil {
			f.fail(span{}, err.Error(), "", "")
		}
		return
	}
	statements := map[int]span{} // by line
	for _, s := range f.lines {
		if line, _ := f.line(s.from); s.kind != "" {
			statements[line] = s.span
		}
	}
	for _, m := range mistakes {
		f.fail(statements[m.Pos.Line], m.Op+": "+m.Err.Error(), m.Fix, "")
	}
}

// assembly adds a file to a graph.
type assembly struct {
	*File
	g     *graph.Graph
	dt    graph.DType
	sizes map[string]int
	nodes map[string]*graph.Node // by symbol
	draws []drawing              // of the examples' graph
	line  int                    // whose nodes are added
}

// fill defines the model; see [builders.Define].
func (f *File) fill(s builders.Settings, dt graph.DType, m *builders.Model) {
	b := &assembly{File: f, g: m.Graph, dt: dt, sizes: f.sizes(s), nodes: map[string]*graph.Node{}}
	fits := true
	f.misfits(b.sizes, func(line int, _ span, problem, fix string) {
		fits = false
		b.at(line, func() { b.g.Fail("sizes", &graph.Mistake{Problem: problem, Fix: fix}) })
	})
	if !fits {
		return
	}
	for _, q := range f.lines {
		line, _ := f.line(q.from)
		b.at(line, func() { b.statement(q, s, m) })
	}
	if b.g.Err() != nil {
		return
	}
	if f.loss != nil {
		m.Loss = b.nodes[greek.Symbol(f.loss.name)]
	}
	m.Output = b.nodes[greek.Symbol(f.output.name)]
	m.Examples, m.Drawn = f.examples(b, s)
}

// at runs add, which adds the nodes of a line.
func (b *assembly) at(line int, add func()) {
	b.line = line
	b.calling("", add)
}

// calling runs add, which adds the nodes of a call, or of another expression, of the present
// line.
func (b *assembly) calling(name string, add func()) {
	b.g.During(graph.Occurrence{Pos: graph.Pos{File: b.name, Line: b.line}, Call: name}, graph.Origin{}, add)
}

func (b *assembly) statement(s *statement, settings builders.Settings, m *builders.Model) {
	key := greek.Symbol(s.name)
	axes := b.axesOf(namesOf(s.axes))
	switch s.kind {
	case wordInput:
		b.nodes[key] = b.g.Input(key, b.dt, axes...)
	case wordIndex:
		b.nodes[key] = b.g.Input(key, graph.I64, axes...)
	case wordScalar:
		b.nodes[key] = b.g.Scalar(key, settings[greek.Spelled(key)], b.dt)
	case wordParam, wordState:
		make := b.g.Param
		if s.kind == wordState {
			make = b.g.State
		}
		n := make(key, b.dt, axes...)
		if s.value != nil {
			init, _ := b.initialiser(s) // was checked
			n = n.Init(init)
		}
		b.nodes[key] = n
	case signDefine:
		b.nodes[key] = b.ordered(b.node(s.value), namesOf(s.axes)).As(key)
	case signUpdate:
		target := b.nodes[key]
		m.Step = append(m.Step, b.g.Assign(target, b.ordered(b.node(s.value), b.quantities[key].typ.axes)))
	}
}

func (b *assembly) axis(name string) graph.Axis { return graph.Ax(name, b.sizes[name]) }

func (b *assembly) axesOf(names []string) []graph.Axis {
	out := make([]graph.Axis, len(names))
	for i, name := range names {
		out[i] = b.axis(name)
	}
	return out
}

// ordered permutes the axes of a node into the given order.
func (b *assembly) ordered(n *graph.Node, names []string) *graph.Node {
	if len(names) < 2 {
		return n
	}
	order := make([]any, len(names))
	for i, name := range names {
		order[i] = name
	}
	return ops.Transpose(n, order...)
}

// node adds an expression. The node has the axes of the expression's type, in the same order.
func (b *assembly) node(e *expr) *graph.Node {
	switch e.kind {
	case exprNumber:
		v, _ := literal(e)
		dt := b.dt
		if e.typ.kind == whole {
			dt = graph.I64
		}
		return b.g.Constant(dt, []float64{v})
	case exprName:
		n := b.nodes[greek.Symbol(e.text)]
		if !slices.ContainsFunc(e.refs, func(r axisRef) bool { return r.as != "" }) {
			return n
		}
		to, err := graph.NewShape(b.axesOf(e.typ.axes)...)
		if err != nil {
			return b.g.Fail(e.String(), err, n)
		}
		return ops.ReshapeTo(n, to)
	case exprNeg:
		if v, ok := literal(e); ok {
			dt := b.dt
			if e.typ.kind == whole {
				dt = graph.I64
			}
			return b.g.Constant(dt, []float64{v})
		}
		return ops.Neg(b.node(e.args[0]))
	case exprCall:
		var axes []string
		for _, a := range e.args[len(e.fn.takes):] {
			axes = append(axes, a.text)
		}
		var y *graph.Node
		b.calling(e.fn.name, func() { y = e.fn.node(b, e, axes) })
		return y
	}
	if v, ok := literal(e.args[1]); ok && e.text == "^" && v == 2 {
		return ops.Square(b.node(e.args[0]))
	}
	in := b.aligned(e.typ.axes, e.args...)
	return operators[e.text](in[0], in[1])
}

// operators maps the signs between two operands to operations.
var operators = map[string]func(a, b *graph.Node) *graph.Node{
	"+": func(a, b *graph.Node) *graph.Node { return ops.Add(a, b) }, "-": ops.Sub,
	"*": func(a, b *graph.Node) *graph.Node { return ops.Mul(a, b) }, "/": ops.Div, "^": ops.Pow,
	"<": ops.Less, "<=": ops.LessEqual, ">": ops.Greater, ">=": ops.GreaterEqual, "==": ops.Equal, "!=": ops.NotEqual,
}

// aligned returns the operands of an elementwise operation, laid out so that their axes
// correspond. An operand without axes, or with the last ones of another that has all, is left as
// it is.
func (b *assembly) aligned(axes []string, operands ...*expr) []*graph.Node {
	spanned := slices.ContainsFunc(operands, func(e *expr) bool { return slices.Equal(e.typ.axes, axes) })
	out := make([]*graph.Node, len(operands))
	for i, e := range operands {
		out[i] = b.node(e)
		own := e.typ.axes
		if len(own) > 0 && !(spanned && slices.Equal(own, axes[len(axes)-len(own):])) {
			out[i] = ops.Over(out[i], axes...)
		}
	}
	return out
}
