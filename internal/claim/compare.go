package claim

import (
	"fmt"
	"math"
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz"
)

// comparisons are the signs of comparison, as they are written and in plain form.
var comparisons = map[string]string{"<": "<", ">": ">", "<=": "≤", ">=": "≥", "≤": "≤", "≥": "≥", "≈": "≈", "≠": "≠", "!=": "≠", "==": "==", "=": "="}

var comparisonSign = regexp.MustCompile(`<=|>=|!=|==|[<>≤≥≈≠=]`)

// isComparison reports whether a statement compares numbers.
func isComparison(statement string) bool {
	signs, _ := cut(statement)
	return !slices.Equal(signs, []string{"="})
}

// cut cuts a statement at its signs of comparison.
func cut(statement string) (signs, sides []string) {
	// The braces of a model have equals signs of their own, and so have conditions in expressions.
	depth, from := 0, 0
	for i := 0; i < len(statement); {
		switch statement[i] {
		case '(', '[', '{':
			depth++
		case ')', ']', '}':
			depth--
		}
		if m := comparisonSign.FindStringIndex(statement[i:]); depth == 0 && m != nil && m[0] == 0 {
			signs = append(signs, comparisons[statement[i:i+m[1]]])
			sides = append(sides, strings.TrimSpace(statement[from:i]))
			i += m[1]
			from = i
			continue
		}
		_, size := utf8.DecodeRuneInString(statement[i:])
		i += size
	}
	return signs, append(sides, strings.TrimSpace(statement[from:]))
}

// judge compares two sides.
func (k *checking) judge(v verdict, left, right graph.Value) error {
	if v.by != "=" {
		l, r := left.Data[0], right.Data[0]
		var holds bool
		switch v.by {
		case "<":
			holds = l < r
		case ">":
			holds = l > r
		case "≤":
			holds = l <= r
		case "≥":
			holds = l >= r
		case "≠":
			holds = l != r
		case "==":
			holds = near(l, r, max(math.Abs(l), math.Abs(r)))
		case "≈":
			holds = math.Abs(l-r) <= math.Abs(r)/20
		}
		if !holds {
			left, right := digits(l, r)
			return fmt.Errorf("%s: the left side of %s is %s, the right side %s", v.statement, v.by, left, right)
		}
		return nil
	}
	left, right = ordered(left, v.indices), ordered(right, v.indices)
	largest := 0.0
	for _, x := range left.Data {
		if !math.IsInf(x, 0) {
			largest = max(largest, math.Abs(x))
		}
	}
	if largest == 0 && v.node != nil {
		return fmt.Errorf("%s: the left side is 0 everywhere, which no equation tells from a mistake", v.statement)
	}
	for p, x := range left.Data {
		if y := right.Data[p]; !near(x, y, max(1, largest)) {
			has, claims := digits(x, y)
			return fmt.Errorf("%s: %sthe model has %s, the claim %s%s", v.statement, place(p, left.Type.Shape), has, claims, derived(v.node))
		}
	}
	return nil
}

// digits writes two numbers with as many digits as tell them apart, but at least 6.
func digits(x, y float64) (a, b string) {
	for n := 6; n <= 17 && a == b; n++ {
		a, b = strconv.FormatFloat(x, 'g', n, 64), strconv.FormatFloat(y, 'g', n, 64)
	}
	return a, b
}

// near reports whether two numbers are equal but for rounding, beside numbers of a size.
func near(x, y, size float64) bool { return x == y || math.Abs(x-y) <= 1e-9*size }

// ordered returns a value with its axes in the given order.
func ordered(v graph.Value, indices []string) graph.Value {
	shape := v.Type.Shape
	if len(indices) != shape.Rank() || shape.Rank() == 0 {
		return v
	}
	axes := make([]graph.Axis, len(indices))
	stride := make([]int, len(indices))
	for i, x := range indices {
		k := shape.Index(x)
		if k < 0 {
			return v
		}
		axes[i], stride[i] = shape.Axis(k), 1
		for j := k + 1; j < shape.Rank(); j++ {
			stride[i] *= shape.Dim(j)
		}
	}
	s, err := graph.NewShape(axes...)
	if err != nil {
		return v
	}
	out := graph.NewValue(graph.Type{DType: v.Type.DType, Shape: s})
	for p := range out.Data {
		rest, from := p, 0
		for i := len(axes) - 1; i >= 0; i-- {
			from += rest % axes[i].Size * stride[i]
			rest /= axes[i].Size
		}
		out.Data[p] = v.Data[from]
	}
	return out
}

// place says which element of an array is meant.
func place(p int, s graph.Shape) string {
	if s.Rank() == 0 {
		return ""
	}
	parts := make([]string, s.Rank())
	for i := s.Rank() - 1; i >= 0; i-- {
		parts[i] = fmt.Sprintf("%s=%d", s.Axis(i).Name, p%s.Dim(i))
		p /= s.Dim(i)
	}
	return "at " + strings.Join(parts, " ") + " "
}

// derived says what the graph has for a node.
func derived(n *graph.Node) string {
	if n == nil {
		return ""
	}
	return "; the graph derives " + viz.Formula(n)
}
