package inspect

import (
	"context"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// shelf keeps the values of a graph's nodes at one training step, as many of them
// as the memory allows: the nodes are divided into parts that are recorded when a
// value of theirs is asked for, each by a run of its own. Runs are pure, so the
// values of different runs belong together.
type shelf struct {
	nodes  []*graph.Node
	grads  map[*graph.Node]*graph.Node
	part   map[*graph.Node]int
	parts  []*shelfPart
	recent []int // parts that are recorded, the one used last at the end
}

type shelfPart struct {
	nodes    []*graph.Node
	recorder *recorder // nil until it is needed
	record   *Record   // nil if it is not kept
}

// keptParts is the number of parts that are recorded at a time: operands, result
// and gradient of an instruction may lie in as many.
const keptParts = 4

// newShelf plans for what the roots depend on; limit bounds the bytes of the values
// that are kept. A value that is larger than a part may be makes a part of its own.
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

// clear forgets all values: those of another training step are wanted.
func (s *shelf) clear() {
	for _, k := range s.recent {
		s.parts[k].record = nil
	}
	s.recent = s.recent[:0]
}

// value is that of a node, false for one that does not stand on the shelf.
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
		rec, err := p.recorder.take(ctx, feed, store)
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
