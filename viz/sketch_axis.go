package viz

import (
	"maps"
	"slices"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
	"github.com/tapestry-ml/tapestry/internal/match"
)

// batchAxes returns the axes of examples: the first axis of an input, if no parameter and no state
// has it.
func batchAxes(v *view) map[string]bool {
	out := map[string]bool{}
	for _, n := range v.cone {
		if n.Role() == graph.RoleInput && n.Rank() > 0 && n.Shape().Axis(0).Name != "" {
			out[n.Shape().Axis(0).Name] = true
		}
	}
	for _, n := range v.cone {
		if n.Role() == graph.RoleParam || n.Role() == graph.RoleState {
			for _, a := range n.Shape().Axes() {
				delete(out, a.Name)
			}
		}
	}
	return out
}

// batchText says which axes are not drawn.
func (s *sketcher) batchText() string {
	size := map[string]string{}
	for _, n := range s.forward {
		for _, a := range n.Shape().Axes() {
			if s.single[a.Name] && a.Name != s.axis && a.Size > 1 {
				size[a.Name] = "one " + a.Name + " of " + strconv.Itoa(a.Size)
			}
		}
	}
	if len(size) == 0 {
		return ""
	}
	var parts []string
	for _, name := range slices.Sorted(maps.Keys(size)) {
		parts = append(parts, size[name])
	}
	return "Drawn for " + strings.Join(parts, ", ") + "."
}

// separate reports whether each element of the values along an axis of examples depends on that
// example alone, but for scalars: the mean of the losses.
func (s *sketcher) separate(nodes []*graph.Node, axis string) bool {
	for _, n := range nodes {
		if isLayout(n) {
			if a, had := axisOf(n.In(0), axis); had && a.Size > 1 && !s.backward[n] {
				if _, has := axisOf(n, axis); !has {
					return false // by another name, examples may meet
				}
			}
			continue
		}
		if n.NumIn() == 0 || s.backward[n] || n.Rank() == 0 {
			continue
		}
		if b := trait.LoopBody(n); b != nil {
			if !s.separate(graph.Reachable(b.Out()...), axis) {
				return false
			}
			continue
		}
		for i, x := range n.Inputs() {
			k := slices.IndexFunc(x.Shape().Axes(), func(a graph.Axis) bool { return a.Name == axis && a.Size > 1 })
			if k < 0 {
				continue
			}
			if own, ok := axisOf(n, axis); !ok || own != x.Shape().Axis(k) {
				return false
			}
			if axes, ok := match.Along(n); ok && axes.Has(k) {
				return false
			}
			switch match.KindOf(n) {
			case match.Gather:
				if i == 0 {
					return false
				}
			case match.Other, match.ConvKernel, match.ScatterAdd, match.DiffDot, match.WeightedDiff:
				if !trait.IsElementwise(n.Op()) {
					return false
				}
			case match.Conv, match.ConvInput, match.MaxPool, match.SumPool:
				if k > 0 {
					return false
				}
			}
		}
	}
	return true
}

// axes lists the axes that can be drawn apart.
func (s *sketcher) axes() []string {
	names := map[string]bool{}
	for _, n := range s.forward {
		for _, a := range n.Shape().Axes() {
			if a.Name != "" && a.Size > 1 {
				names[a.Name] = true
			}
		}
	}
	return slices.Sorted(maps.Keys(names))
}

// choose sets the axis to draw apart, and reports whether an array has it.
func (s *sketcher) choose(axis string) bool {
	s.axis, s.parts = axis, 0
	for _, n := range s.forward {
		if a, ok := axisOf(n, axis); ok && a.Size > 1 {
			s.parts = a.Size
			return true
		}
	}
	s.axis = ""
	return false
}

// axisOf returns the axis of n with a name.
func axisOf(n *graph.Node, name string) (graph.Axis, bool) {
	for _, a := range n.Shape().Axes() {
		if a.Name == name {
			return a, true
		}
	}
	return graph.Axis{}, false
}

// shownParts lists the parts that are drawn, from 1, with 0 for those that are left out.
func (s *sketcher) shownParts() []int {
	if s.parts <= 4 {
		out := make([]int, s.parts)
		for i := range out {
			out[i] = i + 1
		}
		return out
	}
	return []int{1, 2, 0, s.parts}
}

// defaultAxis returns the axis along which parts are drawn apart if the user names none.
func (s *sketcher) defaultAxis() string {
	sizes, leaf, vector := map[string]int{}, map[string]bool{}, map[string]bool{}
	for _, n := range s.forward {
		for i, a := range n.Shape().Axes() {
			if a.Name == "" || a.Size < 2 || s.batch[a.Name] {
				continue
			}
			if old, met := sizes[a.Name]; met && old != a.Size {
				sizes[a.Name] = -1 // not one axis
			} else {
				sizes[a.Name] = a.Size
			}
			leaf[a.Name] = leaf[a.Name] || n.NumIn() == 0 && n.DType().IsFloat()
			vector[a.Name] = vector[a.Name] || n.Role() == graph.RoleParam && i+1 == n.Rank() // an axis of vectors
		}
	}
	split, merged, summed := map[string]bool{}, map[string]bool{}, map[string]bool{}
	var names []string
	for _, n := range s.cone {
		if s.backward[n] || n.NumIn() == 0 {
			continue
		}
		if match.Is(n, match.Reshape) {
			for _, a := range n.Shape().Axes() {
				if _, had := axisOf(n.In(0), a.Name); !had && a.Size > 1 && s.joined(n.In(0), n, a) {
					split[a.Name] = true
					break // the outer one: the others are inside of a head
				}
			}
			for _, a := range n.In(0).Shape().Axes() {
				if _, has := axisOf(n, a.Name); !has && a.Size > 1 && s.joined(n, n.In(0), a) {
					merged[a.Name] = true
					break
				}
			}
			continue
		}
		switch match.KindOf(n) {
		case match.Softmax, match.Sparsemax:
			axes, _ := match.Along(n)
			summed[n.Shape().Axis(axes.List()[0]).Name] = true
		case match.Sum, match.Mean, match.Max, match.Min, match.ArgMax, match.ArgMin:
			if axes, ok := match.Along(n); ok && len(axes.List()) == 1 && !s.normed(n) {
				summed[n.In(0).Shape().Axis(axes.List()[0]).Name] = true
			}
		}
	}
	for _, n := range s.cone {
		for _, a := range n.Shape().Axes() {
			if sizes[a.Name] > 1 && !slices.Contains(names, a.Name) {
				names = append(names, a.Name)
			}
		}
	}
	for _, name := range names {
		if split[name] && merged[name] {
			return name
		}
	}
	for _, name := range names {
		if summed[name] && leaf[name] && !vector[name] {
			return name
		}
	}
	return ""
}

// normed reports whether n is a sum or mean of squares, or of products of vectors.
func (s *sketcher) normed(n *graph.Node) bool {
	return match.Is(n.In(0), match.Square) || match.Is(n.In(0), match.Abs)
}

// joined reports whether axis a of the finer array is one of several that an axis of the coarser
// one is merged from.
func (s *sketcher) joined(coarse, fine *graph.Node, a graph.Axis) bool {
	if fine.Rank() <= coarse.Rank() {
		return false
	}
	return slices.ContainsFunc(coarse.Shape().Axes(), func(b graph.Axis) bool {
		_, kept := axisOf(fine, b.Name)
		return !kept && b.Size > a.Size && b.Size%a.Size == 0
	})
}
