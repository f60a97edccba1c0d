package graph

import "fmt"

// Update gives the parameter or state Target the value of the node Value when a step commits. A
// program applies at most one update to a leaf.
type Update struct{ Target, Value *Node }

// Err returns an error if the update cannot be made: the target is no parameter or state, or the
// value is of another type. Both nodes must be valid.
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

// Step is a set of updates that are made together, as those of one training step.
type Step []Update

// Assign adds an update of target, a parameter or state, to value, which must have the same element
// type and sizes; a name of an axis may be missing. It is a mistake if they do not fit, or if one
// is nil or of another graph; the update is then not added.
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
			g.fail(assignOp{}, []*Node{target, value}, stranger(which, n, g))
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

// Updates returns all updates in order of creation, as a new slice.
func (g *Graph) Updates() []Update { return append([]Update(nil), g.updates...) }

// assignOp names the call in the errors of Assign.
type assignOp struct{}

func (assignOp) Name() string                { return "Assign" }
func (assignOp) Infer([]*Node) (Type, error) { return Type{}, nil }

// Derivation records one derivative that the differentiator has taken: Grad is the derivative of
// the scalar Loss with respect to Wrt, and the nodes numbered First and above were added for it. A
// rewriter that changes the loss takes the derivative again instead of copying it.
type Derivation struct {
	Loss, Wrt, Grad *Node
	First           int
}

// RecordDerivation adds to [Graph.Derivations]. It is for the differentiator.
func (g *Graph) RecordDerivation(d Derivation) { g.derived = append(g.derived, d) }

// Derivations returns the derivatives taken by reverse mode, in order, as a new slice.
func (g *Graph) Derivations() []Derivation { return append([]Derivation(nil), g.derived...) }
