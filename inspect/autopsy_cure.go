package inspect

import (
	"context"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/rewrite"
)

// Cure says whether the stabilising rewrites make the run finite.
type Cure struct {
	Rules []Stabilised // that fired near the fault
	Works bool         // every result is finite
	// Result is the first result that was not finite, and After is its value under the rewrites.
	Result Entry
	After  float64
	// Left is the fault that remains in the rewritten graph, another one or the same; nil if the
	// rewrites work.
	Left *Finding
}

// Stabilised is a place where a rule fired.
type Stabilised struct {
	Rule, Why string
	Before    *graph.Node // as written
	After     *graph.Node // in the rewritten graph
}

// cure runs the roots again with the stabilising rewrites, and with gradients derived from the
// rewritten graph; it returns nil if no rule fires.
func (r *Record) cure(ctx context.Context, f *Finding, roots []*graph.Node) (*Cure, error) {
	if f.Harmless() {
		return nil, nil
	}
	var stabilise, derive rewrite.Pass
	for _, p := range rewrite.Passes() {
		switch p.Name {
		case "stabilise":
			stabilise = p
		case "derive":
			derive = p
		}
	}
	g := graph.Of(roots...)
	res, err := rewrite.RunContext(ctx, g, roots, stabilise)
	if err != nil || len(res.Log) == 0 {
		return nil, err
	}
	c := &Cure{Works: true, Result: f.At}
	if k := len(f.Carried); k > 0 {
		c.Result = f.Carried[k-1]
	}
	c.Rules = fired(res.Graph, stabilise, g, f)
	if len(c.Rules) == 0 {
		return nil, nil // only elsewhere
	}
	if res, err = rewrite.RunContext(ctx, g, roots, stabilise, derive); err != nil {
		return nil, err
	}
	after := make([]*graph.Node, len(roots))
	for i, n := range roots {
		after[i] = res.Node(n)
	}
	again, err := Take(ctx, Feed(r.feed, res.Graph), r.store, after...)
	if err != nil {
		return nil, err
	}
	for i, n := range roots {
		if again.count(after[i]) > 0 {
			c.Works = false
		}
		if n == c.Result.Node {
			c.After = again.values[after[i]].At(ravel(n.Shape(), c.Result.Index))
		}
	}
	if !c.Works {
		c.Left, err = again.firstBad(ctx, after)
	}
	return c, err
}

// fired lists where a pass replaced a node that is not finite, a node that such a node is
// computed from, or one computed from it.
func fired(to *graph.Graph, pass rewrite.Pass, from *graph.Graph, f *Finding) []Stabilised {
	why := map[string]string{}
	for _, rule := range pass.Rules() {
		why[rule.Name] = rule.Why
	}
	fault := []*graph.Node{f.At.Node}
	if f.Twin != nil {
		fault = append(fault, f.Twin.Node)
	}
	var out []Stabilised
	listed := map[*graph.Node]bool{}
	for _, n := range to.Nodes() {
		for _, o := range n.Occurrences() {
			was := o.Origin.Was
			if o.Origin.Rule == "" || was == nil || was.Graph() != from || listed[was] {
				continue
			}
			for _, x := range fault {
				if !listed[was] && (was.DependsOn(x) || x.DependsOn(was)) {
					listed[was] = true
					rule := strings.TrimPrefix(o.Origin.Rule, pass.Name+": ")
					out = append(out, Stabilised{rule, why[rule], was, n})
				}
			}
		}
	}
	return out
}
