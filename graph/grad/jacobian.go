package grad

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/vmap"
	"github.com/tapestry-ml/tapestry/ops"
)

// Jacobian returns the derivative of every element of y[a…] with respect to every element of x[b…],
// of shape [a… b…]. Names of x's axes that y has too get a prime (′). It is zero where y does not
// depend on x.
//
// One row by reverse mode, or one column by forward mode if x has fewer elements than y, is mapped
// over all unit vectors by package vmap, so that the number of nodes does not grow with the number
// of elements. It is a mistake, recorded in the graph, if y or x is not of a float type, or if both
// together have more axes than a node can have.
//
// y is differentiated as written, so that the Jacobian may be NaN where y, compiled, is not: see
// "Formulas that overflow".
func Jacobian(y, x *graph.Node) *graph.Node {
	defer graph.Beside(y, x)()
	g := graph.Of(y, x)
	to, err := jacobianShape(g, y, x)
	if err != nil {
		return g.Fail("Jacobian", err, y, x)
	}
	if y.Shape().Len() <= x.Shape().Len() {
		u := probe(y)
		r := newReverse([]*graph.Node{y}, []*graph.Node{x})
		r.seed(y, u)
		r.run()
		row := r.adjoint[x.ID()]
		if row == nil {
			return ops.BroadcastTo(ops.Lit(y, 0), to)
		}
		rows := vmap.MapSameDraws([]*graph.Node{row}, vmap.Over{X: u, Batch: units(y)})
		return ops.ReshapeTo(rows[0], to)
	}
	v := probe(x)
	column := JVP([]*graph.Node{y}, []*graph.Node{x}, []*graph.Node{v})
	columns := vmap.MapSameDraws(column, vmap.Over{X: v, Batch: units(x)})[0]
	order := make([]any, 0, y.Rank()+1)
	for a := range y.Rank() {
		order = append(order, a+1)
	}
	if columns.IsValid() {
		columns = ops.Transpose(columns, append(order, 0)...)
	}
	return ops.ReshapeTo(columns, to)
}

// Hessian returns the second derivatives of a scalar loss with respect to every two elements of
// x[a…], of shape [a… a′…]: the [Jacobian] of its derivative. Mistakes are those of [Of] and
// Jacobian.
func Hessian(loss, x *graph.Node) *graph.Node { return Jacobian(Of(loss, x)[0], x) }

// units returns the unit vectors of x's type along a first axis without a name.
func units(x *graph.Node) *graph.Node {
	n := x.Shape().Len()
	places := x.Graph().ConstantFunc(graph.I64, func(places []float64) {
		for i := range places {
			places[i] = float64(i)
		}
	}, graph.Dims(n)...)
	hot := ops.OneHot(places, -1, graph.Axis{Size: n}, x.DType())
	s, err := graph.NewShape(append(graph.Dims(n), x.Shape().Axes()...)...)
	if err != nil {
		return x.Graph().Fail("Jacobian", err, x)
	}
	return ops.ReshapeTo(hot, s)
}

// jacobianShape returns the shape of the Jacobian of y with respect to x, or the reason that there
// is none.
func jacobianShape(g *graph.Graph, y, x *graph.Node) (graph.Shape, error) {
	switch {
	case y == nil || x == nil:
		return graph.Shape{}, fmt.Errorf("want two nodes, got nil")
	case !y.IsValid() || !x.IsValid():
		return graph.Shape{}, errInvalid // not recorded: its cause is
	case y.Graph() != x.Graph():
		return graph.Shape{}, &graph.Mistake{Problem: "the nodes belong to different graphs", Fix: "build both in one graph"}
	case !y.DType().IsFloat() || !x.DType().IsFloat():
		return graph.Shape{}, fmt.Errorf("types %v and %v: want floats", y.Type(), x.Type())
	case max(y.Rank(), x.Rank()) == graph.MaxRank:
		return graph.Shape{}, fmt.Errorf("a node with %d axes: want fewer", graph.MaxRank)
	}
	return graph.NewShape(graph.Primed(append(y.Shape().Axes(), x.Shape().Axes()...)...)...)
}
