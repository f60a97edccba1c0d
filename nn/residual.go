package nn

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Residual adds a shortcut around a layer f, with a norm before the layer,
//
//	x + f(norm(x))
//
// or, if post is set, after the sum, as in Vaswani et al. (2017), "Add & Norm" in the drawings of
// the notes:
//
//	norm(x + f(x))
//
// f must keep the shape of x.
func Residual(x *graph.Node, norm LayerNorm, post bool, f func(*graph.Node) *graph.Node) *graph.Node {
	if f == nil {
		return graph.Of(x).Fail("Residual", errors.New("the layer is nil"), x)
	}
	if post {
		return norm.Of(ops.Add(x, f(x)).As("sum"))
	}
	return ops.Add(x, f(norm.Of(x).As("normed")))
}
