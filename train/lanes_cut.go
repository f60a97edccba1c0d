package train

import (
	"context"
	"fmt"
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
	"github.com/tapestry-ml/tapestry/internal/lanes"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/tape"
	"github.com/tapestry-ml/tapestry/train/checkpoint"
	"github.com/tapestry-ml/tapestry/train/parallel"
)

// cut is a training step in lanes as two programs. The first computes the terms of one lane, the
// second the updates, of the sums of the terms over all lanes. They meet at the nodes of
// ops.SumRanks: what these sum up is the first program's, and to the second they are inputs. Each
// part is rewritten by itself, so that neither has anything of the other.
type cut struct {
	lane  *tape.Program
	below *graph.Graph    // of the lane's program
	meets bool            // there are sums over lanes within
	reads map[string]bool // the states that it depends on, by path
	terms []term          // of a bucket
	f32   int             // values of the terms in all
	f64   int

	shards *shards           // nil where each rank makes all updates
	update *tape.Program     // nil for lanes that are not the largest
	checks map[string]string // what is checked in it besides the loss, by name: see checked
	above  *graph.Graph      // of the update
	step   graph.Step        // in above, by update of the net's step
	loss   *graph.Node       // the input that is the loss
}

// sums returns how many arrays are summed up, bytes the size of a lane's term of all.
func (c *cut) sums() (n int) {
	for _, t := range c.terms {
		if t.sum != nil {
			n++
		}
	}
	return n
}

func (c *cut) bytes() int { return 4*c.f32 + 8*c.f64 }

// term is what a lane adds to a sum: a number times scalars times an array. The product is made
// while it is added.
type term struct {
	typ   graph.Type
	at    int         // its first value, among those of its element type in the bucket
	sum   *graph.Node // in the graph of the step; nil for zeros, in the place of a parameter
	param *graph.Node // whose gradient, or place, it is; nil for others
	in    *graph.Node // the input of above that is the sum

	// Of the lane's program.
	array  *graph.Node
	scales []*graph.Node
	scale  float64
}

func isSum(n *graph.Node) bool { return match.Is(n, match.SumRanks) }

// isColumn reports whether a node is an input with the rows of a batch. Scalars are the same for all
// lanes.
func isColumn(n *graph.Node) bool { return n.Role() == graph.RoleInput && n.Rank() > 0 }

// inLanes makes of a net's step one in lanes, with the optimiser's updates: each lane has its loss
// and its gradients, times its part of the rows, and all that is updated is computed of their sums.
func (p *compiledNet) inLanes(o Optimiser) error {
	loss := p.net.Loss
	if !loss.IsValid() {
		return nil // the mistake is recorded
	}
	if p.net.Params != nil && len(p.net.Params) == 0 {
		return fmt.Errorf("train: %s is trained by a step of its own alone, which has no sums over lanes: train it without ranks", loss.Graph().Name())
	}
	if err := lanes.Check(isColumn, loss); err != nil {
		return fmt.Errorf("train: %w", err)
	}
	l := lanes.Weigh(loss)
	rows := func(in *graph.Node) bool { return in == l.Weight || isColumn(in) }
	if err := lanes.Check(rows, l.Own); err != nil {
		return err
	}
	p.loss = l.Sum
	r := o.minimize(l.Own, p.net.Params, true)
	if r == nil {
		return nil
	}
	p.step, p.of, p.gradients = r.step, r.of, r.sums
	var values []*graph.Node
	for _, u := range p.net.Step {
		values = append(values, u.Value)
	}
	own := lanes.Own(isColumn, values...)
	for _, u := range p.net.Step {
		if u.Target.IsValid() && own[u.Value] {
			if !u.Value.DType().IsFloat() {
				return fmt.Errorf("train: %s takes a value of type %v that depends on the rows of a lane: want floats, of which lanes have a mean", u.Target.Path(), u.Value.DType())
			}
			u = loss.Graph().Assign(u.Target, l.Mean(u))
		}
		p.step = append(p.step, u)
	}
	return nil
}

// newCut cuts the step of a net in two. It compiles nothing.
func newCut(p *compiledNet) (*cut, error) {
	roots := []*graph.Node{p.loss}
	for _, u := range p.step {
		roots = append(roots, u.Target, u.Value)
	}
	upper := graph.ReachableUntil(isSum, roots...)
	c := &cut{above: graph.New(p.net.graph().Name()), reads: map[string]bool{}}
	if err := c.place(p, upper); err != nil {
		return nil, err
	}
	var below []*graph.Node
	for _, t := range c.terms {
		if t.sum != nil {
			below = append(below, t.sum.In(0))
		}
	}
	lower := graph.Reachable(below...)
	if err := p.common(upper, lower); err != nil {
		return nil, err
	}
	for _, n := range lower {
		c.meets = c.meets || match.SumsOverLanes(n)
		if n.Role() == graph.RoleState {
			c.reads[n.Path()] = true
		}
	}
	copies := copyAbove(c.above, upper, c.free)
	for i, t := range c.terms {
		c.terms[i].in = copies[t.sum]
	}
	for _, u := range p.step {
		c.step = append(c.step, c.above.Assign(copies[u.Target], copies[u.Value]))
	}
	c.loss = copies[p.loss]
	return c, c.above.Err()
}

// copyAbove copies nodes, which end at sums over lanes, to another graph, with inputs for the sums.
func copyAbove(g *graph.Graph, nodes []*graph.Node, name func(sum *graph.Node) string) map[*graph.Node]*graph.Node {
	copies := map[*graph.Node]*graph.Node{}
	for _, n := range nodes {
		in := make([]*graph.Node, n.NumIn())
		for i, x := range n.Inputs() {
			in[i] = copies[x]
		}
		g.During(n.First(), graph.Origin{}, func() {
			if isSum(n) {
				copies[n] = g.Input(name(n), n.DType(), n.Shape().Axes()...)
			} else {
				copies[n] = g.Copy(n, in)
			}
		})
		for _, o := range n.Occurrences() {
			o.Origin = graph.Origin{}
			g.Occur(copies[n], o)
		}
	}
	return copies
}

// place gives the sums among the nodes their places in a bucket: first the gradients, in the order of
// the parameters, and where two parameters have one gradient or one is not needed, a place all the
// same, then the others.
func (c *cut) place(p *compiledNet, nodes []*graph.Node) error {
	add := func(t term) {
		at := &c.f32
		if t.typ.DType == graph.F64 {
			at = &c.f64
		}
		t.at = *at
		*at += t.typ.Shape.Len()
		c.terms = append(c.terms, t)
	}
	rest := slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { return !isSum(n) })
	for _, u := range p.step {
		if _, trained := p.gradients[u.Target]; !trained {
			continue
		}
		t := term{typ: u.Target.Type(), param: u.Target}
		if i := slices.Index(rest, p.gradients[u.Target]); i >= 0 {
			t.sum = rest[i]
			rest = slices.Delete(rest, i, i+1)
		}
		add(t)
	}
	for _, n := range rest {
		if n.DType().IsHalf() {
			return fmt.Errorf("train: a sum over lanes of type %v, %v: want f32, by ops.Cast before it", n.DType(), n)
		}
		add(term{typ: n.Type(), sum: n})
	}
	return nil
}

// free returns a path for the input that stands for a sum: "gradient/PATH" for that of a parameter's
// gradients, for another one its name if it has one.
func (c *cut) free(n *graph.Node) string {
	i := slices.IndexFunc(c.terms, func(t term) bool { return t.sum == n })
	name := n.Name()
	if p := c.terms[i].param; p != nil {
		name = "gradient/" + p.Path()
	}
	if name == "" || c.above.Lookup(name) != nil {
		name = fmt.Sprintf("sum %d", i)
	}
	return name
}

// common returns an error if something above the sums is a lane's own: a column of the batch, or a
// random draw that lanes make too, each another one.
func (p *compiledNet) common(upper, lower []*graph.Node) error {
	below := map[*graph.Node]bool{}
	for _, n := range lower {
		below[n] = true
	}
	for _, n := range upper {
		what := ""
		switch {
		case isColumn(n):
			what = fmt.Sprintf("the rows of %s", n.Path())
		case match.Draws(n) && below[n]:
			what = fmt.Sprintf("the random draws of %v", n)
		default:
			continue
		}
		for _, u := range p.step {
			if slices.Contains(graph.ReachableUntil(isSum, u.Value), n) {
				return fmt.Errorf("train: the update of %s depends on %s, which each lane has its own of: sum it over the lanes by ops.SumRanks", u.Target.Path(), what)
			}
		}
	}
	return nil
}

// compileLane compiles the program of a lane.
func (c *cut) compileLane(ctx context.Context, g *graph.Graph, options ...tape.Option) error {
	var wanted []*graph.Node
	for _, t := range c.terms {
		if t.sum != nil {
			wanted = append(wanted, t.sum.In(0))
		}
	}
	res, err := rewrite.RunContext(ctx, g, wanted, rewrite.Passes()...)
	if err != nil {
		return err
	}
	var fetched []*graph.Node
	for i := range c.terms {
		if t := &c.terms[i]; t.sum != nil {
			t.take(res.Node(t.sum.In(0)))
			fetched = append(append(fetched, t.array), t.scales...)
		}
	}
	c.below = res.Graph
	c.lane, err = tape.CompileContext(ctx, res.Graph, append(options, tape.Passes(), tape.Fetch(fetched...))...)
	return err
}

// compileUpdate compiles the program of the update, of this rank's part where states are shared out.
func (c *cut) compileUpdate(ctx context.Context, p *compiledNet, ranks *parallel.Ranks, updates bool, options ...tape.Option) (err error) {
	step := c.step
	if ranks.Sharded() && ranks.Count() > 1 {
		c.shards = newShards(p, c, ranks.Count())
		step = c.shards.step(step, ranks.Rank())
	}
	check, names := checked(c.loss, step, updates)
	c.checks = names
	c.update, err = tape.CompileContext(ctx, c.above, append(options, tape.Do(step), tape.Fetch(c.loss), check)...)
	if err == nil && len(c.update.Sums()) > 0 {
		err = fmt.Errorf("train: the updates of %s have a sum over lanes in the body of a function: sum outside of it", c.above.Name())
	}
	return err
}

// agrees returns an error unless the update is the same as that of another cut, whose lanes have
// another number of rows, and so are the sums within.
func (c *cut) agrees(d *cut) error {
	form := func(c *cut) string { return checkpoint.Identify(0, c.loss, c.step).Fingerprint }
	switch {
	case c == d:
		return nil
	case c.meets && !slices.Equal(c.lane.Sums(), d.lane.Sums()):
		return fmt.Errorf("the sums over lanes inside of the loss of %s differ: %v and %v", c.above.Name(), c.lane.Sums(), d.lane.Sums())
	case form(c) == form(d):
		return nil
	}
	return fmt.Errorf("the updates of %s differ: they depend on the number of rows, and not through what is summed over the lanes", c.above.Name())
}

// compileCut returns the net of a step in lanes for lanes of a size, cut in two, with the programs
// that are asked for.
func (t *Trainer) compileCut(ctx context.Context, s size, update, lane bool) (*compiledNet, error) {
	shared := t.shared()
	shared.Lock()
	defer shared.Unlock()
	p, err := t.built(shared, s)
	if err != nil {
		return nil, err
	}
	if p.cut == nil {
		if p.cut, err = newCut(p); err != nil {
			return nil, err
		}
	}
	if update && p.cut.update == nil {
		if err := p.cut.compileUpdate(ctx, p, t.Ranks, t.CheckUpdates, t.arithmetic()...); err != nil {
			return nil, err
		}
	}
	if lane && p.cut.lane == nil {
		return p, p.cut.compileLane(ctx, p.net.graph(), t.arithmetic()...)
	}
	return p, nil
}

// take sets what the term is made of: n without its scalar factors.
func (t *term) take(n *graph.Node) {
	t.scale = 1
	for {
		x, by, ok := factored(n)
		if !ok || x.Shape().Len() != n.Shape().Len() {
			break
		}
		n = x
		if v, is := match.Literal(by); is {
			t.scale *= v
		} else if by != nil {
			t.scales = append(t.scales, by)
		}
	}
	t.array = n
}

// factored returns an array and a scalar of which n is the product; the scalar is nil for 1.
func factored(n *graph.Node) (x, by *graph.Node, ok bool) {
	switch {
	case n.Shape().Len() <= 1:
	case match.Is(n, match.Reshape):
		return n.In(0), nil, true
	case match.Is(n, match.Mul):
		for i := range 2 {
			if s := repeated(n.In(i)); s != nil {
				return n.In(1 - i), s, true
			}
		}
	}
	return nil, nil, false
}

// repeated returns the scalar that an array repeats; nil if it is no such array.
func repeated(n *graph.Node) *graph.Node {
	for n.Shape().Len() > 1 && (match.Is(n, match.Broadcast) || match.Is(n, match.Reshape)) {
		n = n.In(0)
	}
	if n.Shape().Len() != 1 {
		return nil
	}
	return n
}
