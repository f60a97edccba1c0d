// Package metric measures how good predictions are.
//
// A [Metric] takes a model's outputs, each with the batch that it was computed from, and returns
// one number for all of them:
//
//	accuracy := metric.Accuracy("y")
//	err := accuracy.Add(logits, batch) // for each batch
//	accuracy.Value()
//
// There are [Accuracy] and [Confusion] for classes, [ARI] and [Inertia] for clusters, [Nats],
// [Bits] and [Perplexity] for language models, and [AbsoluteError], [SquaredError] and [R2] for
// numbers; and [EditDistance] for sequences. Each documents what it does with NaN; none hides it. Sums are of float64 whatever the
// arrays hold. Adding a batch allocates nothing once one as large was added. An output that does
// not fit the batch is an error that names both.
//
// The text form is that of [Scores], numbers by name: loss 0.1361, accuracy 0.9583.
package metric
