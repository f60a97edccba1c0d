package train

import (
	"context"
	"fmt"
	"math"
	"reflect"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// meanOverRows returns an error if the loss is no mean over the rows of a batch, once for a model:
// the mean of the lanes' losses would be another objective then. A mean does not change where each
// row comes twice; a sum doubles, a penalty beside a sum loses weight, and a loss that compares rows
// finds other ones. It cannot tell where the net draws random numbers both in training and in
// evaluation, and asks nothing where the net cannot be built for twice the rows.
func (t *Trainer) meanOverRows(ctx context.Context, b data.Batch) error {
	if t.Ranks.Lanes() < 2 || t.LaneLosses || t.shared().mean.Swap(true) {
		return nil
	}
	from, to := t.Ranks.Rows(0, max(b.Of, b.Rows))
	rows := min(to-from, b.Rows)
	if rows < 1 {
		return nil
	}
	for _, mode := range []Mode{Training, Evaluating} {
		once, ok := t.lossOf(ctx, mode, tiled(b, rows, 1))
		if !ok {
			continue
		}
		if twice, ok := t.lossOf(ctx, mode, tiled(b, rows, 2)); ok && math.Abs(twice-once) > 0.01*max(math.Abs(once), math.Abs(twice)) {
			return fmt.Errorf("train: the loss is no mean over the rows of a batch: of %d rows it is %.6g, and where each comes twice %.6g; "+
				"in lanes the mean of the lanes' losses is trained, which would be another objective: divide it by the rows, or, in Go, set Trainer.LaneLosses where that is meant",
				rows, once, twice)
		}
		return nil
	}
	return nil
}

// lossOf returns the loss of a batch, of a net built for its rows. It is not ok where there is none,
// or where the net draws random numbers.
func (t *Trainer) lossOf(ctx context.Context, mode Mode, b data.Batch) (loss float64, ok bool) {
	var net *Net
	if t.Build != nil {
		net = t.Build(b.Rows, mode)
	} else {
		net = t.BuildSizes(b.Rows, b.Sizes, mode)
	}
	if net == nil || net.Loss == nil || net.graph().Err() != nil {
		return 0, false
	}
	p, err := tape.CompileContext(ctx, net.graph(), append(t.arithmetic(), tape.Fetch(net.Loss))...)
	if err != nil {
		return 0, false
	}
	store := t.Store().Share()
	store.Resume(t.Store().Seed(), t.Store().Step(), 0)
	vm, err := p.NewVM(store, tape.Workers(t.Workers))
	if err != nil {
		return 0, false
	}
	defer vm.Close()
	feed := tape.Feed{}
	for _, in := range net.graph().Leaves(graph.RoleInput) {
		if v := b.Values[in.Path()]; v != nil {
			feed[in] = v
		}
	}
	if vm.Run(ctx, feed) != nil || store.Runs() > 0 {
		return 0, false
	}
	loss, err = vm.Float(net.Loss)
	return loss, err == nil && !math.IsNaN(loss) && !math.IsInf(loss, 0)
}

// tiled returns the first rows of a batch so many times, one behind the other.
func tiled(b data.Batch, rows, times int) data.Batch {
	out := data.Batch{Rows: rows * times, Sizes: b.Sizes, Values: map[string]*tensor.Dense{}}
	for name, v := range b.Values {
		shape := v.Shape().Clone()
		if len(shape) == 0 || shape[0] != b.Rows {
			out.Values[name] = v // the same for all rows
			continue
		}
		all := reflect.ValueOf(v.Data())
		part := all.Slice(0, all.Len()/b.Rows*rows)
		list := reflect.MakeSlice(all.Type(), 0, part.Len()*times)
		for range times {
			list = reflect.AppendSlice(list, part)
		}
		shape[0] = out.Rows
		out.Values[name] = tensor.New(tensor.WithShape(shape...), tensor.WithBacking(list.Interface()))
	}
	return out
}
