package train

import (
	"context"
	"encoding/binary"
	"fmt"
	"math"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// turn is a batch of a round, in which each rank computes one.
type turn struct {
	batch data.Batch
	net   *Net
}

// received is the memory for an output that a rank has sent.
type received struct {
	typ    graph.Type
	output *tensor.Dense
}

// evaluateInTurns is Evaluate on several ranks: batch i of the epoch is computed by the rank i mod
// the number of ranks.
func (t *Trainer) evaluateInTurns(ctx context.Context, source data.Source, e *evaluation) error {
	const place = "evaluating"
	store := t.Store()
	before := store.Runs()
	turns := make([]turn, t.Ranks.Count())
	memory, batches := received{}, 0
	err := t.epoch(ctx, "evaluate", source, func() error {
		for source.Position().Epoch == 0 {
			runs := store.Runs()
			n, after, mine, err := t.round(ctx, source, e, turns)
			store.Resume(store.Seed(), store.Step(), runs)
			all, err := t.exchange(ctx, place, mine, err)
			if err != nil {
				return err
			}
			store.Resume(store.Seed(), store.Step(), after)
			for i := range turns[:n] {
				r, err := memory.decode(e, &turns[i], i, all[i])
				if err == nil {
					err = e.add(turns[i].batch, r)
				}
				if err != nil {
					return err
				}
			}
			batches += n
		}
		return nil
	})
	// A rank whose data have ended before those of the others, or that failed alone, tells them so.
	err = t.together(ctx, fmt.Sprintf("evaluating, after %d batches", batches), err)
	if err != nil {
		store.Resume(store.Seed(), store.Step(), before) // ranks may have come differently far
	}
	return err
}

// round reads the n batches of a round and computes that of this rank, whose result it returns as
// bytes. After is the number of runs that the store has counted when all n are computed.
func (t *Trainer) round(ctx context.Context, source data.Source, e *evaluation, turns []turn) (n int, after uint64, mine []byte, err error) {
	store := t.Store()
	after = store.Runs()
	for ; n < len(turns) && source.Position().Epoch == 0; n++ {
		b, err := source.Next(ctx)
		if err != nil {
			return n, after, nil, fmt.Errorf("evaluate: %w", err)
		}
		c, err := t.compile(ctx, size{rows: b.Rows, sizes: b.Sizes, mode: Evaluating})
		if err != nil {
			return n, after, nil, err
		}
		turns[n].net = c.net
		if turns[n].batch.Rows = b.Rows; len(e.metrics) > 0 {
			turns[n].batch.Copy(b)
		}
		if n == t.Ranks.Rank() {
			store.Resume(store.Seed(), store.Step(), after)
			p, err := t.evaluated(ctx, "evaluate", size{}, b)
			if err != nil {
				return n, after, nil, err
			}
			r, err := e.read(p)
			if err != nil {
				return n, after, nil, err
			}
			mine = r.encode(b.Rows)
		}
		if c.prog.Draws() {
			after++
		}
	}
	return n, after, mine, nil
}

// encode returns the result of a batch of so many rows as bytes.
func (r *result) encode(rows int) []byte {
	var raw []byte
	if r.output != nil {
		raw = r.output.Raw
	}
	b := make([]byte, 0, 16+len(raw))
	b = binary.LittleEndian.AppendUint64(b, uint64(rows))
	b = binary.LittleEndian.AppendUint64(b, math.Float64bits(r.loss))
	return append(b, raw...)
}

// decode returns the result that a rank computed in its turn. The output is valid until the next
// call.
func (m *received) decode(e *evaluation, u *turn, rank int, b []byte) (r result, err error) {
	want := 16
	if len(e.metrics) > 0 {
		if typ := u.net.Output.Type(); m.output == nil || m.typ != typ {
			m.typ, m.output = typ, tape.Tensor(graph.NewValue(typ))
		}
		r.output = m.output
		want += len(r.output.Raw)
	}
	if len(b) != want || binary.LittleEndian.Uint64(b) != uint64(u.batch.Rows) {
		return r, fmt.Errorf("evaluate: rank %d has another batch: the data are to be the same on all ranks", rank)
	}
	r.hasLoss, r.loss = u.net.Loss != nil, math.Float64frombits(binary.LittleEndian.Uint64(b[8:]))
	if r.output != nil {
		copy(r.output.Raw, b[16:])
	}
	return r, nil
}
