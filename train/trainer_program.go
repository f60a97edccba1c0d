package train

import (
	"context"
	"errors"
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// program is a compiled net on an engine, with what it is fed.
type program struct {
	*compiledNet
	engine Engine
	vm     *tape.VM    // the engine, where that is the tape; else nil
	lanes  *laneEngine // the engine of a step in lanes; else nil
	feed   tape.Feed
	scalar map[*graph.Node]*tensor.Dense
}

// fill feeds the inputs the columns of their names.
func (p *program) fill(b data.Batch) {
	clear(p.feed)
	for _, in := range p.inputs {
		if v := b.Values[in.Path()]; v != nil {
			p.feed[in] = v
		}
	}
}

// set feeds a scalar.
func (p *program) set(n *graph.Node, v float64) {
	s := p.scalar[n]
	if s == nil {
		s = tape.Scalar(n.DType(), 0)
		p.scalar[n] = s
	}
	setScalar(n.Type(), s, v)
	p.feed[n] = s
}

// setScalar changes a scalar tensor in place, so that a step allocates nothing.
func setScalar(typ graph.Type, t *tensor.Dense, v float64) {
	switch typ.DType {
	case graph.F32:
		t.Float32s()[0] = float32(v)
	case graph.F64:
		t.Float64s()[0] = v
	default:
		if a, err := tape.ArrayOf(typ, t); err == nil {
			a.Set(0, v)
		}
	}
}

// run runs the program on its feed, which has the batch b, and locates the errors that b causes.
func (p *program) run(ctx context.Context, b data.Batch) error {
	if p.lanes != nil {
		p.lanes.batch = b
	}
	err := p.engine.Run(ctx, p.feed)
	if err == nil || errors.As(err, new(*tape.NotFinite)) {
		return err
	}
	first := 0
	if e := new(inLane); errors.As(err, &e) {
		first, err = e.first, e.error
	}
	if outside := new(trait.IndexError); errors.As(err, &outside) {
		return p.located(outside, b, first, err)
	}
	for _, in := range p.inputs {
		if _, ok := in.Default(); !ok && p.feed[in] == nil {
			return fmt.Errorf("%w; the data have %s", err, strings.Join(slices.Sorted(maps.Keys(b.Values)), ", "))
		}
	}
	return err
}
