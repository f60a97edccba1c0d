// Package lab is the objective laboratory: it trains variants of a model on
// common data, start centres and noise, measures them by the same yardstick,
// and gives tables.
//
//	res, err := lab.Compare(ctx, lab.Config{Table: data.Iris(), K: 3})
//	fmt.Println(res.Variants[0].Best().Inertia())
//
// A [Config] names the data, the objectives, the seeds and the schedule; a
// [Result] holds every run with its curves, baselines (Lloyd's algorithm with
// restarts, SGD on the nearest centre), the comparison of the compiled tapes,
// and a sweep. Everything is a pure function of the configuration.
//
// The yardstick is one graph, the probe, fed with the centres of each step: the
// inertia of the hard assignment, both objectives, the spread that separates
// them, and the angle between their gradients at the same centres.
//
// Models of any other kind learn from examples of their own: [Learn] trains one from
// several seeds, [LearnTogether] several on common examples, and [Pair] says whether
// two of them differ by more than the seeds do. [PCA] is what linear autoencoders are
// measured by.
//
// [Linear] is the same for least squares: the solution by singular values, and what
// ridge regression and gradient descent that is stopped early leave of it along each
// singular direction ([Shrinkage]).
package lab
