package onnx

import (
	"cmp"
	"errors"
	"fmt"
	"io"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/exporter"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/format"
	"github.com/tapestry-ml/tapestry/interop/onnx/internal/symbolic"
	"github.com/tapestry-ml/tapestry/tape"
)

// AtSize builds a model for a size, such as that of a batch, with the options that [Write] would
// write it with.
type AtSize func(size int) (*graph.Graph, []Option, error)

// sizes are those at which a model of a symbolic size is built: multiples of two for models that take
// pairs, and otherwise without common factors. Small ones come next, for models whose size is bounded,
// and large ones last, for what is computed in another order where the size is smaller than another.
var sizes = [][]int{{22, 26, 34, 38}, {2, 3, 5, 7}, {262, 278, 298, 302}}

// WriteSymbolic writes a model that runs at any size of what build is given, which inputs and outputs
// have as a symbol, ONNX's dim_param: N, or 2N and N+1 where they follow from it. Parameters and
// states have their values in the store, or fresh ones if it is nil; they must not depend on the size.
//
// The model is built at four sizes and written at each. What differs, such as the shapes of what is
// reshaped and the 1/N of a mean, is computed from the shape of an input; the numbers at two or three
// sizes say how, those at the others confirm it. A model that is another one at another size, and a
// constant that follows no rule that is known, are errors that name the node.
func WriteSymbolic(w io.Writer, symbol string, store *tape.Store, build AtSize) error {
	if w == nil {
		return errNoWriter
	}
	if build == nil || symbol == "" {
		return errors.New("onnx: a symbolic size wants a name and a function that builds the model")
	}
	if store == nil {
		store = tape.NewStore(nil)
	}
	var first error
	for _, at := range sizes {
		m, c, err := joined(symbol, at, store, build)
		if err == nil {
			return written(w, m, c)
		}
		first = cmp.Or(first, err)
		if !errors.As(err, new(*rigid)) {
			break
		}
	}
	return first
}

// rigid is the error of a model that may be symbolic at other sizes.
type rigid struct{ error }

func (r *rigid) Unwrap() error { return r.error }

// joined returns the model of a symbolic size, from those of some sizes, and how the first was asked for.
func joined(symbol string, sizes []int, store *tape.Store, build AtSize) (_ *format.Model, c exporter.Config, _ error) {
	var models []symbolic.At
	for _, n := range sizes {
		g, options, err := build(n)
		if err != nil {
			return nil, c, &rigid{fmt.Errorf("onnx: %s = %d: %w", symbol, n, err)}
		}
		for _, leaf := range g.Leaves(graph.RoleParam, graph.RoleState) {
			if has, ok := store.Type(leaf.Path()); ok && !has.Shape.SameSizes(leaf.Shape()) {
				return nil, c, fmt.Errorf("onnx: %s: %v is %v at another size: what is learnt cannot depend on %s", symbol, leaf, has, symbol)
			}
		}
		if len(models) == 0 {
			c = configured(options)
		}
		m, err := exporter.Model(g, store, configured(options))
		if err != nil {
			return nil, c, err
		}
		models = append(models, symbolic.At{Size: n, Model: m})
	}
	m, err := symbolic.Join(symbol, models)
	if err != nil {
		return nil, c, &rigid{fmt.Errorf("onnx: %w", err)}
	}
	return m, c, nil
}
