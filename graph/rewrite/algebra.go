package rewrite

import (
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// algebra lists identities that hold for every value, including infinities and NaN; x·0 = 0 is not
// among them. "Whole power" rounds up to three times; "divide by a repeated" rounds once more, and
// needs a divisor whose reciprocal is in the range of the element type.
var algebra = []Rule{
	{"add zero", "x + 0 = x", func(n *graph.Node) *graph.Node { return neutral(n, match.Add, 0, true) }},
	{"subtract zero", "x − 0 = x", func(n *graph.Node) *graph.Node { return neutral(n, match.Sub, 0, false) }},
	{"multiply by one", "1·x = x", func(n *graph.Node) *graph.Node { return neutral(n, match.Mul, 1, true) }},
	{"divide by one", "x / 1 = x", func(n *graph.Node) *graph.Node { return neutral(n, match.Div, 1, false) }},
	{"double negation", "−(−x) = x", func(n *graph.Node) *graph.Node {
		if match.Is(n, match.Neg) && match.Is(n.In(0), match.Neg) {
			return n.In(0).In(0)
		}
		return nil
	}},
	{"add a negative", "a + (−b) = a − b", func(n *graph.Node) *graph.Node {
		switch {
		case match.Is(n, match.Add) && match.Is(n.In(1), match.Neg):
			return ops.Sub(n.In(0), n.In(1).In(0))
		case match.Is(n, match.Add) && match.Is(n.In(0), match.Neg):
			return ops.Sub(n.In(1), n.In(0).In(0))
		}
		return nil
	}},
	{"subtract a negative", "a − (−b) = a + b", func(n *graph.Node) *graph.Node {
		if match.Is(n, match.Sub) && match.Is(n.In(1), match.Neg) {
			return ops.Add(n.In(0), n.In(1).In(0))
		}
		return nil
	}},
	{"softplus of a negative", "−softplus(−x) = log σ(x)", func(n *graph.Node) *graph.Node {
		if match.Is(n, match.Neg) && match.Is(n.In(0), match.Softplus) && match.Is(n.In(0).In(0), match.Neg) {
			return ops.LogSigmoid(n.In(0).In(0).In(0))
		}
		return nil
	}},
	{"square", "x·x = x² = x^2", func(n *graph.Node) *graph.Node {
		if x, ok := match.Squared(n); ok && !match.Is(n, match.Square) && n.DType().IsFloat() {
			return ops.Square(x)
		}
		return nil
	}},
	{"whole power", "x^3 = x·x², x^4 = (x²)² and so on to x^8, x^−1 = 1/x", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Pow) {
			return nil
		}
		x := n.In(0)
		k, ok := match.Literal(n.In(1))
		switch {
		case ok && k == -1:
			return ops.Div(ops.Lit(x, 1), x)
		case ok && 3 <= k && k <= 8 && k == math.Trunc(k):
			return wholePower(x, int(k))
		}
		return nil
	}},
	{"like terms", "s·x + t·x = (s + t)·x for numbers of one sign; of two signs, ∞ − ∞ may be among it",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Add) && !match.Is(n, match.Sub) || !n.DType().IsFloat() {
				return nil
			}
			s, x := multiple(n.In(0))
			t, y := multiple(n.In(1))
			if match.Is(n, match.Sub) {
				t = -t
			}
			if x != y || s*t <= 0 || !(factor{over: s + t, under: 1}).fits(n.DType()) {
				return nil
			}
			return ops.Scale(x, s+t)
		}},
	{"positive part of the largest", "max relu(x) = relu(max x), of fewer elements; where none is positive, both derivatives are 0",
		func(n *graph.Node) *graph.Node {
			if (match.Is(n, match.Max) || match.Is(n, match.MaxPool)) && match.Is(n.In(0), match.Relu) {
				return ops.ReLU(n.Graph().Apply(n.Op(), n.In(0).In(0)))
			}
			return nil
		}},
	{"the same twice", "x ∧ x = x ∨ x = x", func(n *graph.Node) *graph.Node {
		if (match.Is(n, match.And) || match.Is(n, match.Or)) && n.In(0) == n.In(1) {
			return n.In(0)
		}
		return nil
	}},
	{"choose by a negation", "choosing x where not c, else y, is choosing y where c, else x", func(n *graph.Node) *graph.Node {
		if match.Is(n, match.Select) && match.Is(n.In(0), match.Not) {
			return ops.Select(n.In(0).In(0), n.In(2), n.In(1))
		}
		return nil
	}},
	{"chosen already", "where c, choosing x where c, else y, is x; and where not c, it is y", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Select) {
			return nil
		}
		for i := 1; i <= 2; i++ {
			if inner := n.In(i); match.Is(inner, match.Select) && inner.In(0) == n.In(0) {
				operands := [3]*graph.Node{n.In(0), n.In(1), n.In(2)}
				operands[i] = inner.In(i)
				return ops.Select(operands[0], operands[1], operands[2])
			}
		}
		return nil
	}},
	{"computed already", "a∘b = b∘a, and a reduction is the same with its axes kept and without",
		func(n *graph.Node) *graph.Node {
			if twin, ok := match.Twin(n); ok {
				return ops.ReshapeTo(twin, n.Shape())
			}
			return nil
		}},
	{"divide by a power of two", "x / 2^k = 2^−k·x, without rounding", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Div) {
			return nil
		}
		v, ok := match.Literal(n.In(1))
		if f, _ := math.Frexp(v); !ok || math.Abs(f) != 0.5 || math.Abs(v) > 1<<64 || math.Abs(v) < 1.0/(1<<64) {
			return nil
		}
		return ops.Scale(n.In(0), 1/v)
	}},
	{"divide by a repeated", "x / r = x·(1/r), where r is repeated: one division where there were many",
		func(n *graph.Node) *graph.Node {
			if !match.Is(n, match.Div) || !match.Is(n.In(1), match.Broadcast) {
				return nil
			}
			r := n.In(1).In(0)
			if _, number := match.Literal(r); number || n.Shape().Len() < minRepeats*r.Shape().Len() {
				return nil
			}
			return ops.Mul(n.In(0), ops.BroadcastTo(ops.Div(ops.Lit(r, 1), r), n.In(1).Shape()))
		}},
}

// multiple returns n as a number times x.
func multiple(n *graph.Node) (k float64, x *graph.Node) {
	switch {
	case match.Is(n, match.Neg):
		return -1, n.In(0)
	case match.Is(n, match.Mul):
		for i := range 2 {
			if v, ok := match.Literal(n.In(i)); ok {
				return v, n.In(1 - i)
			}
		}
	}
	return 1, n
}

// minRepeats is how often a divisor must be repeated before its reciprocal is taken: that needs one
// more small array, and may change the last digit of a result.
const minRepeats = 4

// neutral returns the other operand where one is the neutral constant.
func neutral(n *graph.Node, op match.Kind, value float64, either bool) *graph.Node {
	if !match.Is(n, op) {
		return nil
	}
	for i := 1; i >= 0; i-- {
		// -0 is the exact neutral element of addition; +0 changes only the sign of -0.
		if v, ok := match.Literal(n.In(i)); ok && v == value && n.In(1-i).Type() == n.Type() {
			return n.In(1 - i)
		}
		if !either {
			break
		}
	}
	return nil
}

// wholePower is x^k by the fewest products of squares.
func wholePower(x *graph.Node, k int) *graph.Node {
	switch {
	case k == 1:
		return x
	case k%2 == 0:
		return ops.Square(wholePower(x, k/2))
	default:
		return ops.Mul(x, wholePower(x, k-1))
	}
}
