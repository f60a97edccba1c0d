package nn

import (
	"fmt"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/ops"
)

// A CrossEntropyOption changes what [CrossEntropy] averages.
type CrossEntropyOption func(*crossEntropy)

type crossEntropy struct {
	smoothing *graph.Node // ε; nil for 0
	weights   *graph.Node // w[c]; nil for 1
	ignored   float64
	ignores   bool
}

// operands returns what a call is given.
func (o crossEntropy) operands(scores, labels *graph.Node) []*graph.Node {
	all := []*graph.Node{scores, labels}
	for _, x := range []*graph.Node{o.smoothing, o.weights} {
		if x != nil {
			all = append(all, x)
		}
	}
	return all
}

// Smoothed mixes the labels with the uniform distribution (Szegedy et al., 2016;
// the notes on label smoothing): (1 − ε)·label + ε/classes, for a scalar ε.
func Smoothed(ε *graph.Node) CrossEntropyOption {
	return func(o *crossEntropy) { o.smoothing = ε }
}

// Weighted gives each class a weight w[c]. The mean over whole-number labels is
// the weighted one, Σ_i ℓ_i / Σ_i w at i's label; soft labels keep the plain mean.
// Both are PyTorch's.
func Weighted(w *graph.Node) CrossEntropyOption {
	return func(o *crossEntropy) { o.weights = w }
}

// Ignoring leaves out the positions with this label: padding, or what is not known.
func Ignoring(label int) CrossEntropyOption {
	return func(o *crossEntropy) { o.ignored, o.ignores = float64(label), true }
}

// CrossEntropy returns the mean of −log softmax(scores) at the right class, for
// scores[… c] and labels that are whole numbers below c, labels[…], or
// probabilities, labels[… c]:
//
//	ℓ_i = −Σ_c w_c·t_ic·log softmax_c(z_i),  loss = mean_i ℓ_i
//
// where t is the label as a distribution. The scores are logits: what is surely a probability in
// their place is a mistake, as for [BinaryCrossEntropy]; the logarithm of a softmax is not, which
// is its own log-softmax. It is finite for any finite scores. If every position is ignored the loss
// is 0 (PyTorch's is NaN). A whole number that is no class and not ignored is a [graph.IndexError].
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

// HiddenCrossEntropy returns the mean of −log softmax(logits)_token over the places where
// hidden[b t] is true, for logits[b t w] and tokens[b t]; 0 if there is none. Probabilities
// as logits are a mistake, as for [CrossEntropy].
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
