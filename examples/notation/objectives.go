// Package objectives holds the examples of the notation, so that programs can offer
// them: kmeans-softmax.tapestry and its neighbours.
package objectives

import "embed"

// Files are the examples, NAME.tapestry each.
//
//go:embed *.tapestry
var Files embed.FS
