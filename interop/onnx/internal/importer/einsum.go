package importer

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// sums has sums of products.
var sums = map[string]rule{"Einsum": einsum}

// einsum has one letter an axis, and three dots for any axes that broadcast.
func einsum(c *call) []value {
	equation := strings.ReplaceAll(c.text("equation", ""), " ", "")
	left, right, arrow := strings.Cut(equation, "->")
	terms := strings.Split(left, ",")
	if len(terms) != len(c.in) {
		c.fail("equation %q for %d operands", equation, len(c.in))
	}
	size := map[string]int{}
	xs, labels := make([]*graph.Node, len(terms)), make([][]string, len(terms))
	dots := 0
	for i, term := range terms {
		xs[i] = c.x(i)
		before, after, any := strings.Cut(term, "...")
		n := xs[i].Rank() - len(before) - len(after)
		if n < 0 || n > 0 && !any || !letters(before+after) {
			c.fail("term %q of equation %q for an operand with %d axes", term, equation, xs[i].Rank())
		}
		labels[i] = slices.Concat(strings.Split(before, ""), dotted(n), strings.Split(after, ""))
		dots = max(dots, n)
		for a, l := range labels[i] {
			if n := xs[i].Dim(a); size[l] <= 1 || size[l] == n {
				size[l] = max(n, min(size[l], 1))
				if n == 0 {
					size[l] = 0
				}
			} else if n != 1 {
				c.fail("sizes %d and %d of %q in equation %q", size[l], n, l, equation)
			}
		}
	}
	var result []string
	if arrow {
		before, after, any := strings.Cut(right, "...")
		if !letters(before + after) {
			c.fail("result %q of equation %q", right, equation)
		}
		result = strings.Split(before, "")
		if any {
			result = slices.Concat(result, dotted(dots))
		}
		result = slices.Concat(result, strings.Split(after, ""))
	} else { // the letters that come once, in the order of the alphabet
		all := strings.ReplaceAll(strings.ReplaceAll(left, ",", ""), ".", "")
		once := strings.Split(all, "")
		slices.Sort(once)
		once = slices.DeleteFunc(once, func(l string) bool { return strings.Count(all, l) > 1 })
		result = append(dotted(dots), once...)
	}
	for i, l := range result {
		if _, ok := size[l]; !ok || slices.Contains(result[:i], l) {
			c.fail("axis %q of the result of equation %q", l, equation)
		}
	}
	for i, x := range xs {
		xs[i], labels[i] = c.withoutOnes(x, labels[i], size)
	}
	if !c.x(0).DType().IsFloat() {
		return []value{as(c.in[0].elem, c.productOf(xs, labels, result, size))}
	}
	specs := make([]string, len(labels))
	for i, l := range labels {
		specs[i] = strings.Join(l, " ")
	}
	sizes := make([]int, len(result))
	var kept []string // an axis of which all operands have size 1 is in none of them now
	for i, l := range result {
		sizes[i] = size[l]
		if slices.ContainsFunc(labels, func(of []string) bool { return slices.Contains(of, l) }) {
			kept = append(kept, l)
		}
	}
	y := ops.Einsum(strings.Join(specs, ", ")+" -> "+strings.Join(kept, " "), xs...)
	return []value{c.is(0, c.reshape(y, sizes...))}
}

// dotted returns the labels of the last n of the axes that three dots stand for.
func dotted(n int) []string {
	out := make([]string, n)
	for i := range out {
		out[i] = "dot" + string(rune('a'+n-1-i))
	}
	return out
}

func letters(s string) bool {
	return strings.IndexFunc(s, func(r rune) bool { return (r < 'a' || r > 'z') && (r < 'A' || r > 'Z') }) < 0
}

// withoutOnes removes the axes of size 1 of labels that have another size elsewhere, along which x is
// to be repeated.
func (c *call) withoutOnes(x *graph.Node, labels []string, size map[string]int) (*graph.Node, []string) {
	var keep []string
	var sizes []int
	for a, l := range labels {
		if n := x.Dim(a); n != 1 || size[l] == 1 {
			keep, sizes = append(keep, l), append(sizes, n)
		}
	}
	return c.reshape(x, sizes...), keep
}

// productOf returns the sum of the products of integers.
func (c *call) productOf(xs []*graph.Node, labels [][]string, result []string, size map[string]int) *graph.Node {
	// An axis that comes twice is two, and a unit matrix.
	for k := 0; k < len(labels); k++ {
		for i, l := range labels[k] {
			if !slices.Contains(labels[k][:i], l) {
				continue
			}
			again := l + "′"
			labels[k][i] = again
			size[again] = size[l]
			n := graph.Ax("", size[l])
			xs, labels = append(xs, ops.Eye(c.g, xs[0].DType(), n, n)), append(labels, []string{l, again})
		}
	}
	all := slices.Clone(result)
	for _, l := range slices.Concat(labels...) {
		if !slices.Contains(all, l) {
			all = append(all, l)
		}
	}
	if len(all) > graph.MaxRank {
		c.fail("a product over %d axes: at most %d", len(all), graph.MaxRank)
	}
	for i, x := range xs {
		var order []any
		sizes := ones(len(all))
		for k, l := range all {
			if a := slices.Index(labels[i], l); a >= 0 {
				order = append(order, a)
				sizes[k] = size[l]
			}
		}
		if len(order) > 1 {
			x = ops.Transpose(x, order...)
		}
		xs[i] = c.reshape(x, sizes...)
	}
	y := ops.Mul(xs...)
	if summed := places(len(result), len(all)); len(summed) > 0 {
		y = ops.Sum(y, summed...)
	}
	return y
}
