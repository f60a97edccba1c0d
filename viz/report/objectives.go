package report

import (
	"fmt"
	"html/template"
	"slices"
)

// objectives shows the formulas, and how their derivatives follow.
func (w *writer) objectives(p Page) section {
	s := section{ID: "objectives", Title: "The objectives",
		Lead: []string{"What each variant minimises, and what training makes of it; each line follows from those before."}}
	var given []Method
	for _, m := range p.Variants {
		if m.Formula != "" || len(m.Chain) > 0 {
			given = append(given, m)
		}
	}
	if len(given) > 0 {
		s.Body = []template.HTML{w.part("objectives", given)}
	}
	return s
}

// graphs shows the drawing of the graphs side by side.
func (w *writer) graphs(p Page) section {
	s := section{ID: "graphs", Title: "The graphs"}
	if len(p.drawings()) == 0 {
		return s
	}
	s.Lead = []string{"The computation as the program carries it out, from data and centres to the loss, and back for the gradient."}
	if p.byLoss() {
		s.Lead = []string{"The computation as the program carries it out, from inputs and parameters to the loss."}
	}
	if len(p.Variants) > 1 {
		shown := list(names(p.Variants))
		if len(p.Variants) > 2 {
			shown = "two objectives"
		}
		s.Lead = append(s.Lead, fmt.Sprintf("What %s share stands at the same place in each; what differs stands out.", shown))
	}
	for _, d := range p.drawings() {
		svg, err := drawing(d.SVG)
		if err != nil {
			w.err = err
			return s
		}
		w.figures++
		s.Body = append(s.Body, w.part("drawing", map[string]any{"N": w.figures, "SVG": template.HTML(svg), "Of": d.Of, "Footer": d.Footer, "Note": p.fed()}))
	}
	return s
}

// fed says which γ is used in training.
func (p Page) fed() string {
	switch {
	case p.anneals():
		return fmt.Sprintf("γ is %s. While γ changes, the objective itself does, so that its loss may rise.", p.Setup.Schedule)
	case len(p.Setup.Gamma) > 0:
		return fmt.Sprintf("γ is %s.", p.Setup.Schedule)
	}
	return ""
}

// drawings returns the page's drawings that are not empty.
func (p Page) drawings() []Drawing {
	return slices.DeleteFunc(append([]Drawing{p.Drawing}, p.Drawings...), func(d Drawing) bool { return d.SVG == "" })
}
