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

// sizing finds the settings with which a model fits: it raises one at a time, and looks what of the
// inputs rises with it.
type sizing struct {
	b     builders.Builder
	dt    graph.DType
	s     builders.Settings // so far
	given builders.Settings // which stay
	fixed map[string]bool   // settings that were set to fit
}

// raises are how much is added to a setting to see what depends on it: some settings must be
// divisible by others.
var raises = []float64{1, 2, 3, 4, 8}

// raised builds the model with a setting raised, by as little as can be.
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

// counts are the settings that are sizes.
func counts(b builders.Builder) []string {
	var out []string
	for _, z := range b.Hyperparameters {
		if z.Kind == builders.Count || z.Kind == builders.Natural {
			out = append(out, z.Name)
		}
	}
	return out
}

// sizesOf are the sizes of the inputs by path.
func sizesOf(m *builders.Model) map[string][]int {
	out := map[string][]int{}
	for _, in := range inputs(m) {
		out[in.Path()] = in.Shape().Sizes()
	}
	return out
}

// places is the size of the smallest axis that elements of an input index; 0 where they are no
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

// onlyFrom reports whether what indexes is made of an input of whole numbers: of no other leaf but
// constants.
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
// alike, and that of the output where it has rows. It reports whether another axis of an input
// rises with it too, as of an adjacency matrix: then the rows belong together. There is none where
// the number is fixed.
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
	axis  int // of the rows, from 0; −1 for the number of classes that it indexes
	size  int
	least bool // or more
	why   string
}

// has is the size that there is.
func (w want) has(m *builders.Model) int {
	if w.axis < 0 {
		return places(m, w.input)
	}
	if sizes := m.Graph.Lookup(w.input).Shape().Sizes(); w.axis+1 < len(sizes) {
		return sizes[w.axis+1]
	}
	return -1
}

// fits reports whether the size is the wanted one.
func (w want) fits(m *builders.Model) bool {
	has := w.has(m)
	return has == w.size || w.axis < 0 && (has == 0 || w.least && has > w.size)
}

// fit changes settings until all sizes are as wanted, but not the one of that name.
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
			wants = slices.Delete(slices.Clone(wants), i, i+1) // the model has more classes than there are
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

// governs finds the setting with which a size rises, and by how much for each 1 of it: one that was
// not set before, if there is any.
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
