// Package builders holds the models of the lecture notes. Each is a plain
// function over nodes that writes the model as the notes draw it, and an entry
// of the registry ([All]) that makes a whole graph of given sizes:
//
//	m := builders.SoftKMeans(x, r, γ)          // in a graph of one's own
//	m, err := builders.Build("kmeans-softmax", builders.Settings{"n": 150, "d": 4, "k": 3})
//
// Quantities carry the names of the notes (α, r̂) and axes are i for points, j
// for clusters, d for features.
package builders
