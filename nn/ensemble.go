package nn

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// Ensemble is a set of nets, each with its own parameters, whose predictions are averaged (the
// notes on dropout as averaging). For the squared error,
//
//	(f̄ − y)² = mean over members (fᵢ − y)² − mean over members (fᵢ − f̄)²
//
// so the average is never worse than its members on average, and better by their disagreement
// (Krogh & Vedelsby, 1995); see [Ambiguity].
type Ensemble []Layer

// NewEnsemble calls member for each of the members, in the scopes member1, member2 and so on. A nil
// function is a mistake.
func NewEnsemble(g *graph.Graph, members int, member func(i int) Layer) Ensemble {
	var e Ensemble
	if member == nil {
		g.Fail("NewEnsemble", errors.New("want a function that makes a member"))
		return e
	}
	for i := range members {
		func() {
			defer g.Scope(build.Numbered("member", i))()
			e = append(e, member(i))
		}()
	}
	return e
}

// Each returns the predictions of the members for x, named f₁, f₂ and so on. A nil member is a
// mistake.
func (e Ensemble) Each(x *graph.Node) []*graph.Node {
	var f []*graph.Node
	for i, l := range e {
		if l == nil {
			f = append(f, graph.Of(x).Fail("Ensemble", fmt.Errorf("member %d is nil", i), x))
			continue
		}
		func() {
			defer graph.Of(x).Scope(build.Numbered("member", i))()
			f = append(f, l.Of(x).As(build.Indexed("f", i)))
		}()
	}
	return f
}

// Of returns the average of the members' predictions for x, in their shape.
func (e Ensemble) Of(x *graph.Node) *graph.Node { return AverageOf(e.Each(x)...) }

// AverageOf returns the mean, element by element, of arrays f[…] of floats of one shape. No array
// at all is a mistake, and so are arrays whose shapes do not meet (see [ops.Add]).
func AverageOf(f ...*graph.Node) *graph.Node {
	if len(f) == 0 {
		return noArray("AverageOf", nil)
	}
	sum := f[0]
	for _, x := range f[1:] {
		sum = ops.Add(sum, x)
	}
	return ops.Scale(sum, 1/float64(len(f)))
}

// Ambiguity returns the disagreement of predictions f[…] of one shape, a scalar: the mean over
// members and elements of (fᵢ − f̄)² (Krogh & Vedelsby, 1995). No array at all is a mistake.
func Ambiguity(f ...*graph.Node) *graph.Node {
	mean := AverageOf(f...)
	defer graph.Of(f...).Scope("ambiguity")()
	var spread []*graph.Node
	for _, x := range f {
		spread = append(spread, ops.Mean(ops.Square(ops.Sub(x, mean))))
	}
	return AverageOf(spread...)
}
