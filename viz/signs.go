package viz

import (
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/viz/figure"
)

// signs explains what the texts of the boxes leave out or stand for, in lines for the legend.
func (v *view) signs(boxes []figure.Node) []string {
	var texts []string
	for _, b := range boxes {
		texts = append(texts, b.Main, b.Sub)
		texts = append(texts, b.PanelMain[:]...)
		texts = append(texts, b.PanelSub[:]...)
	}
	says := func(part string) bool {
		return slices.ContainsFunc(texts, func(s string) bool { return strings.Contains(s, part) })
	}
	var out []string
	if len(v.losses) == 1 {
		for loss := range v.losses {
			name := "∂" + grouped(picturedName(v.lossName(loss)))
			for i, s := range texts {
				texts[i] = strings.ReplaceAll(strings.ReplaceAll(s, name+"/∂", ""), "∂ ", "")
			}
			if says("∂") {
				out = append(out, "∂v in a formula stands for "+name+"/∂v")
			}
		}
	}
	if says("′(") {
		out = append(out, "f′ is the derivative of a function f")
	}
	if sum := "Σ" + figure.Sub("lanes"); says(sum) {
		out = append(out, "a sum over lanes is of what each lane of a step has, on its own rows")
	}
	other := slices.ContainsFunc(v.shown, func(n *graph.Node) bool { return n.DType() != v.usual })
	switch {
	case v.usual == graph.InvalidDType:
	case other:
		out = append(out, "elements are "+v.usual.String()+" where a box does not say otherwise")
	default:
		out = append(out, "elements are "+v.usual.String())
	}
	return out
}
