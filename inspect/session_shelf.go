package inspect

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// shelf keeps the values of a graph's nodes at one training step, as many as memory allows. The
// nodes are divided into parts, and a part is recorded, by a run of its own, when one of its
// values is asked for. Runs are pure, so values of different runs fit together.
type shelf struct {
	nodes  []*graph.Node
	grads  map[*graph.Node]*graph.Node
	part   map[*graph.Node]int
	parts  []*shelfPart
	recent []int // recorded parts, the one used last at the end
}

type shelfPart struct {
	nodes    []*graph.Node
	recorder *Recorder // nil until needed
	record   *Record   // nil if not kept
}

// keptParts is the number of parts that are recorded at a time: the operands, result and gradient
// of an instruction may be in as many.
const keptParts = 4

// newShelf divides what the roots depend on into parts; limit bounds the bytes of the values that
// are kept. A value that is larger than a part may be gets a part of its own.
func newShelf(limit int, roots []*graph.Node) *shelf {
	s := &shelf{nodes: graph.Reachable(roots...), part: map[*graph.Node]int{}}
	s.grads = gradients(s.nodes)
	total := 0
	for _, n := range s.nodes {
		total += bytesOf(n)
	}
	most := limit
	if total > limit {
		most = limit / keptParts
	}
	size := 0
	for _, n := range s.nodes {
		b := bytesOf(n)
		if len(s.parts) == 0 || size+b > most {
			s.parts, size = append(s.parts, &shelfPart{}), 0
		}
		size += b
		s.part[n] = len(s.parts) - 1
		p := s.parts[len(s.parts)-1]
		p.nodes = append(p.nodes, n)
	}
	return s
}

func bytesOf(n *graph.Node) int { return n.Shape().Len() * n.DType().Size() }

// clear forgets all values, when another training step is looked at.
func (s *shelf) clear() {
	for _, k := range s.recent {
		s.parts[k].record = nil
	}
	s.recent = s.recent[:0]
}

// value returns the value of a node; ok is false for a node that the shelf does not have.
func (s *shelf) value(ctx context.Context, n *graph.Node, feed tape.Feed, store *tape.Store) (tape.Array, bool, error) {
	k, ok := s.part[n]
	if !ok {
		return tape.Array{}, false, nil
	}
	p := s.parts[k]
	if p.record == nil {
		if p.recorder == nil {
			rec, err := newRecorder(ctx, p.nodes)
			if err != nil {
				return tape.Array{}, true, err
			}
			p.recorder = rec
		}
		if len(s.recent) == keptParts {
			s.parts[s.recent[0]].record = nil
			s.recent = append(s.recent[:0], s.recent[1:]...)
		}
		rec, err := p.recorder.Take(ctx, feed, store)
		if err != nil {
			return tape.Array{}, true, err
		}
		p.record = rec
		s.recent = append(s.recent, k)
	} else if i := slices.Index(s.recent, k); i < len(s.recent)-1 {
		s.recent = append(append(s.recent[:i], s.recent[i+1:]...), k)
	}
	return p.record.Value(n), true, nil
}
