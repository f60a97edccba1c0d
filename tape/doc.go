// Package tape compiles a graph to a tape, a list of kernel calls over one arena of memory, and
// runs it on a small VM.
//
// [Compile] takes the nodes whose values are wanted and the updates to apply, and returns a
// [Program], which is immutable and may be shared by many VMs. A [Store] holds parameters and
// states by path; a [VM] joins a program and a store and runs steps:
//
//	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
//	vm, err := prog.NewVM(tape.NewStore(g, tape.Seed(1)))
//	defer vm.Close()
//	err = vm.Run(ctx, tape.Feed{x: iris})
//
// [Eval] does all of this in one line, for a program that runs once, and [Of] makes a tensor of
// numbers:
//
//	values, err := tape.Eval(ctx, tape.Feed{x: tape.Of(x, 1, 2, 3)}, y)
//
// The text form is the listing, [Program.String]: one line for each instruction, with the place and
// size of its result, its arithmetic, and the bytes that it reads and writes. This one is of a
// machine with AVX-512 (tapestry tape kmeans-softmax --forward):
//
//	program "soft k-means": 8 instructions in 3 stages, arena 640 B, scratch 1.4 KiB a worker, 8.7k FLOP, 3.0 KiB moved a run
//	   #    offset      bytes  result                  FLOP     moved  instruction
//	   0         0          4  %4[]                       1       8 B  Neg γ[]
//	   1        64        512  panels(r)[j=3 d=4]         0     560 B  Pack r[j=3 d=4]
//	     ╭ 150 rows, 56 at a time
//	   2 │      ~0        672  D[i=150 j=3]            5.4k   2.4 KiB  SqDist x[i=150 d=4], panels(r)[j=3 d=4]
//	   3 │    ~704        672  %6[i=150 j=3]            450       4 B  Mul Broadcast(%4)[i=150 j=3], D[i=150 j=3]
//	   4 │    ~704=       672  α[i=150 j=3]            1.8k       0 B  Softmax %6[i=150 j=3]
//	   5 │    ~704=       672  %8[i=150 j=3]            450       0 B  Mul α[i=150 j=3], D[i=150 j=3]
//	   6 │      ~0        224  %9[i=150]                450       0 B  Sum %8[i=150 j=3]
//	   7 │     576+         4  loss[]                   150       4 B  Mean %9[i=150]
//	     ╰
//
// # Phases
//
// A graph becomes a program in these steps:
//
//	rewrite → lower → fuse → sink → watch → postpone → stage → order → plan → guard → bind
//
// Package graph/rewrite simplifies the graph; lower turns nodes into instructions, and changes of
// layout into strides; values of f16 and bf16 are widened to f32 before what computes on them, and its
// result is rounded, as i8 and u8 become i32 and wrap around. fuse groups the instructions that can run row by row together; sink computes
// cheap values again where they are read; watch adds what is only watched; postpone moves updates
// after the checks, so that they can be written in place; stage cuts the groups into blocks and
// tiles; order and plan choose the order of the stages and the places in the arena; guard finds
// the stages that a run may skip; bind makes kernel calls of them all. phases.go gives the reasons
// for this order, and [Debug] prints and checks the program after each phase.
//
// # Time and memory
//
// [VM.Profile] measures every instruction and compares it with the roofline of a core
// ([MeasureRoofline]); [VM.Trace] writes what each worker did, for chrome://tracing and Perfetto;
// [Labels] lets a CPU profile be split by stage. A VM that does none of these pays one comparison a
// stage for them.
//
// The memory that a program needs is known before it runs ([Program.Arena], [Program.Scratch]), and
// a program that needs more than there is ([Limit]) is an error of NewVM. [Budget] makes a program
// fit into less memory by computing values again.
//
// # Loops, conditions and indices
//
// A loop is one instruction, whatever the number of its steps. Its body is a program of its own,
// compiled once, which the listing shows below the loop, marked ┆. Rows of its value that nothing
// reads take no memory ([Row.Kept]).
//
// A stage whose results a scalar mask discards, as Select(full, new, old) does where full is false,
// is skipped ([Stage.Only]); results are the same, bit for bit, as if it ran.
//
// An index outside of its axis, fed or computed, fails the run with a [trait.IndexError] before
// anything is committed. The error is the same for any number of workers. [TrustIndices] turns the
// check off.
//
// # Lanes
//
// A sum over the lanes of a step (ops.SumRanks) is an instruction that fuses with no other and that
// every run comes to once, in the order of the graph. On a VM that is one lane of several ([Lanes])
// it calls a [Summer], which returns when all lanes are there; on others it is the term itself. The
// listing marks it with its number:
//
//	1        64         20  s′[d=5]                    0      40 B  SumRanks s[d=5]  · sum 0 over lanes
//
// Lanes read one set of parameters and draw different numbers on stores that share their entries
// ([Store.Share]).
//
// # Random numbers
//
// A node that draws (ops.RandomUniform, ops.RandomNormal and the other laws of package ops, and what
// layers make of them, such as dropout) has one value in a run, and another in the next. Element i of
// a draw, by whatever law, is a function of i and of
//
//	the key   scope, name and element type of the node, fixed when the graph is built
//	the seed  of the store: [Seed]
//	the step  of the store: the number of commits so far, [Store.Step]
//	the runs  without updates since the last commit, [Store.Runs]; 0 for a run with updates
//	the times of the steps of the loops that it stands in: each step draws anew, and the loop
//	          back and checkpoints, which compute steps again, see the same numbers
//
// and of nothing else: the number of workers, fusion and the memory budget do not change it. A run
// with updates ([Do]) adds 1 to the step and sets the runs to 0; a run without updates adds 1 to
// the runs if its program draws; a run that fails or is cancelled counts nothing. So sampling,
// measuring or predicting between two steps of training does not change the training by a bit.
// [Store.Resume] sets the counts, to repeat draws on purpose.
//
// # Promises
//
//   - A run is a pure function, bit for bit, of the fed inputs and of the store with its seed and
//     its counts of steps and runs. The number of workers does not change it.
//   - A step allocates nothing, and the arena never grows.
//   - A step ends in a commit that cannot fail. A run that fails or is cancelled before it leaves
//     parameters and states as they were.
//   - Watching a value ([Watch]) changes no other value.
package tape
