package check

import (
	"context"
	"errors"
	"fmt"
	"math/rand/v2"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/ref"
)

// Blamed is the outcome of [Blame] for one node.
type Blamed struct {
	Node  *graph.Node
	State BlameState
	// Diff is the largest difference of the node's rule from the difference quotients, as a
	// relative difference.
	Diff float64
	// For a wrong rule: the number of the operand, its element where the rule is furthest off (nil
	// if that is so near a kink that only a direction shows it), and the derivative by it of a
	// random combination of the node's elements: by difference quotient, and by the rule.
	Operand   int
	Index     []int
	Want, Got float64
	// Because lists the nodes with wrong rules through which the derivative by this node passes.
	Because []*graph.Node
	Note    string // why there is nothing to check, or why it cannot be
}

// BlameState is the outcome for one node.
type BlameState uint8

// The outcomes.
const (
	RuleRight     BlameState = iota
	RuleWrong                // its rule is not the derivative of its definition
	Inherited                // its own rule is right, but the derivative by it passes through a wrong one
	Undecided                // no difference quotient settles: a kink, or values that are not finite
	NothingToRule            // no float operand, or an Estimator
)

// String returns the state in a word or two.
func (s BlameState) String() string {
	if s > NothingToRule {
		return fmt.Sprintf("BlameState(%d)", uint8(s))
	}
	return [...]string{"right", "WRONG", "inherited", "undecided", "n/a"}[s]
}

// String returns one line: state, node, line, and mistake.
func (b Blamed) String() string {
	s := fmt.Sprintf("%-9s %v", b.State, b.Node)
	if b.Node == nil {
		return s + b.Detail()
	}
	if op := b.Node.Op(); b.Node.Role() == graph.RoleOp {
		s += " = " + op.Name()
	}
	o := b.Node.First()
	if pos := o.Pos.String(); pos != "" {
		s += "  " + pos
	}
	if o.Scope != "" {
		s += ", in " + o.Scope
	}
	return s + b.Detail()
}

// Detail describes the mistake, or why the node cannot be checked; "" for a right rule.
func (b Blamed) Detail() string {
	switch {
	case b.State == RuleWrong && b.Note == "" && b.Index == nil:
		return fmt.Sprintf(": derivative by operand %d, in a random direction: %.7g by difference quotient, %.7g by its rule", b.Operand, b.Want, b.Got)
	case b.State == RuleWrong && b.Note == "":
		return fmt.Sprintf(": derivative by operand %d, element %v: %.7g by difference quotient, %.7g by its rule", b.Operand, b.Index, b.Want, b.Got)
	case b.State == Inherited:
		s := ": the derivative by it passes through"
		for i, n := range b.Because {
			if i > 0 {
				s += ","
			}
			s += " " + n.Label()
		}
		return s
	case b.Note != "":
		return ": " + b.Note
	}
	return ""
}

// Blame checks the derivative rule of every operation that y depends on, each by itself: it
// compares the rule with difference quotients of the operation's definition, at the values that its
// operands have in the model, from your data with [Feed] and from your parameters with [From]. So
// it finds the wrong rule itself, whatever operations follow. It returns the nodes in the order of
// the graph; inputs, parameters and states are among them only if a wrong rule spoils the
// derivative by them.
//
// A wrong rule is not an error; the error says why there is no point to check at.
func Blame(ctx context.Context, y *graph.Node, options ...Option) ([]Blamed, error) {
	s := settings{noise: 0.1}
	for _, o := range options {
		if o != nil {
			o(&s)
		}
	}
	if y == nil || !y.IsValid() {
		return nil, errors.New("want a result to check, got none")
	}
	g := y.Graph()
	if err := g.Err(); err != nil {
		return nil, err
	}
	c := &checker{settings: s, graph: g, y: y, env: trait.Env{Seed: s.seed}, rng: rand.New(rand.NewPCG(s.seed, 1)), at: graph.Values{}}
	if s.store != nil {
		c.env.Step = s.store.Step()
	}
	if err := c.place(); err != nil {
		return nil, err
	}
	nodes := graph.Reachable(y)
	values, err := ref.Eval(c.env, c.at, nodes...)
	if err != nil {
		return nil, err
	}
	return c.blameAll(ctx, nodes, values)
}

// blameAll checks the rules of some nodes, inputs before users, and says what comes of
// wrong ones. Of a loop whose rule is wrong, the nodes of its body come first; if one
// of these is wrong, the loop inherits that.
func (c *checker) blameAll(ctx context.Context, nodes []*graph.Node, values []graph.Value) ([]Blamed, error) {
	value := graph.Values{}
	for i, n := range nodes {
		value[n] = values[i]
	}
	found := map[*graph.Node]Blamed{}
	wrong := map[*graph.Node][]int{} // the operands with wrong rules
	inside := map[*graph.Node][]Blamed{}
	for _, n := range nodes {
		if err := ctx.Err(); err != nil {
			return nil, err
		}
		if n.Role() != graph.RoleOp {
			continue
		}
		b := Blamed{Node: n, State: NothingToRule}
		if b.Note = unruled(n); b.Note == "" {
			b, wrong[n] = c.blame(n, value)
		}
		if body := n.Body(); body != nil && b.State == RuleWrong {
			in, err := c.blameBody(ctx, n, value)
			if err != nil {
				return nil, err
			}
			for _, w := range in {
				if w.State == RuleWrong {
					b.State, b.Because = Inherited, append(b.Because, w.Node)
				}
			}
			inside[n] = in
		}
		found[n] = b
	}
	spoiled := spoils(nodes, wrong)
	var out []Blamed
	for _, n := range nodes {
		out = append(out, inside[n]...)
		b, isOp := found[n]
		if because := spoiled[n]; because != nil {
			b.Node, b.Because = n, append(b.Because, because...)
			if b.State != RuleWrong {
				b.State = Inherited
			}
		} else if !isOp {
			continue
		}
		out = append(out, b)
	}
	return out, nil
}

// errEnough ends a loop.
var errEnough = errors.New("enough")

// blameBody checks the rules of a loop's body at the values of its first step.
func (c *checker) blameBody(ctx context.Context, n *graph.Node, value graph.Values) (found []Blamed, err error) {
	loop, ok := n.Op().(trait.Iterated)
	if !ok {
		return nil, nil
	}
	in := make([]graph.Value, n.NumIn())
	for i, x := range n.Inputs() {
		in[i] = value[x]
	}
	_, err = loop.Iterate(n, in, func(b *graph.Body, in []graph.Value) ([]graph.Value, error) {
		at := graph.Values{}
		for i, x := range b.In() {
			at[x] = in[i]
		}
		nodes := graph.Reachable(b.Out()...)
		values, err := ref.Eval(c.env, at, nodes...)
		if err != nil {
			return nil, err
		}
		if found, err = c.blameAll(ctx, nodes, values); err != nil {
			return nil, err
		}
		return nil, errEnough
	})
	if errors.Is(err, errEnough) {
		err = nil
	}
	return found, err
}

// unruled says why a node has no rule to be checked, "" if it has.
func unruled(n *graph.Node) string {
	_, chosen := n.Op().(Estimator)
	switch {
	case !n.DType().IsFloat():
		return "its values are no floats"
	case n.NumIn() == 0:
		return "it has no operands"
	case !slices.ContainsFunc(n.Inputs(), func(x *graph.Node) bool { return x.DType().IsFloat() }):
		return "its operands are no floats"
	case chosen:
		return "its derivative is chosen on purpose"
	case match.Is(n, match.Custom), match.Is(n, match.Implicit):
		return "its derivative is given, not that of its operand"
	case match.Is(n, match.StopGradient):
		return "it stops derivatives on purpose"
	}
	return ""
}

// spoils lists, for every float node that the derivative reaches by way of wrong
// rules alone or among others, the nodes that have them.
func spoils(nodes []*graph.Node, wrong map[*graph.Node][]int) map[*graph.Node][]*graph.Node {
	moves := map[*graph.Node]bool{} // depends on more than constants and draws
	for _, n := range nodes {
		moves[n] = n.NumIn() == 0 && n.Role() != graph.RoleConstant && n.Role() != graph.RoleOp || slices.ContainsFunc(n.Inputs(), func(x *graph.Node) bool { return moves[x] })
	}
	out := map[*graph.Node][]*graph.Node{}
	for _, n := range slices.Backward(nodes) {
		if !n.DType().IsFloat() || match.Is(n, match.StopGradient) {
			continue
		}
		for i, x := range n.Inputs() {
			if !x.DType().IsFloat() || !moves[x] {
				continue
			}
			from := out[n]
			if slices.Contains(wrong[n], i) {
				from = append(slices.Clone(from), n)
			}
			for _, w := range from {
				if !slices.Contains(out[x], w) {
					out[x] = append(out[x], w)
				}
			}
		}
	}
	return out
}
