package train

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/internal/memory"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/tape"
)

// Lanes is a step in lanes, as one rank has it compiled; see [Trainer.Lanes]. Its text form is the
// listing, here without the instructions:
//
//	8 lanes of 8 rows on 2 ranks: lanes 0 to 3 on rank 0
//	each lane: program "digits": …
//	sum over lanes and ranks: 5 arrays, 9.0 KiB in one bucket
//	update: program "digits": …
//	memory of this rank: parameters 9.0 KiB, states 18.1 KiB, arenas 14.2 KiB, buckets 36.2 KiB
type Lanes struct {
	// Lane computes, for the rows of the larger lanes, the terms of the sums; Update computes the
	// updates, and its inputs are the sums.
	Lane, Update *tape.Program

	// The step of the larger lanes as a graph, before it is cut in two at the sums over lanes: the loss,
	// which is such a sum, and all updates. Its input lanes/weight is fed a lane's part of the rows. It is
	// there to be read or drawn, and must not be changed.
	Loss *graph.Node
	Step graph.Step

	Rank, Ranks int
	From, To    int   // the lanes of this rank
	Rows        []int // by lane, of this rank and of all others
	Sums        int   // arrays that are summed up
	Bytes       int   // of a lane's term
	Memory      LanesMemory

	// Where states are shared out: the parameters that this rank updates, whose states it keeps, and
	// whether it gets the gradients of these alone.
	Shared bool
	Params []string
	Narrow bool
}

// LanesMemory is what a rank needs for a step in lanes, in bytes.
type LanesMemory struct{ Parameters, States, Arenas, Buckets int }

// Lanes compiles the step of a batch of so many rows on all ranks together, and of sizes for a trainer
// with BuildSizes, as training does, and describes it. It is an error if the trainer has no Ranks, or
// if the step cannot be cut into lanes. It uses no other rank. Once ctx is done it compiles no further.
func (t *Trainer) Lanes(ctx context.Context, rows int, sizes ...int) (*Lanes, error) {
	if err := t.inLanes(ctx); err != nil {
		return nil, err
	}
	if err := t.refused(); err != nil {
		return nil, err
	}
	kinds, err := t.kinds(ctx, size{rows: rows, sizes: attr.IntsOf(sizes...), mode: Training})
	if err != nil {
		return nil, err
	}
	if !slices.ContainsFunc(kinds, func(k kind) bool { return k.cut.lane != nil }) { // this rank has no rows
		if _, err := t.compileCut(ctx, size{rows: kinds[0].rows, sizes: attr.IntsOf(sizes...), mode: Training}, false, true); err != nil {
			return nil, err
		}
	}
	c := kinds[0].cut
	l := &Lanes{Update: c.update, Loss: kinds[0].loss, Step: slices.Clone(kinds[0].step), Rank: t.Ranks.Rank(), Ranks: t.Ranks.Count(), Sums: c.sums(), Bytes: c.bytes()}
	l.From, l.To = t.Ranks.Own()
	for lane := range t.Ranks.Lanes() {
		from, to := t.Ranks.Rows(lane, rows)
		l.Rows = append(l.Rows, to-from)
	}
	cores := t.cores()
	vms := min(cores, l.To-l.From)
	if c.meets {
		vms = l.To - l.From
	}
	for _, k := range kinds {
		if p := k.cut.lane; p != nil {
			if l.Lane == nil {
				l.Lane = p
			}
			l.Memory.Arenas += vms*p.Arena() + max(cores, vms)*p.Scratch()
		}
	}
	l.Memory.Arenas += c.update.Arena() + cores*c.update.Scratch()
	l.Memory.Buckets = t.Ranks.NewBucket(c.f32+flags, c.f64).Memory(vms)
	for _, n := range leaves(l.Lane, c.update) {
		if bytes := n.Shape().Len() * n.DType().Size(); n.Role() == graph.RoleParam {
			l.Memory.Parameters += bytes
		} else {
			l.Memory.States += bytes
		}
	}
	if s := c.shards; s != nil {
		l.Shared, l.Narrow = true, s.narrow
		for _, x := range c.terms {
			if x.param != nil && s.owner[x.param.Path()] == l.Rank {
				l.Params = append(l.Params, x.param.Path())
			}
		}
		for _, x := range c.terms { // those of others are in the store, though the update does not read them
			if x.param != nil && !slices.ContainsFunc(leaves(l.Lane, c.update), func(n *graph.Node) bool { return n.Path() == x.param.Path() }) {
				l.Memory.Parameters += x.bytes()
			}
		}
	}
	return l, nil
}

// inLanes returns an error for a trainer without steps in lanes, or without a context.
func (t *Trainer) inLanes(ctx context.Context) error {
	switch {
	case t == nil:
		return errNoTrainer
	case ctx == nil:
		return errors.New("train: the context is nil")
	case t.Ranks == nil:
		return errors.New("train: a step without lanes: Ranks is nil")
	}
	return nil
}

// leaves returns the parameters and states of programs, each once.
func leaves(programs ...*tape.Program) (out []*graph.Node) {
	seen := map[string]bool{}
	for _, p := range programs {
		for _, n := range p.Graph().Leaves(graph.RoleParam, graph.RoleState) {
			if !seen[n.Path()] {
				seen[n.Path()] = true
				out = append(out, n)
			}
		}
	}
	return out
}

// String returns the listing.
func (l *Lanes) String() string {
	if l == nil || l.Lane == nil || l.Update == nil {
		return ""
	}
	var b strings.Builder
	fmt.Fprintf(&b, "%s of %s", plural.Count(len(l.Rows), "lane"), l.rows())
	if l.Ranks > 1 {
		fmt.Fprintf(&b, " on %d ranks: lanes %d to %d on rank %d", l.Ranks, l.From, l.To-1, l.Rank)
	}
	fmt.Fprintf(&b, "\n\neach lane: %v\nsum over lanes", l.Lane)
	if l.Ranks > 1 {
		b.WriteString(" and ranks")
	}
	fmt.Fprintf(&b, ": %s, %s in one bucket\n", plural.Count(l.Sums, "array"), memory.Text(int64(l.Bytes)))
	if l.Narrow {
		b.WriteString("each rank gets the gradients of the parameters that it updates\n")
	}
	fmt.Fprintf(&b, "\nupdate: %v", l.Update)
	if l.Shared {
		fmt.Fprintf(&b, "then sent to all ranks: %s\n", strings.Join(l.Params, ", "))
	}
	m := l.Memory
	text := func(n int) string { return memory.Text(int64(n)) }
	fmt.Fprintf(&b, "\nmemory of this rank: parameters %s, states %s, arenas %s, buckets %s\n", text(m.Parameters), text(m.States), text(m.Arenas), text(m.Buckets))
	return b.String()
}

// rows says how many rows the lanes have: "8 rows", "3 or 2 rows".
func (l *Lanes) rows() string {
	most, least := l.Rows[0], l.Rows[len(l.Rows)-1]
	if most == least {
		return plural.Count(most, "row")
	}
	return fmt.Sprintf("%d or %s", most, plural.Count(least, "row"))
}
