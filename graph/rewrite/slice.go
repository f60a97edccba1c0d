package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/ops"
)

// parts lists the rules about parts of arrays: the steps and gates of an unrolled recurrence are
// slices of joined arrays, and their derivatives are placed back into zeros.
var parts = []Rule{
	{"whole slice", "a slice of everything", func(n *graph.Node) *graph.Node {
		if start, step, ok := sliced(n); ok {
			for a := range start {
				if start[a] != 0 || step[a] != 1 || n.Dim(a) != n.In(0).Dim(a) {
					return nil
				}
			}
			return n.In(0)
		}
		return nil
	}},
	{"slice of a slice", "two regular parts make one", func(n *graph.Node) *graph.Node {
		start, step, ok := sliced(n)
		if !ok {
			return nil
		}
		from, by, ok := sliced(n.In(0))
		if !ok {
			return nil
		}
		for a := range start {
			start[a], step[a] = from[a]+by[a]*start[a], by[a]*step[a]
		}
		return taken(n, n, n.In(0).In(0), start, step)
	}},
	{"slice of joined", "a slice within one of the arrays joined is a slice of that array",
		func(n *graph.Node) *graph.Node {
			start, step, ok := sliced(n)
			if !ok || !match.Is(n.In(0), match.Concat) {
				return nil
			}
			joined := n.In(0)
			a := alongOne(joined)
			first, last := start[a], start[a]+step[a]*(n.Dim(a)-1)
			first, last = min(first, last), max(first, last)
			at := 0
			for i := range joined.NumIn() {
				x := joined.In(i)
				if first < at+x.Dim(a) {
					if last >= at+x.Dim(a) {
						return nil
					}
					start[a] -= at
					return taken(n, n, x, start, step)
				}
				at += x.Dim(a)
			}
			return nil
		}},
	{"slice of a place", "what was laid into zeros is taken out again, or zeros beside it",
		func(n *graph.Node) *graph.Node {
			start, step, ok := sliced(n)
			if !ok || !match.Is(n.In(0), match.Place) {
				return nil
			}
			y := n.In(0).In(0)
			at, by, _ := match.Strided(n.In(0))
			same := true
			for a := range start {
				last, end := start[a]+step[a]*(n.Dim(a)-1), at[a]+by[a]*(y.Dim(a)-1)
				if max(start[a], last) < min(at[a], end) || min(start[a], last) > max(at[a], end) {
					return ops.BroadcastTo(ops.Lit(n, 0), n.Shape())
				}
				same = same && start[a] == at[a] && n.Dim(a) == y.Dim(a) && (step[a] == by[a] || n.Dim(a) == 1)
			}
			if same {
				return y
			}
			return nil
		}},
	{"joined slices", "neighbouring slices of one array, joined, are one slice", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Concat) {
			return nil
		}
		if n.NumIn() == 1 {
			return n.In(0)
		}
		a := alongOne(n)
		from, step, ok := sliced(n.In(0))
		if !ok || step[a] != 1 {
			return nil
		}
		x, end := n.In(0).In(0), from[a]
		for i := range n.NumIn() {
			start, by, ok := sliced(n.In(i))
			if !ok || n.In(i).In(0) != x || start[a] != end {
				return nil
			}
			for k := range start {
				if by[k] != step[k] || k != a && start[k] != from[k] {
					return nil
				}
			}
			end += n.In(i).Dim(a)
		}
		return taken(n, n.In(0), x, from, step)
	}},
	{"joined reshapes", "along the first axis, joining keeps the order of all elements", func(n *graph.Node) *graph.Node {
		if !match.Is(n, match.Concat) || alongOne(n) != 0 {
			return nil
		}
		in := n.Inputs()
		for i, x := range in {
			if !match.Is(x, match.Reshape) || x.In(0).Type() != in[0].Type() && i > 0 || x.In(0).Rank() == 0 {
				return nil
			}
			in[i] = x.In(0)
		}
		return ops.ReshapeTo(ops.Concat(0, in...), n.Shape())
	}},
}

// sliced returns the start and the step of a Slice along each axis.
func sliced(n *graph.Node) (start, step []int, ok bool) {
	if !match.Is(n, match.Slice) {
		return nil, nil, false
	}
	return match.Strided(n)
}

// taken returns n as a slice of x, from start by step; cut is the slice whose operation is adapted.
func taken(n, cut, x *graph.Node, start, step []int) *graph.Node {
	return n.Graph().Apply(cut.Op().(match.Cut).Taking(start, step, n.Shape().Sizes()), x)
}

// alongOne returns the axis of a Concat.
func alongOne(n *graph.Node) int {
	axes, _ := match.Along(n)
	return axes.List()[0]
}
