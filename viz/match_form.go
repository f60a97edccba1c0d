package viz

import (
	"fmt"
	"reflect"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// form returns what a node does with its operands, as a text that is equal for nodes that do the
// same whatever their axes are called, how long these are, and whether a batch lies in front:
// axes are counted from the last, and not at all where nothing but a single number is left. If it is not exact, it leaves out the numbers of constants and
// the bodies of loops.
func form(n *graph.Node, exact bool) string {
	if c, ok := n.Constant(); ok {
		switch {
		case !exact:
			return "constant " + sort(n.DType())
		case uniform(c):
			return "constant " + attr.FloatOf(c.Data[0]).String()
		}
		return fmt.Sprintf("constant %v", c.Data)
	}
	if n.Role() != graph.RoleOp {
		return "leaf " + sort(n.DType())
	}
	if match.Is(n, match.Reshape) {
		return "Reshape " + regrouped(n.In(0).Shape(), n.Shape())
	}
	var b strings.Builder
	b.WriteString(n.Op().Name())
	if match.Of(n.Op()) == match.Other { // a name of the user's, who may have given it twice
		fmt.Fprintf(&b, " %T", n.Op())
	}
	if op, ok := n.Op().(trait.Along); ok && n.NumIn() > 0 {
		if n.Rank() > 0 {
			b.WriteString(" along" + fromLast(op.Along(), n.In(0).Rank()))
		}
	}
	if v := reflect.ValueOf(n.Op()); v.Kind() == reflect.Struct {
		for i := range v.NumField() {
			if v.Type().Field(i).IsExported() {
				b.WriteString(attribute(n, v.Type().Field(i).Name, v.Field(i)))
			}
		}
	}
	if body := n.Body(); body != nil && exact {
		b.WriteString("\n" + bodyForm(body))
	}
	return b.String()
}

// attribute returns a field of an operation, without sizes and without axes, which are told by
// [trait.Along].
func attribute(n *graph.Node, name string, f reflect.Value) string {
	switch x := f.Interface().(type) {
	case graph.Shape, graph.Axis, graph.BodyID, attr.AxisSet:
		return ""
	case attr.Ints:
		switch {
		case match.Is(n, match.Slice) && name == "Size":
			return ""
		case match.Is(n, match.Slice) && name == "Start":
			return " " + parts(n)
		case match.Is(n, match.Transpose):
			order, _ := match.Permuted(n)
			return " " + fromRight(order, n.Rank())
		}
	case int:
		switch _, told := n.Op().(trait.Along); {
		case name == "Axis" && told, name == "Size":
			return ""
		case name == "Axis" && n.NumIn() > 0:
			return " " + strconv.Itoa(x-n.In(0).Rank())
		}
	}
	if f.IsZero() {
		return ""
	}
	return fmt.Sprintf(" %s=%v", name, f.Interface())
}

// sort returns the kind of numbers that a type has, whatever their precision.
func sort(d graph.DType) string {
	switch {
	case d.IsFloat():
		return "float"
	case d == graph.Bool:
		return "bool"
	}
	return "integer"
}

// fromLast lists axes by their distance from the last.
func fromLast(axes attr.AxisSet, rank int) string {
	list := axes.List()
	var b strings.Builder
	for i := len(list) - 1; i >= 0; i-- {
		fmt.Fprintf(&b, " %d", rank-1-list[i])
	}
	return b.String()
}

// parts returns, for each axis from the last on, the start and the step of a Slice and what it
// leaves at the end, up to the first axes that are kept whole.
func parts(n *graph.Node) string {
	start, step := n.Op().(trait.Strided).Strides()
	var b strings.Builder
	kept := 0
	for i := n.Rank() - 1; i >= 0; i-- {
		rest := n.In(0).Dim(i) - 1 - start[i] - (n.Dim(i)-1)*step[i]
		fmt.Fprintf(&b, " %d:%d:%d", start[i], rest, step[i])
		if start[i] != 0 || rest != 0 {
			kept = b.Len()
		}
	}
	return b.String()[:kept]
}

// lie follows a node down through changes of layout to the node whose elements it shows, and
// returns with it how they lie, counted from the last axis: nothing where only axes in front
// repeat.
func lie(n *graph.Node) (root *graph.Node, how string) {
	for {
		x, axes := match.Laid(n)
		how += fromRight(axes, x.Rank())
		if !match.Is(x, match.Reshape) {
			return x, how
		}
		how += "/" + regrouped(x.In(0).Shape(), x.Shape()) + "/"
		n = x.In(0)
	}
}

// fromRight lists, for each axis from the last on, the axis of an operand of the given rank that
// it shows, also counted from the last. Axes in front that repeat, or go on as those before them,
// are left out.
func fromRight(axes []int, rank int) string {
	shown := make([]int, len(axes))
	for i, a := range axes {
		if shown[len(axes)-1-i] = -1; a >= 0 {
			shown[len(axes)-1-i] = rank - 1 - a
		}
	}
	for len(shown) > 0 {
		last := len(shown) - 1
		goesOn := shown[last] >= 0 && (last == 0 && shown[0] == 0 || last > 0 && shown[last-1] == shown[last]-1)
		if shown[last] >= 0 && !goesOn {
			break
		}
		shown = shown[:last]
	}
	return strings.Trim(fmt.Sprint(shown), "[]")
}

// regrouped returns how many axes become how many where a shape changes, from the last on. Axes
// of size 1 do not count, nor those in front that stay.
func regrouped(x, y graph.Shape) string {
	long := func(s graph.Shape) (sizes []int) {
		for i := s.Rank() - 1; i >= 0; i-- {
			if n := s.Axis(i).Size; n != 1 {
				sizes = append(sizes, n)
			}
		}
		return sizes
	}
	xs, ys := long(x), long(y)
	var b strings.Builder
	changed := 0
	for len(xs) > 0 && len(ys) > 0 {
		i, j := 1, 1
		for p, q := xs[0], ys[0]; p != q; {
			if p < q && i < len(xs) {
				p *= xs[i]
				i++
			} else if j < len(ys) {
				q *= ys[j]
				j++
			} else {
				break
			}
		}
		fmt.Fprintf(&b, " %d:%d", i, j)
		if i != 1 || j != 1 {
			changed = b.Len()
		}
		xs, ys = xs[i:], ys[j:]
	}
	return b.String()[:changed]
}

// bodyForm describes the body of a loop up to names and sizes.
func bodyForm(body *graph.Body) string {
	var b strings.Builder
	number := map[*graph.Node]int{}
	for i, n := range body.In() {
		number[n] = i
		fmt.Fprintf(&b, "%d %s\n", i, sort(n.DType()))
	}
	for _, n := range graph.Reachable(body.Out()...) {
		if _, fed := number[n]; fed || isLayout(n) {
			continue
		}
		number[n] = len(number)
		fmt.Fprintf(&b, "%d %s%s\n", number[n], form(n, true), laidOperands(n.Inputs(), number))
	}
	b.WriteString(laidOperands(body.Out(), number))
	return b.String()
}

func laidOperands(nodes []*graph.Node, number map[*graph.Node]int) string {
	var b strings.Builder
	for _, x := range nodes {
		root, how := lie(x)
		fmt.Fprintf(&b, " %d(%s)", number[root], how)
	}
	return b.String()
}

// singleNumber returns the number of which an array consists that is a constant.
func singleNumber(n *graph.Node) (attr.Float, bool) {
	if c, ok := n.Constant(); ok && uniform(c) {
		return attr.FloatOf(c.Data[0]), true
	}
	return 0, false
}

// distance is Σ_d (x_id − r_jd)², written with a difference, a square and a sum.
type distance struct {
	operands      [2]*graph.Node // x and r
	square, minus *graph.Node
}

// besideRows is how x lies in x_id − r_jd: its axis d is the last, its axis i the third last.
const besideRows = "0 -1 1"

// distanceOf takes such a sum apart; it returns nil for any other node. The library has one
// operation for it, SqDist, and which of the two a model uses changes nothing of what it computes.
func distanceOf(n *graph.Node) *distance {
	square, axes, ok := match.Summed(n)
	if !ok || fromLast(axes, square.Rank()) != " 0" {
		return nil
	}
	minus, ok := match.Squared(square)
	if !ok || !match.Is(minus, match.Sub) {
		return nil
	}
	x, onX := lie(minus.In(0))
	r, onR := lie(minus.In(1))
	if onR == besideRows {
		x, r, onX, onR = r, x, onR, onX
	}
	if onX != besideRows || onR != "" && onR != "0 1 -1 2" {
		return nil
	}
	return &distance{[2]*graph.Node{x, r}, square, minus}
}
