package importer

import (
	"maps"
	"slices"
)

// table returns a rule for each operator: by its name, with its domain before it unless that is the
// standard one.
func table() map[string]rule {
	t := control()
	for _, part := range []map[string]rule{
		activations,
		convolutions,
		creations,
		draws,
		elementwise,
		fusions,
		indexing,
		layout,
		losses,
		normalisations,
		norms,
		ordering,
		pools,
		products,
		quantisations,
		recurrent,
		reductions,
		regions,
		sampling,
		sequences,
		signals,
		steps,
		sums,
		softmaxes,
		texts,
		truths,
	} {
		maps.Copy(t, part)
	}
	return t
}

// Operators returns the names of all operators that are read, in order: with their domains before
// them, unless that is the standard one.
func Operators() []string { return slices.Sorted(maps.Keys(table())) }
