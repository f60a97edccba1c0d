// Package reserved keeps the names of the operations of packages graph and ops. Rules, engines and
// the text form know these operations by name, so that no other operation may have one of them;
// package graph, which refuses it, cannot import ops.
package reserved

import "reflect"

var types = map[string]reflect.Type{}

// Name gives an operation's type its name for itself, at the start of the program.
func Name(name string, op reflect.Type) { types[name] = op }

// By is the type that a name is reserved for, nil if it is free.
func By(name string) reflect.Type { return types[name] }
