package viz

import (
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// names has the name of each quantity in formulas. Quantities that the user gave one name are
// told apart by their scopes: fc1.w and fc2.w. Those that were given it in one scope are told apart
// by the scopes in which they are computed: norm1.normed and norm2.normed.
type names map[*graph.Node]string

// nameAll names those of the nodes that the user named.
func nameAll(nodes []*graph.Node) names {
	m := names{}
	long := map[*graph.Node]length{}
	for {
		users := map[string][]*graph.Node{}
		for _, n := range nodes {
			if s, ok := qualified(n, long[n]); ok {
				m[n] = s
				users[s] = append(users[s], n)
			}
		}
		clash := false
		for _, same := range users {
			for _, n := range same {
				if longer, ok := long[n].next(n); len(same) > 1 && ok {
					long[n], clash = longer, true
				}
			}
		}
		if !clash {
			for s, same := range users {
				for _, n := range same {
					if len(same) > 1 {
						m[n] = s + "#" + strconv.Itoa(n.ID())
					}
				}
			}
			return m
		}
	}
}

// length says how much of a path a name has: so many innermost scopes, of the path where the user
// named the node or of that where it is computed.
type length struct {
	scopes   int
	computed bool
}

// next returns the next longer name, if there is one.
func (l length) next(n *graph.Node) (length, bool) {
	l.scopes++
	if _, ok := qualified(n, l); ok {
		return l, true
	}
	at, _ := userName(n)
	if l.computed || n.First().Scope == at.Scope {
		return l, false
	}
	l = length{1, true}
	_, ok := qualified(n, l)
	return l, ok
}

// invent names the unnamed nodes u₁, u₂, …, counted from first, or by another letter if such a
// name is taken.
func (m names) invent(nodes []*graph.Node, first int) {
	taken := map[string]bool{}
	for _, s := range m {
		taken[s] = true
	}
	for _, letter := range []string{"u", "z", "s", "τ", "temporary"} {
		name := func(k int) string {
			digits, _ := translate(strconv.Itoa(first+k), "0123456789", "₀₁₂₃₄₅₆₇₈₉")
			return letter + digits
		}
		free := true
		for k := range nodes {
			free = free && !taken[name(k)]
		}
		if free {
			for k, n := range nodes {
				m[n] = name(k)
			}
			return
		}
	}
}

// qualified returns the user's name of a node after as much of its path as given.
func qualified(n *graph.Node, l length) (string, bool) {
	at, ok := userName(n)
	if !ok {
		return "", false
	}
	scope := at.Scope
	if l.computed {
		scope = n.First().Scope
	}
	path := strings.Split(scope, "/")
	if scope == "" {
		path = nil
	}
	if l.scopes > len(path) {
		return "", false
	}
	return strings.Join(append(path[len(path)-l.scopes:len(path):len(path)], at.Name), "."), true
}

// userName returns the first occurrence at which the user named the node. Names that the
// differentiator gives do not count.
func userName(n *graph.Node) (graph.Occurrence, bool) {
	for _, o := range n.Occurrences() {
		if o.Name != "" && o.Origin.Kind != graph.FromAdjoint {
			o.Name = oneLine(o.Name)
			return o, true
		}
	}
	return graph.Occurrence{}, false
}

// adjoints lists what the node is the derivative of, with the losses, in order. A forward node
// that happens to be the derivative of a younger one is left out, because names would refer to
// each other in a circle.
func adjoints(n *graph.Node) []graph.Origin {
	var out []graph.Origin
	for _, o := range n.Occurrences() {
		if o.Origin.Kind == graph.FromAdjoint && o.Origin.Of.ID() < n.ID() {
			out = append(out, o.Origin)
		}
	}
	return out
}

// of returns the name of a node: the user's, ∂loss/∂D for a derivative, or else %12.
func (m names) of(n *graph.Node) string {
	if !n.IsValid() {
		return "invalid"
	}
	if s, ok := m[n]; ok {
		return s
	}
	for _, o := range adjoints(n) {
		if m.known(o.Of) {
			return m.adjoint(o)
		}
	}
	return "%" + strconv.Itoa(n.ID())
}

// several reports whether the user gave n the name of another quantity in the same scope.
func (m names) several(n *graph.Node) bool {
	at, ok := userName(n)
	own := strings.ReplaceAll(at.Scope, "/", ".") + "." + at.Name
	return ok && !strings.HasSuffix("."+own, "."+m[n])
}

// known reports whether the user named n, or the quantity that n is the derivative by.
func (m names) known(n *graph.Node) bool {
	if _, ok := m[n]; ok {
		return true
	}
	for _, o := range adjoints(n) {
		if m.known(o.Of) {
			return true
		}
	}
	return false
}

// adjoint returns ∂loss/∂D. An unnamed loss is ℓ.
func (m names) adjoint(o graph.Origin) string {
	loss := "ℓ"
	if m.known(o.Loss) {
		loss = m.of(o.Loss)
	}
	return "∂" + grouped(loss) + "/∂" + grouped(m.of(o.Of))
}

// others lists further derivatives that the node happens to be.
func (m names) others(n *graph.Node) []string {
	var out []string
	for _, o := range adjoints(n) {
		if s := m.adjoint(o); m.known(o.Of) && s != m.of(n) && !slices.Contains(out, s) {
			out = append(out, s)
		}
	}
	return out
}

// grouped puts a name that is itself a fraction into parentheses.
func grouped(name string) string {
	if strings.ContainsRune(name, '/') {
		return "(" + name + ")"
	}
	return name
}

// oneLine replaces control characters of a name by blanks.
func oneLine(s string) string {
	s = figure.Unmarked(s)
	return strings.Map(func(r rune) rune {
		if r < ' ' || r == 0x7F || r == '\u2028' || r == '\u2029' || r >= 0x80 && r < 0xA0 {
			return ' '
		}
		if r == 0xFFFE || r == 0xFFFF { // not characters of XML
			return '\uFFFD'
		}
		return r
	}, strings.ToValidUTF8(s, "\uFFFD"))
}

// axisNames returns the indices of a node's elements, the names of its axes. An axis of size 1
// has none, since its index has only one value.
func axisNames(n *graph.Node) []string {
	if !n.IsValid() {
		return nil
	}
	var out []string
	for _, a := range n.Shape().Axes() {
		if a.Size > 1 && a.Name != "" {
			out = append(out, a.Name)
		}
	}
	return out
}
