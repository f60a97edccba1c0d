package viz

import (
	"regexp"
	"slices"
	"strconv"
	"strings"
	"unicode"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// Lengths of texts of a sketch, in characters.
const (
	equationLength = 26
	wordLength     = 20
)

// sketch makes the sketch of the current detail.
func (s *sketcher) sketch() *figure.Sketch {
	s.form()
	return s.compose()
}

// compose makes the sketch of the groups.
func (s *sketcher) compose() *figure.Sketch {
	out := &figure.Sketch{}
	for _, g := range s.groups {
		s.addSigns(out, g)
	}
	s.addArrows(out)
	if s.body == nil {
		s.addLevels(out)
	}
	return out
}

// sign returns the sign of a group, without its id.
func (s *sketcher) sign(g *group) figure.Sign {
	n := g.last()
	out := figure.Sign{Role: s.role(n), Title: s.describe(n)}
	if s.body != nil && (out.Role == figure.Output || out.Role == figure.Loss) {
		out.Role = figure.Op
	}
	switch {
	case g.closed != "":
		return s.closedSign(g)
	case n.NumIn() == 0:
		first, _ := s.leafLabel(n)
		if _, number := n.Default(); !number && s.named(n) {
			first = s.clipped(n) // there are no scopes around it
		}
		out.Lines = []string{first}
		out.Above = s.isAbove(n)
		if s.body != nil && slices.Contains(s.body.In(), n) {
			out.Above, out.Side = false, -1
			if s.given[n] {
				out.Role = figure.Param
			}
		}
		return out
	case trait.LoopBody(n) != nil:
		out.Inner = s.step(n, g.id)
		out.Sub = s.loopTitle(n)
		return out
	}
	if out.Role == figure.Reduce || out.Role == figure.Const {
		out.Role = figure.Op
	}
	if len(s.updates[n]) > 0 {
		out.Lines = []string{s.plain(s.updates[n][0]) + " ←"}
	}
	if s.joins(g.members[0]) {
		out.Form = figure.Disc
		out.Lines = append(out.Lines, s.operatorOf(g.members[0]))
		for _, m := range g.members[1:] {
			if !s.slight(m) {
				out.Form = figure.Boxed
				out.Lines = append(out.Lines, s.word(m))
			}
		}
	} else {
		out.Lines = append(out.Lines, s.words(g)...)
		if len(out.Lines) == 1 && width(out.Lines[0]) == 1 && !strings.ContainsFunc(out.Lines[0], unicode.IsLetter) {
			out.Form = figure.Disc
		}
	}
	if out.Role == figure.Update {
		out.Form = figure.Boxed
	}
	return out
}

func (s *sketcher) operatorOf(n *graph.Node) string {
	if s.sums(n) || s.contracts(n) {
		return "Σ"
	}
	return s.joiner(n)
}

// labelOf returns the name of what a group computes, with the number of a part, and its equation if
// that is short.
func (s *sketcher) labelOf(g *group, part string) string {
	n := g.last()
	if !s.named(n) || n.NumIn() == 0 {
		return ""
	}
	name := s.name(n, part)
	if trait.LoopBody(n) != nil || g.closed != "" || isLayout(n) || s.slices(g) || len(s.updates[n]) > 0 || !s.detail.params {
		return name
	}
	if e := s.text(s.indexed(s.abbreviated(n), part)); width(name)+3+width(e) <= equationLength && !strings.Contains(e, "_") {
		return name + " = " + e
	}
	return name
}

// slices reports whether a group takes parts of what it reads, whose indices would be left out.
func (s *sketcher) slices(g *group) bool {
	var walk func(n *graph.Node) bool
	walk = func(n *graph.Node) bool {
		for i := range n.NumIn() {
			x := n.In(i)
			if _, part := s.part[x]; part || s.visible[x] && s.member[x] != g {
				continue
			}
			if match.Is(x, match.Slice) || match.Is(x, match.Place) || walk(x) {
				return true
			}
		}
		return false
	}
	return slices.ContainsFunc(g.members, func(n *graph.Node) bool { return match.Is(n, match.Slice) || match.Is(n, match.Place) || walk(n) })
}

// name returns the name of a node or of a part of it.
func (s *sketcher) name(n *graph.Node, part string) string {
	if part == "" {
		return s.plain(n)
	}
	digits, _ := translate(part, "0123456789", "₀₁₂₃₄₅₆₇₈₉")
	return s.plain(n) + digits
}

// text prints an expression with the numbers of parts as subscripts.
func (s *sketcher) text(e expr.Expr) string {
	return partNumber.ReplaceAllStringFunc(Unicode(e), func(m string) string {
		digits, _ := translate(m[1:], "0123456789", "₀₁₂₃₄₅₆₇₈₉")
		return digits
	})
}

// partNumber matches a subscript that is the number of a part.
var partNumber = regexp.MustCompile(`_[0-9]+\b`)

// indexed puts the number of a part for its index, and leaves out other indices, as lectures do for
// vectors.
func (s *sketcher) indexed(e expr.Expr, part string) expr.Expr {
	var from, to []string
	for _, index := range free(e) {
		switch {
		case index == s.axis && part != "":
			from, to = append(from, index), append(to, part)
		case index != s.axis:
			from, to = append(from, index), append(to, "")
		}
	}
	return rename(e, from, to)
}

// derivativeOf returns ∂D₁, and its equation if that is short.
func (s *sketcher) derivativeOf(g *group, part string) string {
	n := g.last()
	d := s.by[n]
	if d == nil || !s.named(n) || g.closed != "" {
		return ""
	}
	name := "∂" + grouped(s.name(n, part))
	if n.NumIn() == 0 && part == "" {
		name = "∂" + grouped(s.clipped(n))
	}
	if len(s.losses) > 1 {
		return name
	}
	if c, ok := d.Constant(); ok && uniform(c) {
		return name + " = " + Unicode(s.abbreviated(d))
	}
	if trait.LoopBody(n) != nil || s.slices(g) {
		return name
	}
	if e := s.text(s.indexed(s.abbreviated(d), part)); width(name)+3+width(e) <= equationLength && !strings.ContainsAny(e, "%_") {
		return name + " = " + e
	}
	return name
}

// isAbove reports whether a leaf belongs above the operation that uses it: hyperparameters, and
// what an operation reads besides the value that flows through it.
func (s *sketcher) isAbove(n *graph.Node) bool {
	if s.role(n) == figure.Hyper {
		return true
	}
	if s.spread(n) || len(s.users[n]) != 1 {
		return false
	}
	u := s.users[n][0]
	if n.Role() == graph.RoleState {
		return true
	}
	if s.body != nil && !s.given[n] {
		return false
	}
	rest := slices.ContainsFunc(s.data(u), func(x *graph.Node) bool { return x != n && x.NumIn() > 0 })
	return rest || n.Role() != graph.RoleInput && slices.ContainsFunc(s.data(u), func(x *graph.Node) bool { return x != n && x.Role() == graph.RoleInput })
}

// closedSign returns the sign of a closed scope.
func (s *sketcher) closedSign(g *group) figure.Sign {
	out := figure.Sign{Role: figure.Op, Title: "scope " + g.closed + ", closed\n" + plural.Count(len(g.members), "operation")}
	name := g.closed
	if parts := strings.Split(name, "/"); len(parts) > s.detail.depth {
		name = strings.Join(parts[:s.detail.depth], "/")
	}
	out.Lines = []string{name[strings.LastIndexByte(name, '/')+1:]}
	for _, n := range g.members {
		if s.losses[n] {
			out.Role = figure.Loss
		}
	}
	return out
}

// addSigns adds the signs of a group.
func (s *sketcher) addSigns(out *figure.Sketch, g *group) {
	base := s.sign(g)
	base.ID = g.id
	switch {
	case g.repeats:
		for _, u := range s.groups {
			if slices.ContainsFunc(s.users[g.last()], func(n *graph.Node) bool { return s.member[n] == u }) {
				n := base
				n.ID = g.id + "-for-" + u.id
				out.Signs = append(out.Signs, n)
			}
		}
		return
	case g.apart:
		for at, k := range s.shownParts() {
			n := base
			n.ID, n.Part = s.partID(g, k), at+1
			if k == 0 {
				n = figure.Sign{ID: n.ID, Part: n.Part, Lines: []string{"⋮"}, Form: figure.Bare, Title: "the parts in between", Role: figure.Op}
			} else {
				part := strconv.Itoa(k)
				if targets := s.updates[g.last()]; len(targets) > 0 {
					n.Lines = append([]string{s.name(targets[0], part) + " ←"}, n.Lines[1:]...)
				}
				if g.last().NumIn() == 0 {
					n.Lines = []string{s.name(g.last(), part)}
				}
				n.Sub, n.Grad = s.labelOf(g, part), s.derivativeOf(g, part)
			}
			out.Signs = append(out.Signs, n)
		}
		return
	case g.mixes:
		base.Ports = len(s.shownParts())
		if !s.named(g.last()) {
			break
		}
		base.Sub = s.equationIn(g)
		out.Signs = append(out.Signs, base)
		for at, k := range s.shownParts() {
			n := figure.Sign{ID: s.partID(g, k), Part: at + 1, Form: figure.Bare, Role: figure.Op, Lines: []string{"⋮"}, Title: "the parts in between"}
			if k > 0 {
				part := strconv.Itoa(k)
				n.Lines, n.Grad, n.Title = []string{s.name(g.last(), part)}, s.derivativeOf(g, part), base.Title
			}
			out.Signs = append(out.Signs, n)
		}
		return
	case g.sum:
		for at, k := range s.shownParts() {
			n := figure.Sign{ID: s.partID(g, k), Part: at + 1, Form: figure.Disc, Role: figure.Op, Lines: []string{"×"}, Title: "a term of the sum\n" + base.Title}
			if k == 0 {
				n.Form, n.Lines = figure.Bare, []string{"⋮"}
			}
			out.Signs = append(out.Signs, n)
		}
	}
	if base.Form == figure.Boxed && g.closed == "" && base.Inner == nil && s.reads(g) {
		base.Ports = len(s.shownParts())
	}
	if base.Inner == nil {
		base.Sub = s.labelOf(g, "")
		if g.closed != "" && s.named(g.last()) {
			base.Sub = s.plain(g.last())
		}
		base.Grad = s.derivativeOf(g, "")
	}
	out.Signs = append(out.Signs, base)
}

// equationIn returns the expression of what a box computes for all parts.
func (s *sketcher) equationIn(g *group) string {
	e := Unicode(s.indexed(s.abbreviated(g.last()), ""))
	if width(e) > equationLength || strings.Contains(e, "_") {
		return ""
	}
	return e
}

func (s *sketcher) partID(g *group, k int) string { return g.id + "_" + strconv.Itoa(k) }

// reads reports whether a sign reads the parts of something that is drawn apart.
func (s *sketcher) reads(g *group) bool {
	return slices.ContainsFunc(s.operands[g.members[0]], func(x *graph.Node) bool {
		h := s.member[x]
		return h != nil && (h.apart || h.mixes && s.named(h.last()))
	})
}
