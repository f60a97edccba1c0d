package graph

import "fmt"

// Update says that a parameter or state takes the value of a node when a step
// commits. A program applies at most one update to a leaf.
type Update struct{ Target, Value *Node }

// Err says why the update cannot be made; nil if it can. It asks for valid nodes.
func (u Update) Err() error {
	_, names := Align(u.Target.Shape(), u.Value.Shape())
	switch {
	case u.Target.Role() != RoleParam && u.Target.Role() != RoleState:
		return fmt.Errorf("%v is not a parameter or state", u.Target)
	case names != nil || u.Target.DType() != u.Value.DType() || !u.Target.Shape().SameSizes(u.Value.Shape()):
		return fmt.Errorf("%s of type %v cannot take a value of type %v", u.Target.Path(), u.Target.Type(), u.Value.Type())
	}
	return nil
}

// Step is a set of updates made together: one training step's.
type Step []Update

// Assign adds an update of target, a parameter or state, to value, which must
// have its type. The names of axes may differ where one is missing.
func (g *Graph) Assign(target, value *Node) Update {
	u := Update{target, value}
	for i, n := range []*Node{target, value} {
		which := []string{"the target", "the value"}[i]
		switch {
		case n.Graph() == nil:
			g.fail(assignOp{}, []*Node{target, value}, fmt.Errorf("%s is nil: want a leaf and a value", which))
			return u
		case !n.IsValid():
			if n.g != g {
				g.adopt(n.g)
			}
			return u
		case n.g != g:
			g.fail(assignOp{}, []*Node{target, value}, stranger(which, n, g, n.g))
			return u
		}
	}
	if err := u.Err(); err != nil {
		g.fail(assignOp{}, []*Node{target, value}, err)
		return u
	}
	g.updates = append(g.updates, u)
	return u
}

// Updates lists all updates in order of creation.
func (g *Graph) Updates() []Update { return append([]Update(nil), g.updates...) }

// assignOp names the call in the errors of Assign.
type assignOp struct{}

func (assignOp) Name() string                { return "Assign" }
func (assignOp) Infer([]*Node) (Type, error) { return Type{}, nil }

// Derivation remembers one call of the differentiator: Grad is the derivative of
// Loss with respect to Wrt, and the nodes numbered First and above were added
// for it. A rewriter that changes the loss derives again instead of copying.
type Derivation struct {
	Loss, Wrt, Grad *Node
	First           int
}

// RecordDerivation is for the differentiator.
func (g *Graph) RecordDerivation(d Derivation) { g.derived = append(g.derived, d) }

// Derivations lists them in order.
func (g *Graph) Derivations() []Derivation { return append([]Derivation(nil), g.derived...) }
