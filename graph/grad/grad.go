package grad

import (
	"errors"
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/ops"
)

// Of returns the derivative of a scalar loss with respect to each node of wrt, which may be
// parameters, inputs or any nodes between. All have a float type; each derivative has the type of
// its node. Call Of again for derivatives of derivatives. It is reverse-mode differentiation
// (Griewank & Walther, Evaluating Derivatives, 2008) on the graph: one sweep costs a small multiple
// of the loss.
//
// It is a mistake, recorded in the graph, if the loss is not a float scalar, or does not depend on
// a node of wrt; the mistake says where the path ends. So is a rule that returns a derivative
// of another type than its operand. The results are then invalid nodes.
func Of(loss *graph.Node, wrt ...*graph.Node) []*graph.Node { return of(loss, wrt, false) }

// OrZero is [Of], except that it returns zeros for a node that the loss does not depend on.
func OrZero(loss *graph.Node, wrt ...*graph.Node) []*graph.Node { return of(loss, wrt, true) }

func of(loss *graph.Node, wrt []*graph.Node, zeros bool) []*graph.Node {
	defer graph.Beside(append([]*graph.Node{loss}, wrt...)...)()
	g, all := graph.Join(append([]*graph.Node{loss}, wrt...)...)
	loss, wrt = all[0], all[1:]
	out := make([]*graph.Node, len(wrt))
	var sound []*graph.Node
	for i, w := range wrt {
		if err := check(loss, w); err != nil {
			out[i] = g.Fail("grad", err, loss, w)
		} else {
			sound = append(sound, w)
		}
	}
	if len(sound) == 0 {
		return out
	}
	r := newReverse([]*graph.Node{loss}, sound)
	first := g.Len()
	r.start()
	r.run()
	for i, w := range wrt {
		if out[i] != nil {
			continue
		}
		d := r.adjoint[w.ID()]
		if d == nil && !zeros {
			out[i] = g.Fail("grad", r.whyNot(w), loss, w)
			continue
		}
		if d == nil {
			d = nothing(w, graph.Origin{Kind: graph.FromGrad, Of: w, Loss: loss})
		}
		if out[i] = d; !d.IsValid() {
			continue
		}
		g.RecordDerivation(graph.Derivation{Loss: loss, Wrt: w, Grad: d, First: first})
	}
	return out
}

var errInvalid = errors.New("follows from an earlier mistake")

// check returns the reason that loss cannot be differentiated with respect to w.
func check(loss, w *graph.Node) error {
	switch {
	case loss == nil || w == nil:
		return fmt.Errorf("want a loss and a node, got nil")
	case !loss.IsValid() || !w.IsValid():
		return errInvalid // not recorded: its cause is
	case loss.Graph() != w.Graph():
		return &graph.Mistake{Problem: "the loss and the node belong to different graphs", Fix: "build both in one graph"}
	case loss.Rank() != 0 || !loss.DType().IsFloat():
		return &graph.Mistake{Problem: fmt.Sprintf("a loss of type %v: want a float scalar", loss.Type()), Fix: "reduce it with ops.Sum or ops.Mean"}
	case !w.DType().IsFloat():
		return fmt.Errorf("a node of type %v has no derivative", w.Type())
	}
	return wantWhole(w)
}

// wantWhole refuses a constant that a body uses as a number: a derivative by it would miss that use.
func wantWhole(w *graph.Node) error {
	if w.Copied() {
		return &graph.Mistake{Problem: fmt.Sprintf("a loop or function uses the constant %v as a number", w), Fix: "name it with As before it is used there"}
	}
	return nil
}

// reverse is one sweep from the loss back to the nodes asked for. Its slices are indexed by the
// numbers of forward nodes.
type reverse struct {
	loss    *graph.Node     // the root that origins name
	label   string          // of the loss in the names of derivatives
	cone    []*graph.Node   // the nodes that the loss depends on, inputs first
	needed  []bool          // lies between the loss and a node asked for
	partial [][]*graph.Node // contributions of users to a node's derivative
	wheres  [][]*where      // where each of them may be other than 0
	within  []*where        // where the complete derivative may be
	sets    map[setKey]*where
	adjoint []*graph.Node // complete derivatives
	cuts    []*graph.Node // needed operations through which nothing flows
}

func newReverse(roots, wrt []*graph.Node) *reverse {
	n := roots[0].Graph().Len()
	r := &reverse{loss: roots[0], label: roots[0].Label(), cone: graph.Reachable(roots...), needed: make([]bool, n), partial: make([][]*graph.Node, n), adjoint: make([]*graph.Node, n),
		wheres: make([][]*where, n), within: make([]*where, n)}
	for _, w := range wrt {
		r.needed[w.ID()] = true
	}
	for _, n := range r.cone {
		for i := range n.NumIn() {
			if r.needed[n.In(i).ID()] {
				r.needed[n.ID()] = true
			}
		}
	}
	return r
}

// start seeds the derivative of a scalar loss with respect to itself, 1.
func (r *reverse) start() {
	r.loss.Graph().During(r.loss.First(), graph.Origin{Kind: graph.FromGrad, Of: r.loss, Loss: r.loss}, func() {
		r.seed(r.loss, ops.Lit(r.loss, 1))
	})
}

// seed sets the derivative of a root, from which the sweep starts.
func (r *reverse) seed(root, dy *graph.Node) {
	r.contribute(root, dy, nil)
}

// contribute adds the contribution d of a user to the derivative of x, which may be other than 0 in
// w.
func (r *reverse) contribute(x, d *graph.Node, w *where) {
	r.partial[x.ID()] = append(r.partial[x.ID()], d)
	r.wheres[x.ID()] = append(r.wheres[x.ID()], w)
}

// run goes back from the roots, which have been seeded.
func (r *reverse) run() {
	for i := len(r.cone) - 1; i >= 0; i-- {
		n := r.cone[i]
		if r.needed[n.ID()] && len(r.partial[n.ID()]) > 0 {
			r.complete(n)
			r.push(n)
		}
	}
}

// complete adds up the contributions to a node's derivative. All its users are younger, so the
// sweep has passed them.
func (r *reverse) complete(n *graph.Node) {
	g := n.Graph()
	var d *graph.Node
	g.During(n.First(), graph.Origin{Kind: graph.FromGrad, Of: n, Loss: r.loss}, func() { d = accumulate(r.partial[n.ID()]) })
	o := n.First()
	o.Name = ""
	if name := n.Name(); name != "" {
		o.Name = "∂" + r.label + "/∂" + name
	}
	o.Origin = graph.Origin{Kind: graph.FromAdjoint, Of: n, Loss: r.loss}
	g.Occur(d, o)
	r.adjoint[n.ID()], r.within[n.ID()] = d, anywhere(r.wheres[n.ID()])
}

// byOperand returns d, the result of a rule for the derivative with respect to operand i of n, with
// the operand's type.
func byOperand(n *graph.Node, i int, d *graph.Node) *graph.Node {
	x := n.In(i)
	switch {
	case d == nil:
		return nil
	case d.Graph() != n.Graph():
		return n.Graph().Fail("grad", fmt.Errorf("the derivative of %s by operand %d belongs to graph %q", n.Op().Name(), i, d.Graph().Name()), n)
	case !d.IsValid() || d.Type() == x.Type():
		return d
	case d.DType() == x.DType() && d.Shape().SameSizes(x.Shape()):
		return ops.ReshapeTo(d, x.Shape())
	}
	return n.Graph().Fail("grad", fmt.Errorf("the derivative of %s by operand %d has type %v, the operand %v", n.Op().Name(), i, d.Type(), x.Type()), n)
}

// nothing returns the derivative by x of what does not depend on it: zeros. A value without elements
// is such a one, for all that it is made of and all that is made of it.
func nothing(x *graph.Node, from graph.Origin) (zeros *graph.Node) {
	x.Graph().During(from.Of.First(), from, func() { zeros = ops.ZerosLike(x) })
	return zeros
}

// push passes a node's derivative on to its inputs.
func (r *reverse) push(n *graph.Node) {
	g := n.Graph()
	rule, ok := n.Op().(trait.Differentiable)
	rules := func(dy *graph.Node, i int) *graph.Node { return rule.Grad(n, dy, i) }
	if all, ok := n.Op().(trait.Joint); ok {
		wanted := make([]byte, n.NumIn())
		for i := range wanted {
			if wanted[i] = '0'; r.needed[n.In(i).ID()] {
				wanted[i] = '1'
			}
		}
		rules = func(dy *graph.Node, i int) *graph.Node { return all.GradAmong(n, dy, i, string(wanted)) }
	}
	for i := range n.NumIn() {
		x := n.In(i)
		if !r.needed[x.ID()] {
			continue
		}
		var d *graph.Node
		w := r.below(n, i, r.within[n.ID()])
		if dy := r.adjoint[n.ID()]; !dy.IsValid() {
			d = dy // follows from a mistake of another rule
		} else if x.DType().IsFloat() && (x.Shape().Len() == 0 || n.Shape().Len() == 0) {
			d = nothing(x, graph.Origin{Kind: graph.FromGrad, Of: n, Loss: r.loss})
		} else if ok && x.DType().IsFloat() {
			g.During(n.First(), graph.Origin{Kind: graph.FromGrad, Of: n, Loss: r.loss}, func() {
				if d = byOperand(n, i, rules(dy, i)); trait.IsElementwise(n.Op()) {
					d = r.within[n.ID()].within(d, dy)
				}
			})
		}
		if d == nil {
			r.cuts = append(r.cuts, n)
			continue
		}
		r.contribute(x, d, w)
	}
}

// whyNot returns the reason that no derivative reaches w, and where the path from the loss ends.
func (r *reverse) whyNot(w *graph.Node) error {
	for _, n := range r.cuts {
		if n.DependsOn(w) {
			where := ""
			if p := n.First().Pos.String(); p != "" {
				where = " at " + p
			}
			return &graph.Mistake{
				Problem: fmt.Sprintf("no derivative reaches %s: the path from the loss ends in %s (%v%s)", w.Label(), n.Op().Name(), n, where),
				Fix:     "use grad.OrZero if zeros are meant",
			}
		}
	}
	return &graph.Mistake{
		Problem: fmt.Sprintf("the loss does not depend on %s", w.Label()),
		Fix:     "use grad.OrZero if zeros are meant",
	}
}
