package tape

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/kernel"
)

// MixedRule says how an operation computes under [Mixed].
type MixedRule struct {
	Operation string
	Operands  string // the type that its operands are rounded to, or that they keep
	Sums      string // the type in which it adds
	When, Why string

	applies func(n *graph.Node) bool
}

// Applies reports whether a node computes so under [Mixed].
func (r MixedRule) Applies(n *graph.Node) bool {
	return r.applies != nil && n.IsValid() && r.applies(n)
}

// Rounds reports whether the rule rounds operands: some rules say why others keep theirs.
func (r MixedRule) Rounds() bool { return r.Operands != r.Sums }

// MixedRules returns the table by which [Mixed] chooses: of the rules that apply, the first holds.
// Operations that it does not name compute as they do without the option.
func MixedRules() []MixedRule {
	const brain, single = "bfloat16", "float32"
	return []MixedRule{{
		Operation: "product of matrices", Operands: brain, Sums: single,
		When: fmt.Sprintf("float32, and %d rows, columns and terms or more", leastMixed),
		Why: "products do most of the arithmetic, and are up to twice as fast on pairs of bfloat16; smaller ones " +
			"take longer to round than to multiply, or wait for memory",
		applies: mixedProduct,
	}, {
		Operation: "convolution", Operands: brain, Sums: single,
		When: fmt.Sprintf("float32, and %d channels or more on both sides of each group", leastChannels),
		Why: "windows are rounded as they are gathered, each for all channels of the result, and multiplied as " +
			"matrices are",
		applies: mixedConv,
	}, {
		Operation: "derivative of a convolution by its input", Operands: brain, Sums: single,
		When:    "as a convolution, and windows are longer than their strides, or strides are 1",
		Why:     "it is a convolution; where windows meet few places, writing them takes longer than the sums",
		applies: mixedConvInput,
	}, {
		Operation: "derivative of a convolution by its weights", Operands: brain, Sums: single,
		When: fmt.Sprintf("float32, %d channels or more on both sides of each group, and %d places or more in the "+
			"result", leastWeighed, leastPlaces),
		Why:     "its terms are the places of an image, which are gathered for each tap: fewer do not repay that",
		applies: mixedConvKernel,
	}, {
		Operation: "other products and convolutions", Operands: single, Sums: single,
		When:    "no rule above applies",
		Why:     "they take longer to gather and to round than to multiply, or are float64",
		applies: func(n *graph.Node) bool { return multiplies(n) != nil },
	}}
}

// The least sizes of what rounds its operands: of products, and of the channels and places of
// convolutions, which have been measured (BenchmarkConvRounded of internal/kernel).
const (
	leastMixed    = 16
	leastChannels = 32
	leastWeighed  = 64
	leastPlaces   = 49 // 7×7
)

// multiplies returns the kernel of a product or a convolution, nil for what is neither.
func multiplies(n *graph.Node) kernel.Kernel {
	if op, ok := n.Op().(Runnable); ok {
		k := op.Kernel(n)
		if _, ok := kernel.Rounding(k); ok {
			return k
		}
	}
	return nil
}

func mixedProduct(n *graph.Node) bool {
	if _, ok := multiplies(n).(kernel.MatMul); !ok {
		return false
	}
	a, b := n.In(0).Shape(), n.In(1).Shape()
	rows, columns, terms := n.Shape().Dim(n.Rank()-2), n.Shape().Dim(n.Rank()-1), a.Dim(a.Rank()-1)
	if b.Len() == columns*terms { // all batches share the right operand
		rows = n.Shape().Len() / max(1, columns)
	}
	return n.DType().Wide() == graph.F32 && min(rows, columns, terms) >= leastMixed
}

func mixedConv(n *graph.Node) bool {
	k, ok := multiplies(n).(kernel.Conv)
	return ok && channels(n, n.In(1).Shape(), 1, k.Groups) >= leastChannels
}

func mixedConvInput(n *graph.Node) bool {
	k, ok := multiplies(n).(kernel.ConvInput)
	if !ok || channels(n, n.In(1).Shape(), k.Groups, 1) < leastChannels {
		return false
	}
	for a := range k.Spatial {
		if stride := k.Stride[2-k.Spatial+a]; stride > 1 && n.In(1).Shape().Dim(a) <= stride {
			return false
		}
	}
	return true
}

func mixedConvKernel(n *graph.Node) bool {
	k, ok := multiplies(n).(kernel.ConvKernel)
	if !ok || channels(n, n.Shape(), 1, k.Groups) < leastWeighed {
		return false
	}
	places, y := 1, n.In(1).Shape()
	for a := range k.Spatial {
		places *= y.Dim(y.Rank() - 2 - a)
	}
	return places >= leastPlaces
}

// channels returns the fewer of the channels on both sides of a group, by the last two axes of the
// weights, of which one has the channels of all groups; 0 if they are not float32.
func channels(n *graph.Node, w graph.Shape, before, last int) int {
	if n.DType().Wide() != graph.F32 {
		return 0
	}
	return min(w.Dim(w.Rank()-2)/max(1, before), w.Dim(w.Rank()-1)/max(1, last))
}

// Mixed computes large products of float32 matrices, and convolutions of many channels with both
// their derivatives, from operands that are rounded to bfloat16, which has float32's range and 8 of
// its 24 bits; nothing else turns it on. [MixedRules] is the table by which it chooses. Values,
// parameters, states and updates stay float32, and so do the sums within a product; as no number
// leaves the range, losses need no scaling. What is given up:
//
//   - An element Σ_p a_p·b_p is off by up to 2⁻⁸·Σ_p |a_p·b_p|, where otherwise it is by a few
//     2⁻²⁴. Where terms cancel, few digits or none are left; so it is for derivatives, whose
//     products round the gradients.
//   - Operands below 2⁻¹²⁶ count as 0 where the processor multiplies bfloat16.
//
// With AVX512-BF16 products and convolutions are up to twice as fast. Elsewhere the operands are
// rounded as they are packed, which gives the same rounding and no speed: use it there to see what
// is lost. Sums of products have other last bits on either. inspect.MeasureMixedPrecision, and the
// command tapestry precision --mixed, show the digits that it costs a model. Results are the same,
// bit by bit, for any number of workers.
func Mixed() Option { return func(r *request) { r.mixed = true } }

// mix returns the kernel with which a node is computed, by the table if that is wanted.
func (how *settings) mix(n *graph.Node, k kernel.Kernel) kernel.Kernel {
	if !how.mixed {
		return k
	}
	for _, rule := range MixedRules() {
		if rounded, ok := kernel.Rounding(k); ok && rule.Applies(n) {
			if rule.Rounds() {
				return rounded
			}
			break
		}
	}
	return k
}

// nameOf returns the name of an operation as the listing shows it, with what a kernel does to its
// operands.
func nameOf(operation string, k kernel.Kernel) string {
	if kernel.Rounds(k) {
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
		if k, ok := p.instrs[i].kernel.(*loop); ok {
			n += k.body.Mixed()
		} else if kernel.Rounds(p.instrs[i].kernel) {
			n++
		}
	}
	return n
}

// ErrNotMixed says that [Mixed] would change nothing, because no product or convolution is large
// enough.
var ErrNotMixed = fmt.Errorf("no product rounds its operands: want %d rows, columns and terms of float32, or convolutions of %d channels",
	leastMixed, leastChannels)
