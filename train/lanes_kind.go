package train

import (
	"context"
	"errors"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/tape"
)

// flags is the number of flags in a bucket, behind the values of float32.
const flags = 2

// kind is a number of rows that lanes have, with what is compiled for it.
type kind struct {
	*compiledNet
	rows   int
	feed   tape.Feed // of whole batches: each lane reads its rows
	common []alias
}

// kinds returns the numbers of rows that the lanes of a batch have, compiled as far as this rank
// needs them.
func (t *Trainer) kinds(ctx context.Context, s size) ([]kind, error) {
	if s.rows < 1 {
		return nil, errors.New("train: a batch without rows")
	}
	var out []kind
	for lane := range t.Ranks.Lanes() {
		from, to := t.Ranks.Rows(lane, s.rows)
		rows := to - from
		if first, last := t.Ranks.Own(); rows > 0 {
			if len(out) == 0 || out[len(out)-1].rows != rows {
				out = append(out, kind{rows: rows})
			}
			k := &out[len(out)-1]
			var err error
			part := size{rows: rows, sizes: s.sizes, mode: Training}
			if k.compiledNet, err = t.compileCut(ctx, part, len(out) == 1, lane >= first && lane < last); err != nil {
				return nil, err
			}
			if k.cut.meets && k.cut.lane == nil { // on other ranks, where it has to come to the same sums
				if _, err = t.compileCut(ctx, part, false, true); err != nil {
					return nil, err
				}
			}
		}
	}
	for k := range out {
		if err := out[0].cut.agrees(out[k].cut); err != nil {
			return nil, fmt.Errorf("train: lanes of %d and of %d rows: %w", out[0].rows, out[k].rows, err)
		}
		out[k].feed = tape.Feed{}
		if out[k].cut.lane == nil {
			continue
		}
		out[k].common = aliases(out[0].inputs, out[k].cut.below)
		if in := out[k].cut.below.Lookup(lanes.WeightPath); in != nil {
			out[k].feed[in] = tape.Scalar(in.DType(), 0)
			setScalar(in.Type(), out[k].feed[in], float64(out[k].rows)/float64(s.rows))
		}
	}
	return out, nil
}

// aliases returns which of the inputs are in a graph too, but for the weight of a lane.
func aliases(inputs []*graph.Node, g *graph.Graph) (out []alias) {
	for _, to := range g.Leaves(graph.RoleInput) {
		for _, in := range inputs {
			if in.Path() == to.Path() && in.Path() != lanes.WeightPath {
				out = append(out, alias{in, to})
			}
		}
	}
	return out
}

// supply feeds the inputs of another graph what those of the net are fed.
func supply(to tape.Feed, common []alias, from tape.Feed) {
	for _, a := range common {
		if t, ok := from[a.from]; ok {
			to[a.to] = t
		} else {
			delete(to, a.to)
		}
	}
}

// kindOf returns which kind the rank's own lane i is of; −1 if it has no rows.
func (l *laneEngine) kindOf(i int) int {
	from, to := l.span(i)
	return slices.IndexFunc(l.kinds, func(k kind) bool { return k.rows == to-from })
}
