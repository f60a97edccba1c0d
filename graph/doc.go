// Package graph has the intermediate representation: a static computational
// graph of immutable nodes. It computes nothing.
//
// A program adds nodes to a [Graph] through package ops; everything else reads
// the graph: grad derives it, rewrite improves it, tape compiles it, viz draws
// it. The text form of the smallest interesting graph, as [Graph.String] prints
// it:
//
//	graph "line"
//	%0 = input{path="x" type=f32[i=150]} : f32[i=150] ; "x" @main.go:9
//	%1 = param{path="w" type=f32[]} : f32[] ; "w" @main.go:10
//	%2 = Broadcast{to=[i=150]} %1 : f32[i=150] ; @main.go:11
//	%3 = Mul %0 %2 : f32[i=150] ; "y" @main.go:11
//
// # Invariants
//
// A node is its operation and its inputs, nothing more: adding an equal node
// again gives the node that is there, so common subexpressions exist once by
// construction. Operations are compared by value (they are small comparable
// structs), never by a hash alone. Leaves carry their path and random draws
// their key, so they never merge.
//
// Whatever differs between two uses of one node stands beside it, in the
// ordered list of its [Occurrence] values: the name given with [Node.As], the
// scope, the user's source line, and the reason that the node exists ([Origin]).
//
// An operation may run a [Body], a sealed graph that the graph holds by content as
// it does constants: see [BodyOp]. Whatever walks a graph walks the bodies in it.
//
// # How axes meet
//
// Axes may be named, and a name is unique within a node. If arrays of different shapes meet, as
// operands of an elementwise operation or batches of a matrix product, their axes meet by position
// from the last one, as in NumPy. Names do not move an axis, they are checked: two different names
// never meet. An axis without a name takes that of its partner: [n=3 d=3] and [3] meet at d.
//
// An array is repeated along its axes of size 1 and along leading axes that it lacks. For [n=3 1]
// and [3], a column of predictions less a list of targets, NumPy silently makes all pairs: it
// repeats the list along n and the column along the list. Here that is a mistake. All pairs are
// allowed if both arrays have all axes ([n=3 1] and [1 3]), if the axis that repeats the other
// array is named and so are the axes that its own array lacks ([n=3 1] and [j=3]), or if the names
// that meet agree ([n=3 d=1] and [d=3]). It is never a mistake that only one of the two is repeated
// ([n=3 4] and [4], [n=3 1] and a scalar). [Align] has the rule in full.
//
// # Mistakes
//
// A mistake does not panic, and no call returns an error of its own. The graph records
// the mistake with the user's line, the call returns an invalid node, and calls with
// an invalid operand return invalid nodes silently. [Graph.Err] returns all mistakes.
// [Verify] checks every invariant of a finished graph.
//
// Node numbers follow the order of creation, inputs before users; no map order
// is ever visible. One goroutine may build a graph; any number may read it.
package graph
