// Package scaling predicts what a step of training costs on many ranks, from what its parts cost on
// one machine.
//
// It takes a [Net], how long one lane takes, its bucket and its update, as they were measured; a
// [Network], how long a message takes; and a [Job], which shares the net out over ranks. It gives a
// [Step]: the seconds that a rank computes, exchanges, waits and updates, its memory, and the bytes
// that it sends. The same job gives the same step, whatever machine predicts.
//
// # The model
//
// A message of n bytes takes α + n/β seconds (Hockney 1994), α the latency and β the bandwidth. A
// [Schedule] is the list of messages of one sum over all ranks, in phases; ranks enter a phase when
// they have left the one before, and two ranks that exchange wait for each other. Messages of a phase
// that leave a node share its link, and those that leave a pod share its uplinks: each gets an equal
// part. The schedules are the tree of package train/parallel, and for comparison those of Thakur,
// Rabenseifner and Gropp (2005).
//
// Each rank's computing takes as long as it was measured, times 1 + X where X is drawn anew for each
// rank and step from a law with a heavy tail (see [Noise]): the sum waits for the slowest.
//
// What breaks with the number of ranks has a formula each: [Failures] for machines that fail, and
// [Steps] for batches that are too large to help.
package scaling
