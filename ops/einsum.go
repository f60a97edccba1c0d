package ops

import (
	"errors"
	"fmt"
	"slices"
	"strings"
	"unicode/utf8"

	"github.com/tapestry-ml/tapestry/graph"
)

// Einsum returns the product of arrays of floats, summed over every axis that the result does not
// have (Einstein's convention). The specification names the axes of each operand, and of the
// result:
//
//	ops.Einsum("b t d, d e -> b t e", x, w)          // a linear map
//	ops.Einsum("b h t e, b h u e -> b h t u", q, k)  // attention's scores
//	ops.Einsum("i i -> i", A)                        // a diagonal
//	ops.Einsum("-> b t e", x, w)                     // operands by their own names
//
// The specification's names count: the operands may have others, and the result gets those of the
// specification. A name given twice for one operand takes its diagonal. Without an arrow the result
// has the axes that occur once, in their order. Axes of one name have one size: an axis of size 1
// is not repeated. A specification that does not fit the operands is a mistake.
//
// Einsum is made of other operations. Axes that only one operand has are summed first; then, again
// and again, the pair whose product is cheapest is contracted, by transpositions and one [MatMul].
func Einsum(spec string, xs ...*graph.Node) *graph.Node {
	defer calling("Einsum", xs...)()
	g, xs := graph.Join(xs...)
	for _, x := range xs {
		if !x.IsValid() || x.Graph() != g {
			return g.Fail("Einsum", errNil, xs...)
		}
	}
	terms, to, err := parseEinsum(spec, xs)
	if err == nil {
		err = wantFloat(xs...)
	}
	if err != nil {
		return g.Fail("Einsum", err, xs...)
	}
	defer g.Scope("einsum")()
	e := einsum{to: to}
	for i, x := range xs {
		e.factors = append(e.factors, labelled(x, terms[i]))
	}
	for i := range xs {
		e.factors[i] = e.summed(i)
	}
	for len(e.factors) > 1 {
		e.factors = e.contractCheapest()
	}
	y := e.factors[0]
	if !y.IsValid() {
		return y
	}
	order, err := y.Shape().Resolve(refsOf(to)...)
	if err != nil {
		return g.Fail("Einsum", err, xs...)
	}
	return transposeTo(y, order)
}

// parseEinsum gives the names of each operand's axes and of the result's.
func parseEinsum(spec string, xs []*graph.Node) (terms [][]string, to []string, err error) {
	from, result, arrow := strings.Cut(spec, "->")
	if len(xs) == 0 {
		return nil, nil, fmt.Errorf("%q: want at least one operand", spec)
	}
	if arrow && strings.TrimSpace(from) == "" {
		for _, x := range xs {
			var names []string
			for _, a := range x.Shape().Axes() {
				if a.Name == "" {
					return nil, nil, &graph.Mistake{Problem: fmt.Sprintf("%q: an operand %v has an axis without a name", spec, x.Shape()), Fix: "name the operands' axes before the arrow"}
				}
				names = append(names, a.Name)
			}
			terms = append(terms, names)
		}
	} else {
		for t := range strings.SplitSeq(from, ",") {
			terms = append(terms, strings.Fields(t))
		}
	}
	if len(terms) != len(xs) {
		return nil, nil, fmt.Errorf("%q: it names %d operands, %d are given", spec, len(terms), len(xs))
	}
	sizes, times := map[string]int{}, map[string]int{}
	var order []string
	for i, names := range terms {
		if len(names) != xs[i].Rank() {
			problem := fmt.Sprintf("%q: %q names %d axes, the operand %v has %d", spec, strings.Join(names, " "), len(names), xs[i].Shape(), xs[i].Rank())
			if len(names) == 1 && utf8.RuneCountInString(names[0]) == xs[i].Rank() {
				return nil, nil, &graph.Mistake{Problem: problem, Fix: "put spaces between the names of axes"}
			}
			return nil, nil, errors.New(problem)
		}
		for a, name := range names {
			if size, ok := sizes[name]; ok && size != xs[i].Dim(a) {
				return nil, nil, fmt.Errorf("%q: axis %s has sizes %d and %d", spec, name, size, xs[i].Dim(a))
			}
			if times[name]++; times[name] == 1 {
				order = append(order, name)
			}
			sizes[name] = xs[i].Dim(a)
		}
	}
	if !arrow {
		return terms, slices.DeleteFunc(order, func(name string) bool { return times[name] > 1 }), nil
	}
	to = strings.Fields(result)
	for i, name := range to {
		switch {
		case times[name] == 0:
			return nil, nil, fmt.Errorf("%q: no operand has the result's axis %s", spec, name)
		case slices.Contains(to[:i], name):
			return nil, nil, fmt.Errorf("%q: the result has axis %s twice", spec, name)
		}
	}
	return terms, to, nil
}

// labelled is x with the given names, the diagonal where one comes twice.
func labelled(x *graph.Node, names []string) *graph.Node {
	names = slices.Clone(names)
	for i := 0; i < len(names); i++ {
		for {
			k := slices.Index(names[i+1:], names[i])
			if k < 0 {
				break
			}
			// Every (n+1)-th element of the two axes read as one is the diagonal.
			k += i + 1
			order := make([]int, 0, len(names))
			for a := range names {
				if a != k {
					order = append(order, a)
				}
			}
			n := x.Dim(i)
			x = transposeTo(x, slices.Insert(order, i+1, k))
			x = SliceStep(Merge(x, "", i, i+1), i, 0, 0, n+1)
			names = slices.Delete(names, k, k+1)
		}
	}
	axes := x.Shape().Axes()
	for a := range axes {
		axes[a].Name = names[a]
	}
	return reshapeAxes("Einsum", x, axes)
}

// einsum is a product of factors with names to sum over.
type einsum struct {
	factors []*graph.Node
	to      []string
}

// needed reports whether an axis must outlive the factors i and j: the result or
// another factor has it.
func (e einsum) needed(name string, i, j int) bool {
	if slices.Contains(e.to, name) {
		return true
	}
	for k, f := range e.factors {
		if k != i && k != j && f.Shape().Index(name) >= 0 {
			return true
		}
	}
	return false
}

// summed returns factor i, summed over the axes that no other factor and not the result has.
func (e einsum) summed(i int) *graph.Node {
	x := e.factors[i]
	var alone []any
	for _, a := range x.Shape().Axes() {
		if !e.needed(a.Name, i, i) {
			alone = append(alone, a.Name)
		}
	}
	if len(alone) == 0 {
		return x
	}
	return Sum(x, alone...)
}

// contractCheapest is the factors with the two whose product has the fewest terms,
// the first of equal pairs, replaced by their contraction.
func (e einsum) contractCheapest() []*graph.Node {
	best, least := [2]int{0, 1}, -1.0
	for j := range e.factors {
		for i := range j {
			terms := float64(e.factors[i].Shape().Len())
			for _, a := range e.factors[j].Shape().Axes() {
				if e.factors[i].Shape().Index(a.Name) < 0 {
					terms *= float64(a.Size)
				}
			}
			if least < 0 || terms < least {
				best, least = [2]int{i, j}, terms
			}
		}
	}
	i, j := best[0], best[1]
	out := slices.Clone(e.factors)
	out[i] = e.contracted(i, j)
	return slices.Delete(out, j, j+1)
}

// contracted is the product of two factors, summed over what nothing else has.
func (e einsum) contracted(i, j int) *graph.Node {
	a, b := e.factors[i], e.factors[j]
	var batch, inner, left, right []graph.Axis
	for _, x := range a.Shape().Axes() {
		switch shared, needed := b.Shape().Index(x.Name) >= 0, e.needed(x.Name, i, j); {
		case shared && needed:
			batch = append(batch, x)
		case shared:
			inner = append(inner, x)
		default:
			left = append(left, x)
		}
	}
	for _, x := range b.Shape().Axes() {
		if a.Shape().Index(x.Name) < 0 {
			right = append(right, x)
		}
	}
	all := slices.Concat(batch, left, right)
	if len(inner) == 0 || len(left)+len(right) == 0 {
		names := axisNames(slices.Concat(all, inner))
		if len(names) > graph.MaxRank {
			return a.Graph().Fail("Einsum", fmt.Errorf("a product over %d axes: at most %d are allowed", len(names), graph.MaxRank), a, b)
		}
		y := Mul(Over(a, names...), Over(b, names...))
		if len(inner) == 0 {
			return y
		}
		return Sum(y, refsOf(axisNames(inner))...)
	}
	// Axes of a alone may stay separate if b is a plain matrix: they are the batch of the product.
	rows := [][]graph.Axis{left}
	if len(batch) == 0 && len(right) == 1 && len(left) > 0 {
		rows = oneByOne(left)
	}
	x := grouped(a, append(oneByOne(batch), append(rows, inner)...)...)
	y := grouped(b, append(oneByOne(batch), inner, right)...)
	s, err := graph.NewShape(all...)
	if err != nil {
		return a.Graph().Fail("Einsum", err, a, b)
	}
	return ReshapeTo(MatMul(x, y), s)
}

// grouped is x with one axis for each group of its own: a group of one keeps its
// name, an empty one has size 1.
func grouped(x *graph.Node, groups ...[]graph.Axis) *graph.Node {
	var axes []graph.Axis
	for _, group := range groups {
		merged := graph.Axis{Size: 1}
		for _, a := range group {
			merged.Size *= a.Size
		}
		if len(group) == 1 {
			merged.Name = group[0].Name
		}
		axes = append(axes, merged)
	}
	return reshapeAxes("Einsum", Transpose(x, refsOf(axisNames(slices.Concat(groups...)))...), axes)
}

func oneByOne(axes []graph.Axis) [][]graph.Axis {
	out := make([][]graph.Axis, len(axes))
	for i, a := range axes {
		out[i] = []graph.Axis{a}
	}
	return out
}

func axisNames(axes []graph.Axis) []string {
	out := make([]string, len(axes))
	for i, a := range axes {
		out[i] = a.Name
	}
	return out
}

// refsOf is names as the references that functions over axes take.
func refsOf(names []string) []any {
	out := make([]any, len(names))
	for i, name := range names {
		out[i] = name
	}
	return out
}
