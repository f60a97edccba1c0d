// Package tape compiles a graph to a tape of kernel calls over one arena of
// memory, and runs it on a small VM.
//
// [Compile] takes the nodes that are wanted and the updates to apply, and returns a [Program],
// which does not change any more and may be used by many VMs. A [Store] holds parameters and states
// by path; a [VM] joins a program and a store and runs steps:
//
//	prog, err := tape.Compile(g, tape.Fetch(loss), tape.Do(step))
//	vm, err := prog.NewVM(tape.NewStore(g, tape.Seed(1)))
//	defer vm.Close()
//	err = vm.Run(ctx, tape.Feed{x: iris})
//
// The text form is the listing, [Program.String]: an instruction a line, with the place and size of
// its result (marked = where it took an operand's place), arithmetic and traffic. What a line reads
// is the result of another line, a leaf of the graph, or a view of either. This one is of a machine
// with AVX-512 (tapestry tape kmeans-softmax --forward); ~ marks places in a worker's scratch:
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
// Package rewrite simplifies the graph; lower turns nodes into instructions and changes of layout
// into strides. From then on each step takes one form of the program and returns the next. fuse
// puts instructions that need of each other only the same row into groups; sink makes cheap values
// again where they are read; watch adds what is only watched; postpone lets updates be written in
// place, after the checks; stage cuts the groups into blocks and tiles; order and plan choose the
// order of the stages and the places in the arena; guard finds the stages that a run may pass over;
// bind makes calls of it all. The list, with the reasons for its order, is in phases.go. [Debug]
// writes and checks every form.
//
// # Where the time goes
//
// [VM.Profile] runs steps on a copy of the store and returns the time of every instruction, its
// operations and bytes a second, and the share of what a core of this machine can do at most (roof:
// [MeasureRoofline]); then the time by the user's lines, scopes and quantities, where derivatives
// count for what they are of. [VM.Trace] writes what every worker did, for chrome://tracing and
// Perfetto, and [Labels] lets a CPU profile be split by stage. A VM that nobody looks at pays one
// comparison a stage for them.
//
//	profile of "soft k-means": a run takes 1.17 ms on 1 core, 1.2 ms unseen; medians of 50 runs
//	a core reaches 179 GFLOP/s f32, 89.4 GFLOP/s f64; streams 16.0 KiB 385 GB/s, 64.0 KiB 98.6 GB/s, 256.0 KiB 98.4 GB/s
//	   #      time  share   GFLOP/s   GB/s  ~GB/s   roof  calls  result           instruction
//	     ╭ 4096 rows, 28 at a time, sums in 16 parts
//	   3 │  434 µs  37.1%    122.80    2.6    2.6  68.7%    147  D[i=4096 j=64]   SqDist x[i=4096 d=64], panels(r)[j=64 d=64]  · kmeans.go:22
//	   4 │ 11.5 µs   1.0%     24.15    0.0  193.2  50.2%    293  %6[i=4096 j=64]  Mul Broadcast(%4)[i=4096 j=64], D[i=4096 j=64]  · kmeans.go:30
//
// # Memory
//
// Stages run in an order in which few bytes are live at a time, where list scheduling finds a
// better one than the graph's. [Budget] makes a program fit into less: values are dropped after a
// use and computed again before the next, cheap ones first. The listing marks what runs again,
// [Program.Recomputed] tells what it costs, and a budget that cannot be met is an error that names
// the least arena found and what holds it. With 64 layers of tanh, a quarter of the memory takes a
// fifth more arithmetic with the gradient, a tenth takes half.
//
//	7      16384      16384  %8[i=64 j=64]   4.1k  32.0 KiB  Tanh %7[i=64 j=64]  · again: recomputed to save 16.0 KiB
//
// # Conditions
//
// An update may keep what is there, as Select(full, new, old) does where the scalar mask full is
// false. A stage is passed over in a run that needs nothing of it: where the mask leaves all that
// it would write to the store as it is, or where only such stages read what it would make. The
// listing tells:
//
//	  ╭ 262144 rows, 1024 at a time, only if full[]
//	2 │      ~0  4096  %29[d=512 h=512]  262.1k  1.0 MiB  Mul %28[d=512 h=512], m/w[d=512 h=512]
//
// Results are the same, bit for bit, as if everything ran. Operations from outside of this module
// are not passed over, nor loops.
//
// # Loops
//
// A loop is one instruction, whatever the number of its steps: its body is a program of its own,
// compiled once, which every step runs on the rows of the loop's arrays. FLOPs, traffic and arena
// count it, and the listing shows it below the loop:
//
//	0         0      80008  %3[10001]           20.0k 468.8 KiB  Scan h0[], x[t=10000], a[]
//	  ┆ program "step": 2 instructions in 2 stages, arena 64 B, scratch 0 B a worker, 2 FLOP, 48 B moved a run
//
// Rows of a trace or an out that nothing reads have no memory: where only the final carry is
// wanted, two rows take turns, and the line ends with "keeps the last of h".
//
// # Indices
//
// An index that is outside of its axis, fed or computed, fails the run with a [trait.IndexError]
// before anything is committed: it names the operation, its line, the place in the array of
// indices, the value and the range, and is the same for any number of workers. [TrustIndices]
// leaves indices unchecked.
//
// # Random numbers
//
// A node that draws (ops.RandomUniform, ops.RandomNormal, and what layers make of them: dropout,
// noise, augmentation, samples) has one value in a run, and another in the next. Element i of it is
// a function of six things and nothing else:
//
//	the draw's key    scope, name and element type, fixed where the graph is built
//	the seed          of the store: [Seed]
//	the step          of the store: the commits so far, [Store.Step]
//	the runs          without updates since the last commit, [Store.Runs]; 0 for a run with updates
//	uniform or normal
//	i
//
// So what changes the numbers is the end of a run:
//
//   - A run with updates ([Do]) adds 1 to the step and makes the runs 0.
//   - A run without updates adds 1 to the runs, if its program draws at all. Programs that do not
//     draw count nothing.
//   - A run that fails or is cancelled counts nothing: run again, it draws the same.
//   - VMs that share a store share its counts, whatever their programs: the samples of two programs
//     are of two runs.
//
// A run with updates does not see the runs: what is sampled, measured or predicted between two
// steps of training changes no bit of the training. The first run without updates after a commit
// draws, where keys are equal, what the next step will draw. The number of workers, blocks, fusion
// and the memory budget change no number. [Store.Clone], [Store.Load] and checkpoints keep seed,
// step and runs, so that a sequence of samples goes on where it was; [Store.Resume] sets them, and
// repeats draws where that is wanted, as records of a step and comparisons under common random
// numbers do. Initial values depend on the seed, the path and the type alone.
//
// # Promises
//
// Peak memory is known before running, and a program that needs more than there is ([Limit]) is an
// error of NewVM: the arena never grows, and a step allocates nothing. A run is a pure function of
// the fed inputs and the store, with its seed and its counts of steps and runs, bit for bit. Every
// step ends in a commit that cannot fail; before it, a failed or cancelled run leaves parameters
// and states as they were. What is watched is materialised beside the rest and changes nothing
// else.
//
// The tape knows kernels, never the names of operations.
package tape
