// Package tape compiles a graph to a tape of kernel calls over one arena of
// memory, and runs it on a small VM.
//
// [Compile] takes the nodes that are wanted and the updates to apply; it runs
// the rewrite passes, puts the nodes in order, turns changes of layout into
// strides, plans every buffer's place, and gives a [Program], which does not
// change any more and may be used by many VMs. A [Store] holds parameters and
// states by path; a [VM] joins a program and a store and runs steps:
//
//	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
//	vm := prog.NewVM(tape.NewStore(g, tape.Seed(1)))
//	defer vm.Close()
//	err = vm.Run(ctx, tape.Feed{x: iris})
//
// The text form is the listing, [Program.String]: an instruction a line, with
// the place of its result, operands, shape, arithmetic and traffic.
//
//	program "soft k-means": 21 instructions, arena 9.4 KiB, 34.1 kFLOP, 61.3 KiB moved a step
//	  # offset   bytes  result               instruction
//	  0     0    1800  D[i=150 j=3]         SqDist x[i=150 d=4] r[j=3 d=4]                 5.4k
//
// # Promises
//
// Peak memory is known before running: the arena never grows, and a step
// allocates nothing. A run is a pure function of the fed inputs, the store and
// the seed, bit for bit. Every step ends in a commit that cannot fail; before
// it, a failed or cancelled run leaves parameters and states as they were. What
// is watched is materialised beside the rest and changes nothing else.
//
// The tape knows kernels, never the names of operations.
package tape
