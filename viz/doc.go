// Package viz shows a computational graph to people: as formulas, as a drawing, and as an aligned
// comparison of two objectives.
//
// It takes nodes of package graph, differentiated or not, rewritten or not, and returns
//
//   - expressions ([Expr]), printed as Unicode ([Formula], [Equations]) or LaTeX
//     ([LaTeX]): D_ij = ‖x_i − r_j‖², ∂loss/∂r_jd = −Σ_i ∂loss/∂Δ_ijd;
//   - figures ([Draw], [SVG], [DOT], [Tree]) at the level of detail asked for;
//   - sketches ([Sketch]): the same as a lecture draws it, from left to right, with r₁, r₂, r₃ apart;
//   - differences ([Diff]), as sets of nodes, as text with a sentence, or drawn side by
//     side with everything that is shared at the same place. Nodes are matched by what
//     they compute and where in the flow they stand; names decide between equals only.
//
// A large graph is drawn small: blocks that repeat, such as the layers of a transformer with
// their derivatives, are drawn once for all ("block1 … 12 × 12"; [Unfolded], [Expand]), and if
// that still leaves too many boxes, scopes are closed ([CollapseAbove]). Measurements and
// findings can be laid over the drawing ([Overlay]).
//
// The package guarantees:
//
//   - A formula is true: evaluated element by element it gives the node's value,
//     up to the rounding of printed constants. No index captures another.
//   - A formula stops at what the user named, so its length is that of the
//     user's own mathematics; unnamed expressions that would grow too long stop
//     at nodes called %12.
//   - An operation says by its Notation method how it is written. The package itself
//     only knows those that move elements, which are no part of a formula:
//     a split or merged axis has several indices, w_{m,he}, and a slice shifts one,
//     x_{t+1}.
//   - A function that is made of several operations is called by its name, gelu(x), and its
//     derivative gelu′(x), wherever the graph has these operations ([Functions] adds names); a
//     factor that is one over the root of a size is written as a root, e/√64.
//   - Text of the user's cannot break out of a LaTeX or SVG document.
//   - The same graph gives the same bytes. Everything here only reads, and any
//     number of goroutines may draw one graph at once.
package viz
