package gorgonia

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
)

// Unsupported is the error for a node that gorgonia cannot compute, or would compute wrongly.
type Unsupported struct {
	Op     string    // the operation: "ArgMin", "param"
	Node   string    // the node's text: a[i=150]
	Pos    graph.Pos // the user's line
	Reason string    // what gorgonia cannot do
}

func unsupported(n *graph.Node, reason string) error {
	return &Unsupported{n.Op().Name(), n.String(), n.First().Pos, reason}
}

// Error returns one line:
//
//	model.go:12: ArgMin: gorgonia cannot run it: it has no index of a minimum: a[i=150]
func (u *Unsupported) Error() string {
	at := ""
	if p := u.Pos.String(); p != "" {
		at = p + ": "
	}
	return fmt.Sprintf("%s%s: gorgonia cannot run it: %s: %s", at, u.Op, u.Reason, u.Node)
}
