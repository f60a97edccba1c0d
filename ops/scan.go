package ops

import (
	"errors"
	"fmt"
	"math"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// scan is the loop itself; [Scan] prepares its operands and takes its value apart. The fields are
// those of [trait.Loop], where they are explained.
type scan struct {
	Body                          graph.BodyID
	Steps                         int
	Carries, Sequences, Constants int
	Outs, Sums                    int
	Reverse                       bool
}

func (scan) Name() string     { return "Scan" }
func (scan) Kind() match.Kind { return match.Scan }
func (scan) Doc() string      { return "a loop over time: a body that carries values from step to step" }

// Rule returns the name of the rule of its derivative.
func (scan) Rule(_ []bool) (name string, law expr.Expr) {
	return named("back through time: the recurrence in reverse")
}

// Loop describes the loop to whoever runs or changes it.
func (op scan) Loop() trait.Loop { return trait.Loop(op) }

// BodyID is the handle of its body.
func (op scan) BodyID() graph.BodyID { return op.Body }

// WithBody is the same loop over another body.
func (op scan) WithBody(id graph.BodyID) graph.Op {
	op.Body = id
	return op
}

// maxSteps keeps the number of steps within an int whatever a text form says.
const maxSteps = min(1<<31, math.MaxInt)

func (op scan) Infer(in []*graph.Node) (graph.Type, error) {
	var body *graph.Body
	if len(in) > 0 {
		body = in[0].Graph().Body(op.Body)
	}
	if body == nil {
		return graph.Type{}, fmt.Errorf("%d operands and body %d: want a body of the graph, and at least one operand", len(in), int(op.Body))
	}
	inner, out := body.In(), body.Out()
	if min(op.Carries, op.Sequences, op.Constants, op.Outs, op.Sums) < 0 || op.Steps < 1 || op.Steps > maxSteps ||
		op.Carries+op.Sequences+op.Constants != len(in) || len(inner) != len(in) || op.Carries+op.Outs+op.Sums != len(out) {
		return graph.Type{}, fmt.Errorf("%d operands for a body of %d inputs and %d results: want what the attributes count", len(in), len(inner), len(out))
	}
	for i, x := range in {
		typ := x.Type()
		if i >= op.Carries && i < op.Carries+op.Sequences {
			var err error
			if typ, err = stepType(x, op.Steps); err != nil {
				return graph.Type{}, err
			}
		}
		if !sameKind(typ, inner[i].Type()) {
			return graph.Type{}, fmt.Errorf("operand %d is %v in a step, where the body takes %v", i, typ, inner[i].Type())
		}
	}
	for i, n := range out {
		if i < op.Carries && !sameKind(n.Type(), inner[i].Type()) {
			return graph.Type{}, fmt.Errorf("carry %d starts as %v and goes on as %v: want the same", i, inner[i].Type(), n.Type())
		}
		if !n.DType().IsFloat() || n.DType() != out[0].DType() {
			return graph.Type{}, &graph.Mistake{Problem: fmt.Sprintf("result %d of the body has type %v, result 0 %v: want floats of one type", i, n.Type(), out[0].Type()), Fix: "convert with ops.Cast"}
		}
	}
	for _, n := range body.Graph().Nodes() {
		if match.Is(n, match.Random) {
			return graph.Type{}, &graph.Mistake{Problem: "the body makes a random draw, which would be the same in every step", Fix: "draw for all steps outside, and give the draws as a sequence"}
		}
	}
	length := 0.0
	for _, p := range op.Loop().Parts(body) {
		length += float64(p.Rows) * float64(p.Size)
	}
	// The rows of a trace are elements of the type whether or not a run holds them; NewVM refuses
	// what does not fit into memory.
	size := math.MaxInt
	if length < float64(size) {
		size = int(length)
	}
	s, err := graph.NewShape(graph.Axis{Size: size})
	if err != nil {
		return graph.Type{}, fmt.Errorf("%d steps of %d results have %w", op.Steps, len(out), err)
	}
	return graph.Type{DType: out[0].DType(), Shape: s}, err
}

// stepType is the type of the element of a sequence that a step sees.
func stepType(x *graph.Node, steps int) (graph.Type, error) {
	if x.Rank() == 0 || x.Dim(0) != steps {
		return graph.Type{}, fmt.Errorf("a sequence %v for %d steps", x, steps)
	}
	s, err := graph.NewShape(x.Shape().Axes()[1:]...)
	return graph.Type{DType: x.DType(), Shape: s}, err
}

// sameKind reports whether two types agree but for the names of axes.
func sameKind(a, b graph.Type) bool { return a.DType == b.DType && a.Shape.SameSizes(b.Shape) }

// part is the node of some rows of one part of a loop's value: [rows, shape…], the
// first axis called name; of one row and without that axis if name is oneRow.
func part(y *graph.Node, p trait.Part, from, rows int, name string, row graph.Shape) *graph.Node {
	axes := row.Axes()
	if name != oneRow {
		axes = append([]graph.Axis{{Name: name, Size: rows}}, axes...)
	}
	s, err := graph.NewShape(axes...)
	if err != nil {
		return y.Graph().Fail("Scan", err, y)
	}
	lo := p.At + from*p.Size
	return ReshapeTo(Slice(y, 0, lo, lo+rows*p.Size), s)
}

// oneRow is no name of an axis.
const oneRow = "-"

// Iterate is the definition: it runs the body step by step, by whatever way to
// evaluate a body it is given.
func (op scan) Iterate(y *graph.Node, in []graph.Value, step func(b *graph.Body, in []graph.Value) ([]graph.Value, error)) (graph.Value, error) {
	body := y.Body()
	inner, l := body.In(), op.Loop()
	parts := l.Parts(body)
	out := graph.NewValue(y.Type())
	row := func(p trait.Part, r int) []float64 { return out.Data[p.At+r*p.Size:][:p.Size] }
	_, first, _ := l.At(0)
	for k := range op.Carries {
		copy(row(parts[k], first), in[k].Data)
	}
	args := make([]graph.Value, len(in))
	for k := range op.Steps {
		now, before, after := l.At(k)
		for i := range args {
			args[i] = graph.Value{Type: inner[i].Type(), Data: in[i].Data}
			switch n := inner[i].Shape().Len(); {
			case i < op.Carries:
				args[i].Data = row(parts[i], before)
			case i < op.Carries+op.Sequences:
				args[i].Data = in[i].Data[now*n:][:n]
			}
		}
		results, err := step(body, args)
		if outside := new(trait.IndexError); errors.As(err, &outside) {
			outside.Times = slices.Insert(outside.Times, 0, now)
		}
		if err != nil {
			return out, err
		}
		for i, v := range results {
			switch p := parts[i]; {
			case i < op.Carries:
				copy(row(p, after), v.Data)
			case i < op.Carries+op.Outs:
				copy(row(p, now), v.Data)
			default:
				total := row(p, 0)
				for e, term := range v.Data {
					total[e] += term
				}
			}
		}
	}
	return out, nil
}

// Notation is a call with the number of steps; the body shows the step.
func (op scan) Notation(y *graph.Node, in []expr.Expr) expr.Expr {
	return expr.Call(fmt.Sprintf("%s×%d", strings.ReplaceAll(y.Body().Graph().Name(), "step", "loop"), op.Steps), in...)
}

// resultOf names the result of a loop that a slice of its value is: h, or last h
// for a row of its trace; ok is false for other nodes.
func resultOf(n *graph.Node) (name string, ok bool) {
	cut, isSlice := n.Op().(slice)
	if !isSlice || n.In(0).Body() == nil {
		return "", false
	}
	l, body := n.In(0).Op().(scan).Loop(), n.In(0).Body()
	_, _, last := l.At(l.Steps - 1)
	_, first, _ := l.At(0)
	for k, p := range l.Parts(body) {
		name = body.Out()[k].Label()
		from, rows := cut.Start.At(0)-p.At, cut.Size.At(0)/p.Size
		switch {
		case from < 0 || from >= p.Rows*p.Size || from%p.Size != 0 || cut.Size.At(0)%p.Size != 0:
			continue
		case k >= l.Carries+l.Outs:
			return "Σ" + name, true
		case k >= l.Carries:
			return name, rows == l.Steps
		case rows == 1 && from/p.Size == last:
			return "last " + name, true
		case rows == l.Steps && min(from/p.Size, 1) == min(first, 1):
			return name + " before", true
		}
		return name, rows == l.Steps
	}
	return "", false
}

func (scan) Cases() []Case {
	cell := func(carry, x, with []*graph.Node) (next, out []*graph.Node) {
		h := Sin(Add(Mul(carry[0], with[0]), x[0])).As("h")
		return []*graph.Node{h}, []*graph.Node{Square(h).As("h²")}
	}
	return []Case{
		{[]Operand{{"float[h=3]", Reals}, {"float[t=4 h=3]", Reals}, {"float[h=3]", Reals}}, func(in []*graph.Node) *graph.Node {
			r := Scan(Loop{Carry: in[:1], Over: in[1:2], With: in[2:]}, cell)
			return Add(Sum(r.Trace[0], 0), Mul(r.Final[0], Sum(r.Out[0], 0)))
		}},
		{[]Operand{{"float[2]", Reals}, {"float[2 5]", Reals}, {"float[]", Reals}}, func(in []*graph.Node) *graph.Node {
			r := Scan(Loop{Carry: in[:1], Over: in[1:2], Axis: 1, With: in[2:], Reverse: true}, cell)
			return Mul(r.Trace[0], r.Out[0])
		}},
		{[]Operand{{"float[2]", Reals}, {"float[]", Apart}, {"i64[3]", Index(2)}}, func(in []*graph.Node) *graph.Node {
			r := Scan(Loop{Carry: in[:2], Over: in[2:]}, func(c, k, _ []*graph.Node) (next, out []*graph.Node) {
				return []*graph.Node{Mul(c[0], c[1]), Add(c[1], Gather(c[0], k[0], 0))}, nil
			})
			return Add(r.Final[0], r.Final[1])
		}},
	}
}
