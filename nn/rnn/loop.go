package rnn

import "github.com/tapestry-ml/tapestry/ops"

// loop runs steps over time: as one node, or written out.
func loop(l ops.Loop, unroll bool, step ops.StepFunc) ops.Scanned {
	if unroll {
		return ops.Unroll(l, step)
	}
	return ops.Scan(l, step)
}
