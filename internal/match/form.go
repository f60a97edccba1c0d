package match

import (
	"github.com/tapestry-ml/tapestry/graph"
)

// A Form is the graph of a function of scalars, which parts of other graphs are compared with.
// Out computes the function from In. Where it has a constant of Numbers, any number may stand.
type Form struct {
	Out     *graph.Node
	In      []*graph.Node
	Numbers []*graph.Node
}

// Of returns what stands for In and for Numbers in the graph of n, element by element; ok is false
// if n does not compute the function as Out does. A node between n and the operands that is kept,
// such as one with a name, belongs to no form.
func (f Form) Of(n *graph.Node, kept func(*graph.Node) bool) (in []*graph.Node, numbers []float64, ok bool) {
	if !f.Out.IsValid() || !n.IsValid() || n.Op() != f.Out.Op() {
		return nil, nil, false
	}
	b := binding{Form: f, kept: kept, in: make([]*graph.Node, len(f.In)), number: map[*graph.Node]float64{}}
	if !b.fits(f.Out, n) {
		return nil, nil, false
	}
	for _, c := range f.Numbers {
		v, bound := b.number[c]
		if !bound {
			return nil, nil, false
		}
		numbers = append(numbers, v)
	}
	for _, x := range b.in {
		if x == nil || !x.Shape().SameSizes(n.Shape()) {
			return nil, nil, false
		}
	}
	return b.in, numbers, true
}

// A binding has what the operands and numbers of a form stand for, as far as they were met.
type binding struct {
	Form
	kept   func(*graph.Node) bool
	in     []*graph.Node
	number map[*graph.Node]float64
}

// fits reports whether n is computed as f, a node of the form.
func (b *binding) fits(f, n *graph.Node) bool {
	for k, x := range b.In {
		if x == f {
			if b.in[k] == nil {
				b.in[k] = n
			}
			return b.in[k] == n
		}
	}
	if want, isNumber := Literal(f); isNumber {
		v, ok := Literal(n)
		if ok && b.any(f) {
			if had, met := b.number[f]; met {
				return had == v
			}
			b.number[f] = v
			return true
		}
		return ok && v == want
	}
	if f.NumIn() == 0 || n.Op() != f.Op() || n.NumIn() != f.NumIn() || f != b.Out && b.kept != nil && b.kept(n) {
		return false
	}
	for i := range f.NumIn() {
		if !b.fits(f.In(i), n.In(i)) {
			return false
		}
	}
	return true
}

// any reports whether any number may stand for a constant of the form.
func (b *binding) any(f *graph.Node) bool {
	for _, c := range b.Numbers {
		if c == f {
			return true
		}
	}
	return false
}
