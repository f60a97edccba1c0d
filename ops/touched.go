package ops

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// TouchedRows returns the mask, bool [v 1 …], of the rows of x[v …] that may differ from 0, where x is the
// derivative of a loss by a table from which rows were gathered ([Gather] along the first axis), or
// sums and multiples of such: true at the indices that were read. ok is false for other nodes, all of
// whose elements may differ from 0. A training step that selects with the mask, and leaves the other rows
// as they are, is compiled to one that touches no others.
//
// Of a sum over lanes ([SumRanks]) it has the rows that any lane touched.
func TouchedRows(x *graph.Node) (mask *graph.Node, ok bool) {
	by, ok := scatteredRows(x)
	if !ok {
		return nil, false
	}
	defer calling("TouchedRows", x)()
	column := graph.Dims(x.Shape().Sizes()...)
	for a := range column {
		column[a].Size = 1
	}
	column[0] = x.Shape().Axis(0)
	rows, _ := graph.NewShape(column[0])
	s, err := graph.NewShape(column...)
	if err != nil {
		return x.Graph().Fail("TouchedRows", err, x), true
	}
	mask, lanes := BroadcastTo(x.Graph().Constant(graph.Bool, []float64{0}), rows), false
	for _, t := range by {
		mask = SetAt(mask, t.indices, x.Graph().Constant(graph.Bool, []float64{1}), 0)
		lanes = lanes || t.lanes
	}
	if lanes {
		sum := SumRanks(Cast(mask, x.DType()))
		mask = Greater(sum, Lit(sum, 0))
	}
	return ReshapeTo(mask, s), true
}

// touch says which rows of an array may differ from 0.
type touch struct {
	indices *graph.Node
	lanes   bool // of each lane, for what is summed over lanes
}

// scatteredRows returns which rows of x may differ from 0, without repetition.
func scatteredRows(x *graph.Node) (by []touch, ok bool) {
	if !x.IsValid() || x.Rank() == 0 {
		return nil, false
	}
	switch match.KindOf(x) {
	case match.ScatterAdd:
		return []touch{{indices: x.In(0)}}, x.Op().(trait.Scattering).Scatters() == 0
	case match.Add, match.Sub:
		a, ok := scatteredRows(x.In(0))
		b, also := scatteredRows(x.In(1))
		for _, t := range b {
			if !slices.Contains(a, t) {
				a = append(a, t)
			}
		}
		return a, ok && also
	case match.Mul:
		if a, ok := scatteredRows(x.In(0)); ok {
			return a, true
		}
		return scatteredRows(x.In(1))
	case match.Neg, match.Div:
		return scatteredRows(x.In(0))
	case match.SumRanks:
		by, ok := scatteredRows(x.In(0))
		for i := range by {
			by[i].lanes = true
		}
		return by, ok
	}
	return nil, false
}
