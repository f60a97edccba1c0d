// Package figure draws annotated graphs: boxes with two lines of text joined
// by edges, grouped in modules, with an optional column of gradients and an
// optional second panel for comparison.
//
// It takes a [Figure], plain data that knows nothing of computational graphs,
// and gives a [Layout], a self-contained SVG, the same in parts for a viewer that
// zooms and pans (a [Sheet]), or a DOT text.
//
// What a drawing promises:
//
//   - Forward nodes stand left and are read down; backward nodes stand right
//     and are read up, each in the row of its partner.
//   - Nodes never overlap; a module is one box that holds its nodes and
//     nothing else; sibling boxes are disjoint.
//   - In a figure of two panels a node that belongs to both has the same place
//     in both, so that the eye can flip between them.
//   - Meaning is carried by shape and dash first and colour second, in light
//     and dark. The SVG has no script, no link, no font and no CSS variable.
//   - What was measured of a node stands on it: heat as one of seven fills, a badge
//     with the number, an alarm with a sign of its own. No text is unreadable on any.
//   - A viewer can open and close modules: [Near] keeps the order of all that stays.
//   - The same figure gives the same bytes; a Figure that nobody modifies may
//     be drawn by many goroutines at once; a context stops the work.
//
// Text may hold anything: see [Clean] for what becomes of bytes that XML and
// DOT cannot carry.
package figure
