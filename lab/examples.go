package lab

import (
	"slices"

	"github.com/tapestry-ml/tapestry/builders"
	"github.com/tapestry-ml/tapestry/graph"
)

// tasks returns, for each model, the index of the model whose examples it is trained on: among
// those with all of its inputs the one whose examples serve most models, the first among equals.
// Only the first n models give examples to others. All models with data of their own have the same
// rows, in the same batches.
func tasks(models []*builders.Model, n int) []int {
	serves := make([]int, len(models))
	for i, m := range models {
		for _, other := range models {
			if hasInputs(m, other) {
				serves[i]++
			}
		}
	}
	out := make([]int, len(models))
	for i, m := range models {
		out[i] = i
		if m.Rows != nil {
			out[i] = slices.IndexFunc(models, func(m *builders.Model) bool { return m.Rows != nil })
			continue
		}
		for j, other := range models[:n] {
			if best := out[i]; hasInputs(other, m) && (serves[j] > serves[best] || serves[j] == serves[best] && j < best) {
				out[i] = j
			}
		}
	}
	return out
}

// hasInputs reports whether the examples of m have all inputs of other, by path and type.
func hasInputs(m, other *builders.Model) bool {
	if m.Examples == nil {
		return m == other
	}
	types := map[string]graph.Type{}
	for _, n := range m.Inputs() {
		types[n.Path()] = n.Type()
	}
	for _, n := range other.Inputs() {
		if t, ok := types[n.Path()]; !ok || t != n.Type() {
			return false
		}
	}
	return true
}
