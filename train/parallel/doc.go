// Package parallel shares the steps of a training out over ranks, the processes of one job, so that
// the result has the same bits for any number of them.
//
// A batch is cut into a fixed number of lanes, 8 unless told otherwise. Each rank computes some of
// the lanes, in order: of 8 lanes on 4 ranks, rank 1 has lanes 2 and 3. What the lanes computed,
// gradients, losses and metrics, is added in pairs, in one fixed tree over the lanes whatever ranks
// they are on:
//
//	lane  0   1   2   3   4   5   6   7
//	      └─+─┘   └─+─┘   └─+─┘   └─+─┘
//	        └───+───┘       └───+───┘
//	            └───────+───────┘
//
// So lanes, and not ranks, decide the order of a sum. The number of lanes is part of what a
// training is, as its seed is; the number of ranks is not, and may change at each restart.
//
// # A step
//
// A rank makes its [Ranks] by [Join] from a transport, or by [Alone], and keeps a [Bucket] for all
// that is summed. In a step it puts what each of its own lanes computed, and sums:
//
//	ranks, err := parallel.Join(ctx, transport, parallel.Config{Lanes: 8})
//	bucket := ranks.NewBucket(values, 0)
//	from, to := ranks.Own()
//	for lane := from; lane < to; lane++ {
//		first, last := ranks.Rows(lane, batch) // compute these rows
//		bucket.Put(lane, parallel.Part{Scale: weight, F32: gradient})
//	}
//	err = bucket.Sum(ctx)
//	sum, _ := bucket.Total() // the same on all ranks
//
// With [Bucket.ReduceScatter] a rank gets the sums of its own range alone, and with
// [Bucket.AllGather] all get what each has made of its range: for optimisers whose states are
// shared out to the ranks (Rajbhandari, Rasley, Ruwase and He, 2020: ZeRO). A [Rendezvous] is for
// lanes that run at once and need sums in the middle. [Ranks.Agree] compares what must be the same
// on all ranks, and names what is not:
//
//	parallel: ranks differ in lanes: 8 on ranks 0, 2; 24 on rank 1
//
// # The tree
//
// The tree over n lanes has the largest power of two below n on its left, and the rest on its
// right: 24 lanes are 16 and 8, and 7 lanes are 4 and (2 and 1). A lane's term is scaled, rounded,
// and then added; each addition is one of IEEE 754, to the nearest, in the type of the values.
//
// A rank adds up the subtrees that lie within its own lanes; then ranks exchange what remains, and
// each adds up a slice of it for all. Any number of ranks will do that divides the lanes. Where the
// lanes of a rank are a power of two, ranks send no more bytes than any sum over them must; other
// numbers of lanes send more: 3 lanes, half as much again.
//
// # Transports
//
// A [Transport] needs one operation: two ranks exchange bytes. [Dial] connects ranks over TCP or
// Unix sockets, package interop/mpi over MPI, and [Local] within one process, for tests. No
// library's own sum is used: its order may depend on the number of ranks and on their network.
//
// # Promises
//
// A sum has the same bits on all ranks, for any number of ranks, any transport, and any order and
// number of goroutines in which lanes are put. What a NaN carries beside being one is not promised.
// Steps after the first allocate nothing. A rank that is lost, and one that runs something else, is
// an error that names it, within the time that [Config] gives: never a wrong sum. After the error of
// a sum the job cannot go on; what was computed before is not harmed.
package parallel
