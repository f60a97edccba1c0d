package tape

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// MixedRule says how an operation computes under [Mixed].
type MixedRule struct {
	Operation string
	Operands  string // the type that its operands are rounded to
	Sums      string // the type in which it adds
	When, Why string

	applies func(n *graph.Node) bool
}

// Applies reports whether a node computes so under [Mixed].
func (r MixedRule) Applies(n *graph.Node) bool {
	return r.applies != nil && n.IsValid() && r.applies(n)
}

// MixedRules returns the table by which [Mixed] chooses. Operations that it does not name compute
// as they do without the option.
func MixedRules() []MixedRule {
	return []MixedRule{{
		Operation: "product of matrices", Operands: "bfloat16", Sums: "float32",
		When: fmt.Sprintf("float32, and %d rows, columns and terms or more", leastMixed),
		Why: "products do most of the arithmetic, and are up to twice as fast on pairs of bfloat16; smaller ones " +
			"take longer to round than to multiply, or wait for memory",
		applies: mixedProduct,
	}}
}

// leastMixed is the least size of a product that rounds its operands.
const leastMixed = 16

func mixedProduct(n *graph.Node) bool {
	op, ok := n.Op().(Runnable)
	if !ok {
		return false
	}
	if _, ok := op.Kernel(n).(kernel.MatMul); !ok {
		return false
	}
	a, b := n.In(0).Shape(), n.In(1).Shape()
	rows, columns, terms := n.Shape().Dim(n.Rank()-2), n.Shape().Dim(n.Rank()-1), a.Dim(a.Rank()-1)
	if b.Len() == columns*terms { // all batches share the right operand
		rows = n.Shape().Len() / max(1, columns)
	}
	return n.DType().Wide() == graph.F32 && min(rows, columns, terms) >= leastMixed
}

// Mixed computes large products of float32 matrices from operands that are rounded to bfloat16,
// which has float32's range and 8 of its 24 bits; nothing else turns it on. [MixedRules] is the
// table by which it chooses. Values, parameters, states and updates stay float32, and so do the sums
// within a product; as no number leaves the range, losses need no scaling. What is given up:
//
//   - An element Σ_p a_p·b_p is off by up to 2⁻⁸·Σ_p |a_p·b_p|, where otherwise it is by a few
//     2⁻²⁴. Where terms cancel, few digits or none are left; so it is for
//     derivatives, whose products round the gradients.
//   - Operands below 2⁻¹²⁶ count as 0 where the processor multiplies bfloat16.
//
// With AVX512-BF16 products are up to twice as fast. Elsewhere the operands are rounded as they are
// packed, which gives the same rounding and no speed: use it there to see what is lost. Sums of
// products have other last bits on either. inspect.MeasureMixedPrecision, and the command tapestry
// precision --mixed, show the digits that it costs a model. Results are the same, bit by bit, for any number of
// workers.
func Mixed() Option { return func(r *request) { r.mixed = true } }

// mix returns the kernel with which a node is computed, by the table if that is wanted.
func (how *settings) mix(n *graph.Node, k kernel.Kernel) kernel.Kernel {
	if !how.mixed {
		return k
	}
	for _, rule := range MixedRules() {
		if p, ok := k.(kernel.MatMul); ok && rule.Applies(n) {
			p.Brain = true
			return p
		}
	}
	return k
}

// nameOf returns the name of an operation as the listing shows it, with what a kernel does to its
// operands.
func nameOf(operation string, k kernel.Kernel) string {
	if p, ok := k.(kernel.MatMul); ok && p.Brain {
		return operation + " bf16"
	}
	return operation
}

// Mixed returns how many instructions round their operands under [Mixed], those in the steps of
// loops counted once.
func (p *Program) Mixed() (n int) {
	if p == nil {
		return 0
	}
	for i := range p.instrs {
		switch k := p.instrs[i].kernel.(type) {
		case kernel.MatMul:
			if k.Brain {
				n++
			}
		case *loop:
			n += k.body.Mixed()
		}
	}
	return n
}

// ErrNotMixed says that [Mixed] would change nothing, because no product is large enough.
var ErrNotMixed = fmt.Errorf("no product rounds its operands: want %d rows, columns and terms of float32", leastMixed)
