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
// the place and size of its result (marked = where it took an operand's place),
// arithmetic and traffic.
//
//	program "soft k-means": 20 instructions, arena 7.9 KiB, 18.6k FLOP, 63.8 KiB moved a run
//	   #    offset     bytes  result                   FLOP    moved  instruction
//	   0        0       1800  D[i=150 j=3]             5.4k  4.1 KiB  SqDist x[i=150 d=4], r[j=3 d=4]
//	   1     1856       1800  %5[i=150 j=3]             450  3.5 KiB  Mul %4[i=150 j=3], D[i=150 j=3]
//	   2     1856=      1800  %6[i=150 j=3]             450  3.5 KiB  Neg %5[i=150 j=3]
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
