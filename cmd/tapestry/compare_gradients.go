package main

import (
	"context"
	"html/template"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// way is a training along which gradients are compared.
type way struct {
	of    int // the variant
	seed  uint64
	steps []int
	stops []geometry.Stop
}

// sum is a pair of objectives as a sum: the whole is the other and the term.
type sum struct {
	whole, other int              // variants
	sites        [2]geometry.Site // of these
	term         geometry.Site
	known        bool // whether the term is a quantity of its own
	parts        *geometry.Decomposition
}

// mostDeviation is the relative deviation up to which a sum of gradients is shown.
const mostDeviation = 1e-6

// newSum writes one of two objectives as the sum of the other and a term. A term that is known by a
// name is taken if losses and gradients agree at all places, in either order; otherwise the term is
// the difference. It returns nil for objectives that no difference can be taken of, because their
// parameters or inputs differ.
func newSum(ctx context.Context, sites []geometry.Site, a, b int, stops []geometry.Stop) (*sum, error) {
	if !sites[a].SameParameters(sites[b]) {
		return nil, nil
	}
	for _, s := range []*sum{{whole: a, other: b}, {whole: b, other: a}} {
		spread, ok := sites[s.whole].Spread()
		if !ok {
			continue
		}
		d, err := geometry.Decompose(ctx, stops, sites[s.whole], sites[s.other], spread)
		if err != nil {
			return nil, err
		}
		if s.term, s.known, s.parts = spread, true, d; d.Holds() {
			s.sites = [2]geometry.Site{sites[s.whole], sites[s.other]}
			return s, nil
		}
	}
	term, err := sites[a].Minus(sites[b])
	if err != nil {
		return nil, nil // inputs of other types: there is no difference
	}
	d, err := geometry.Decompose(ctx, stops, sites[a], sites[b], term)
	if err != nil || !(d.Deviation() < mostDeviation) {
		return nil, err // something else than the objective differs, such as a state
	}
	return &sum{whole: a, other: b, sites: [2]geometry.Site{sites[a], sites[b]}, term: term, parts: d}, err
}

// gradients compares the gradients of a pair of clusterings along the median training of each; nil
// if they cannot be compared.
func (s *shape) gradients(ctx context.Context, pair [2]int) (*report.Gradients, error) {
	var ways []way
	var all []geometry.Stop
	for _, v := range pair {
		if r := middle(s.res.Variants[v]); r != nil {
			w := way{of: v, seed: r.Seed}
			indices := evenly(5, len(r.Path))
			if len(indices) == 5 { // the start, a quarter, the middle and the end
				indices = slices.Delete(indices, 3, 4)
			}
			for _, i := range indices {
				w.steps = append(w.steps, r.At[i])
			}
			w.stops = stops(r, indices)
			ways, all = append(ways, w), append(all, w.stops...)
		}
	}
	if len(ways) == 0 {
		return nil, nil
	}
	x, err := newSum(ctx, s.sites, pair[0], pair[1], all)
	if x == nil || err != nil {
		return nil, err
	}
	names := []string{s.res.Variants[x.whole].Name, s.res.Variants[x.other].Name}
	g := x.page(names[0], names[1], ways, func(at int) float64 { return fedGamma(all[at].Scalars["γ"], s.sites[pair[0]], s.sites[pair[1]]) })
	d, k := len(s.res.Config.Table.Columns), s.res.Config.K
	origin := s.res.Plane.At(make([]float64, d))
	flat := func(v []float64) (out [][2]float64) {
		for j := range k {
			out = append(out, s.res.Plane.At(v[j*d:(j+1)*d]))
		}
		return out
	}
	at := 0
	for w := range g.Ways {
		for i := range g.Ways[w].Stops {
			stop, parts := &g.Ways[w].Stops[i], x.parts.Stops[at]
			stop.At = flat(all[at].At)
			for kind, v := range [][]float64{parts.Gradient, parts.Terms[0], parts.Terms[1]} {
				for _, q := range flat(v) {
					stop.Down[kind] = append(stop.Down[kind], report.Movement{origin[0] - q[0], origin[1] - q[1]})
				}
			}
			at++
		}
	}
	return g, nil
}

// page returns a sum for the page, without arrows. The places are those of the ways, in order.
func (x *sum) page(whole, other string, ways []way, gamma func(at int) float64) *report.Gradients {
	g := &report.Gradients{Whole: x.whole, Other: x.other, Term: x.term.Name, Known: x.known, Deviation: x.parts.Deviation()}
	at := 0
	for _, w := range ways {
		out := report.Way{Of: w.of, Seed: w.seed}
		for _, step := range w.steps {
			p := x.parts.Stops[at]
			out.Stops = append(out.Stops, report.Stop{Step: step, Gamma: gamma(at), Angle: angleBetween(p.Gradient, p.Terms[0]),
				Lengths: [3]float64{length(p.Gradient), length(p.Terms[0]), length(p.Terms[1])}})
			at++
		}
		g.Ways = append(g.Ways, out)
	}
	x.formulas(g, whole, other)
	return g
}

// mostLines is the largest number of equations by which a sum of gradients is explained.
const mostLines = 16

// formulas adds the identity of the gradients, and what each of them is: as package grad derives it
// and package viz writes it.
func (x *sum) formulas(g *report.Gradients, whole, other string) {
	a, b := toldApart(whole, other)
	term := x.term.Name
	if !x.known {
		term = "(" + a + " − " + b + ")"
		g.Term = "their difference"
	}
	θ, subs := "θ", []string(nil)
	if params := x.parts.Params; len(params) == 1 {
		θ = params[0]
	}
	var lines []viz.Equation
	for _, of := range []struct {
		name string
		site geometry.Site
	}{{a, x.sites[0]}, {b, x.sites[1]}, {term, x.term}} {
		if !x.known && of.name == term {
			continue // the difference of the lines above
		}
		eqs := derivativeOf(of.name, of.site)
		if len(eqs) > 0 && subs == nil {
			subs = eqs[len(eqs)-1].Left.Subs
		}
		lines = append(lines, eqs...)
	}
	by := func(name string) expr.Expr { return expr.Sym("∂"+name+"/∂"+θ, subs...) }
	identity := viz.Equation{Left: by(a), Right: by(b).Plus(by(term))}
	g.Identity = template.HTML(identity.MathML())
	latex := []string{identity.LaTeX()}
	if len(lines) <= mostLines {
		for _, e := range lines {
			g.Lines = append(g.Lines, report.Equation{Math: template.HTML(e.MathML())})
			latex = append(latex, e.LaTeX())
		}
	}
	g.LaTeX = strings.Join(latex, " \\\\\n")
}

// derivativeOf returns the derivative of a site's objective by its parameter, called by a name, in
// one equation after those of the derivatives that it uses. It is empty for several parameters, and
// for a derivative that takes more than one equation.
func derivativeOf(name string, s geometry.Site) []viz.Equation {
	params := s.Parameters()
	if len(params) != 1 {
		return nil
	}
	_, chain, closed := viz.Chain(grad.OrZero(s.Model.Loss, params[0])[0])
	if len(closed) != 1 {
		return nil
	}
	out := closed
	for i := len(chain) - 2; i >= 0; i-- { // the last is what closed says at once
		used := slices.ContainsFunc(out, func(e viz.Equation) bool { return mentions(e.Right, chain[i].Left.Text) })
		if used {
			out = append([]viz.Equation{chain[i]}, out...)
		}
	}
	for i, e := range out {
		if _, by, derivative := strings.Cut(e.Left.Text, "/∂"); derivative && i == len(out)-1 {
			out[i].Left.Text = "∂" + name + "/∂" + by
		}
	}
	return out
}

// mentions reports whether an expression has a symbol.
func mentions(e expr.Expr, symbol string) bool {
	return e.Kind == expr.KindSymbol && e.Text == symbol ||
		slices.ContainsFunc(e.Args, func(a expr.Expr) bool { return mentions(a, symbol) })
}

// toldApart returns what is left of two names without the words that both begin with, such as
// softmax and goofy of kmeans-softmax and kmeans-goofy, or the names themselves if that leaves
// nothing of one.
func toldApart(a, b string) (string, string) {
	same := 0
	for same < min(len(a), len(b)) && a[same] == b[same] {
		same++
	}
	from := strings.LastIndexAny(a[:same], "-{=,/") + 1
	x, y := strings.TrimRight(a[from:], "}"), strings.TrimRight(b[from:], "}")
	if x == "" || y == "" || x == y {
		return a, b
	}
	return x, y
}
