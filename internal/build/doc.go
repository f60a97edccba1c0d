// Package build holds what layers and models build their part of a graph with: scopes and names of
// parts, axes, constants and short pieces of arithmetic. As in package ops, invalid nodes pass
// through, and mistakes are recorded in the graph.
package build
