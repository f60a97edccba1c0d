package nn

import (
	"errors"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// Residual puts a layer f beside a shortcut, and a norm before the layer,
//
//	x + f(norm(x))
//
// or, post-norm, after the sum, as in Vaswani et al. (2017), the "Add & Norm" of the
// notes' drawings:
//
//	norm(x + f(x))
func Residual(x *graph.Node, norm LayerNorm, post bool, f func(*graph.Node) *graph.Node) *graph.Node {
	if f == nil {
		return graph.Of(x).Fail("Residual", errors.New("the layer is nil"), x)
	}
	if post {
		return norm.Of(ops.Add(x, f(x)).As("sum"))
	}
	return ops.Add(x, f(norm.Of(x).As("normed")))
}
