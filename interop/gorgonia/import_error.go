package gorgonia

import (
	"fmt"

	G "gorgonia.org/gorgonia"
)

// NotImported is the error for one of gorgonia's nodes that has no counterpart.
type NotImported struct {
	Name   string // as the program named it; "" for none
	ID     int64  // gorgonia's number of the node
	Op     string // gorgonia's text of its operation: "CTCLoss{}()"; "variable" for none
	Reason string
}

func notImported(n *G.Node, reason string) error {
	u := &NotImported{Name: ownName(n), ID: n.ID(), Op: "variable", Reason: reason}
	if n.Op() != nil {
		u.Op = n.Op().String()
	}
	return u
}

// Error returns one line:
//
//	gorgonia's node 12 "boxes", YOLO{}(anchors: ([10 14])): there is no counterpart for it
func (u *NotImported) Error() string {
	name := ""
	if u.Name != "" {
		name = fmt.Sprintf(" %q", u.Name)
	}
	return fmt.Sprintf("gorgonia's node %d%s, %s: %s", u.ID, name, u.Op, u.Reason)
}
