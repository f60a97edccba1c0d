package page

import (
	"context"
	"fmt"

	"github.com/tapestry-ml/tapestry/cmd/tapestry/marks"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/inspect"
)

// shadow compares a variant at a state with the same variant in float64. It returns nil for a model
// that is computed in float64.
func (d *document) shadow(ctx context.Context, v *variant, step int) (*inspect.Precision, error) {
	if d.asked.DType != graph.F32.String() {
		return nil, nil
	}
	return d.shadows.get(v, step, func() (*inspect.Precision, error) {
		feed, store, err := d.session.at(ctx, step, graph.Of(v.all()...))
		if err != nil {
			return nil, err
		}
		return inspect.MeasurePrecision(ctx, feed, store, v.all()...)
	})
}

// precision shows how many digits float32 loses in each value.
func precision(ctx context.Context, d *document, v *variant, step int, _ [][]*graph.Node) (layer, error) {
	p, err := d.shadow(ctx, v, step)
	if err != nil {
		return layer{}, err
	}
	if p == nil {
		return layer{scale: "the model is computed in float64: nothing to compare with"}, nil
	}
	return layer{marks: marks.Precision(p), scale: fmt.Sprintf("step %d: %s", step, marks.PrecisionColours)}, nil
}

// lossView describes the digits that float32 loses in a node.
type lossView struct {
	Lost  float64 `json:"lost"` // digits of 7.2, in all
	Here  float64 `json:"here"` // of these by the node itself; the others came with its operands
	Cause string  `json:"cause,omitempty"`
	Worst string  `json:"worst"`           // the element that is furthest off
	True  number  `json:"true"`            // its value in float64
	Flips int     `json:"flips,omitempty"` // elements of a decision that are others
}

// lost returns the digits that a node loses, or nil if they were not measured in this state.
func (d *document) lost(v *variant, n *graph.Node, step int) *lossView {
	p, _ := d.shadows.find(v, step)
	if p == nil {
		return nil
	}
	for _, l := range p.Losses {
		if l.Node == n {
			return &lossView{l.Lost(), l.Here(), l.Cause, l.Worst.String(), number(l.True), l.Flips}
		}
	}
	return nil
}
