package exporter

import (
	"fmt"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// Unsupported is the error for nodes that ONNX has no form for, all of them.
type Unsupported []Refusal

// Refusal says which node it is, and why.
type Refusal struct {
	Op     string    // the operation
	Node   string    // the node's text: a[i=150]
	Pos    graph.Pos // the user's line
	Reason string
}

// Error returns a line for each node:
//
//	model.go:12: Eigh: ONNX cannot say it: it has no eigenvalues: %7[4 3]
func (u Unsupported) Error() string {
	lines := make([]string, len(u))
	for i, r := range u {
		lines[i] = r.String()
	}
	return strings.Join(lines, "\n")
}

// String returns the line of one node.
func (r Refusal) String() string {
	at := ""
	if p := r.Pos.String(); p != "" {
		at = p + ": "
	}
	return fmt.Sprintf("%s%s: ONNX cannot say it: %s: %s", at, r.Op, r.Reason, r.Node)
}
