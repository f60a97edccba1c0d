// Package firing shows one firing of a rewrite rule to people.
//
// It takes firings of package graph/rewrite, and gives their two sides as mathematics,
// a drawing with what differs highlighted, and what the numbers say:
//
//	before, after := firing.Sides(f)
//	picture, err := firing.Drawing(f)
//	fmt.Println(before.Text, "→", after.Text, firing.Checked(check))
//
// It promises the same text and picture for the same firing. The text form is that of
// formulas, or, where these do not tell the sides apart, of operations:
//
//	Σ_d (x−r)²
//	PairwiseDist(x, r)
package firing

import (
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/viz"
)

// Side is one side of a firing.
type Side struct {
	Text string
	// MathML is the formula of the side. It is "" where Text lists operations, because the
	// formulas would be the same on both sides, or too long to read.
	MathML string
}

// Sides returns the expression that a firing replaced, and its replacement.
func Sides(f rewrite.Firing) (before, after Side) {
	a, b := f.Small()
	old, now := side(a, f.Rederived()), side(b, f.Rederived())
	before, after = Side{viz.Unicode(old), viz.MathML(old)}, Side{viz.Unicode(now), viz.MathML(now)}
	long := longest < len([]rune(before.Text)) || longest < len([]rune(after.Text))
	if !f.Rederived() && (before.Text == after.Text || long) {
		return Side{Text: operations(a, 0)}, Side{Text: operations(b, 0)}
	}
	return before, after
}

// Drawing draws both sides beside each other, with what differs highlighted.
func Drawing(f rewrite.Firing) (*viz.Difference, error) {
	old, now := f.Small()
	level := viz.Primitive
	if f.Rederived() {
		level = viz.Notes
	}
	return viz.Diff([]*graph.Node{old}, []*graph.Node{now}, viz.At(level), viz.Panels("before", "after"), viz.Title(f.Pass+": "+f.Rule), viz.WithoutLines())
}

// Right reports whether both sides compute the same in float64, up to the rounding of
// constants that a rule makes to the graph's element type.
func Right(c rewrite.Check, dt graph.DType) bool {
	allowed := 1e-5
	if dt == graph.F64 {
		allowed = 1e-9
	}
	return c.Difference <= allowed // of NaN it is false
}

// Checked describes the result of checking a firing by numbers.
func Checked(c rewrite.Check) string {
	s := "the same in float64"
	if c.Difference != 0 {
		s = fmt.Sprintf("equal to %.2g in float64", c.Difference)
	}
	if math.IsInf(c.Difference, 0) {
		s = "DIFFERENT in float64"
	}
	if c.Bad32 != [2]int{} {
		s += "; in float32 " + becomes(c.Bad32, c.Elements)
	}
	if c.Large != nil {
		s += "; of values from −200 to 200 in float32 " + becomes(*c.Large, c.Elements)
	}
	return s
}

func becomes(bad [2]int, of int) string {
	switch {
	case bad == [2]int{}:
		return "all are finite before and after"
	case bad[1] == 0:
		return fmt.Sprintf("%d of %d not finite before, all finite after", bad[0], of)
	}
	return fmt.Sprintf("%d of %d not finite before, %d after", bad[0], of, bad[1])
}

// longest is the length, in letters, beyond which the operation is clearer than the formula.
const longest = 160

// side returns a side of a firing as an expression, with inputs of the small graph by their names.
func side(n *graph.Node, whole bool) expr.Expr {
	if n.Role() == graph.RoleInput {
		var subs []string
		for _, a := range n.Shape().Axes() {
			if a.Size > 1 && a.Name != "" {
				subs = append(subs, a.Name)
			}
		}
		return expr.Sym(n.Label(), subs...)
	}
	if whole {
		return viz.Expr(n, viz.StopAtAdjoints())
	}
	return viz.Expr(n)
}

// deepest is the largest depth of nested operations that is written.
const deepest = 6

// operations writes a node as nested operations, such as Sum{axes=[2]}(Square(Δ)).
func operations(n *graph.Node, depth int) string {
	if v, ok := n.Constant(); ok {
		if len(v.Data) == 1 {
			return fmt.Sprint(v.Data[0])
		}
		return n.Type().String()
	}
	if n.NumIn() == 0 {
		return n.Label()
	}
	if depth == deepest {
		return "…"
	}
	var in []string
	for _, x := range n.Inputs() {
		in = append(in, operations(x, depth+1))
	}
	return graph.OpText(n.Op()) + "(" + strings.Join(in, ", ") + ")"
}
