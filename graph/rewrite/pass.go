package rewrite

import (
	"context"
	"errors"
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Pass is one step of the list: it rebuilds the graph node by node.
type Pass struct {
	Name string
	Why  string // what it is for, and why it stands where it stands
	// rules are tried on every node, in order, until none fits.
	rules []Rule
	// forward leaves derivatives alone, because a later pass takes them again.
	forward bool
	// derive differentiates again where the graph remembers a derivation.
	derive bool
	// outermost leaves bodies alone.
	outermost bool
	// about, if it is there, reports whether a graph holds what the pass is about: otherwise the
	// pass is left out.
	about func(g *graph.Graph) bool
	// unshared, if it is there, makes the rules of a run, which ask whether several nodes read a node,
	// or the caller wants it.
	unshared func(shared func(n *graph.Node) bool) []Rule
}

// holds makes of a question about nodes the one whether a graph has such a node.
func holds(is func(n *graph.Node) bool) func(g *graph.Graph) bool {
	return func(g *graph.Graph) bool { return slices.ContainsFunc(g.Nodes(), is) }
}

// Rules lists the rules of the pass in the order of trial.
func (p Pass) Rules() []Rule { return append([]Rule(nil), p.rules...) }

// Rule is one row of a rule table. Apply gets a node of the new graph, whose inputs are already
// rewritten, and returns its replacement, or nil.
type Rule struct {
	Name  string
	Why   string // the mathematics, or the reason
	Apply func(n *graph.Node) *graph.Node
}

// simplify lists the rules of the passes of that name.
var simplify = slices.Concat(empty, fold, algebra, layouts, parts, factors)

// Passes returns the list that tape.Compile runs.
func Passes() []Pass {
	return []Pass{
		{Name: "stabilise", rules: slices.Concat(empty, function(false), stabilise, exponentials), forward: true,
			Why: "overflow is removed before algebra can hide the patterns, and before gradients are derived"},
		{Name: "specialise", rules: slices.Concat(specialise, standardised), forward: true,
			Why: "large intermediates are removed from the forward cone, so that the gradients derived next never see them"},
		{Name: "simplify", rules: slices.Concat(specialise, standardised, simplify, stabilise, exponentials), forward: true,
			Why: "gradients are derived of the loss in its last form: they would differentiate trivial terms too; " +
				"and what stands out only once constants, layouts and factors are in order is specialised and stabilised here"},
		{Name: "fission", rules: slices.Concat(fission, specialise, simplify, stabilise, exponentials), forward: true, outermost: true, about: holds(isLoop),
			Why: "what a loop need not compute step by step leaves it; before gradients are derived, whose loops then begin with less"},
		{Name: "derive", derive: true,
			Why: "gradients follow: each is taken again of the loss as it now is"},
		{Name: "simplify", rules: slices.Concat(function(true), simplify, sums, turned),
			Why: "constants and trivial terms that gradients bring, and products that are cheaper after a sum, or turned"},
		{Name: "fission", rules: slices.Concat(fission, simplify), outermost: true, about: holds(isLoop),
			Why: "so it is with the loops of gradients, once they hold no trivial terms"},
		{Name: "moments", rules: slices.Concat(moments, simplify, sums, []Rule{channelFactors}), about: holds(standardises),
			Why: "statistics of channels are taken step by step, and once; after the gradients, which are those of the whole, are in their " +
				"last form"},
		{Name: "rows", rules: slices.Concat(rows, simplify), about: holds(writesRows),
			Why: "a step on a table touches the rows that were gathered; after the gradients are in their last form, with the trivial " +
				"terms that it brings itself"},
		{Name: "accumulate", rules: accumulating(nil), unshared: accumulating, about: accumulates,
			Why: "a sum of large arrays takes the place of its first; once the tables of which few rows are touched are out of the way"},
		{Name: "channels", rules: channelRules(nil), unshared: channelRules, outermost: true, about: withoutGradients,
			Why: "a batch norm in evaluation goes into the weights of the convolution before it; where there are no gradients, and once " +
				"transposes and factors are where they stay"},
		{Name: "dead code",
			Why: "what rules left behind; last, so that nothing unused is compiled"},
	}
}

// FastMath returns [Passes] with one more before the last, which gives digits away for speed.
// tape.FastMath compiles with this list, and says what that costs.
func FastMath() []Pass {
	passes := Passes()
	return slices.Insert(passes, len(passes)-1, Pass{Name: "fast math", rules: slices.Concat(gram(leastGain), simplify),
		Why: "differences of all pairs of rows become products; after the gradients, which are taken of distances, or they would " +
			"differentiate the norms and the products"})
}

// Entry is one line of the log.
type Entry struct {
	Pass, Rule    string
	Before, After string // the node, as text, in the graph before and after
	Pos           graph.Pos
}

// String returns the entry as one line.
func (e Entry) String() string {
	return fmt.Sprintf("%s: %s: %s  →  %s", e.Pass, e.Rule, e.Before, e.After)
}

// Result is a rewritten graph.
type Result struct {
	Graph *graph.Graph
	Log   []Entry
	nodes map[*graph.Node]*graph.Node
}

// Node returns the new node that computes what n computed, nil if n was not wanted.
func (r *Result) Node(n *graph.Node) *graph.Node { return r.nodes[n] }

// LogText returns the log, a line for each entry.
func (r *Result) LogText() string {
	var b strings.Builder
	for _, e := range r.Log {
		b.WriteString(e.String() + "\n")
	}
	return b.String()
}

// Run applies the passes to the cone of the wanted nodes. Nodes that nothing
// wanted depends on are left out (dead code). The old graph is not changed. The
// leaves keep their paths and random draws their keys; the updates of the graph
// come along where both sides are wanted.
func Run(g *graph.Graph, wanted []*graph.Node, passes ...Pass) (*Result, error) {
	return RunContext(context.Background(), g, wanted, passes...)
}

// RunBeside is Run for the wanted nodes; it then adds to the new graph what computes others,
// sharing nodes that are there. The nodes that the wanted ones need have the same numbers and order
// as without others. It is stopped with the error of ctx once ctx is done.
func RunBeside(ctx context.Context, g *graph.Graph, wanted, others []*graph.Node, passes ...Pass) (_ *Result, err error) {
	defer catch(&err)
	res, err := run(ctx, g, wanted, passes, nil)
	if err != nil || len(others) == 0 {
		return res, err
	}
	all, err := run(ctx, g, slices.Concat(wanted, others), passes, nil)
	if err != nil {
		return nil, err
	}
	b := &builder{to: res.Graph, node: make([]*graph.Node, all.Graph.Len())}
	there := res.Graph.Len()
	for _, n := range graph.Reachable(mapped(all, others)...) {
		look(ctx)
		in := make([]*graph.Node, n.NumIn())
		for i := range in {
			in[i] = b.of(n.In(i))
		}
		at := b.standing(n)
		b.to.During(at, b.origin(at, n, ""), func() { b.node[n.ID()] = b.to.Copy(n, in) })
		if y := b.of(n); y.ID() >= there {
			b.inherit(n, y, "")
		}
	}
	res.Log = all.Log
	for _, n := range others {
		res.nodes[n] = b.of(all.Node(n))
	}
	return res, nil
}

func mapped(res *Result, nodes []*graph.Node) []*graph.Node {
	out := make([]*graph.Node, len(nodes))
	for i, n := range nodes {
		out[i] = res.Node(n)
	}
	return out
}

// run applies the passes, until ctx is done; a nil ctx is never done.
func run(ctx context.Context, g *graph.Graph, wanted []*graph.Node, passes []Pass, rec *recorder) (_ *Result, err error) {
	defer catch(&err)
	if g == nil {
		return nil, errors.New("the graph is nil")
	}
	if err := g.Err(); err != nil {
		return nil, err
	}
	for _, n := range wanted {
		if n == nil || n.Graph() != g || !n.IsValid() {
			return nil, fmt.Errorf("%v is no node of graph %q", n, g.Name())
		}
	}
	res := &Result{Graph: g, nodes: map[*graph.Node]*graph.Node{}}
	for _, n := range wanted {
		res.nodes[n] = n
	}
	for _, p := range passes {
		if p.about != nil && !p.about(res.Graph) {
			continue
		}
		res.Log = append(res.Log, res.step(ctx, wanted, p, rec)...)
		if p.derive && hasCuts(res.Graph) {
			res.step(ctx, wanted, join, nil)
		}
	}
	return res, nil
}

// step runs one more pass.
func (r *Result) step(ctx context.Context, wanted []*graph.Node, p Pass, rec *recorder) (log []Entry) {
	b := rebuild(ctx, r.Graph, mapped(r, wanted), p, rec)
	if err := b.to.Err(); err != nil {
		panic(fmt.Sprintf("rewrite: pass %q built a wrong node: %v", p.Name, err))
	}
	r.Graph = b.to
	for n, was := range r.nodes {
		r.nodes[n] = b.of(was)
	}
	return b.log
}
