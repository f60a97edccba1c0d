package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// CrossEntropyOption is an option of [CrossEntropy].
type CrossEntropyOption func(*crossEntropy)

type crossEntropy struct {
	smoothing *graph.Node // ε; nil for 0
	weights   *graph.Node // w[c]; nil for 1
	ignored   float64
	ignores   bool
}

// operands returns the operands of a call.
func (o crossEntropy) operands(scores, labels *graph.Node) []*graph.Node {
	all := []*graph.Node{scores, labels}
	for _, x := range []*graph.Node{o.smoothing, o.weights} {
		if x != nil {
			all = append(all, x)
		}
	}
	return all
}

// Smoothed mixes the labels with the uniform distribution: (1 − ε)·label + ε/classes, for a scalar
// ε (Szegedy et al., 2016; the notes on label smoothing).
func Smoothed(ε *graph.Node) CrossEntropyOption {
	return func(o *crossEntropy) { o.smoothing = ε }
}

// Weighted gives each class a weight w[c]. As in PyTorch, the mean over whole-number labels is the
// weighted mean Σ_i ℓ_i / Σ_i w_{label i}; labels that are probabilities keep the plain mean.
func Weighted(w *graph.Node) CrossEntropyOption {
	return func(o *crossEntropy) { o.weights = w }
}

// Ignoring leaves out the examples with this label, such as padding or unknown ones. With labels
// that are probabilities it is a mistake.
func Ignoring(label int) CrossEntropyOption {
	return func(o *crossEntropy) { o.ignored, o.ignores = float64(label), true }
}

// CrossEntropy returns the mean of −log softmax(scores) at the right class, a scalar, for floats
// scores[… c]. Labels are whole numbers (i32 or i64) below c, labels[…], or probabilities, labels[…
// c]:
//
//	ℓ_i = −Σ_c w_c·t_ic·log softmax_c(z_i),  loss = mean_i ℓ_i
//
// where t is the label as a distribution. It is finite for all finite scores. If every example is
// ignored the loss is 0 (PyTorch's is NaN).
//
// The scores are logits: it is a mistake if they are known to be probabilities, as for
// [BinaryCrossEntropy]; the logarithm of a softmax is allowed, since it is its own log-softmax.
// Labels of another shape are a mistake. A whole number that is neither a class nor ignored is a
// [trait.IndexError] when the program runs.
func CrossEntropy(scores, labels *graph.Node, options ...CrossEntropyOption) *graph.Node {
	g := graph.Of(scores, labels)
	if !scores.IsValid() || !labels.IsValid() {
		return g.Fail("CrossEntropy", build.ErrNoOperand, scores, labels)
	}
	if err := scoresOf(scores, true); err != nil {
		return g.Fail("CrossEntropy", err, scores, labels)
	}
	var o crossEntropy
	for _, set := range options {
		if set != nil {
			set(&o)
		}
	}
	defer g.Calling("CrossEntropy", o.operands(scores, labels)...)()
	defer g.Scope("cross-entropy")()
	soft := labels.DType().IsFloat()
	t := labels
	var known *graph.Node
	if !soft {
		class := labels
		if o.ignores {
			known = ops.NotEqual(labels, ops.Lit(labels, o.ignored))
			class = ops.Select(known, labels, ops.Lit(labels, 0)) // any: it counts for nothing
		}
		t = ops.OneHot(class, -1, build.Last(scores), scores.DType())
	}
	switch {
	case t.IsValid() && !t.Shape().SameSizes(scores.Shape()):
		want := fmt.Sprintf("labels of shape %v for scores of shape %v", labels.Shape(), scores.Shape())
		return g.Fail("CrossEntropy", &graph.Mistake{Problem: want, Fix: "give a whole number for every row of scores, or a probability for every score"}, scores, labels)
	case soft && o.ignores:
		return g.Fail("CrossEntropy", fmt.Errorf("probabilities as labels have no label to ignore"), labels)
	}
	hot := t
	if o.smoothing != nil {
		uniform := ops.Scale(o.smoothing, 1/float64(build.Last(scores).Size))
		t = ops.Add(ops.Mul(ops.OneMinus(o.smoothing), t), uniform).As("t")
	}
	if o.weights != nil {
		t = ops.Mul(t, o.weights)
	}
	ℓ := ops.Neg(ops.Sum(ops.Mul(t, ops.LogSoftmax(scores, -1)), -1)).As("ℓ")
	if soft || o.weights == nil && !o.ignores {
		return ops.Mean(ℓ)
	}
	share := ops.BroadcastTo(ops.Lit(ℓ, 1), ℓ.Shape())
	if o.weights != nil {
		share = ops.Sum(ops.Mul(hot, o.weights), -1)
	}
	if o.ignores {
		ℓ, share = ops.Select(known, ℓ, ops.Lit(ℓ, 0)), ops.Select(known, share, ops.Lit(share, 0))
	}
	total := ops.Sum(share)
	empty := ops.Equal(total, ops.Lit(total, 0))
	return ops.Div(ops.Sum(ℓ), ops.Select(empty, ops.Lit(total, 1), total).As("n"))
}

// HiddenCrossEntropy returns the mean of −log softmax(logits) at the right token over the places
// where the mask hidden[b t] is true, a scalar, for floats logits[b t w] and whole numbers tokens[b
// t]; it is 0 if there is no such place. Logits that are known to be probabilities are a mistake,
// as for [CrossEntropy].
func HiddenCrossEntropy(logits, tokens, hidden *graph.Node) *graph.Node {
	g := graph.Of(logits, tokens, hidden)
	if err := scoresOf(logits, true); err != nil {
		return g.Fail("HiddenCrossEntropy", err, logits, tokens, hidden)
	}
	defer g.Calling("HiddenCrossEntropy", logits, tokens, hidden)()
	defer g.Scope("cross-entropy")()
	right := ops.OneHot(tokens, -1, build.Last(logits), build.DType(logits))
	each := ops.Neg(ops.Sum(ops.Mul(right, ops.LogSoftmax(logits, -1)), -1))
	return MeanWhere(each, hidden)
}
