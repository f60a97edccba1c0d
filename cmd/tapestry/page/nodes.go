package page

import (
	"context"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/attr"
	"github.com/tapestry-ml/tapestry/inspect"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// variant is a graph whose values the page shows. Its kind begins the ids of its nodes.
type variant struct {
	kind   byte
	result *graph.Node
	roots  []*graph.Node // without derivatives
	grads  []*graph.Node

	byID   map[int]*graph.Node
	cone   []*graph.Node
	looped map[string][]*graph.Node // loops, by the path of the module that a drawing makes of each

	recorder *inspect.Recorder      // nil until the first record
	calls    map[*graph.Node]string // what nodes with names are called; nil until the first is asked for
}

// The kinds of variants, as their nodes' ids begin.
const (
	asWritten = 'n'
	rewritten = 'c' // by the passes that compiling runs
	asRun     = 'p' // the program's
	ofStep    = 's' // of a box in the step of a loop: the loop's number and one in it follow
)

// newVariant returns the variant of the nodes that the roots and derivatives depend on.
func newVariant(kind byte, result *graph.Node, roots, grads []*graph.Node) *variant {
	v := &variant{kind: kind, result: result, roots: roots, grads: grads, byID: map[int]*graph.Node{}}
	v.cone = graph.Reachable(v.all()...)
	for _, n := range v.cone {
		v.byID[n.ID()] = n
	}
	v.looped, _ = viz.Loops(v.all(), viz.At(viz.Notes)) // roots that cannot be drawn have none, and Draw says why
	return v
}

// all returns the roots and the derivatives.
func (v *variant) all() []*graph.Node { return slices.Concat(v.roots, v.grads) }

// graph returns the graph of the nodes.
func (v *variant) graph() *graph.Graph { return v.all()[0].Graph() }

// drawn returns the roots, and the derivatives if gradients is true.
func (v *variant) drawn(gradients bool) []*graph.Node {
	if gradients {
		return v.all()
	}
	return v.roots
}

// id returns the name of a node in requests and answers, or "" for nil.
func (v *variant) id(n *graph.Node) string {
	if n == nil {
		return ""
	}
	return string(v.kind) + strconv.Itoa(n.ID())
}

func (v *variant) ids(nodes []*graph.Node) []string {
	out := make([]string, 0, len(nodes))
	for _, n := range nodes {
		if id := v.id(n); !slices.Contains(out, id) {
			out = append(out, id)
		}
	}
	return out
}

// labels returns the labels of nodes, by id.
func (v *variant) labels(lists ...[]*graph.Node) map[string]string {
	out := map[string]string{}
	for _, nodes := range lists {
		for _, n := range nodes {
			out[v.id(n)] = v.called(n)
		}
	}
	return out
}

// opName returns the name of a node's operation, or the role of a leaf.
func opName(n *graph.Node) string {
	if n.Role() == graph.RoleOp {
		return n.Op().Name()
	}
	return n.Role().String()
}

// label returns the name of a node, or its operation if it has none.
func label(n *graph.Node) string {
	if n.Name() != "" || n.Path() != "" {
		return n.Label()
	}
	if c, is := n.Constant(); is && n.Rank() == 0 {
		return attr.FloatOf(c.Data[0]).String()
	}
	return opName(n)
}

// node finds a node by its id, and the variant that has it.
func (d *document) node(ctx context.Context, id string) (*graph.Node, *variant, error) {
	none := failf(notFound, "there is no node %q", id)
	if len(id) < 2 {
		return nil, nil, none
	}
	i, err := strconv.Atoi(id[1:])
	if err != nil || strconv.Itoa(i) != id[1:] {
		return nil, nil, none
	}
	v := d.asWritten
	switch id[0] {
	case asWritten:
	case rewritten:
		v, err = d.compiled(ctx)
	case asRun:
		var p *program
		if p, err = d.program(); err == nil {
			v = p.variant
		}
	default:
		return nil, nil, none
	}
	if err != nil {
		return nil, nil, err
	}
	if n := v.byID[i]; n != nil {
		return n, v, nil
	}
	return nil, nil, none
}

// modules lists the scopes of a variant's nodes and those around them, in order of
// appearance, with the nodes in each.
func (v *variant) modules() (paths []string, members map[string][]*graph.Node) {
	members = map[string][]*graph.Node{}
	for _, n := range v.cone {
		for p := n.First().Scope; p != ""; p = p[:max(strings.LastIndexByte(p, '/'), 0)] {
			if members[p] == nil {
				paths = append(paths, p)
			}
			members[p] = append(members[p], n)
		}
	}
	for p, nodes := range v.looped {
		if members[p] == nil {
			paths = append(paths, p)
		}
		members[p] = append(members[p], nodes...)
	}
	slices.Sort(paths)
	return paths, members
}

// module finds the scope that a module's id names.
func (v *variant) module(id string) (path string, members []*graph.Node, found bool) {
	paths, of := v.modules()
	for _, p := range paths {
		for _, backward := range []bool{false, true} {
			if figure.ModuleID(p, backward) == id {
				var in []*graph.Node
				for _, n := range of[p] {
					if n.IsBackward() == backward {
						in = append(in, n)
					}
				}
				return p, in, true
			}
		}
	}
	return "", nil, false
}
