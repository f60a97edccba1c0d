package tape

import (
	"cmp"
	"slices"
	"time"

	"github.com/tapestry-ml/tapestry/graph"
)

// Part adds up all instructions of a run that come from one place of the user's model, those of the
// steps of loops among them.
type Part struct {
	Label    string        // the line, the scope, or the quantity
	Pos      graph.Pos     // of the quantity; zero for a scope
	Time     time.Duration // of the run's
	Gradient time.Duration // of Time: what derivatives take that go back to there
	FLOPs    int64
	Traffic  int64
}

// Lines adds the instructions up by the user's line, the longest time first. A derivative belongs
// to the line of the operation that was differentiated.
func (p *Profile) Lines() []Part {
	return p.parts(func(t *Timing) (string, graph.Pos) { return t.Pos.String(), t.Pos })
}

// Scopes adds the instructions up by scope, as Lines does; instructions in none have the label "".
func (p *Profile) Scopes() []Part {
	return p.parts(func(t *Timing) (string, graph.Pos) { return t.Scope, graph.Pos{} })
}

// Nodes adds the instructions up by quantity, as Lines does: a node that the user made, which is
// called by its name, or by its operation if it has none, and the derivatives of it and through it.
func (p *Profile) Nodes() []Part {
	return p.parts(func(t *Timing) (string, graph.Pos) {
		n := forward(t.Node)
		if s := n.Name(); s != "" {
			return s, n.First().Pos
		} else if n.Role() != graph.RoleOp {
			return n.Label(), n.First().Pos
		}
		return n.Op().Name(), n.First().Pos
	})
}

// forward returns the node whose derivative n is part of, or n.
func forward(n *graph.Node) *graph.Node {
	for n.IsBackward() {
		of := n.First().Origin.Of
		if of == nil {
			break
		}
		n = of
	}
	return n
}

func (p *Profile) parts(place func(*Timing) (label string, at graph.Pos)) []Part {
	var parts []Part
	index := map[Part]int{}
	all(p.Rows, false, func(t Timing, backward bool) {
		label, at := place(&t)
		key := Part{Label: label, Pos: at}
		k, seen := index[key]
		if !seen {
			k = len(parts)
			index[key] = k
			parts = append(parts, key)
		}
		parts[k].Time += t.Time
		parts[k].FLOPs += t.FLOPs
		parts[k].Traffic += t.Traffic
		if backward {
			parts[k].Gradient += t.Time
		}
	})
	slices.SortStableFunc(parts, func(a, b Part) int { return cmp.Compare(b.Time, a.Time) })
	return parts
}
