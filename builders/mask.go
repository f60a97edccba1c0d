package builders

import (
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
)

// A mask is an array of booleans that lines up with scores e[… t u] from the
// right and is true where query t may see key u: [t u], [b 1 u] or [b t u]. Where
// a function takes a mask, nil lets every query see every key; two masks are
// joined with ops.And.

// Causal is the mask [t u] of a decoder: the query at place t sees the keys up to
// its own place, u ≤ t, and nothing of what follows. In self-attention, where both
// are one axis t, that of the keys is called t′.
func Causal(g *graph.Graph, query, key graph.Axis) *graph.Node {
	if key.Name == query.Name {
		key = keys(key)
	}
	return g.ConstantFunc(graph.Bool, func(sees []float64) {
		for p := range sees {
			if p%key.Size <= p/key.Size {
				sees[p] = 1
			}
		}
	}, query, key).As("causal")
}

// Padding is the mask [b 1 u] of a batch of sequences of different lengths[b],
// whole numbers: the first lengths_b keys are seen, what was put behind them to
// fill the array is not.
func Padding(lengths *graph.Node, key graph.Axis) *graph.Node {
	return ops.Expand(Present(lengths, key), -2, "").As("padding")
}

// Present is the mask [b u] of the places that are no padding: u < lengths_b.
func Present(lengths *graph.Node, axis graph.Axis) *graph.Node {
	if !lengths.IsValid() {
		return lengths
	}
	if lengths.DType() == graph.Bool {
		return lengths.Graph().Fail("Present", &graph.Mistake{Problem: "want lengths, which are numbers", Fix: "what is a mask already needs no Present"}, lengths)
	}
	length, place := everyPair(lengths, counting(lengths.Graph(), lengths.DType(), axis))
	return ops.Less(place, length).As("present")
}

// counting is the constant 0, 1, 2, … along an axis, called place.
func counting(g *graph.Graph, dt graph.DType, axis graph.Axis) *graph.Node {
	return places(g, dt, axis).As("place")
}

// places is the constant 0, 1, 2, … along an axis.
func places(g *graph.Graph, dt graph.DType, axis graph.Axis) *graph.Node {
	return g.ConstantFunc(dt, func(place []float64) {
		for i := range place {
			place[i] = float64(i)
		}
	}, axis)
}

// MaskedSoftmax is the softmax of scores along their last axis over what the mask
// lets through; the rest has weight 0, exactly. A row of which nothing is let
// through is zero, and so are its derivatives.
func MaskedSoftmax(scores, mask *graph.Node) *graph.Node {
	if mask == nil {
		return ops.Softmax(scores, -1)
	}
	if err := masks(mask, scores); err != nil {
		return graph.Of(scores, mask).Fail("mask", err, mask, scores)
	}
	return softmaxAmong(scores, mask, -1, everyRow(mask))
}

// softmaxAmong is the softmax along an axis over the places where a mask that fits
// the scores is true, 0 elsewhere; some says that it is true somewhere in each row.
func softmaxAmong(scores, mask *graph.Node, axis int, some bool) *graph.Node {
	α := ops.Softmax(ops.Select(mask, scores, ops.Lit(scores, math.Inf(-1))).As("ẽ"), axis)
	if some {
		return α
	}
	// A row of −∞ alone gives NaN, which Select lets neither out nor, as a
	// derivative, in.
	return ops.Select(mask, α.As("softmax"), ops.Lit(α, 0))
}

// masks says why an array is no mask of scores; what is invalid is left to the
// operations.
func masks(mask, scores *graph.Node) error {
	if !mask.IsValid() || !scores.IsValid() || mask.Graph() != scores.Graph() {
		return nil
	}
	fit, err := graph.Align(mask.Shape(), scores.Shape())
	switch {
	case mask.DType() != graph.Bool:
		return &graph.Mistake{Problem: fmt.Sprintf("elements of type %v: want bool", mask.DType()), Fix: "true where a query may see a key, as ops.Greater gives it"}
	case err != nil:
		return &graph.Mistake{Problem: err.Error(), Fix: "want an axis of the queries and one of the keys, called as those of the scores, or without names"}
	case !fit.SameSizes(scores.Shape()):
		return &graph.Mistake{Problem: "it has more places than the scores"}
	}
	return nil
}

// everyRow reports whether a mask is known to let something through in each row.
func everyRow(mask *graph.Node) bool {
	v, known := mask.Constant()
	if !known || mask.Rank() == 0 {
		return false
	}
	n := mask.Dim(mask.Rank() - 1)
	seen := 0.0
	for i, x := range v.Data {
		if seen += x; i%n == n-1 {
			if seen == 0 {
				return false
			}
			seen = 0
		}
	}
	return true
}

// MeanWhere is the mean of x over the places where a mask of the same shape is
// true; 0 if there is none.
func MeanWhere(x, mask *graph.Node) *graph.Node {
	defer graph.Of(x, mask).Scope("mean where")()
	total := ops.Sum(ops.Select(mask, x, ops.Lit(x, 0)))
	count := ops.Sum(ops.Cast(mask, dtypeOf(x)))
	return ops.Div(total, ops.Maximum(count, ops.Lit(count, 1)))
}
