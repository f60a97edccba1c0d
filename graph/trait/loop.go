package trait

import "github.com/tapestry-ml/tapestry/graph"

// Looped is a [graph.BodyOp] that runs its body once for every step and carries values from each
// step to the next.
type Looped interface {
	// Loop returns how the body is run.
	Loop() Loop
}

// Loop describes how an operation runs its body. The operands are the initial carries; then
// sequences, of which each step sees the element of its time along the first axis; then constants,
// which every step sees whole. The inputs of the body are the same, for one step. The results of
// the body are the next carries; then the outputs of the step; then terms of sums over the steps.
//
// A node has one value, so that of a loop is one vector: for each carry its trace of Steps+1 rows,
// the initial value included; for each output its Steps rows; for each sum its total. See
// [Loop.Parts].
//
// A loop may have a gate: an operand that is a scalar in a step, of any type. A step whose gate is
// 0 is not run: the carries go on as they are, the outputs are 0, and the sums get nothing. Where
// the gate is a carry, no step runs after such a one.
type Loop struct {
	Body                          graph.BodyID
	Steps                         int
	Carries, Sequences, Constants int
	Outs, Sums                    int
	Reverse                       bool // the steps run from the last time to the first
	Gate                          int  // the number of the operand that is the gate, plus 1; 0 for none
	// Made is the name of the function of package ops that made the loop, or the loop that it is derived
	// from. It says no more than who asked for the loop: how it runs is in the other fields.
	Made string
}

// Gated returns the number of the operand that is the gate; ok is false if every step is run.
func (l Loop) Gated() (operand int, ok bool) { return l.Gate - 1, l.Gate > 0 }

// LoopBody returns the body of a node that is a loop, nil for other nodes.
func LoopBody(n *graph.Node) *graph.Body {
	if !n.IsValid() {
		return nil
	}
	if _, ok := n.Op().(Looped); !ok {
		return nil
	}
	return n.Body()
}

// Part says where one result of a loop lies in its value: Rows rows of Size elements each, from
// element At on.
type Part struct{ At, Rows, Size int }

// Parts returns the part of each result of the body b; nil if b is nil.
func (l Loop) Parts(b *graph.Body) []Part {
	if b == nil {
		return nil
	}
	results := b.Out()
	parts := make([]Part, len(results))
	at := 0
	for i, n := range results {
		rows := 1
		switch {
		case i < l.Carries:
			rows = l.Steps + 1
		case i < l.Carries+l.Outs:
			rows = l.Steps
		}
		parts[i] = Part{at, rows, n.Shape().Len()}
		at += rows * parts[i].Size
	}
	return parts
}

// At returns the time of step k, from 0 to Steps − 1, and the rows of the traces that hold the
// carries before and after it.
func (l Loop) At(k int) (time, before, after int) {
	if l.Reverse {
		time = l.Steps - 1 - k
		return time, time + 1, time
	}
	return k, k, k + 1
}
