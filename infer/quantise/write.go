package quantise

import (
	"context"
	"fmt"
	"math"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/cone"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"gorgonia.org/tensor"
)

// calibrate finds the ranges of the operands, and the error of each product by itself.
func calibrate(ctx context.Context, store *tape.Store, batches []tape.Feed, all []*product) error {
	var nodes, wanted []*graph.Node
	for _, p := range all {
		nodes = append(nodes, p.Node)
	}
	_, copies := cone.Copy("ranges", nil, nodes...)
	for _, p := range all {
		x := copies[p.Node.In(0)]
		wanted = append(wanted, ops.Min(x), ops.Max(x))
	}
	for _, b := range batches {
		values, err := store.Eval(ctx, onto(b, copies), wanted...)
		if err != nil {
			return fmt.Errorf("quantise: %w", err)
		}
		for i, p := range all {
			lo, hi := values[wanted[2*i]].Item(), values[wanted[2*i+1]].Item()
			if math.IsNaN(hi-lo) || math.IsInf(hi-lo, 0) {
				return fmt.Errorf("quantise: what is multiplied by %s is not finite", p.Path)
			}
			p.lo, p.hi = min(p.lo, lo), max(p.hi, hi) // 0 is in the range: margins are exact
		}
	}
	g, copies := cone.Copy("errors", nil, nodes...)
	wanted = wanted[:0]
	for i, p := range all {
		y := copies[p.Node]
		wanted = append(wanted, relative(p.apply(y, copies[p.Node.In(0)], p.state(g, i)), y)...)
	}
	extended, err := storeFor(g, store, all)
	if err != nil {
		return err
	}
	sums, err := summed(ctx, extended, batches, copies, wanted)
	for i, p := range all {
		if err == nil {
			p.Error = ratio(sums[2*i], sums[2*i+1])
		}
	}
	return err
}

// relative returns Σ (a − b)² and Σ b².
func relative(a, b *graph.Node) []*graph.Node {
	a, b = ops.Cast(a, graph.F64), ops.Cast(b, graph.F64)
	return []*graph.Node{ops.Sum(ops.Square(ops.Sub(a, b))), ops.Sum(ops.Square(b))}
}

func ratio(off, all float64) float64 {
	if off == 0 {
		return 0
	}
	return math.Sqrt(off / all)
}

// summed adds up numbers over the batches.
func summed(ctx context.Context, store *tape.Store, batches []tape.Feed, copies map[*graph.Node]*graph.Node, nodes []*graph.Node) ([]float64, error) {
	sums := make([]float64, len(nodes))
	for _, b := range batches {
		values, err := store.Eval(ctx, onto(b, copies), nodes...)
		if err != nil {
			return nil, fmt.Errorf("quantise: %w", err)
		}
		for i, n := range nodes {
			sums[i] += values[n].Item()
		}
	}
	return sums, nil
}

// state adds the weights to a graph, as a state under a path of their own.
func (p *product) state(g *graph.Graph, i int) *graph.Node {
	return g.State(p.stored(i), graph.I8, p.values.Type.Shape.Axes()...)
}

func (p *product) stored(i int) string { return fmt.Sprintf("%s.int8.%d", p.Path, i) }

// storeFor returns a store with what a graph needs: values of the net's, and the weights of products.
func storeFor(g *graph.Graph, from *tape.Store, all []*product) (*tape.Store, error) {
	to := tape.NewStore(g, tape.Seed(0))
	own := map[string]*product{}
	for i, p := range all {
		own[p.stored(i)] = p
	}
	for _, path := range to.Paths() {
		var v *tensor.Dense
		var err error
		if p := own[path]; p != nil {
			v = tape.Tensor(p.values)
		} else {
			v, err = from.View(path)
		}
		if err == nil {
			err = to.Set(path, v)
		}
		if err != nil {
			return nil, fmt.Errorf("quantise: %w", err)
		}
	}
	return to, nil
}

// apply returns the product of x and the weights w, in the type of y.
func (p *product) apply(y, x, w *graph.Node) *graph.Node {
	step, zero := (p.hi-p.lo)/255, 0.0
	if step == 0 {
		step = 1
	}
	zero = math.RoundToEven(-p.lo / step)
	g, dt := x.Graph(), y.DType()
	// A cast drops the fraction, and what is beyond a byte becomes the nearest there is.
	q := ops.Scale(x, 1/step)
	q = ops.Cast(ops.Add(q, ops.Lit(q, zero+0.5)), graph.U8)
	product := graph.Apply(y.Op().(trait.Quantisable).Integer(), q, w, g.Constant(graph.U8, []float64{zero}))
	scales := slices.Clone(p.scales)
	for i := range scales {
		scales[i] *= step
	}
	to := y.Shape()
	out := ops.Mul(ops.Cast(product, dt), g.Constant(dt, scales, product.Shape().Axis(product.Rank()-1)))
	if out = ops.ReshapeTo(out, to); y.Name() != "" {
		out = out.As(y.Name())
	}
	return out
}

// written makes the graph.
func written(store *tape.Store, all []*product, outputs []*graph.Node) (*Result, error) {
	r := &Result{Graph: graph.New(outputs[0].Graph().Name()), copies: map[*graph.Node]*graph.Node{}, all: all, net: store}
	at := map[*graph.Node]int{}
	for i, p := range all {
		r.Products = append(r.Products, p.Product)
		if !p.Kept {
			at[p.Node] = i
		}
	}
	if len(at) == 0 {
		return nil, fmt.Errorf("quantise: every product stays float")
	}
	for _, n := range reached(outputs, at) {
		in := n.Inputs()
		for i, x := range in {
			in[i] = r.copies[x]
		}
		if i, ok := at[n]; ok {
			p := all[i]
			r.copies[n] = p.apply(n, r.copies[n.In(0)], p.state(r.Graph, i))
			continue
		}
		r.copies[n] = r.Graph.Copy(n, in)
	}
	for _, y := range outputs {
		r.Outputs = append(r.Outputs, r.copies[y])
	}
	if err := r.Graph.Err(); err != nil {
		return nil, fmt.Errorf("quantise: %w", err)
	}
	var err error
	r.Store, err = storeFor(r.Graph, store, all)
	return r, err
}

// reached returns what the outputs depend on, operands first, but for the weights of the products that
// are replaced.
func reached(outputs []*graph.Node, at map[*graph.Node]int) (all []*graph.Node) {
	seen := map[*graph.Node]bool{}
	var visit func(n *graph.Node)
	visit = func(n *graph.Node) {
		if seen[n] {
			return
		}
		seen[n] = true
		in := n.Inputs()
		if _, ok := at[n]; ok {
			in = in[:1]
		}
		for _, x := range in {
			visit(x)
		}
		all = append(all, n)
	}
	for _, y := range outputs {
		visit(y)
	}
	return all
}

// measure compares the outputs with those of the net.
func (r *Result) measure(ctx context.Context, store *tape.Store, batches []tape.Feed, outputs []*graph.Node) error {
	off, all := make([]float64, len(outputs)), make([]float64, len(outputs))
	for _, b := range batches {
		before, err := store.Eval(ctx, b, outputs...)
		if err != nil {
			return fmt.Errorf("quantise: %w", err)
		}
		after, err := r.Store.Eval(ctx, r.Feed(b), r.Outputs...)
		if err != nil {
			return fmt.Errorf("quantise: %w", err)
		}
		for i, y := range outputs {
			for k, v := range before[y].Data {
				d := after[r.Outputs[i]].Data[k] - v
				off[i], all[i] = off[i]+d*d, all[i]+v*v
			}
		}
	}
	for i := range outputs {
		r.Errors = append(r.Errors, ratio(off[i], all[i]))
	}
	return nil
}
