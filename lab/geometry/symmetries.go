package geometry

import (
	"slices"

	"github.com/tapestry-ml/tapestry/graph"
)

// Symmetries returns the transformations that suit the names of the model's axes, which
// [Site.Invariance] tries by default. Along an axis that inputs share with parameters, a feature
// axis, both are translated, rotated and permuted together, and the inputs are translated alone.
// Along the other axes, such as examples, prototypes and hidden units, there are permutations.
// Inputs and parameters are scaled, apart and together, and together with the temperature of a
// clustering.
func (s Site) Symmetries() ([]Transformation, error) {
	params, err := s.parameters()
	if err != nil {
		return nil, err
	}
	var inputs []*graph.Node
	for _, n := range graph.Reachable(s.Model.Loss) {
		if _, has := n.Default(); n.Role() == graph.RoleInput && !has {
			inputs = append(inputs, n)
		}
	}
	var out []Transformation
	for _, name := range axisNames(append(slices.Clone(inputs), params...)) {
		in, par := having(inputs, name), having(params, name)
		floats := floatsOf(in)
		axes, all := []string{name}, append(slices.Clone(in), par...)
		if len(par) > 0 && len(floats) > 0 && len(floats) == len(in) {
			out = append(out, Transformation{Motion: Translation, Axes: axes, Of: all},
				Transformation{Motion: Translation, Axes: axes, Of: in},
				Transformation{Motion: Rotation, Axes: axes, Of: all})
		}
		out = append(out, Transformation{Motion: Permutation, Axes: axes, Of: all})
	}
	floats := floatsOf(inputs)
	if len(floats) > 0 {
		out = append(out, Transformation{Motion: Translation, Of: floats}, Transformation{Motion: Scaling, Of: floats})
	}
	out = append(out, Transformation{Motion: Scaling, Of: params})
	if both := append(slices.Clone(floats), params...); len(floats) > 0 {
		out = append(out, Transformation{Motion: Scaling, Of: both})
		if γ := s.Model.Gamma(); γ != nil {
			out = append(out, Transformation{Motion: Scaling, Of: append(slices.Clone(both), γ), Powers: map[*graph.Node]float64{γ: -2}})
		}
	}
	return out, nil
}

// axisNames returns the names of the axes, in order of appearance, that have one size wherever they
// appear, of at least 2.
func axisNames(nodes []*graph.Node) []string {
	var names []string
	size := map[string]int{}
	for _, n := range nodes {
		for _, a := range n.Shape().Axes() {
			known, ok := size[a.Name]
			switch {
			case a.Name == "":
			case !ok:
				size[a.Name] = a.Size
				names = append(names, a.Name)
			case known != a.Size:
				size[a.Name] = 0
			}
		}
	}
	return slices.DeleteFunc(names, func(name string) bool { return size[name] < 2 })
}

// having returns the nodes with an axis of the name.
func having(nodes []*graph.Node, name string) []*graph.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { return n.Shape().Index(name) < 0 })
}

// floatsOf returns the nodes of a float type, which can be scaled and rotated.
func floatsOf(nodes []*graph.Node) []*graph.Node {
	return slices.DeleteFunc(slices.Clone(nodes), func(n *graph.Node) bool { return !n.DType().IsFloat() })
}
