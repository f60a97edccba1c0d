// Package rnn holds recurrent nets: cells, the layer that runs a cell over time, stacks, both
// directions at once, linear filters, and encoder–decoder models of sequences.
//
// A [Cell] is one step; [Recur] runs it over the time axis of x[b t d], as one loop node of the
// graph whatever the number of steps:
//
//	cell := rnn.NewLSTM(g, "lstm", graph.F32, graph.Ax("d", 8), graph.Ax("h", 16))
//	h := rnn.Recur{Cell: cell}.Of(x) // x[b t d] → h[b t h]
//
// Its Read also returns the state after the last step, ReadMasked passes over padding, and Next
// reads one element a run and keeps the state in the store, for generation. [Stack] puts layers on
// each other, [Bidirectional] joins both directions, [Seq2Seq] reads one sequence and writes
// another. A cell of one's own is any struct with exported nodes and the two methods of [Cell].
//
// As in package nn, layers are structs of their parameters, mistakes are recorded in the graph, and
// the nodes are ordinary ones with the text form of package graph. No call panics.
package rnn
