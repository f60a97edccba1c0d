// Package metric measures predictions against what is right.
//
// A [Metric] takes a model's output batch by batch, beside the batch that it was made
// of, and gives one number:
//
//	accuracy := metric.Accuracy("y")
//	err := accuracy.Add(logits, batch) // for each batch
//	accuracy.Value()
//
// Of classes there are [Accuracy] and [Confusion], of clusters [ARI] and [Inertia], of
// language models [Nats], [Bits] and [Perplexity], of real numbers [AbsoluteError],
// [SquaredError] and [R2]. Each says what it makes of NaN; none hides it. Adding a batch
// allocates nothing once one as large was added, and what is added up is float64 whatever
// the arrays hold. An array that does not fit is an error that names both.
//
// The text form is that of [Scores], the numbers by name: loss 0.1361, accuracy 0.9583.
package metric
