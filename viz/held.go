package viz

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// Params says where parameters are drawn.
type Params uint8

// The places of parameters.
const (
	// ParamsAuto is ParamsInside for a dense drawing, and else ParamsApart. See [DenseAbove].
	ParamsAuto Params = iota
	// ParamsInside writes parameters that one operation uses into its box, with their sizes:
	// "w 32×64 · b 64". A derivative by such a parameter is written into the box of the derivative
	// that it is computed from.
	ParamsInside
	// ParamsApart gives each parameter a box of its own.
	ParamsApart
)

// DenseAbove draws a graph of more than n boxes densely, so that it fits a page: small texts, boxes
// close together, parameters in the boxes of their users, no axes at arrays and edges where names
// are enough, and one box for what is computed from constants alone. The default is 30; a negative
// n never does. Levels [Primitive] and [Compiled], which show every node, are never dense.
func DenseAbove(n int) Option { return func(o *options) { o.dense = n } }

// Parameters says where parameters are drawn. The default is [ParamsAuto].
func Parameters(p Params) Option { return func(o *options) { o.params = p } }

// denseAbove is the number of boxes from which a drawing needs more than a page.
const denseAbove = 30

// isDense reports whether a drawing of so many boxes is dense.
func (v *view) isDense(boxes int) bool {
	return v.options.dense >= 0 && boxes > v.options.dense && v.options.level < Primitive
}

// held returns, for parameters and derivatives by them that are written into the box of another
// node, that node. The key function tells nodes of one box; dense says whether there are many.
func (v *view) held(key func(*graph.Node) string, dense bool) map[*graph.Node]*graph.Node {
	if v.options.params == ParamsApart || v.options.params == ParamsAuto && !dense {
		return nil
	}
	users, sources := map[*graph.Node][]*graph.Node{}, map[*graph.Node][]*graph.Node{}
	add := func(to map[*graph.Node][]*graph.Node, at, n *graph.Node) {
		if !slices.Contains(to[at], n) {
			to[at] = append(to[at], n)
		}
	}
	for _, l := range v.flow() {
		from, to := v.drawn(l.from), v.drawn(l.to)
		if v.backward[from] || !v.backward[to] {
			add(users, from, to)
		}
		if v.backward[from] && v.backward[to] {
			add(sources, to, from)
		}
	}
	assigned := map[*graph.Node]bool{}
	for _, targets := range v.updates {
		for _, n := range targets {
			assigned[n] = true
		}
	}
	own := func(n *graph.Node) bool { return key(n) == v.boxID(n) } // a box of its own
	out := map[*graph.Node]*graph.Node{}
	for _, n := range v.shown {
		if n.Role() == graph.RoleParam && !assigned[n] && own(n) && len(users[n]) == 1 && own(users[n][0]) {
			out[n] = users[n][0]
		}
	}
	for _, n := range v.shown {
		if a, ok := v.of[n]; ok && out[v.drawn(a.Of)] != nil && own(n) && len(v.updates[n]) == 0 && len(users[n]) == 0 && len(sources[n]) == 1 && own(sources[n][0]) {
			out[n] = sources[n][0]
		}
	}
	return out
}

// boxes returns the number of boxes that a key function gives.
func (v *view) boxes(key func(*graph.Node) string) int {
	met := map[string]bool{}
	for _, n := range v.shown {
		met[key(n)] = true
	}
	return len(met)
}

// hold writes parameters, or derivatives by parameters, into a box.
func (v *view) hold(b *figure.Node, held []*graph.Node) {
	name := map[*graph.Node]string{}
	users := map[string]int{}
	for _, n := range held {
		of := n
		if a, ok := v.of[n]; ok {
			of = a.Of
		}
		name[n] = v.plain(of)
		users[name[n]]++
	}
	var parts []string
	for _, n := range held {
		of, s := n, name[n]
		if a, ok := v.of[n]; ok {
			of = a.Of
		}
		if users[s] > 1 {
			s = v.names.of(of)
		}
		s = picturedName(s)
		if of != n {
			s = "∂" + grouped(s)
		} else {
			s = strings.TrimSpace(s + " " + sizes(n))
		}
		parts = append(parts, s)
		b.Title += "\nwith " + v.describe(n)
	}
	b.Params = strings.Join(parts, " · ")
}

// sizes returns the sizes of the axes of a node, as 32×64: in a line that several parameters share
// there is no room for the names of the axes, which their tooltip has.
func sizes(n *graph.Node) string {
	var out []string
	for _, s := range n.Shape().Sizes() {
		out = append(out, strconv.Itoa(s))
	}
	return strings.Join(out, "×")
}
