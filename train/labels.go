package train

import (
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
)

// located says which element of a batch is an index that a run refused: a label, where nothing but the loss depends on its column.
// It gives err itself where the index is not found in the data.
func (p *program) located(outside *graph.IndexError, b data.Batch, err error) error {
	if len(outside.Times) > 0 {
		return err
	}
	place := 0
	for a, i := range outside.At {
		place = place*outside.Index.Dim(a) + i
	}
	in, at := fedFrom(outside.Index, place)
	if in == nil || b.Rows == 0 {
		return err
	}
	t := b.Values[in.Path()]
	if t == nil || t.Shape().TotalSize() != in.Shape().Len() {
		return err
	}
	row := rowText(b, at/max(1, in.Shape().Len()/b.Rows))
	input := p.net.graph().Lookup(in.Path())
	if ops.Is(outside.Node, "OneHot") && (p.net.Output == nil || !slices.Contains(graph.Reachable(p.net.Output), input)) {
		return fmt.Errorf("label %v in column %q, %s: the model has %d classes", t.Get(at), in.Path(), row, outside.Size)
	}
	return fmt.Errorf("%v in column %q, %s: %w", t.Get(at), in.Path(), row, outside)
}

// fedFrom is the input, and the number of its element, that element number p of an index is, or is computed of: behind whatever
// lays it out, converts it or takes it by a mask. It is nil if there is none, or several.
func fedFrom(n *graph.Node, p int) (in *graph.Node, at int) {
	if n.Role() == graph.RoleInput {
		return n, p
	}
	if _, views := n.Op().(tape.Viewed); views || ops.Is(n, "Concat") {
		return laidFrom(n, p)
	}
	for i := range n.NumIn() {
		x := n.In(i)
		if !x.DType().IsInt() || !x.Shape().SameSizes(n.Shape()) {
			continue
		}
		if from, q := fedFrom(x, p); from != nil {
			if in != nil && (in != from || at != q) {
				return nil, 0
			}
			in, at = from, q
		}
	}
	return in, at
}

// laidFrom is [fedFrom] for an operation that lays its operands out: it is asked, by its definition, where it puts their elements.
func laidFrom(n *graph.Node, p int) (in *graph.Node, at int) {
	op, ok := n.Op().(interface {
		Eval(env graph.Env, y *graph.Node, in []graph.Value) graph.Value
	})
	if !ok {
		return nil, 0
	}
	values, first := make([]graph.Value, n.NumIn()), make([]int, n.NumIn())
	count := 0
	for i, x := range n.Inputs() {
		values[i], first[i] = graph.NewValue(x.Type()), count
		for e := range values[i].Data {
			values[i].Data[e] = float64(count)
			count++
		}
	}
	from := int(op.Eval(graph.Env{}, n, values).Data[p])
	for i, x := range n.Inputs() {
		if e := from - first[i]; e >= 0 && e < x.Shape().Len() {
			return fedFrom(x, e)
		}
	}
	return nil, 0
}

// rowText says which row of a batch, in the data where that is known.
func rowText(b data.Batch, i int) string {
	if row, ok := b.Row(i); ok {
		return fmt.Sprintf("row %d", row)
	}
	return fmt.Sprintf("row %d of the batch", i)
}
