// Package lab compares objectives by experiment: it trains them on common data from common start
// values, measures them by the same metrics, and says which differences are larger than noise.
//
// There are three experiments. [Compare] trains models of any kind side by side, [Cluster] trains
// clusterings of a table, of which more can be measured, and [Learn] trains one model. All three
// take a [Config], and setting a field that the experiment does not take is an error. Trainings from
// the same seed have their random numbers in common. Apart from the times in [Cost], results depend
// on the configuration alone, and not on the order of work.
//
// # Comparing models
//
//	res, err := lab.Compare(ctx, lab.Config{
//		Optimisers: []train.Optimiser{train.Adam(0.01), train.SGD(0.1)},
//		Examples:   examples, // or Table: rows for the input x
//	}, lab.Registered("regression-ols", nil), lab.LossFunc("absolute error", absolute))
//	fmt.Print(res)
//
// A [Variant] is a model of the registry ([Registered]), or made by a function that returns a model
// ([Objective]) or a loss ([LossFunc]). Each is trained by every optimiser, from every start
// ([Initial]) and seed, on all cores. The [Comparison] holds every training: the loss of each step,
// the step at which it diverged, and what its parameters measure by the losses of the other
// variants and by further metrics ([Probe]). It picks the best setting of each variant, and
// compares variants at their best settings by paired tests with a correction for the number of
// comparisons: [Comparison.Differences], [Comparison.Marks], [StudentT], [SignFlips], [Holm].
// [Comparison.String] writes everything as tables.
//
// # Clusterings
//
//	res, err := lab.Cluster(ctx, lab.Config{Table: data.Iris(), K: 3})
//	fmt.Println(res.Variants[0].Best().Inertia())
//
// The [Clusterings] hold the runs of each objective with their curves, two baselines (Lloyd's
// algorithm with restarts, and SGD on the nearest centre), and sweeps over the inverse temperature
// γ and the number of clusters. The centres of each step are measured by one graph ([Measure]): by
// inertia, by the objectives of soft and of Goofy k-means, by the spread in which these differ, and
// by the angle between their gradients. [Clustering.Optima] tells apart runs that converged to
// different groups, and [Clustering.Collapsed] counts those that ended with fewer groups than
// centres.
//
// [Config.Train], [Config.Lloyd] and [Config.Repeat] train one clustering alone, [Config.ChooseK]
// finds a number of clusters, and [Config.Variant] makes a clustering for Compare.
//
// # Data and start values
//
// Models whose inputs correspond have one task: their inputs have the same element types and sizes,
// whatever the axes are called, and are both targets or both not; names decide between several. They
// are trained on the same examples, and [Compared].Replaced tells of which these are not the own.
//
// Models are trained on their own data or examples, on those of Config.Examples, or on the rows of
// Config.Table. On rows that are held out, in Config.Held, Compare measures losses, Cluster measures
// the centres that each run ends with, and a [HeldOut] measures centres at any time.
//
// Start values are drawn from the seed. Those with [initial.Rows] are rows of the data that
// k-means++ chooses: [NewStore] returns the store that Learn begins with. The centres of a
// clustering ([builders.Model.Centres]) on a Table start as Config.Start says.
//
// # Convergence
//
// Every training is tested for whether it has come to rest ([Convergence], [ConvergenceTest]): by how
// far its parameters still move, whether a schedule still changes the loss, and how large the
// gradient is at the end. [NewSettling] applies the test to any training.
package lab
