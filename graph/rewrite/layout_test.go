package rewrite

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// layoutCases are those of layouts and parts.
var layoutCases = []ruleCase{
	{"layout of a layout", true, func(v leaves) *graph.Node { return ops.Reshape(ops.Reshape(v.x, 12), 2, 6) }},
	{"layout of a layout", true, func(v leaves) *graph.Node { return ops.Transpose(ops.Transpose(v.x)) }},
	{"layout of a layout", true, func(v leaves) *graph.Node { return repeated(ops.BroadcastTo(v.s, mustShape(graph.Ax("d", 4)))) }},
	{"layout of a layout", false, func(v leaves) *graph.Node { return ops.Reshape(ops.Transpose(v.x), 2, 6) }},
	{"layout of a layout", false, func(v leaves) *graph.Node { return ops.Transpose(ops.Transpose(v.cube, 1, 2, 0), 0, 2, 1) }},
	// Three rotations are none, but the last two are not, though all shapes agree.
	{"layout of a layout", false, func(v leaves) *graph.Node {
		y := v.cube
		for range 3 {
			y = ops.Transpose(y, 1, 2, 0)
		}
		return y
	}},

	{"transposes in a row", true, func(v leaves) *graph.Node { return ops.Transpose(ops.Transpose(v.cube, 1, 2, 0), 0, 2, 1) }},
	{"transposes in a row", true, func(v leaves) *graph.Node { return ops.Transpose(ops.Transpose(v.x)) }},
	{"transposes in a row", false, func(v leaves) *graph.Node { return ops.Transpose(ops.Reshape(ops.Transpose(v.x), 2, 6)) }},
	{"one element", true, func(v leaves) *graph.Node { return ops.Transpose(repeated(v.s)) }},
	{"one element", true, func(v leaves) *graph.Node { return ops.Slice(repeated(ops.Reshape(v.s, 1, 1)), "i", 1, 2) }},
	{"one element", false, func(v leaves) *graph.Node { return ops.Transpose(repeated(ops.Sum(v.x, "d", ops.Keep))) }},
	{"one element", false, func(v leaves) *graph.Node { return ops.Reshape(v.s, 1) }},

	{"transpose later", true, func(v leaves) *graph.Node { return ops.Tanh(ops.Transpose(v.x)) }},
	{"product of transposes", true, func(v leaves) *graph.Node {
		x := ops.Transpose(v.cube, 0, 2, 1)
		return ops.MatMul(x, x)
	}},
	{"product of transposes", false, func(v leaves) *graph.Node { return ops.MatMul(ops.Transpose(v.cube, 0, 2, 1), v.cube) }},
	{"product of transposes", false, func(v leaves) *graph.Node { return ops.MatMul(ops.Transpose(v.a), ops.Transpose(v.a)) }},
	{"product of transposes", true, func(v leaves) *graph.Node {
		x := ops.Transpose(v.cube, 2, 1, 0)
		return ops.MatMul(x, ops.Transpose(v.cube, 0, 2, 1))
	}},
	{"product of transposes", false, func(v leaves) *graph.Node {
		x := ops.Transpose(v.cube, 2, 0, 1)
		return ops.MatMul(x, x)
	}},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.Mul(ops.Transpose(v.x), ops.Transpose(v.w)) }},
	{"transpose later", true, func(v leaves) *graph.Node {
		y := ops.Transpose(v.cube, 1, 2, 0)
		return ops.Add(y, ops.Sum(y, 0, 2, ops.Keep))
	}},
	{"transpose later", true, func(v leaves) *graph.Node {
		big := ops.Concat(0, v.cube, v.cube, v.cube, v.cube)
		y := ops.Transpose(big, 2, 1, 0)
		return ops.Mul(y, ops.Expand(ops.Tanh(ops.Sum(v.cube, 0)), -1, ""))
	}},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.Sum(ops.Transpose(v.cube, 1, 2, 0), 1) }},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.Max(ops.Transpose(v.cube, 2, 1, 0), 0, ops.Keep) }},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.Concat(0, ops.Transpose(v.x), ops.Transpose(v.w)) }},
	{"transpose later", false, func(v leaves) *graph.Node {
		return ops.Add(ops.Transpose(v.x), ops.Reshape(ops.Tanh(v.x), 4, 3))
	}},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.Softmax(ops.Transpose(v.x), 0) }},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.LogSumExp(ops.Transpose(v.x), 1) }},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.LogSoftmax(ops.Transpose(v.cube, 1, 2, 0), 0) }},
	{"transpose later", true, func(v leaves) *graph.Node {
		return ops.SliceStep(ops.Slice(ops.Transpose(v.x), 0, 1, 3), 1, 0, 3, 2)
	}},
	{"transpose later", true, func(v leaves) *graph.Node { return ops.Pad(ops.Transpose(v.x), 0, 1, 2, 0) }},
	{"transpose later", false, func(v leaves) *graph.Node { return ops.Reshape(ops.Transpose(v.x), 12) }},
	{"transpose later", false, func(v leaves) *graph.Node {
		return ops.Mul(ops.Transpose(v.cube, 1, 2, 0), ops.Transpose(ops.Tanh(v.cube), 2, 1, 0))
	}},
	{"repeat later", true, func(v leaves) *graph.Node { return ops.Tanh(repeated(v.s)) }},
	{"repeat later", true, func(v leaves) *graph.Node { return ops.Mul(repeated(v.s), repeated(v.t)) }},
	{"repeat later", false, func(v leaves) *graph.Node { return ops.Softmax(repeated(v.s), "d") }},
	{"repeat later", false, func(v leaves) *graph.Node { return ops.Mul(repeated(v.s), v.x) }},
	{"repeat later", false, func(v leaves) *graph.Node { return ops.Sum(repeated(v.s), "d") }},
	{"repeat later", true, func(v leaves) *graph.Node {
		row, column := ops.Sum(v.x, "i", ops.Keep), ops.Sum(v.x, "d", ops.Keep)
		over := mustShape(graph.Ax("b", 2), graph.Ax("i", 3), graph.Ax("d", 4))
		return ops.Add(ops.BroadcastTo(row, over), ops.BroadcastTo(column, over))
	}},
	{"repeat later", false, func(v leaves) *graph.Node { return ops.Add(ops.Sum(v.x, "i", ops.Keep), ops.Sum(v.x, "d", ops.Keep)) }},
	{"sum of a repetition", true, func(v leaves) *graph.Node { return ops.Sum(repeated(v.s), "d") }},
	{"sum of a repetition", true, func(v leaves) *graph.Node { return ops.Sum(repeated(v.s)) }},
	{"sum of a repetition", true, func(v leaves) *graph.Node { return ops.Sum(repeated(ops.Sum(v.x, "i")), ops.Keep) }},
	{"sum of a repetition", true, func(v leaves) *graph.Node { return ops.Mean(repeated(ops.Sum(v.x, "d", ops.Keep)), "i") }},
	{"sum of a repetition", false, func(v leaves) *graph.Node { return ops.Sum(ops.Cast(repeated(v.s), graph.I32), "d") }},
	{"sum of a repetition", false, func(v leaves) *graph.Node { return ops.Max(repeated(v.s), "d") }},
	{"sum over nothing", true, func(v leaves) *graph.Node { return ops.Sum(ops.Expand(v.x, 1, ""), 1) }},
	{"sum over nothing", true, func(v leaves) *graph.Node { return ops.Mean(ops.Expand(v.x, 1, ""), 1, ops.Keep) }},
	{"sum over nothing", false, func(v leaves) *graph.Node { return ops.Sum(ops.Expand(v.x, 1, ""), 1, 2) }},

	{"whole slice", true, func(v leaves) *graph.Node { return ops.Slice(v.x, "d", 0, 4) }},
	{"whole slice", false, func(v leaves) *graph.Node { return ops.Slice(v.x, "d", 1, 4) }},
	{"whole slice", false, func(v leaves) *graph.Node { return ops.Reverse(v.x, "d") }},
	{"slice of a slice", true, func(v leaves) *graph.Node {
		return ops.SliceStep(ops.Reverse(ops.Slice(v.x, "d", 1, 0), "d"), "d", 0, 0, 2)
	}},
	{"slice of a slice", false, func(v leaves) *graph.Node { return ops.Slice(ops.Tanh(ops.Slice(v.x, "d", 1, 0)), "d", 1, 0) }},
	{"slice of joined", true, func(v leaves) *graph.Node { return ops.Slice(ops.Concat("d", v.x, v.w), "d", 4, 8) }},
	{"slice of joined", true, func(v leaves) *graph.Node {
		return v.g.Apply(v.slice([]int{0, 6}, []int{1, -1}, []int{3, 2}), ops.Concat("d", v.x, v.w))
	}},
	{"slice of joined", true, func(v leaves) *graph.Node {
		return v.g.Apply(v.slice([]int{1, 5}, []int{1, 2}, []int{1, 2}), ops.Concat("d", v.x, v.w, v.x))
	}},
	{"slice of joined", false, func(v leaves) *graph.Node { return ops.Slice(ops.Concat("d", v.x, v.w), "d", 3, 5) }},
	{"slice of joined", false, func(v leaves) *graph.Node { return ops.Reverse(ops.Concat("d", v.x, v.w), "d") }},
	{"slice of a place", true, func(v leaves) *graph.Node { return ops.Slice(v.placed(1, 3), "d", 1, 3) }},
	{"slice of a place", true, func(v leaves) *graph.Node { return ops.Slice(v.placed(1, 3), "d", 3, 0) }},
	{"slice of a place", false, func(v leaves) *graph.Node { return ops.Slice(v.placed(1, 3), "d", 0, 2) }},
	{"joined slices", true, func(v leaves) *graph.Node {
		return ops.Concat("d", ops.Slice(v.x, "d", 0, 1), ops.Slice(v.x, "d", 1, 3))
	}},
	{"joined slices", true, func(v leaves) *graph.Node { return ops.Concat("d", v.x) }},
	{"joined slices", false, func(v leaves) *graph.Node {
		return ops.Concat("d", ops.Slice(v.x, "d", 0, 1), ops.Slice(v.x, "d", 2, 3))
	}},
	{"joined slices", false, func(v leaves) *graph.Node {
		return ops.Concat("d", ops.Slice(v.x, "d", 1, 3), ops.Slice(v.x, "d", 0, 1))
	}},
	{"joined slices", false, func(v leaves) *graph.Node {
		return ops.Concat("d", ops.Slice(v.x, "d", 0, 1), ops.Slice(v.w, "d", 1, 3))
	}},
	{"joined slices", false, func(v leaves) *graph.Node {
		return ops.Concat("d", ops.Slice(v.x, "i", 0, 1), ops.Slice(v.x, "i", 1, 2))
	}},
	{"joined reshapes", true, func(v leaves) *graph.Node { return ops.Concat(0, ops.Expand(v.x, 0, "t"), ops.Expand(v.w, 0, "t")) }},
	{"joined reshapes", false, func(v leaves) *graph.Node { return ops.Concat(1, ops.Expand(v.x, 0, "t"), ops.Expand(v.w, 0, "t")) }},
	{"joined reshapes", false, func(v leaves) *graph.Node {
		return ops.Concat(0, ops.Reshape(v.cube, 2, 4), ops.Reshape(ops.Reshape(v.x, 12), 3, 4))
	}},
	{"joined reshapes", false, func(v leaves) *graph.Node { return ops.Concat(0, ops.Expand(v.s, 0, "t"), ops.Expand(v.t, 0, "t")) }},
}
