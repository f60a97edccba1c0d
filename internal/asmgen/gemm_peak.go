package main

import (
	"github.com/mmcloughlin/avo/operand"
)

// peakChains are independent chains of multiply-adds, enough to hide their latency.
const peakChains = 12

// peak emits a loop of multiply-adds only, the measure for other loops.
func (t *target) peak() {
	t.start("peak", "func(iterations int)", "Does 12 multiply-adds of whole vectors per iteration.")
	n := t.Load(t.Param("iterations"), t.GP64())
	x := t.zero()
	var sums [peakChains]vector
	for i := range sums {
		sums[i] = t.zero()
	}
	t.Label("loop")
	for _, s := range sums {
		t.float("VFMADD231P*", x, x, s)
	}
	t.DECQ(n)
	t.JNZ(operand.LabelRef("loop"))
	t.end()
}
