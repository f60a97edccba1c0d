package main

import (
	"context"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/viz"
)

// convention returns the value that an operation uses where it has no derivative, "" for none.
func convention(op ops.Op) string {
	if c, ok := op.(trait.Conventional); ok {
		return c.Convention()
	}
	return ""
}

// opCase is a case of an operation, built.
type opCase struct {
	in []*graph.Node
	y  *graph.Node // the node of the operation itself
}

// buildCase builds a case; "float" in a type stands for dt.
func buildCase(op ops.Op, c ops.Case, dt graph.DType) (opCase, error) {
	g := graph.New(op.Name())
	var out opCase
	for i, o := range c.Operands {
		var t graph.Type
		if err := t.UnmarshalText([]byte(strings.Replace(o.Type, "float[", dt.String()+"[", 1))); err != nil {
			return out, err
		}
		out.in = append(out.in, g.Input(operandName(c.Operands, i), t.DType, t.Shape.Axes()...))
	}
	result := c.Make(out.in)
	if len(out.in) == 0 {
		g = result.Graph()
	}
	if err := g.Err(); err != nil {
		return out, err
	}
	for _, n := range graph.Reachable(result) {
		if n.Op().Name() == op.Name() {
			out.y = n
		}
	}
	if out.y == nil {
		return out, fmt.Errorf("a case gives %v, which does not contain %s", result, op.Name())
	}
	out.y = out.y.As("y")
	return out, nil
}

// operandName returns x for a single operand, mask for the only mask of several, and else the next
// of a, b, c.
func operandName(operands []ops.Operand, i int) string {
	masks, at := 0, i
	for k, o := range operands {
		if isMask(o) {
			masks++
			if k < i {
				at--
			}
		}
	}
	switch {
	case len(operands) == 1:
		return "x"
	case masks == 1 && isMask(operands[i]):
		return "mask"
	case masks == 1:
		return string(rune('a' + at))
	}
	return string(rune('a' + i))
}

func isMask(o ops.Operand) bool { return strings.HasPrefix(o.Type, "bool[") }

// opPages returns the page of an operation and its drawing.
func opPages(ctx context.Context, op ops.Op, code *goReference) ([]referencePage, error) {
	path := "ops/" + op.Name()
	text, shown, err := opPage(op, code)
	if err != nil || len(shown) == 0 {
		return []referencePage{{path + ".md", text}}, err
	}
	fig, err := viz.Draw(shown, viz.At(viz.Ops), viz.WithoutLines())
	if err != nil {
		return nil, err
	}
	var svg strings.Builder
	if err := fig.SVGContext(ctx, &svg); err != nil {
		return nil, err
	}
	return []referencePage{{path + ".md", text}, {path + ".svg", svg.String()}}, nil
}

// opPage returns the page of an operation, and the nodes that its drawing shows.
func opPage(op ops.Op, code *goReference) (text string, shown []*graph.Node, err error) {
	var b strings.Builder
	fmt.Fprintf(&b, "%s# %s\n\n%s.\n\n", generated, op.Name(), sentence(op.Doc()))
	cases := op.Cases()
	if len(cases) == 0 {
		return b.String(), nil, nil
	}
	formula, lines, shown, err := opMathematics(op)
	if err != nil {
		return "", nil, err
	}
	b.WriteString(block([]string{formula}) + code.onPage(op) + "\n## Derivative\n\n")
	if len(lines) > 0 {
		b.WriteString("With ȳ = ∂loss/∂y, and likewise for the operands:\n\n" + block(lines))
	} else {
		b.WriteString("None: no derivative flows through it.\n")
	}
	if text := convention(op); text != "" {
		fmt.Fprintf(&b, "\nConvention: %s.\n", text)
	}
	var rows [][]string
	for _, c := range cases {
		row, err := caseRow(op, c)
		if err != nil {
			return "", nil, err
		}
		rows = append(rows, row)
	}
	b.WriteString("\n## Types\n\nThe operands and results of its test cases; `float` is f32 or f64.\n\n")
	b.WriteString(markdownTable([]string{"operands", "result", "in the text form"}, rows))
	fmt.Fprintf(&b, "\n## Drawing\n\n![%s, and what its derivative computes](%s.svg)\n", op.Name(), op.Name())
	return b.String(), shown, nil
}

// sentence capitalises the first letter of a line, unless the line begins with a symbol.
func sentence(doc string) string {
	if first, _, _ := strings.Cut(doc, " "); len(first) == 1 {
		return doc
	}
	return capitalised(doc)
}

// opMathematics returns the formula of an operation and its derivatives, from the case that shows
// the most of them; among equal ones, from one whose operands are inputs.
func opMathematics(op ops.Op) (formula string, derived []string, shown []*graph.Node, err error) {
	best := -1
	for _, c := range op.Cases() {
		built, err := buildCase(op, c, graph.F64)
		if err != nil {
			return "", nil, nil, err
		}
		name(built.y.Inputs(), 'A')
		text := viz.Formula(built.y)
		lines, nodes := derivatives(built.y)
		score := 2 * len(lines)
		if !slices.ContainsFunc(built.y.Inputs(), func(x *graph.Node) bool { return x.NumIn() > 0 }) {
			score++
		}
		if score > best {
			best, formula, derived, shown = score, text, lines, append([]*graph.Node{built.y}, nodes...)
		}
	}
	return formula, derived, shown, nil
}

// name gives nodes without a name, and what is repeated to their shapes, capitals from the given one on:
// formulas would number them. Numbers need no name.
func name(nodes []*graph.Node, first rune) {
	for _, n := range nodes {
		for n.Name() == "" && n.NumIn() == 1 && match.Is(n, match.Broadcast) {
			n = n.In(0)
		}
		v, constant := n.Constant()
		uniform := constant && !slices.ContainsFunc(v.Data, func(x float64) bool { return x != v.Data[0] })
		if n.Name() == "" && !uniform && (constant || n.NumIn() > 0) {
			n.As(string(first))
			first++
		}
	}
}

// derivatives returns the derivatives of y by its operands, by the operation's Grad method, and the
// nodes that compute them.
func derivatives(y *graph.Node) (lines []string, nodes []*graph.Node) {
	op, ok := y.Op().(ops.Op) // with its attributes
	if !ok || !y.DType().IsFloat() {
		return nil, nil
	}
	dy := y.Graph().Input("ȳ", y.DType(), y.Shape().Axes()...)
	var by []*graph.Node
	for i := range y.NumIn() {
		if !y.In(i).DType().IsFloat() {
			continue
		}
		if d := op.Grad(y, dy, i); d.IsValid() {
			nodes, by = append(nodes, d), append(by, y.In(i))
		}
	}
	numbered := slices.ContainsFunc(nodes, func(d *graph.Node) bool { return strings.Contains(viz.Formula(d), "%") })
	if numbered {
		name(slices.DeleteFunc(graph.Reachable(nodes...), func(n *graph.Node) bool {
			choice := match.Is(n, match.Select) && !slices.Contains(nodes, n) // which a formula may number
			return n.Role() != graph.RoleConstant && !choice
		}), 'C')
	}
	for i, d := range nodes {
		x := by[i]
		named := x
		for named.Name() == "" && named.NumIn() == 1 { // broadcast to the shape of the others
			named = named.In(0)
		}
		left := expr.Sym(overlined(named.Label()), indices(x)...)
		lines = append(lines, viz.Equation{Node: d, Left: left, Right: rightSide(d)}.String())
	}
	return lines, nodes
}

// overlined returns the symbol of the derivative of the loss by a quantity.
func overlined(name string) string {
	if len([]rune(name)) == 1 {
		return name + "\u0304"
	}
	return "∂loss/∂" + name
}

// indices returns the names of a node's axes with more than one element.
func indices(n *graph.Node) []string {
	var out []string
	for _, a := range n.Shape().Axes() {
		if a.Name != "" && a.Size > 1 {
			out = append(out, a.Name)
		}
	}
	return out
}

// rightSide returns the expression of a derivative: its name if it has one.
func rightSide(d *graph.Node) expr.Expr {
	if d.NumIn() == 0 || d.Name() != "" {
		return expr.Sym(d.Label(), indices(d)...)
	}
	return viz.Expr(d)
}

// caseRow returns a row of the table of types.
func caseRow(op ops.Op, c ops.Case) ([]string, error) {
	var operands []string
	for _, o := range c.Operands {
		operands = append(operands, "`"+o.Type+"`")
	}
	var results [2]string
	var text string
	for i, dt := range []graph.DType{graph.F32, graph.F64} {
		built, err := buildCase(op, c, dt)
		if err != nil {
			return nil, err
		}
		results[i] = built.y.Type().String()
		text = graph.OpText(built.y.Op())
	}
	result := results[1]
	if float := strings.Replace(results[0], "f32[", "float[", 1); float == strings.Replace(results[1], "f64[", "float[", 1) {
		result = float
	}
	return []string{strings.Join(operands, ", "), "`" + result + "`", "`" + text + "`"}, nil
}
