package train

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/train/parallel"
	"gorgonia.org/tensor"
)

// shards says which rank updates which parameters, and keeps the optimiser's states for them, where
// states are shared out (ZeRO, stage 1, of Rajbhandari et al., 2020). A rank has consecutive
// parameters, about as many bytes as any other. After a step it sends them to all.
type shards struct {
	owner  map[string]int   // by path, of parameters and of states that are kept for one
	ranges []parallel.Range // of the parameters of each rank, in a bucket
	params map[string]bool  // the parameters, by path
	narrow bool             // no rank needs gradients of parameters that are not its own
}

// newShards shares out the parameters of a step.
func newShards(p *compiledNet, c *cut, ranks int) *shards {
	s := &shards{owner: map[string]int{}, params: map[string]bool{}, ranges: make([]parallel.Range, ranks)}
	var params []*term
	var sizes []int
	for i := range c.terms {
		if t := &c.terms[i]; t.param != nil {
			params, sizes = append(params, t), append(sizes, t.bytes())
		}
	}
	for i, rank := range lanes.Owners(sizes, ranks) {
		t := params[i]
		s.owner[t.param.Path()], s.params[t.param.Path()] = rank, true
		r := &s.ranges[rank].F32
		if t.typ.DType == graph.F64 {
			r = &s.ranges[rank].F64
		}
		if r[0] == r[1] {
			r[0] = t.at
		}
		r[1] = t.at + t.typ.Shape.Len()
	}
	for state, param := range p.of {
		if rank, ok := s.owner[param.Path()]; ok && !c.reads[state.Path()] {
			s.owner[state.Path()] = rank
		}
	}
	for s.release(c, ranks) {
	}
	s.narrow = true
	for rank := range ranks {
		needed := s.needed(c, rank)
		for _, t := range c.terms {
			if t.param != nil && t.in != nil && s.owner[t.param.Path()] != rank && slices.Contains(needed, t.in) {
				s.narrow = false
			}
		}
	}
	return s
}

// needed returns what the update of a rank depends on.
func (s *shards) needed(c *cut, rank int) []*graph.Node {
	roots := []*graph.Node{c.loss}
	for _, u := range s.step(c.step, rank) {
		roots = append(roots, u.Value)
	}
	return graph.Reachable(roots...)
}

// release makes states that several ranks need those of all, such as sums of gradients that make a
// global norm. It reports whether there were any: then what all need to update them is to be looked at.
func (s *shards) release(c *cut, ranks int) (some bool) {
	for rank := range ranks {
		for _, n := range s.needed(c, rank) {
			if owner, owned := s.owner[n.Path()]; n.Role() == graph.RoleState && owned && owner != rank {
				delete(s.owner, n.Path())
				some = true
			}
		}
	}
	return some
}

func (t *term) bytes() int { return t.typ.Shape.Len() * t.typ.DType.Size() }

// step returns the updates of a rank: those of its own parameters and their states, and those of what
// is no parameter's.
func (s *shards) step(all graph.Step, rank int) graph.Step {
	return slices.DeleteFunc(slices.Clone(all), func(u graph.Update) bool {
		owner, owned := s.owner[u.Target.Path()]
		return owned && owner != rank
	})
}

// sum completes the sums over lanes, as far as this rank needs them.
func (l *laneEngine) sum(ctx context.Context) error {
	if s := l.kinds[0].cut.shards; s != nil && s.narrow {
		return l.bucket.ReduceScatter(ctx, s.ranges)
	}
	return l.bucket.Sum(ctx)
}

// share sends the parameters that this rank has updated to all others, and takes theirs.
func (l *laneEngine) share(ctx context.Context) error {
	c := l.kinds[0].cut
	if c.shards == nil {
		return nil
	}
	arrays := l.arrays(l.bucket.Total())
	for i, t := range c.terms {
		if view := l.own[i]; view == nil {
			continue
		} else if t.typ.DType == graph.F64 {
			copy(arrays[i].Float64s(), view.Float64s())
		} else {
			copy(arrays[i].Float32s(), view.Float32s())
		}
	}
	if err := l.bucket.AllGather(ctx, c.shards.ranges); err != nil {
		return err
	}
	for i, t := range c.terms {
		if t.param == nil || l.own[i] != nil {
			continue
		}
		if err := l.store.Set(t.param.Path(), arrays[i]); err != nil {
			return err
		}
	}
	return nil
}

// lookAtOwn finds the parameters of this rank in the store, by term.
func (l *laneEngine) lookAtOwn() (err error) {
	c := l.kinds[0].cut
	if c.shards == nil {
		return nil
	}
	l.own = make([]*tensor.Dense, len(c.terms))
	for i, t := range c.terms {
		if t.param == nil || t.typ.Shape.Len() == 0 || c.shards.owner[t.param.Path()] != l.ranks.Rank() {
			continue
		}
		if l.own[i], err = l.store.View(t.param.Path()); err != nil {
			return err
		}
	}
	return nil
}

// keepOwn removes from the store the states that other ranks keep, such as those of a checkpoint.
func (t *Trainer) keepOwn() {
	if t.shards == nil {
		return
	}
	for path, owner := range t.shards.owner {
		if owner != t.Ranks.Rank() && !t.shards.params[path] {
			t.Store().Delete(path)
		}
	}
}
