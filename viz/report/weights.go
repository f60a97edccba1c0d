package report

import (
	"fmt"
	"html/template"

	"github.com/tapestry-ml/tapestry/viz/chart"
)

// Weights splits the gradient of a variant at the weights with which points share the centres: the
// part that remains where the weights are held constant, and the part that flows through them.
type Weights struct {
	Variant int
	Node    string // the name of the weights, such as "α"
	// Held and Through are the two parts, inline HTML or MathML.
	Held, Through template.HTML `json:"-"`
	LaTeX         string
	Words         string // what the second part does
	Seed          uint64 // of the run along which the parts were measured
	Step          []int
	Gamma         []float64    // of each step; nil without one
	Lengths       [][2]float64 // of the two parts, of each step
	Deviation     float64      // of the sum from the gradient, relative to the largest element
}

func (s Weights) check(variants int) error {
	if s.Variant < 0 || s.Variant >= variants {
		return fmt.Errorf("variant %d of %d", s.Variant, variants)
	}
	if len(s.Lengths) != len(s.Step) || s.Gamma != nil && len(s.Gamma) != len(s.Step) {
		return fmt.Errorf("%d lengths and %d γ for %d steps", len(s.Lengths), len(s.Gamma), len(s.Step))
	}
	return nil
}

// share returns the second part's share of both, by length.
func (s Weights) share(i int) float64 { return s.Lengths[i][1] / (s.Lengths[i][0] + s.Lengths[i][1]) }

// weights shows what the softmax adds to the gradients.
func (w *writer) weights(p Page) section {
	s := section{ID: "weights", Title: "What the weights add to the gradient"}
	if len(p.Weights) == 0 {
		return s
	}
	node := p.Weights[0].Node
	s.Lead = []string{fmt.Sprintf("A centre moves a loss in two ways: directly, and by changing the weights %s. Held at their values, the weights leave the first part of each gradient; the second flows through them. The two add up to the gradient.", node)}
	l := chart.Lines{Frame: frame("weights", "Share of the part through "+node, ""), X: "step", Y: "share", YTicks: []float64{0, .25, .5, .75, 1}}
	t := table{Caption: "The lengths of the two parts, at some steps of a training.", Head: []string{"step", "γ", node + " held", "through " + node, "share of the second"}}
	for _, v := range p.Weights {
		name := p.Variants[v.Variant].Name
		s.Body = append(s.Body, w.part("weights", map[string]any{"Name": name, "Weights": v}))
		if len(v.Step) == 0 {
			continue
		}
		line := chart.Series{Name: name, Group: v.Variant}
		rows := group{Name: fmt.Sprintf("%s, seed %d", name, v.Seed)}
		for i, step := range v.Step {
			line.X, line.Y = append(line.X, float64(step)), append(line.Y, v.share(i))
			if last := len(v.Step) - 1; i != 0 && i != last && i%max(1, (last+2)/4) != 0 {
				continue
			}
			r := row{Name: number(float64(step))}
			γ := none
			if v.Gamma != nil {
				γ = number(v.Gamma[i])
			}
			r.add(γ, number(v.Lengths[i][0]), number(v.Lengths[i][1]), percent(v.share(i)))
			rows.Rows = append(rows.Rows, r)
		}
		t.Groups = append(t.Groups, rows)
		l.Series = append(l.Series, line)
	}
	if len(l.Series) > 0 {
		s.Body = append(s.Body, w.figure(l, fmt.Sprintf("The length of the part through %s, as a share of the lengths of both parts, along one training of each. Where a training is at rest, the two parts cancel, and each has half.", node)), w.table(t))
	}
	return s
}
