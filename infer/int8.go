package infer

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/infer/quantise"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/data"
)

// calibrating is the number of rows that [Int8] looks at, rounded to batches of the net.
const calibrating = 1024

// Int8 returns a checkpoint whose nets compute products by weights in integers of a byte, as
// [quantise.Int8] says, and what that loses. It is to predict with, not to train on: what only
// training needs is left out. Its texts are those of s, but for the nets.
//
// The net for most rows that set fills is calibrated on the first rows of set, about a thousand,
// and measured on them. Nets for fewer rows have the same scales, so that a row has one prediction
// in all of them; those for more are left out.
//
// It is an error, which wraps [ErrNoModel], if s has no net; one if set has not all columns, or fewer
// rows than the smallest net takes; and those of [quantise.Int8]. When ctx ends, it stops.
func Int8(ctx context.Context, s *checkpoint.State, set *data.Set, o quantise.Options) (*checkpoint.State, *quantise.Result, error) {
	switch {
	case s == nil:
		return nil, nil, errNoState
	case s.Store == nil:
		return nil, nil, errors.New("the checkpoint has no store")
	case set == nil:
		return nil, nil, errors.New("int8: there are no data to calibrate with")
	}
	nets, err := forwards(s)
	if err != nil {
		return nil, nil, err
	}
	slices.SortStableFunc(nets, func(a, b Forward) int { return b.Rows - a.Rows })
	first := slices.IndexFunc(nets, func(n Forward) bool { return n.Rows <= set.Rows() })
	if first < 0 {
		return nil, nil, fmt.Errorf("int8: %d rows to calibrate with: want at least %d, as no net of the model takes fewer", set.Rows(), nets[len(nets)-1].Rows)
	}
	nets = nets[first:]
	q, err := nets[0].int8(ctx, s.Store, set, o)
	if err != nil {
		return nil, nil, fmt.Errorf("%s: %w", s.Path, err)
	}
	nets[0].Output = q.Outputs[0]
	for i := range nets[1:] {
		other, err := q.Like(nets[i+1].Output)
		if err != nil {
			return nil, nil, fmt.Errorf("%s: %w", s.Path, err)
		}
		nets[i+1].Output = other.Outputs[0]
	}
	meta := maps.Clone(s.Meta)
	maps.DeleteFunc(meta, func(name, _ string) bool { return isNet(name) })
	maps.Copy(meta, ForwardMeta(nets...))
	return &checkpoint.State{Store: q.Store, Data: s.Data, Model: checkpoint.Identity{Name: s.Model.Name}, Meta: meta}, q, nil
}

// int8 calibrates a net on the first rows of a set.
func (n Forward) int8(ctx context.Context, store *tape.Store, set *data.Set, o quantise.Options) (*quantise.Result, error) {
	inputs, _, err := n.Columns()
	if err != nil {
		return nil, err
	}
	columns, err := arrays(inputs, set)
	if err != nil {
		return nil, fmt.Errorf("int8: %w", err)
	}
	var batches []tape.Feed
	for lo := 0; lo+n.Rows <= set.Rows() && (lo == 0 || lo < calibrating); lo += n.Rows {
		feed := tape.Feed{}
		for _, in := range n.inputs() {
			feed[in] = tape.Tensor(graph.NewValue(in.Type()))
		}
		if err := n.fill(feed, n.inputs(), columns, lo); err != nil {
			return nil, fmt.Errorf("int8: %w", err)
		}
		batches = append(batches, feed)
	}
	return quantise.Int8(ctx, store, batches, o, n.Output)
}
