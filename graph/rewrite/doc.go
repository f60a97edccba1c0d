// Package rewrite improves graphs: from a graph and its wanted nodes it makes another graph that
// computes the same values, with a map from old nodes to new ones and a log of the rules that
// fired.
//
// The passes are values in one list ([Passes]), each with the reason for its
// place; the rules are rows of tables (name, reason, function). A line of the
// log reads
//
//	stabilise: naive softmax: Div e[i=150 j=3] %12[i=150 j=3] : f32[i=150 j=3]  →  Softmax{axis=1} %9[i=150 j=3] : f32[i=150 j=3]
//
// Gradients follow: stabilise, specialise and a first simplify change the forward cone only, and
// [grad.Of] is then applied again to what it has become, because a stable loss with the old
// derivative would still overflow, and a pairwise distance with the old adjoint would still hold an
// i×j×d array. A derivative with respect to an inner node, which rules may bypass, is taken of a
// copy of the loss in which rules cannot look into that node; afterwards equal nodes are one again.
// The same holds for a gradient in another loss: derivatives of any order follow. Tangents, and
// derivatives that are mapped, do not.
//
// Scalar factors are gathered and moved out of sums and products, so that the 1/n of a mean ends
// beside the learning rate instead of in every array in between. Moving them, and taking the
// reciprocal of a divisor that is repeated, may change the last digits of a result; a result may
// also leave the range of its element type, or stay within it, where as written it did not. So may
// products in the step of a loop, and what is summed before it is multiplied by what is the same for
// all terms, or by a matrix, once gradients are derived. All other rules change at most the order
// of sums.
//
// What a loop does not carry leaves it (pass fission): x_t·W for all steps is the one product X·W
// before the loop, and Σ_t x_tᵀ·g_t is Xᵀ·G after it. What moves takes memory for all steps. So
// products move, and what else shortens the step by more than it adds arrays to read and write; of
// rows that are long enough to hide what an instruction costs, only what makes the arrays smaller.
// A result of the step as large as several times what the step reads and writes stays. Indices that
// are looked up stay, so that the error about one that is out of range tells its time, and draws;
// branches stay whole. Loops that data end, and loops within loops and around them, as checkpoints
// have, are left as they are. Values are the same but for the order of sums and of factors.
//
// The nodes that a rule builds are reduced by the same rules, from the first to the last: running
// the list again changes nothing. No rule asks how many users a node has, so watching one more node
// changes no bit elsewhere.
package rewrite
