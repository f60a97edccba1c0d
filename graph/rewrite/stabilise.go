package rewrite

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// stabilise lists the rules that keep intermediate results finite and exact.
var stabilise = []Rule{
	{"naive softmax", "exp(x) / Σ exp(x) overflows where softmax(x), which takes the maximum away, does not", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Div) || !match.Is(n.In(0), match.Exp) {
			return nil
		}
		e := n.In(0)
		s, laid := match.Laid(n.In(1))
		x, axes, ok := match.Summed(s)
		if !ok || x != e || len(axes.List()) != 1 || !alongside(laid, s, e.Shape(), axes) {
			return nil
		}
		return ops.Softmax(e.In(0), axes.List()[0])
	}},
	{"naive log-sum-exp", "log Σ exp(x) overflows where the maximum is not taken out", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Log) {
			return nil
		}
		x, axes, ok := match.Summed(n.In(0))
		if !ok || !match.Is(x, match.Exp) {
			return nil
		}
		return ops.ReshapeTo(logSumExp(x.In(0), axes), n.Shape())
	}},
	{"log of softmax", "log softmax(x) is x minus its log-sum-exp; the logarithm of an underflowed 0 is lost", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Log) {
			return nil
		}
		x, axis, ok := match.SoftmaxAxis(n.In(0))
		if !ok {
			return nil
		}
		return ops.LogSoftmax(x, axis)
	}},
	{"naive sigmoid", "1 / (1 + exp(−x)) and exp(x) / (1 + exp(x)) are σ(x); where exp overflows they have no derivative, or are NaN",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Div) {
				return nil
			}
			e, c, ok := plusConstant(n.In(1))
			if !ok || c != 1 || !match.Is(e, match.Exp) {
				return nil
			}
			if n.In(0) == e {
				return ops.Sigmoid(e.In(0))
			}
			if v, ok := match.Literal(n.In(0)); ok && v == 1 {
				return ops.Sigmoid(opposite(e.In(0)))
			}
			return nil
		}},
	{"log of sigmoid", "log σ(x) = −log(1 + exp(−x)) and log(1 − σ(x)) = −log(1 + exp(x)); the logarithm of an underflowed 0 is lost",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Log) {
				return nil
			}
			s := n.In(0)
			if match.Is(s, match.Sigmoid) {
				return ops.LogSigmoid(s.In(0))
			}
			if !match.Is(s, match.Sub) || !match.Is(s.In(1), match.Sigmoid) || s.In(1).Shape() != s.Shape() {
				return nil
			}
			if v, ok := match.Literal(s.In(0)); !ok || v != 1 {
				return nil
			}
			return ops.Neg(ops.Softplus(s.In(1).In(0)))
		}},
	{"naive softplus", "log(1 + exp(x)) overflows where it is x itself, and is 0 where exp(x) is small",
		func(n *graph.Node) *graph.Node {
			if e, c, ok := logOfSum(n); ok && c == 1 && match.Is(e, match.Exp) {
				return ops.Softplus(e.In(0))
			}
			return nil
		}},
	{"log of 1 + x", "1 + x rounds a small x away", func(n *graph.Node) *graph.Node {
		if x, c, ok := logOfSum(n); ok && c == 1 && match.Is(n, match.Log) {
			return ops.Log1p(x)
		}
		return nil
	}},
}

// logOfSum returns x and c > 0 if the node is log(c + x), written with Log or Log1p.
func logOfSum(n *graph.Node) (x *graph.Node, c float64, ok bool) {
	switch {
	case match.Is(n, match.Log1p):
		return n.In(0), 1, true
	case match.Is(n, match.Log):
		return plusConstant(n.In(0))
	}
	return nil, 0, false
}

// plusConstant returns x and c if the node is c + x with one finite c > 0 for all elements.
func plusConstant(n *graph.Node) (x *graph.Node, c float64, ok bool) {
	if !match.Is(n, match.Add) {
		return nil, 0, false
	}
	for i := range 2 {
		if v, ok := match.Literal(n.In(i)); ok && v > 0 && !math.IsInf(v, 0) {
			return n.In(1 - i), v, true
		}
	}
	return nil, 0, false
}

// logSumExp returns log Σ exp(x) over the axes, which stay with size 1.
func logSumExp(x *graph.Node, axes attr.AxisSet) *graph.Node {
	args := []any{ops.Keep}
	for _, a := range axes.List() {
		args = append(args, a)
	}
	return ops.LogSumExp(x, args...)
}

// opposite returns −x; of a node −x it returns x.
func opposite(x *graph.Node) *graph.Node {
	if match.Is(x, match.Neg) {
		return x.In(0)
	}
	return ops.Neg(x)
}

// alongside reports whether a sum s over the given axes of an array, kept or not, is laid out so
// that every element of the array lines up with its own sum.
func alongside(laid []int, s *graph.Node, of graph.Shape, axes attr.AxisSet) bool {
	if len(laid) != of.Rank() {
		return false
	}
	kept := s.Rank() == of.Rank()
	from := 0
	for a := range of.Rank() {
		own := -1 // the axis of s that belongs to axis a of the array
		if kept || !axes.Has(a) {
			own = from
			from++
		}
		switch {
		case axes.Has(a) || of.Dim(a) == 1:
			if laid[a] >= 0 {
				return false
			}
		case laid[a] != own:
			return false
		}
	}
	return true
}
