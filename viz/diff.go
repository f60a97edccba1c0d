package viz

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"
	"sync"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// Difference compares two sets of roots, usually two objectives with their derivatives, among the
// nodes that are shown.
type Difference struct {
	OnlyA, OnlyB []*graph.Node
	Shared       []Pair // the same computation, up to names, sizes and axes in front
	Upstream     []Pair // the same rule, in a value or in the derivative by one; its operands differ
	TermA, TermB []Pair // the same rule, to which one side contributes more terms

	a, b     *view
	match    *matching
	replaced []replacement

	lock          sync.Mutex
	first, second *side          // once they are asked for
	unmarked      *figure.Figure // what marks do not change, once it is drawn
}

// replacement says that a box that both sides have takes other operands on each, which are not
// matched.
type replacement struct{ box, operands Pair }

// Pair has a node of A and its counterpart in B.
type Pair struct{ A, B *graph.Node }

// Diff compares what the roots of a and of b depend on. The two may belong to two graphs or to
// one. The options are those of [Draw], without the closing of scopes and the folding of blocks,
// and [Panels]. It is an error to give no root, an invalid one, or roots of several graphs on one
// side.
func Diff(a, b []*graph.Node, opts ...Option) (*Difference, error) {
	o := collect(opts)
	if !o.leveled { // both sides at one level
		o.level, o.leveled = max(levelFor(a), levelFor(b)), true
	}
	d := &Difference{}
	var err error
	if d.a, err = newView(a, o); err != nil {
		return nil, err
	}
	if d.b, err = newView(b, o); err != nil {
		return nil, err
	}
	for _, v := range []*view{d.a, d.b} {
		if err := v.checkOpen(); err != nil {
			return nil, err
		}
	}
	if d.a.listing() <= d.b.listing() { // so that which side is which decides nothing
		d.match = matched(d.a, d.b)
	} else {
		d.match = matched(d.b, d.a).swapped()
	}
	d.reveal()
	d.compare()
	return d, nil
}

// listing returns a text that differs for views of different graphs.
func (v *view) listing() string {
	var b strings.Builder
	for _, n := range v.cone {
		fmt.Fprintf(&b, "%s %v %s %s %s", graph.OpText(n.Op()), n.Type(), n.Path(), n.Name(), v.home[n])
		if c, ok := n.Constant(); ok {
			b.WriteString(c.String())
		}
		for i := range n.NumIn() {
			fmt.Fprintf(&b, " %d", n.In(i).ID())
		}
		b.WriteString("\n")
	}
	return b.String()
}

// reveal shows on each side what the other shows, as far as it is matched, and hides the steps of
// what the other side does in one.
func (d *Difference) reveal() {
	for x, y := range d.match.a {
		if d.a.in[x] && d.b.in[y] && d.a.visible[x] != d.b.visible[y] {
			d.a.visible[x], d.b.visible[y] = true, true
		}
	}
	var stepsA, stepsB []*graph.Node
	for x, y := range d.match.a {
		in, other := d.match.va.inside[x], d.match.vb.inside[y]
		if in != nil && other == nil {
			stepsA = append(stepsA, d.match.va.steps(in)...)
		} else if in == nil && other != nil {
			stepsB = append(stepsB, d.match.vb.steps(other)...)
		}
	}
	d.a.hide(stepsA)
	d.b.hide(stepsB)
	d.a.settle()
	d.b.settle()
	if d.a.usual != d.b.usual { // each box says its own
		d.a.usual, d.b.usual = graph.InvalidDType, graph.InvalidDType
	}
}

// dissolve ends the match of a node of A.
func (d *Difference) dissolve(x *graph.Node) {
	delete(d.match.b, d.match.a[x])
	delete(d.match.a, x)
}

// astray reports whether two matched derivatives are of values that are not matched, as their boxes
// are unlike.
func (d *Difference) astray(x, y *graph.Node) bool {
	a, b := d.a.of[x], d.b.of[y]
	seeds := a.Of == a.Loss && b.Of == b.Loss
	return a.Of != nil && b.Of != nil && !seeds && d.match.a[a.Of] != b.Of
}

// dissolveIdle ends the matches of leaves that no two matched boxes read, unless they have one name.
func (d *Difference) dissolveIdle() {
	read := [2]map[*graph.Node]bool{{}, {}}
	for side, v := range []*view{d.a, d.b} {
		other := d.match.a
		if side == 1 {
			other = d.match.b
		}
		for _, l := range v.links() {
			if other[l.to] != nil && !v.backward[l.to] {
				read[side][l.from] = true
			}
		}
	}
	for _, x := range d.a.shown {
		y := d.match.a[x]
		if y != nil && x.NumIn() == 0 && !d.a.backward[x] && !(read[0][x] && read[1][y]) && d.a.called(x) != d.b.called(y) && !d.a.roots[x] {
			d.dissolve(x)
			if x := d.a.derivativeOf(x); x != nil {
				d.dissolve(x)
			}
		}
	}
}

// derivativeOf returns the derivative that is drawn in the row of a value, or nil.
func (v *view) derivativeOf(n *graph.Node) *graph.Node {
	for _, x := range v.shown {
		if a, ok := v.of[x]; ok && a.Of == n {
			return x
		}
	}
	return nil
}

// hide hides values, and derivatives that are drawn for being by these: formulas go through them.
func (v *view) hide(values []*graph.Node) {
	v.made = map[*graph.Node]made{}
	hidden := map[*graph.Node]bool{}
	for _, n := range values {
		hidden[n], v.visible[n] = true, false
		delete(v.names, n)
	}
	for _, x := range v.cone {
		if of := adjoints(x); len(of) == 1 && hidden[of[0].Of] && !v.roots[x] {
			v.visible[x] = false
		}
	}
}

// compare puts each box into the list of its status.
func (d *Difference) compare() {
	c := &boxes{d: d, met: map[Pair]verdict{}}
	verdicts := map[*graph.Node]verdict{}
	for _, x := range d.a.shown {
		d.a.look()
		y := d.match.a[x]
		if !d.b.visible[y] || d.match.exact[x] {
			continue
		}
		if d.astray(x, y) {
			d.dissolve(x)
			continue
		}
		if verdicts[x] = c.of(Pair{x, y}); verdicts[x] == unlike {
			d.dissolve(x)
			continue
		}
		for _, r := range c.replaced {
			d.replaced = append(d.replaced, replacement{box: Pair{x, y}, operands: r})
		}
	}
	d.dissolveIdle()
	for _, x := range d.a.shown {
		p := Pair{x, d.match.a[x]}
		switch v := verdicts[x]; {
		case !d.b.visible[p.B]:
			d.OnlyA = append(d.OnlyA, x)
		case d.match.exact[x]:
			d.Shared = append(d.Shared, p)
		case v == termA:
			d.TermA = append(d.TermA, p)
		case v == termB:
			d.TermB = append(d.TermB, p)
		default:
			d.Upstream = append(d.Upstream, p)
		}
	}
	for _, y := range d.b.shown {
		if !d.a.visible[d.match.b[y]] {
			d.OnlyB = append(d.OnlyB, y)
		}
	}
}

// Summary returns one sentence: "B adds 3 boxes, drops 1, shares 7; 4 gradients change". Boxes
// are counted at the level of the drawing; a value or gradient that changes has a box on each
// side, at the same place.
func (d *Difference) Summary() string {
	s := fmt.Sprintf("B adds %s, drops %d, shares %d", plural.Count(len(d.OnlyB), "box"), len(d.OnlyA), len(d.Shared))
	values, gradients, named := 0, 0, "gradient"
	for _, p := range slices.Concat(d.Upstream, d.TermA, d.TermB) {
		switch {
		case !d.a.backward[p.A]:
			values++
			continue
		case d.a.of[p.A].Of == nil: // a step on the way to a gradient
			named = "gradient box"
		}
		gradients++
	}
	if values > 0 {
		s += "; " + plural.Count(values, "value") + " " + agree(values, "inherits a change", "inherit a change")
	}
	if gradients > 0 {
		s += "; " + plural.Count(gradients, named) + " " + agree(gradients, "changes", "change")
	}
	return s
}

// Matching explains how boxes of the two sides are matched, for readers who wonder why two
// similar boxes are not.
func (d *Difference) Matching() string {
	return "Matched by what is computed and where in the flow it stands; names and sizes decide between equals only."
}

func agree(n int, one, many string) string {
	if n == 1 {
		return one
	}
	return many
}

// whole returns an error if the difference was not made by Diff.
func (d *Difference) whole() error {
	if d == nil || d.a == nil || d.b == nil {
		return errors.New("viz: the difference was not made by Diff")
	}
	return nil
}

// Text returns the difference for a terminal: a line for each node, marked − (only in A), + (only
// in B), ≈ (same rule, different operands) or Δ (one side adds terms).
func (d *Difference) Text() string {
	if d.whole() != nil {
		return ""
	}
	var b strings.Builder
	title := d.titles()
	fmt.Fprintf(&b, "A  %s\nB  %s\n%s\n%s\n%s\n", d.heading(0, title, Equation.String), d.heading(1, title, Equation.String), d.Sentence(), d.Summary(), d.Matching())
	d.a.look()
	for _, n := range d.OnlyA {
		fmt.Fprintf(&b, "− %v\n", d.a.equation(n))
	}
	for _, n := range d.OnlyB {
		fmt.Fprintf(&b, "+ %v\n", d.b.equation(n))
	}
	for _, list := range []struct {
		mark  string
		pairs []Pair
	}{{"≈", d.Upstream}, {"Δ A", d.TermA}, {"Δ B", d.TermB}} {
		for _, p := range list.pairs {
			fmt.Fprintf(&b, "%s %v   |   %v\n", list.mark, d.a.equation(p.A), d.b.equation(p.B))
		}
	}
	return b.String()
}

// titles names the sides.
func (d *Difference) titles() [2]string {
	t := d.a.options.panels
	for i, v := range []*view{d.a, d.b} {
		if t[i] == "" {
			t[i] = oneLine(v.order[0].Graph().Name())
		}
	}
	return t
}

// heading returns a side's title with the formula of its loss.
func (d *Difference) heading(side int, title [2]string, written func(Equation) string) string {
	v := []*view{d.a, d.b}[side]
	parts := []string{title[side]}
	for _, n := range v.cone {
		if v.losses[n] {
			parts = append(parts, written(v.equation(n)))
			break
		}
	}
	return strings.Join(slices.DeleteFunc(parts, func(s string) bool { return s == "" }), ": ")
}

// SVG writes the comparison side by side as a self-contained SVG document.
func (d *Difference) SVG(w io.Writer) error {
	if err := d.whole(); err != nil {
		return err
	}
	return d.Figure().SVG(w, d.a.options.figure...)
}

// DOT writes the comparison as one graph in the Graphviz language.
func (d *Difference) DOT(w io.Writer) error {
	if err := d.whole(); err != nil {
		return err
	}
	return d.Figure().DOT(w, d.a.options.figure...)
}
