package quantise

import (
	"cmp"
	"context"
	"errors"
	"fmt"
	"math"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/tape"
)

// Options says which products stay float.
type Options struct {
	// Keep has beginnings of paths of weights: products by these stay float. Often the first and
	// the last layer lose most.
	Keep []string
	// Most is the largest relative error of a product, on the calibrating batches and by itself;
	// one that loses more stays float. 0 is no limit.
	Most float64
}

// A Product tells what became of a product of the net.
type Product struct {
	Node  *graph.Node // in the net that was given
	Path  string      // of its weights
	Error float64     // ‖y′ − y‖/‖y‖ on the calibrating batches, with the operand x as it is in floats
	Kept  bool        // it stays float
}

// Result is a net with products of integers, and what it loses.
type Result struct {
	Graph    *graph.Graph
	Outputs  []*graph.Node // in the order in which they were given
	Store    *tape.Store   // what the graph needs: a copy of the net's values, and the rounded weights
	Products []Product
	Errors   []float64 // of each output: ‖y′ − y‖/‖y‖ on the calibrating batches

	copies map[*graph.Node]*graph.Node
	all    []*product
	net    *tape.Store // of the net
}

// Feed returns a feed of the net's inputs as one of the result's graph. Inputs that only the net
// needs are left out.
func (r *Result) Feed(feed tape.Feed) tape.Feed {
	if r == nil {
		return nil
	}
	return onto(feed, r.copies)
}

func onto(feed tape.Feed, copies map[*graph.Node]*graph.Node) tape.Feed {
	out := tape.Feed{}
	for n, t := range feed {
		if c := copies[n]; c != nil {
			out[c] = t
		}
	}
	return out
}

// String has a line for each product and each output.
func (r *Result) String() string {
	if r == nil {
		return ""
	}
	var b strings.Builder
	for _, p := range r.Products {
		stays := ""
		if p.Kept {
			stays = "  stays float"
		}
		fmt.Fprintf(&b, "%-24s error %.2g%%%s\n", p.Path, 100*p.Error, stays)
	}
	names := r.Names()
	for i, e := range r.Errors {
		fmt.Fprintf(&b, "output %-17s error %.2g%%\n", names[i], 100*e)
	}
	return b.String()
}

// Names returns the names of the outputs; one without a name has its number, from 1 on.
func (r *Result) Names() (names []string) {
	if r == nil {
		return nil
	}
	for i, y := range r.Outputs {
		names = append(names, cmp.Or(y.Name(), strconv.Itoa(i+1)))
	}
	return names
}

// A product is a node to be computed in integers.
type product struct {
	Product
	weights *graph.Node // [… o]
	scales  []float64   // of the columns
	values  graph.Value // v, in int8
	lo, hi  float64     // the range of x
}

// Int8 returns the outputs of a net, with products by weights computed in integers of a byte. The
// store has the net's parameters and states, and stays as it is; the batches are typical for what
// the net is to see. It is an error if there is no batch, no output, no product to compute so, or
// none that a path of Keep names. When ctx ends, it returns ctx's error.
func Int8(ctx context.Context, store *tape.Store, batches []tape.Feed, o Options, outputs ...*graph.Node) (*Result, error) {
	switch {
	case store == nil:
		return nil, errors.New("quantise: want a store")
	case len(batches) == 0:
		return nil, errors.New("quantise: want at least one batch to calibrate with")
	case math.IsNaN(o.Most) || o.Most < 0:
		return nil, fmt.Errorf("quantise: a largest error of %v: want 0 or more", o.Most)
	}
	if err := valid(outputs); err != nil {
		return nil, err
	}
	store = store.Share()
	all := products(outputs)
	if len(all) == 0 {
		return nil, errors.New("quantise: the net has no product of floats by weights of its own")
	}
	for _, path := range o.Keep {
		if !slices.ContainsFunc(all, func(p *product) bool { return strings.HasPrefix(p.Path, path) }) {
			return nil, fmt.Errorf("quantise: no weights of a product have a path that begins with %q", path)
		}
	}
	if err := rounded(ctx, store, all); err != nil {
		return nil, err
	}
	if err := calibrate(ctx, store, batches, all); err != nil {
		return nil, err
	}
	for _, p := range all {
		p.Kept = o.Most > 0 && p.Error > o.Most || slices.ContainsFunc(o.Keep, func(path string) bool { return strings.HasPrefix(p.Path, path) })
	}
	r, err := written(store, all, outputs)
	if err == nil {
		err = r.measure(ctx, store, batches, outputs)
	}
	if err != nil {
		return nil, err
	}
	return r, nil
}

func valid(outputs []*graph.Node) error {
	if len(outputs) == 0 {
		return errors.New("quantise: want an output")
	}
	for _, y := range outputs {
		if y == nil {
			return errors.New("quantise: an output is nil")
		}
		if !y.IsValid() {
			return y.Graph().Err()
		}
	}
	return nil
}

// Like returns the outputs of another net with the same products by the same weights, such as the
// same model for another number of rows, computed as those of r: with its scales, and in floats
// what stays so there. Nothing is calibrated or measured: the result has no Errors. It is an error
// if the net has other products.
func (r *Result) Like(outputs ...*graph.Node) (*Result, error) {
	if r == nil || r.net == nil {
		return nil, errors.New("quantise: the result is of no net: want one of Int8")
	}
	if err := valid(outputs); err != nil {
		return nil, err
	}
	all := products(outputs)
	same := func(a, b *product) bool {
		return a.Path == b.Path && a.weights.Type() == b.weights.Type() && a.Node.Op().Name() == b.Node.Op().Name()
	}
	if !slices.EqualFunc(all, r.all, same) {
		return nil, fmt.Errorf("quantise: another net: its products by weights are not these %d", len(r.all))
	}
	for i, p := range all {
		node := p.Node
		*p = *r.all[i]
		p.Node = node
	}
	return written(r.net, all, outputs)
}

// products finds what can be computed in integers.
func products(outputs []*graph.Node) (all []*product) {
	fixed := map[*graph.Node]string{} // what depends on the store alone, with a path
	for _, n := range graph.Reachable(outputs...) {
		path, ok := n.Path(), n.Role() != graph.RoleInput
		if _, loops := n.Op().(trait.Looped); loops || draws(n) {
			ok = false
		}
		for _, x := range n.Inputs() {
			p, is := fixed[x]
			ok = ok && is
			if path == "" {
				path = p
			}
		}
		if ok {
			fixed[n] = path
		}
		if _, ok := n.Op().(trait.Quantisable); !ok || !n.DType().IsFloat() || n.DType().IsHalf() || n.Shape().Len() == 0 {
			continue
		}
		x, w := n.In(0), n.In(1)
		if match.Is(n, match.MatMul) {
			for w.Rank() > 2 && match.Is(w, match.Broadcast) {
				w = w.In(0)
			}
			if w.Rank() != 2 {
				continue // each example has a matrix of its own
			}
		}
		_, constant := fixed[x]
		own, ok := fixed[w]
		if inGroups := w.Dim(w.Rank()-2) != x.Dim(x.Rank()-1); ok && !constant && !inGroups {
			all = append(all, &product{Product: Product{Node: n, Path: own}, weights: w})
		}
	}
	return all
}

// draws reports whether a node may have another value in every run.
func draws(n *graph.Node) bool {
	return match.Is(n, match.Random) || match.Is(n, match.Custom)
}

// rounded computes the weights, and rounds them.
func rounded(ctx context.Context, store *tape.Store, all []*product) error {
	var nodes []*graph.Node
	for _, p := range all {
		nodes = append(nodes, p.weights)
	}
	values, err := store.Eval(ctx, nil, nodes...)
	if err != nil {
		return fmt.Errorf("quantise: %w", err)
	}
	for _, p := range all {
		w := values[p.weights]
		n := w.Type.Shape.Dim(w.Type.Shape.Rank() - 1)
		p.scales = make([]float64, n)
		for i, v := range w.Data {
			if math.IsNaN(v) || math.IsInf(v, 0) {
				return fmt.Errorf("quantise: the weights %s are not finite", p.Path)
			}
			p.scales[i%n] = max(p.scales[i%n], math.Abs(v)/127)
		}
		p.values = graph.NewValue(graph.Type{DType: graph.I8, Shape: w.Type.Shape})
		for i, v := range w.Data {
			if s := p.scales[i%n]; s > 0 {
				p.values.Data[i] = math.RoundToEven(v / s)
			}
		}
	}
	return nil
}
