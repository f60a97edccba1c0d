package builders

import "github.com/tapestry-ml/tapestry/graph"

// Define completes a builder of your own, outside the registry. fill gets the settings, checked and
// with their defaults, and sets the fields of m that the model has: at least Output, and Examples
// if it is to be trained.
func Define(b Builder, fill func(s Settings, dt graph.DType, m *Model)) Builder {
	b.make = fill
	return b
}

var kindNames = [...]string{"real", "count", "natural", "flag", "choice"}

// String returns the kind in one word.
func (k Kind) String() string { return kindNames[min(int(k), len(kindNames)-1)] }
