package rewrite

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// algebra are identities that hold for every value, infinities and NaN
// included; x·0 = 0 is not among them.
var algebra = []Rule{
	{"add zero", "x + 0 = x", func(n *graph.Node) *graph.Node { return neutral(n, "Add", 0, true) }},
	{"subtract zero", "x − 0 = x", func(n *graph.Node) *graph.Node { return neutral(n, "Sub", 0, false) }},
	{"multiply by one", "1·x = x", func(n *graph.Node) *graph.Node { return neutral(n, "Mul", 1, true) }},
	{"divide by one", "x / 1 = x", func(n *graph.Node) *graph.Node { return neutral(n, "Div", 1, false) }},
	{"double negation", "−(−x) = x", func(n *graph.Node) *graph.Node {
		if ops.Is(n, "Neg") && ops.Is(n.In(0), "Neg") {
			return n.In(0).In(0)
		}
		return nil
	}},
	{"add a negative", "a + (−b) = a − b", func(n *graph.Node) *graph.Node {
		switch {
		case ops.Is(n, "Add") && ops.Is(n.In(1), "Neg"):
			return ops.Sub(n.In(0), n.In(1).In(0))
		case ops.Is(n, "Add") && ops.Is(n.In(0), "Neg"):
			return ops.Sub(n.In(1), n.In(0).In(0))
		}
		return nil
	}},
	{"subtract a negative", "a − (−b) = a + b", func(n *graph.Node) *graph.Node {
		if ops.Is(n, "Sub") && ops.Is(n.In(1), "Neg") {
			return ops.Add(n.In(0), n.In(1).In(0))
		}
		return nil
	}},
	{"layout of a layout", "two reshapes or repetitions in a row are one, and two transposes may be none", func(n *graph.Node) *graph.Node {
		if n.NumIn() != 1 || n.In(0).NumIn() != 1 || !ops.Is(n.In(0), n.Op().Name()) {
			return nil
		}
		x := n.In(0).In(0)
		switch n.Op().Name() {
		case "Reshape":
			return ops.ReshapeTo(x, n.Shape())
		case "Broadcast":
			return ops.BroadcastTo(x, n.Shape())
		case "Transpose":
			root, axes := ops.Laid(n)
			other, own := ops.Laid(x)
			if root == other && slices.Equal(axes, own) && x.Type() == n.Type() {
				return x // both show the same elements in the same order
			}
		}
		return nil
	}},
	{"empty layout", "a reshape or repetition to the shape that is there", func(n *graph.Node) *graph.Node {
		if (ops.Is(n, "Reshape") || ops.Is(n, "Broadcast")) && n.In(0).Type() == n.Type() {
			return n.In(0)
		}
		return nil
	}},
	{"repeat later", "f(x) repeated is f of x repeated, computed once", func(n *graph.Node) *graph.Node {
		if n.NumIn() != 1 || !ops.Is(n.In(0), "Broadcast") || !isElementwise(n) {
			return nil
		}
		return ops.BroadcastTo(n.Graph().Apply(n.Op(), n.In(0).In(0)), n.Shape())
	}},
	{"repeat later", "a∘b of two repeated scalars is computed once", func(n *graph.Node) *graph.Node {
		if n.NumIn() != 2 || !isElementwise(n) || !ops.Is(n.In(0), "Broadcast") || !ops.Is(n.In(1), "Broadcast") {
			return nil
		}
		a, b := n.In(0).In(0), n.In(1).In(0)
		if a.Rank() != 0 || b.Rank() != 0 {
			return nil
		}
		return ops.BroadcastTo(n.Graph().Apply(n.Op(), a, b), n.Shape())
	}},
}

// neutral gives the other operand where one is the neutral constant.
func neutral(n *graph.Node, op string, value float64, either bool) *graph.Node {
	if !ops.Is(n, op) {
		return nil
	}
	for i := 1; i >= 0; i-- {
		// -0 is the exact neutral element of addition; +0 changes only the sign of -0.
		if v, ok := ops.Literal(n.In(i)); ok && v == value && n.In(1-i).Type() == n.Type() {
			return n.In(1 - i)
		}
		if !either {
			break
		}
	}
	return nil
}

func isElementwise(n *graph.Node) bool {
	_, ok := n.Op().(interface{ Scalar(x ...float64) float64 })
	return ok && n.Op().Name() != "StopGradient"
}
