package main

import (
	"context"
	"fmt"
	"html/template"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/expr"
	"github.com/tapestry-ml/tapestry/graph/grad"
	"github.com/tapestry-ml/tapestry/lab/geometry"
	"github.com/tapestry-ml/tapestry/viz"
	"github.com/tapestry-ml/tapestry/viz/report"
)

// weighted is the number of steps at which the parts of a gradient are measured.
const weighted = 41

// weights splits the gradient of a clustering at its soft assignment, along its median training; nil
// for one without.
func (s *shape) weights(ctx context.Context, variant int) (*report.Weights, error) {
	site, run := s.sites[variant], middle(s.res.Variants[variant])
	α := site.Assignment()
	if α == nil || run == nil {
		return nil, nil
	}
	held, through, err := site.Through(α)
	if err != nil {
		return nil, err
	}
	indices := evenly(weighted, len(run.Path))
	d, err := geometry.Decompose(ctx, stops(run, indices), site, held, through)
	if err != nil {
		return nil, err
	}
	w := &report.Weights{Variant: variant, Node: α.Name(), Seed: run.Seed, Deviation: d.Deviation()}
	for k, i := range indices {
		w.Step = append(w.Step, run.At[i])
		if site.Model.Gamma() != nil {
			w.Gamma = append(w.Gamma, run.Gamma[i])
		}
		w.Lengths = append(w.Lengths, [2]float64{length(d.Stops[k].Terms[0]), length(d.Stops[k].Terms[1])})
	}
	for _, part := range []struct {
		of   geometry.Site
		math *template.HTML
	}{{held, &w.Held}, {through, &w.Through}} {
		eqs := derivativeOf("loss", part.of)
		if len(eqs) == 0 {
			return nil, nil // too long to be read
		}
		right := unstopped(eqs[len(eqs)-1].Right)
		*part.math = template.HTML(strings.Replace(viz.MathML(right), "<math>", `<math display="block">`, 1))
		if w.LaTeX != "" {
			w.LaTeX += " \\\\\n"
		}
		w.LaTeX += viz.ExprLaTeX(right)
	}
	w.Words = effect(site, α)
	return w, nil
}

// unstopped returns an expression without the sign that something is held constant.
func unstopped(e expr.Expr) expr.Expr {
	if e.Kind == expr.KindCall && e.Text == "stop" && len(e.Args) == 1 {
		return unstopped(e.Args[0])
	}
	args := make([]expr.Expr, len(e.Args))
	for i, a := range e.Args {
		args[i] = unstopped(a)
	}
	e.Args = args
	return e
}

// effect says what the part of a gradient that flows through the weights α does, as far as the
// formulas of the graph show it.
func effect(s geometry.Site, α *graph.Node) string {
	if !distanceSoftmax(s, α) {
		return "Going down the gradient, it lowers the weights of those centres of a point by which the loss grows most, and raises the others."
	}
	slope := grad.OrZero(s.Model.Loss, α)[0]
	if viz.Unicode(viz.Expr(slope)) == fmt.Sprintf("1/%d·Dᵢⱼ", s.Model.Points().Dim(0)) {
		return "With E[D] = Σₗ αᵢₗ·Dᵢₗ, the squared distance that point i expects, this is the −γα(D − E[D]) beside the α of the first part. " +
			"Going down the gradient, it pushes a centre away from a point that is further than E[D], and pulls one that is nearer. " +
			"Both parts together push a centre away where D > E[D] + 1/γ: so each centre keeps to the points that it is near to, and leaves the others to the other centres."
	}
	return "With g = ∂loss/∂α and E[g] = Σₗ αᵢₗ·gᵢₗ, this is γα(g − E[g]), times the derivative of D. Going down the gradient, it pushes a centre away from a point for which g is above E[g], " +
		"which lowers its weight, and pulls the others nearer: a centre moves not only to bring r̂ to the point, but to change how much the point listens to it."
}

// distanceSoftmax reports whether α is the softmax over the centres of −γ·D, where D are the squared
// distances of the points from the centres.
func distanceSoftmax(s geometry.Site, α *graph.Node) bool {
	x, r, γ, D := s.Model.Points(), s.Model.Centres(), s.Model.Gamma(), s.Model.Graph.Lookup("D")
	if x == nil || γ == nil || D == nil || !α.DependsOn(D) {
		return false
	}
	if !strings.HasSuffix(viz.Formula(α), " = softmaxⱼ(−γ·Dᵢⱼ)") {
		return false
	}
	apart := fmt.Sprintf("%s_{id} − %s_{jd}", x.Path(), r.Path())
	Δ := s.Model.Graph.Lookup("Δ")
	return viz.Formula(D) == fmt.Sprintf("Dᵢⱼ = ‖%sᵢ − %sⱼ‖²", x.Path(), r.Path()) ||
		Δ != nil && viz.Formula(D) == "Dᵢⱼ = ‖Δᵢⱼ‖²" && viz.Formula(Δ) == "Δ_{ijd} = "+apart
}
