package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// A loss of scores applies the sigmoid or softmax itself. Given probabilities it would be finite
// and wrong: σ of a number between 0 and 1 is never below a half. So a node that is known to be a
// probability, or the logarithm of one, is a mistake in place of scores. Known to be are, by
// construction:
//
//   - σ(z) and softmax(z), also written out: 1/(1 + e⁻ᶻ), eᶻ/(1 + eᶻ), eᶻ/Σeᶻ;
//   - nodes that move, select or average elements of probabilities: changes of layout and type,
//     slices, gathers, concatenations, maximum and minimum, mean, selections by a mask; numbers
//     beside them (bounds, fillings) change nothing, nor do dropout and padding with zeros;
//   - sums, differences, products and quotients of probabilities and numbers, if by their bounds
//     they stay between 0 and 1 in the end: 1 − p, p·q, 0.9·p + 0.05, (p + q + r)/3; and e to the
//     power of a logarithm.
//
// Anything else counts as scores: 10·p, 2·p − 1, p·x for any x, and so a gate σ(a)·tanh(b).

// probability describes a node that is made of probabilities, with bounds; it is a probability
// itself if these lie between 0 and 1.
type probability struct {
	of     *graph.Node // the scores below the sigmoid or softmax; nil if nothing is known
	what   string      // a sigmoid, a softmax
	lo, hi float64     // its bounds; for a logarithm, those of the argument
	log    bool        // it is the logarithm of one
	made   bool        // from the sigmoid or softmax, by more than a change of layout
}

// scoresOf returns an error if an operand is a probability, or the logarithm of one, instead of
// scores. If normalised, the loss applies a softmax, which undoes the logarithm of a softmax: this
// may be given for scores.
func scoresOf(x *graph.Node, normalised bool) error {
	p := probabilityOf(x)
	if !p.is() || normalised && p.log && p.what == softmax {
		return nil
	}
	problem := fmt.Sprintf("%v is %v, and scores are wanted: the loss takes it of them itself", x, p)
	if p.made {
		return &graph.Mistake{Problem: problem, Fix: fmt.Sprintf("give scores, such as %v", p.of)}
	}
	return &graph.Mistake{Problem: problem, Fix: fmt.Sprintf("give %v", p.of)}
}

// logarithmsOf returns an error if an operand is a probability instead of its logarithm.
func logarithmsOf(operands ...*graph.Node) error {
	for _, x := range operands {
		if p := probabilityOf(x); p.is() && !p.log {
			return &graph.Mistake{
				Problem: fmt.Sprintf("%v is %v, and logarithms of probabilities are wanted", x, p),
				Fix:     "ops.LogSoftmax and ops.LogSigmoid give those of scores, ops.Log others",
			}
		}
	}
	return nil
}

// is reports whether it is a probability, or the logarithm of one.
func (p probability) is() bool { return p.of != nil && p.lo >= 0 && p.hi <= 1 }

// String describes it: a sigmoid, the logarithm of a probability made of a softmax.
func (p probability) String() string {
	what := p.what
	if p.made {
		what = "a probability made of " + what
	}
	if p.log {
		what = "the logarithm of " + what
	}
	return what
}

const (
	sigmoid = "a sigmoid"
	softmax = "a softmax"
)

// unit returns the description of a sigmoid or a softmax of scores.
func unit(what string, of *graph.Node) probability {
	return probability{of: of, what: what, hi: 1}
}

// probabilities holds the nodes that are described so far.
type probabilities struct {
	of     map[*graph.Node]probability
	inputs map[*graph.Node]*graph.Node // of a sealed body, by input: the operand that it sees, nil for a carry
	around *probabilities              // of the graph around that body
}

// probabilityOf describes a node.
func probabilityOf(n *graph.Node) probability {
	return probabilities{of: map[*graph.Node]probability{}}.at(n)
}

func (known probabilities) at(n *graph.Node) probability {
	p, seen := known.of[n]
	if !seen && n.IsValid() {
		if x, there, ok := known.outside(n); ok {
			p = there.at(x)
		} else if n.NumIn() > 0 {
			p = known.find(n)
		}
		known.of[n] = p
	}
	return p
}

// outside returns the node that an input of a loop's body stands for in the graph around it, and
// what is known there; ok is false for any other node.
func (known probabilities) outside(n *graph.Node) (x *graph.Node, there probabilities, ok bool) {
	if x, ok = known.inputs[n]; ok {
		return x, *known.around, true
	}
	x, ok = n.Outer()
	return x, known, ok
}

// number returns the number that all elements of a node are, if they surely are one.
func (known probabilities) number(n *graph.Node) (v float64, ok bool) {
	for match.Is(n, match.Broadcast) {
		n = n.In(0)
	}
	if x, there, inner := known.outside(n); inner {
		return there.number(x)
	}
	if n == nil {
		return 0, false
	}
	return match.Literal(n)
}

func (known probabilities) find(n *graph.Node) probability {
	in := n.Inputs()
	switch match.KindOf(n) {
	case match.Sigmoid:
		return unit(sigmoid, in[0])
	case match.Softmax:
		return unit(softmax, in[0])
	case match.LogSigmoid:
		return unit(sigmoid, in[0]).logarithm()
	case match.LogSoftmax:
		return unit(softmax, in[0]).logarithm()
	case match.Log:
		if p := known.at(in[0]); !p.log {
			return p.logarithm()
		}
	case match.Exp:
		if p := known.at(in[0]); p.log {
			p.log, p.made = false, true
			return p
		}
	case match.Reshape, match.Transpose, match.Broadcast, match.Cast, match.StopGradient:
		return known.at(in[0])
	case match.Slice:
		if trait.LoopBody(in[0]) != nil {
			return known.result(n)
		}
		return known.among(in[0])
	case match.Gather, match.Max, match.Min, match.Mean, match.MaxPool, match.Place:
		return known.among(in[0])
	case match.Abs, match.Relu:
		if p := known.at(in[0]); p.is() && !p.log {
			return known.among(in[0])
		}
	case match.Concat, match.Maximum, match.Minimum:
		return known.among(in...)
	case match.Select:
		return known.among(in[1:]...)
	case match.Square:
		return known.arithmetic(match.Mul, in[0], in[0])
	case match.Add, match.Sub, match.Mul, match.Div:
		if p, ok := writtenOut(n); ok {
			return p
		}
		if x, ok := dropped(n); ok {
			return known.among(x)
		}
		return known.arithmetic(match.KindOf(n), in[0], in[1])
	}
	return probability{}
}

// logarithm describes the logarithm of a probability.
func (p probability) logarithm() probability {
	if !p.is() {
		return probability{}
	}
	p.log = true
	return p
}

// among describes a node with elements of all the given nodes: it is a probability if all of them
// are, apart from numbers.
func (known probabilities) among(nodes ...*graph.Node) (all probability) {
	for _, n := range nodes {
		p := known.at(n)
		switch {
		case p.of == nil && known.isNumber(n):
			continue
		case p.of == nil || all.of != nil && all.log != p.log:
			return probability{}
		case all.of != nil:
			p.lo, p.hi = min(p.lo, all.lo), max(p.hi, all.hi)
			if p.what != all.what {
				p.what = sigmoid // not all of it is normalised
			}
		}
		p.made = true
		all = p
	}
	return all
}

// isNumber reports whether all elements are one number, which is no result of the model.
func (known probabilities) isNumber(n *graph.Node) bool {
	for match.Is(n, match.Broadcast) || match.Is(n, match.Cast) || match.Is(n, match.Reshape) {
		n = n.In(0)
	}
	if x, there, ok := known.outside(n); ok {
		return there.isNumber(x)
	}
	_, literal := known.number(n)
	return literal || n.Role() == graph.RoleInput && n.Rank() == 0
}

// arithmetic describes a sum, a difference, a product or a quotient of nodes made of probabilities
// and numbers.
func (known probabilities) arithmetic(op match.Kind, of ...*graph.Node) (y probability) {
	var x [2]probability
	for i, n := range of {
		x[i] = known.at(n)
		if v, literal := known.number(n); literal {
			x[i] = probability{lo: v, hi: v}
		} else if x[i].of == nil || x[i].log {
			return probability{}
		}
	}
	a, b := x[0], x[1]
	y = a
	if a.of == nil || b.of != nil && b.what == sigmoid {
		y = b
	}
	var ends [4]float64
	for i, u := range []float64{a.lo, a.hi} {
		for k, v := range []float64{b.lo, b.hi} {
			switch op {
			case match.Add:
				ends[2*i+k] = u + v
			case match.Sub:
				ends[2*i+k] = u - v
			case match.Mul:
				ends[2*i+k] = u * v
			case match.Div:
				if b.lo <= 0 && b.hi >= 0 {
					return probability{} // by what may be 0
				}
				ends[2*i+k] = u / v
			}
		}
	}
	y.lo, y.hi, y.made = min(ends[0], ends[1], ends[2], ends[3]), max(ends[0], ends[1], ends[2], ends[3]), true
	return y
}

// writtenOut finds the formulas of sigmoid and softmax.
func writtenOut(n *graph.Node) (p probability, ok bool) {
	if !match.Is(n, match.Div) {
		return p, false
	}
	above, below := n.In(0), n.In(1)
	if match.Is(below, match.Add) {
		for i := range 2 {
			e := below.In(i)
			one, literal := match.Literal(below.In(1 - i))
			if !match.Is(e, match.Exp) || !literal || one != 1 {
				continue
			}
			z := e.In(0)
			if above == e {
				return unit(sigmoid, z), true
			}
			if one, literal := match.Literal(above); literal && one == 1 {
				p = unit(sigmoid, z)
				if p.made = !match.Is(z, match.Neg); !p.made {
					p.of = z.In(0)
				}
				return p, true
			}
		}
	}
	total, _ := match.Laid(below)
	if x, _, summed := match.Summed(total); summed && x == above && match.Is(above, match.Exp) {
		return unit(softmax, above.In(0)), true
	}
	return p, false
}

// result describes the result of a loop by that of its body, whose inputs, except for the carries,
// are the operands outside.
func (known probabilities) result(n *graph.Node) probability {
	y := n.In(0)
	body, l := trait.LoopBody(y), y.Op().(trait.Looped).Loop()
	start, _, _ := match.Strided(n)
	for k, part := range l.Parts(body) {
		if k == l.Carries+l.Outs {
			break // the rest are sums
		}
		if at := start[0] - part.At; at < 0 || at >= part.Rows*part.Size {
			continue
		}
		inner := probabilities{map[*graph.Node]probability{}, map[*graph.Node]*graph.Node{}, &known}
		for i, x := range body.In() {
			if inner.inputs[x] = nil; i >= l.Carries {
				inner.inputs[x] = y.In(i)
			}
		}
		return inner.at(body.Out()[k])
	}
	return probability{}
}
