// Package figure draws annotated graphs: boxes with two lines of text joined by edges, grouped in
// modules, with an optional column of gradients and an optional second panel for comparison.
//
// It takes a [Figure], plain data that knows nothing of computational graphs, and returns a
// [Layout], or writes a self-contained SVG, the same in parts for a viewer that zooms and pans (a
// [Sheet]), or a DOT text.
//
// A [Sketch] is a drawing of another kind, as on a board: signs from left to right, with loops and
// levels.
//
// A drawing guarantees:
//
//   - Forward nodes are on the left and read downwards; backward nodes are on the right
//     and read upwards, each in the row of its partner.
//   - Nodes never overlap; a module is one box that contains its nodes and
//     nothing else; sibling boxes are disjoint.
//   - In a figure of two panels a node that belongs to both has the same place
//     in both, so that the eye can flip between them.
//   - Meaning is carried by shape and dash first and colour second, in light
//     and dark. The SVG has no script, no link, no font and no CSS variable.
//   - Measurements appear on the node itself: heat as one of seven fills, a badge
//     with the number, an alarm with a sign of its own. Text is readable on all fills.
//   - A viewer can open and close modules: [Near] keeps the order of everything that stays.
//   - The same figure gives the same bytes; a Figure that nobody modifies may
//     be drawn by many goroutines at once; a context stops the work.
//
// Text may contain anything: [Clean] replaces the bytes that XML and DOT cannot carry. Parts of it
// that [Sub] and [Sup] mark are set as subscripts and superscripts.
package figure
