// Package trait declares the protocol between an operation and the packages that work on graphs,
// one optional interface for each thing that an operation may say of itself. No package knows an
// operation by its name, so that an operation from outside the library is treated as those of the
// library, and is not mistaken for one that happens to have its name.
//
// Every operation has the methods of [graph.Op], from which a graph is built:
//
//	Name, Infer       graph.Op            everywhere
//
// It is defined in one of these ways, in float64, and runs by its definition unless it has a faster
// way:
//
//	Scalar            [Elementwise]       internal/ref, tape, graph/vmap, check: a function of numbers
//	Whole             [Integers]          internal/ref: besides, where integers overflow
//	Eval              [Defined]           internal/ref: a function of arrays
//	EvalWhole         [DefinedIntegers]   internal/ref: besides, where integers overflow
//	Iterate           [Iterated]          internal/ref, inspect, check: a loop over a body
//	Run               tape.CustomOp       tape: a loop written in Go, of an operation from outside
//	Kernel            tape.Runnable       tape: a kernel of internal/kernel
//	View              tape.Viewed         tape: a change of strides, which moves nothing
//
// It may be differentiated and mapped:
//
//	Grad              [Differentiable]    graph/grad: reverse mode
//	GradAmong         [Joint]             graph/grad: the derivatives of several operands together
//	JVP               [Forward]           graph/grad: forward mode
//	Batch             [Batched]           graph/vmap: many examples at once
//	Convention        [Conventional]      the reference: what is taken where there is no derivative
//
// It may read indices, run a body, or hand elements on:
//
//	Places            [Indexing]          the checks of indices
//	Keeps             [Keeping]           the same: whose element a wrong index was before
//	BodyID, WithBody  graph.BodyOp        every walk over graphs that looks into bodies
//	Loop              [Looped]            tape, inspect, viz: how the body is run
//	Labels            [Labelled]          train: which operand holds classes
//
// Rules of rewriting, drawings and translations ask how it treats axes and factors:
//
//	Linear            [Linear]            graph/rewrite: factors of an operand may be taken out
//	Commutes          [Commutative]       graph/rewrite: the operands may be exchanged
//	Twin              [Paired]            graph/rewrite: the same with its axes kept or removed
//	Integer           [Quantisable]       infer/quantise: the same product of integers of a byte
//	Along             [Along]             graph/rewrite, interop/gorgonia: the axes it works along
//	Epsilon           [Deviating]         graph/rewrite: what is added to the variance
//	Order             [Permuting]         graph/rewrite, interop/gorgonia: an order of axes
//	Scatters          [Scattering]        graph/rewrite: rows that are touched alone
//	Parts             [Packed]            viz: several results in one value
//	Strides           [Strided]           graph/rewrite, viz, interop/gorgonia: a regular part of an array
//
// It is shown:
//
//	Notation          [Notated]           viz: as people write it
//	Rule              [Ruled]             viz: the name and the law of its derivative
//	Doc, Cases        ops.Op              the reference, and the tests that every operation passes
//
// And it explains itself where numbers go wrong:
//
//	Undefined         [Undefined]         inspect: why a result is not finite
//	Degenerate        [Degenerate]        inspect: the same, of whole arrays
//	Overflow          [Overflowing]       inspect: why a finite result is too large for its type
//	Blames            [Blaming]           inspect: what of an operand can be behind a bad result
//	Loses             [Lossy]             inspect: why digits are lost
//	Terms             [Summing]           inspect: what is added up, and may cancel
//	Magnifies         [Magnifying]        inspect: when errors of operands grow
//	Window            [Windowed]          inspect: which elements of an operand an element needs
package trait
