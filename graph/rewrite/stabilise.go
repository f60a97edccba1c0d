package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// stabilise are the rules that keep intermediate results finite and exact.
var stabilise = []Rule{
	{"naive softmax", "exp(x) / Σ exp(x) overflows where softmax(x), which takes the maximum away, does not", func(n *graph.Node) *graph.Node {
		if !ops.Is(n, "Div") || !ops.Is(n.In(0), "Exp") {
			return nil
		}
		e := n.In(0)
		s, laid := ops.Laid(n.In(1))
		x, axes, ok := ops.Summed(s)
		if !ok || x != e || len(axes.List()) != 1 || !alongside(laid, s, e.Shape(), axes) {
			return nil
		}
		return ops.Softmax(e.In(0), axes.List()[0])
	}},
	{"naive log-sum-exp", "log Σ exp(x) overflows where the maximum is not taken out", func(n *graph.Node) *graph.Node {
		if !ops.Is(n, "Log") {
			return nil
		}
		x, axes, ok := ops.Summed(n.In(0))
		if !ok || !ops.Is(x, "Exp") {
			return nil
		}
		args := []any{ops.Keep}
		for _, a := range axes.List() {
			args = append(args, a)
		}
		return ops.ReshapeTo(ops.LogSumExp(x.In(0), args...), n.Shape())
	}},
	{"log of softmax", "log softmax(x) is x minus its log-sum-exp; the logarithm of an underflowed 0 is lost", func(n *graph.Node) *graph.Node {
		if !ops.Is(n, "Log") {
			return nil
		}
		x, axis, ok := ops.SoftmaxAxis(n.In(0))
		if !ok {
			return nil
		}
		return ops.LogSoftmax(x, axis)
	}},
	{"log of sigmoid", "log σ(x) = −log(1 + exp(−x)) and log(1 − σ(x)) = −log(1 + exp(x)); the logarithm of an underflowed 0 is lost", func(n *graph.Node) *graph.Node {
		if !ops.Is(n, "Log") || n.Rank() == graph.MaxRank {
			return nil
		}
		s := n.In(0)
		if ops.Is(s, "Sigmoid") {
			return ops.Neg(ops.Softplus(ops.Neg(s.In(0))))
		}
		if !ops.Is(s, "Sub") || !ops.Is(s.In(1), "Sigmoid") || s.In(1).Shape() != s.Shape() {
			return nil
		}
		if v, ok := ops.Literal(s.In(0)); !ok || v != 1 {
			return nil
		}
		return ops.Neg(ops.Softplus(s.In(1).In(0)))
	}},
	{"naive softplus", "log(1 + exp(x)) overflows where it is x itself", func(n *graph.Node) *graph.Node {
		if x, ok := logOf1Plus(n); ok && ops.Is(x, "Exp") && n.Rank() < graph.MaxRank {
			return ops.Softplus(x.In(0))
		}
		return nil
	}},
	{"log of 1 + x", "1 + x rounds a small x away", func(n *graph.Node) *graph.Node {
		if x, ok := logOf1Plus(n); ok && ops.Is(n, "Log") {
			return ops.Log1p(x)
		}
		return nil
	}},
}

// logOf1Plus gives x where the node is log(1 + x), written with Log or Log1p.
func logOf1Plus(n *graph.Node) (x *graph.Node, ok bool) {
	if ops.Is(n, "Log1p") {
		return n.In(0), true
	}
	if !ops.Is(n, "Log") || !ops.Is(n.In(0), "Add") {
		return nil, false
	}
	sum := n.In(0)
	for i := range 2 {
		if v, ok := ops.Literal(sum.In(i)); ok && v == 1 {
			return sum.In(1 - i), true
		}
	}
	return nil, false
}

// alongside reports whether a sum s over the given axes of an array, kept or
// not, is laid out so that every element of that array meets its own sum.
func alongside(laid []int, s *graph.Node, of graph.Shape, axes graph.AxisSet) bool {
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
