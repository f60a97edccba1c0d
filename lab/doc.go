// Package lab is the objective laboratory: it trains objectives on common data, start
// values and noise, measures them by the same metrics, and gives tables that say
// which differences are larger than noise.
//
//	res, err := lab.Compare(ctx, lab.Config{
//		Optimisers: []train.Optimiser{train.Adam(0.01), train.SGD(0.1)},
//		Examples:   examples, // or Table: rows for the input x
//	}, lab.Registered("regression-ols", nil), lab.LossFunc("absolute error", absolute))
//	fmt.Print(res)
//
// [Compare] takes any number of variants (of the registry, a function that makes a
// model, a function that makes nodes) and trains each with every optimiser, from every
// start and seed of the [Config], on all cores. Seed by seed everything has its numbers in
// common, and no result depends on the order of work. The [Comparison] has every
// training, with the loss of each step, where it diverged, and what it measures by the
// loss of each other variant and by probes of one's own; it picks best settings, and
// compares by paired tests with a correction for the number of comparisons
// ([Comparison.Differences], [Comparison.Marks], [StudentT], [SignFlips], [Holm]). Its
// text form is [Comparison.String].
//
// [Cluster] is the experiment on clusterings, of which more is known:
//
//	res, err := lab.Cluster(ctx, lab.Config{Table: data.Iris(), K: 3})
//	fmt.Println(res.Variants[0].Best().Inertia())
//
// Both say of every training whether it has come to rest ([Convergence]), by one test
// ([ConvergenceTest]): how far the trained numbers still go, whether a schedule still changes
// the loss, and how large its gradient is at the end. [Clustering.Optima] tells runs apart
// that come to rest in different groups, and [Clustering.Collapsed] counts those that end
// with fewer groups than centres.
//
// The Config names the data, the objectives, the seeds and the schedule; the [Clusterings]
// hold every run with its curves, baselines (Lloyd's algorithm with restarts, SGD on the nearest
// centre), the comparison of the compiled tapes, and a sweep. Everything is a pure function of the
// configuration. Compare trains clusterings on a table in the same way; [Config.Variant] makes
// them.
//
// Centres are measured by one graph, the probe, which is fed with those of each step: the
// inertia of the hard assignment, both objectives, the spread that separates
// them, and the angle between their gradients at the same centres.
//
// [Learn] trains one model of any kind on examples of its own, from several seeds.
//
// All three take a [Config], and none ignores a field: what it does not take is an error.
package lab
