package ops

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
)

// Stack joins arrays of one shape along a new axis, xs[0] first. The axis is called name, or has no
// name with "", and is inserted before axis number at; negative numbers count from the end, and -1
// makes it the last. From n arrays [a b] at 0 it makes [n a b]. The arrays have one element type,
// which may be any. No array at all is a mistake.
func Stack(at int, name string, xs ...*graph.Node) *graph.Node {
	defer calling("Stack", xs...)()
	g, xs := graph.Join(xs...)
	if len(xs) == 0 {
		return g.Fail("Stack", &graph.Mistake{Problem: "no operands", Fix: "give at least one array"})
	}
	for _, x := range xs {
		switch {
		case x == nil || !x.IsValid() || x.Graph() != g:
			return g.Apply(concat{}, xs...) // records the mistake, or stays silent
		case x.Rank() != xs[0].Rank():
			return g.Fail("Stack", fmt.Errorf("%v and %v have different numbers of axes", xs[0].Shape(), x.Shape()), xs...)
		}
	}
	if at < 0 {
		at += xs[0].Rank() + 1
	}
	if at < 0 || at > xs[0].Rank() {
		return g.Fail("Stack", fmt.Errorf("place %d among %d axes", at, xs[0].Rank()), xs...)
	}
	layers := make([]*graph.Node, len(xs))
	for i, x := range xs {
		layers[i] = Expand(x, at, name)
	}
	return Concat(at, layers...)
}
