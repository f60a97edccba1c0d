package viz

import (
	"errors"
	"fmt"
	"io"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/plural"
)

// Difference compares two sets of roots, usually two objectives with their derivatives, among the
// nodes that are shown.
type Difference struct {
	OnlyA, OnlyB []*graph.Node
	Shared       []Pair // the same computation
	Upstream     []Pair // the same rule, in a value or in the derivative by one; its operands differ
	TermA, TermB []Pair // derivatives to which one side contributes more terms

	a, b  *view
	match *matching
}

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
	d.match = matched(d.a, d.b)
	for x, y := range d.match.a { // what one side shows, the other shows too
		if d.a.in[x] && d.b.in[y] && d.a.visible[x] != d.b.visible[y] {
			d.a.visible[x], d.b.visible[y] = true, true
		}
	}
	d.a.settle()
	d.b.settle()
	for _, x := range d.a.shown {
		d.a.look()
		y := d.match.a[x]
		p := Pair{x, y}
		switch ta, tb := d.terms(p); {
		case !d.b.visible[y]:
			d.OnlyA = append(d.OnlyA, x)
		case d.match.exact[x]:
			d.Shared = append(d.Shared, p)
		case ta > tb:
			d.TermA = append(d.TermA, p)
		case tb > ta:
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
	return d, nil
}

// terms returns the number of contributions on each side of a pair.
func (d *Difference) terms(p Pair) (a, b int) {
	if p.B == nil {
		return 0, 0
	}
	return terms(p.A, d.a.of[p.A].Of), terms(p.B, d.b.of[p.B].Of)
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
	return "Matched from the inputs on, by name, size and operation; like blocks on other inputs are not."
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
	fmt.Fprintf(&b, "A  %s\nB  %s\n%s\n%s\n", d.heading(0, title), d.heading(1, title), d.Summary(), d.Matching())
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
func (d *Difference) heading(side int, title [2]string) string {
	v := []*view{d.a, d.b}[side]
	parts := []string{title[side]}
	for _, n := range v.cone {
		if v.losses[n] {
			parts = append(parts, v.equation(n).String())
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
