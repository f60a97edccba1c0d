package viz

import (
	"fmt"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// values is the part of a graph that the matching walks through: what computes values, without
// changes of layout, which stand beside the operands, and without single numbers.
type values struct {
	*view
	nodes  []*graph.Node // inputs before their users
	at     map[*graph.Node]int
	in     [][]operand
	users  [][]use
	height []int
	called []int            // the same for nodes that are equal in the names of leaves too
	equal  []int            // the same for nodes that compute the same up to the names of leaves
	down   [reach + 1][]int // the same for nodes with like operands, that many steps down
	up     [reach + 1][]int // the same for nodes with like users, that many steps up
	inside map[*graph.Node]*distance
	forms  map[formKey]string
}

// reach is how far signatures look.
const reach = 3

type operand struct {
	node int    // -1 for a single number
	how  string // how it lies, and the number
}

type use struct {
	node, as int // the user, and which operand of it
}

type formKey struct {
	node  *graph.Node
	exact bool
}

// newValues reads a graph. ids numbers texts, for both sides alike.
func newValues(v *view, nodes []*graph.Node, ids map[string]int) *values {
	w := &values{view: v, at: map[*graph.Node]int{}, inside: map[*graph.Node]*distance{}, forms: map[formKey]string{}}
	backward := columns(nodes)
	for _, n := range nodes {
		if _, single := singleNumber(n); single || isLayout(n) || backward[n] {
			continue
		}
		if d := distanceOf(n); d != nil && v.options.level == Notes {
			w.inside[n] = d
		}
		w.at[n] = len(w.nodes)
		w.nodes = append(w.nodes, n)
	}
	id := func(s string) int {
		if _, met := ids[s]; !met {
			ids[s] = len(ids)
		}
		return ids[s]
	}
	w.in, w.users = make([][]operand, len(w.nodes)), make([][]use, len(w.nodes))
	w.height, w.equal, w.called = make([]int, len(w.nodes)), make([]int, len(w.nodes)), make([]int, len(w.nodes))
	for i, n := range w.nodes {
		v.look()
		for k, x := range w.operands(n) {
			root, how := lie(x)
			o := operand{-1, how}
			if at, ok := w.at[root]; ok {
				o.node = at
				w.height[i] = max(w.height[i], w.height[at]+1)
				if commutes(n) {
					k = 0
				}
				if u := (use{i, k}); !slices.Contains(w.users[at], u) {
					w.users[at] = append(w.users[at], u)
				}
			} else if c, single := singleNumber(root); single {
				o.how += " " + c.String()
			}
			w.in[i] = append(w.in[i], o)
		}
		w.equal[i] = id("equal " + w.signature(i, true, w.equal))
		w.called[i] = id("called " + n.Path() + " " + w.signature(i, true, w.called))
	}
	for r := range w.down {
		w.down[r], w.up[r] = make([]int, len(w.nodes)), make([]int, len(w.nodes))
		for i, n := range w.nodes {
			if r == 0 {
				w.down[r][i] = id(w.form(n, false))
				w.up[r][i] = w.down[r][i]
				continue
			}
			w.down[r][i] = id("down " + w.signature(i, false, w.down[r-1]))
			var above []string
			for _, u := range w.users[i] {
				above = append(above, fmt.Sprintf("%d %d", u.as, w.up[r-1][u.node]))
			}
			slices.Sort(above)
			w.up[r][i] = id("up " + w.form(n, false) + "\n" + strings.Join(above, "\n"))
		}
	}
	return w
}

// signature describes a node by its form and by what is known of its operands.
func (w *values) signature(i int, exact bool, known []int) string {
	var parts []string
	for _, o := range w.in[i] {
		switch {
		case o.node >= 0:
			parts = append(parts, fmt.Sprintf("%d %s", known[o.node], o.how))
		case exact:
			parts = append(parts, "number "+o.how)
		default:
			parts = append(parts, "number")
		}
	}
	if commutes(w.nodes[i]) {
		slices.Sort(parts)
	}
	return w.form(w.nodes[i], exact) + "\n" + strings.Join(parts, "\n")
}

// form is [form], for distances that of the operation of the library.
func (w *values) form(n *graph.Node, exact bool) string {
	k := formKey{n, exact}
	s, met := w.forms[k]
	if !met {
		if s = form(n, exact); w.inside[n] != nil || match.Is(n, match.SqDist) {
			s = "distance"
		}
		w.forms[k] = s
	}
	return s
}

// operands returns the operands of a node, for distances those of the operation of the library.
func (w *values) operands(n *graph.Node) []*graph.Node {
	if d := w.inside[n]; d != nil {
		return d.operands[:]
	}
	return n.Inputs()
}

// steps returns the nodes on the way to a distance that no other value needs.
func (w *values) steps(d *distance) []*graph.Node {
	var out []*graph.Node
	uses := w.usersOf()
	for _, n := range []*graph.Node{d.square, d.minus} {
		forward := 0
		for _, u := range uses[n] {
			if !w.backward[u] {
				forward++
			}
		}
		if forward > 1 || w.roots[n] {
			break
		}
		out = append(out, n)
	}
	return out
}

// givenName returns the user's name of a node, or "".
func givenName(n *graph.Node) string {
	at, _ := userName(n)
	return at.Name
}
