package inspect

import (
	"context"
	"math"
	"slices"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// anything is the name of a bound on every result.
const anything = "any"

// bound is a relation between a quantity and a number, such as |α| > 0.9.
type bound struct {
	name     string // of the quantity, or anything
	absolute bool
	relation string // the text of one of relations
	than     float64
}

// relations are what a bound can say. Of two that begin alike the longer comes first.
var relations = []struct {
	text, other string // other is another spelling, or the same
	holds       func(x, than float64) bool
}{
	{"<=", "≤", func(x, than float64) bool { return x <= than }},
	{">=", "≥", func(x, than float64) bool { return x >= than }},
	{"<", "<", func(x, than float64) bool { return x < than }},
	{">", ">", func(x, than float64) bool { return x > than }},
	{"=", "==", func(x, than float64) bool { return x == than }},
}

func (b bound) String() string {
	name := b.name
	if b.absolute {
		name = "|" + name + "|"
	}
	return name + " " + b.relation + " " + strconv.FormatFloat(b.than, 'g', -1, 64)
}

// holds reports whether an element of a is in the relation.
func (b bound) holds(a tape.Array) bool {
	for _, r := range relations {
		if r.text == b.relation {
			return anyOf(a, func(x float64) bool {
				if b.absolute {
					x = math.Abs(x)
				}
				return r.holds(x, b.than)
			})
		}
	}
	return false
}

// stop returns the break that stops where the bound holds.
func (b bound) stop() Break {
	if b.name == anything {
		return When(b.String(), func(ins *Instruction) bool { return b.holds(ins.Result.Value) })
	}
	return Break{
		text:  b.String(),
		place: OnNode(b.name).place,
		value: func(ctx context.Context, s *Session, ins *Instruction) (bool, error) {
			n := s.bounded(b.name, ins)
			if n == nil {
				return false, nil
			}
			q, err := s.Quantity(ctx, n)
			return err == nil && b.holds(q.Value), err
		},
	}
}

// bounded returns the node of a name at one of the instructions that [Session.named] lists: the
// result, what it updates, its owner, or the operand or node of the user's graph with that name.
func (s *Session) bounded(name string, ins *Instruction) *graph.Node {
	is := func(n *graph.Node) bool { return n != nil && goesBy(n, name) }
	if is(ins.Row.Node) || is(ins.Update) {
		return ins.Row.Node
	}
	if o := ins.Owner.Node; is(o) {
		return o
	}
	for _, nodes := range [][]*graph.Node{ins.Row.Of, s.asRun.nodes, s.written.nodes} {
		if i := slices.IndexFunc(nodes, is); i >= 0 {
			return nodes[i]
		}
	}
	return nil
}
