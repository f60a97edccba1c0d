package fit

import (
	"fmt"
	"maps"
	"slices"
	"strings"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/trait"
)

// sizing finds the settings with which a model fits the data: it raises one at a time, and looks
// which sizes of the inputs rise with it.
type sizing struct {
	b     builders.Builder
	dt    graph.DType
	s     builders.Settings // so far
	given builders.Settings // the user's, which stay
	fixed map[string]bool   // settings that were changed to fit
}

// raises are the amounts by which a setting is raised, tried in order, as some settings must be
// divisible by others.
var raises = []float64{1, 2, 3, 4, 8}

// raised builds the model with a setting raised by the least amount that is possible.
func (z *sizing) raised(name string) (m *builders.Model, by float64) {
	for _, by := range raises {
		s := maps.Clone(z.s)
		s[name] += by
		if m, err := z.b.Build(s, z.dt); err == nil {
			return m, by
		}
	}
	return nil, 0
}

// counts returns the settings that are sizes.
func counts(b builders.Builder) []string {
	var out []string
	for _, z := range b.Hyperparameters {
		if z.Kind == builders.Count || z.Kind == builders.Natural {
			out = append(out, z.Name)
		}
	}
	return out
}

// sizesOf returns the sizes of the inputs by path.
func sizesOf(m *builders.Model) map[string][]int {
	out := map[string][]int{}
	for _, in := range m.Inputs() {
		out[in.Path()] = in.Shape().Sizes()
	}
	return out
}

// places returns the size of the smallest axis that an input's elements index; 0 if they are not
// indices.
func places(m *builders.Model, path string) int {
	in := m.Graph.Lookup(path)
	if in == nil || !in.DType().IsInt() {
		return 0
	}
	least := 0
	for _, n := range graph.Reachable(m.Result()) {
		op, is := n.Op().(trait.Indexing)
		if !is {
			continue
		}
		operand, size := op.Places(n)
		if (least == 0 || size < least) && n.Inputs()[operand].DType().IsInt() && onlyFrom(n.Inputs()[operand], in) {
			least = size
		}
	}
	return least
}

// onlyFrom reports whether an index depends on an input and, besides constants, on no other leaf.
func onlyFrom(index, in *graph.Node) bool {
	from := false
	for _, n := range graph.Reachable(index) {
		if n.Role() == graph.RoleInput || n.Role() == graph.RoleParam || n.Role() == graph.RoleState {
			if n != in {
				return false
			}
			from = true
		}
	}
	return from
}

// rows finds the setting that counts the rows: the one with which the first axes of all inputs rise
// alike; "" if the number is fixed. whole reports whether another axis of an input rises too, as of
// an adjacency matrix: then the rows cannot be divided.
func (z *sizing) rows(m *builders.Model) (name string, whole bool) {
	before := sizesOf(m)
	for _, candidate := range counts(z.b) {
		other, by := z.raised(candidate)
		if other == nil {
			continue
		}
		all, others := len(before) > 0, false
		for path, sizes := range sizesOf(other) {
			if len(sizes) == 0 || len(before[path]) != len(sizes) || float64(sizes[0]-before[path][0]) != by {
				all = false
				break
			}
			others = others || !slices.Equal(sizes[1:], before[path][1:])
		}
		if all {
			return candidate, others
		}
	}
	return "", false
}

// want is a size that an input must have.
type want struct {
	input string
	axis  int    // after the axis of rows, from 0; −1 for the number of classes that the input indexes
	size  int    // the size
	least bool   // a larger size will do
	why   string // the reason, for an error
}

// has returns the size that the model has.
func (w want) has(m *builders.Model) int {
	if w.axis < 0 {
		return places(m, w.input)
	}
	if sizes := m.Graph.Lookup(w.input).Shape().Sizes(); w.axis+1 < len(sizes) {
		return sizes[w.axis+1]
	}
	return -1
}

// fits reports whether the model has the size.
func (w want) fits(m *builders.Model) bool {
	has := w.has(m)
	return has == w.size || w.axis < 0 && (has == 0 || w.least && has > w.size)
}

// fit changes settings, except the one that counts the rows, until the model has all sizes.
func (z *sizing) fit(m *builders.Model, rows string, wants []want) (*builders.Model, error) {
	for range 4 * (len(z.b.Hyperparameters) + 1) {
		i := slices.IndexFunc(wants, func(w want) bool { return !w.fits(m) })
		if i < 0 {
			return m, nil
		}
		w := wants[i]
		name, slope := z.governs(m, w, rows)
		switch _, given := z.given[name]; {
		case w.axis < 0 && w.has(m) > w.size && (name == "" || given || z.fixed[name]):
			wants = slices.Delete(slices.Clone(wants), i, i+1) // more classes than the data have do no harm
			continue
		case name == "":
			return nil, fmt.Errorf("%s: %s, and the model has %d, which no setting changes", w.input, w.why, w.has(m))
		case given:
			return nil, fmt.Errorf("%s: %s, and with %s = %v the model has %d", w.input, w.why, name, z.given[name], w.has(m))
		}
		z.s[name] += float64(w.size-w.has(m)) / slope
		z.fixed[name] = true
		var err error
		if m, err = z.b.Build(z.s, z.dt); err != nil {
			return nil, fmt.Errorf("%s: %s: %w", w.input, w.why, err)
		}
	}
	var unmet []string
	for _, w := range wants {
		if !w.fits(m) {
			unmet = append(unmet, fmt.Sprintf("%s of %s", w.why, w.input))
		}
	}
	return nil, fmt.Errorf("no sizes fit all inputs at once: %s", strings.Join(unmet, "; "))
}

// governs returns the setting with which a size rises, and by how much for each 1 of it. It prefers
// settings that are neither given nor changed before.
func (z *sizing) governs(m *builders.Model, w want, rows string) (name string, slope float64) {
	for _, candidate := range counts(z.b) {
		if candidate == rows {
			continue
		}
		other, by := z.raised(candidate)
		if other == nil {
			continue
		}
		rise := float64(w.has(other)-w.has(m)) / by
		if rise == 0 {
			continue
		}
		_, given := z.given[candidate]
		if steps := float64(w.size-w.has(m)) / rise; steps != float64(int(steps)) {
			continue
		}
		if name == "" || !given && !z.fixed[candidate] {
			name, slope = candidate, rise
			if !given && !z.fixed[candidate] {
				return name, slope
			}
		}
	}
	return name, slope
}
