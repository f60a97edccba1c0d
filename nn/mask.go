package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Present returns the mask [b u] that is true for tokens and false for padding, u < lengths_b, for
// numbers lengths[b] and the axis u of the sequences.
func Present(lengths *graph.Node, axis graph.Axis) *graph.Node {
	if !lengths.IsValid() {
		return lengths
	}
	if lengths.DType() == graph.Bool {
		return lengths.Graph().Fail("Present", &graph.Mistake{Problem: "want lengths, which are numbers", Fix: "what is a mask already needs no Present"}, lengths)
	}
	length, place := build.EveryPair(lengths, build.Counting(lengths.Graph(), lengths.DType(), axis))
	return ops.Less(place, length).As("present")
}

// MaskedSoftmax returns the softmax of floats scores[… u] along their last axis over the elements
// where the mask is true; the others have weight exactly 0. Where the mask is false along a whole
// row, the row is 0, and so are its derivatives. The mask broadcasts to the scores; one that does
// not is a mistake. A nil mask is true everywhere.
func MaskedSoftmax(scores, mask *graph.Node) *graph.Node {
	if mask == nil {
		return ops.Softmax(scores, -1)
	}
	if err := masks(mask, scores); err != nil {
		return graph.Of(scores, mask).Fail("mask", err, mask, scores)
	}
	return build.SoftmaxAmong(scores, mask, -1, everyRow(mask))
}

// masks returns why an array is not a mask of scores; invalid nodes are left to the operations.
func masks(mask, scores *graph.Node) error {
	if !mask.IsValid() || !scores.IsValid() {
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

// MeanWhere returns the mean of floats x[…] over the places where a mask of the same shape is true,
// a scalar; 0 if there are none.
func MeanWhere(x, mask *graph.Node) *graph.Node {
	defer graph.Of(x, mask).Scope("mean where")()
	total := ops.Sum(ops.Select(mask, x, ops.Lit(x, 0)))
	count := ops.Sum(ops.Cast(mask, build.DType(x)))
	return ops.Div(total, ops.Maximum(count, ops.Lit(count, 1)))
}
