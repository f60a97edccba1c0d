package attention

import (
	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/graph/initial"
	"github.com/tapestry-ml/tapestry/internal/build"
	"github.com/tapestry-ml/tapestry/nn"
	"github.com/tapestry-ml/tapestry/ops"
)

// Score compares the states h[b t d] of an encoder with the state s[b c] of a decoder: e[b t] (the
// notes on attention variants). A decoder that runs freely does so at every step; one that is given
// the right tokens compares all its states s[b u c] at once: e[b u t].
type Score interface {
	Of(s, h *graph.Node) *graph.Node
}

// DotScore is e_t = sᵀh_t, for states of equal size (Luong et al., 2015).
type DotScore struct{}

// Of returns the scores e of s[b d] or s[b u d] against h[b t d].
func (DotScore) Of(s, h *graph.Node) *graph.Node { return against(s, h).As("e") }

// atOnce reports whether s[b u c] are states at many places, each of which looks at all of h[b t
// d].
func atOnce(s, h *graph.Node) bool { return s.IsValid() && h.IsValid() && s.Rank() == h.Rank() }

// against returns ⟨s, h_t⟩ for all t.
func against(s, h *graph.Node) *graph.Node {
	if atOnce(s, h) {
		return Scores(s, h)
	}
	return ops.Squeeze(ops.MatMul(h, ops.Expand(s, -1, "")), -1)
}

// MultiplicativeScore is e_t = sᵀ·W·h_t (Luong et al., 2015).
type MultiplicativeScore struct {
	W *graph.Node // w[c d]
}

// NewMultiplicativeScore adds the parameter score/w[c d] for states s[b c] and h[b t d].
func NewMultiplicativeScore(g *graph.Graph, dt graph.DType, s, h graph.Axis) MultiplicativeScore {
	defer g.Scope("score")()
	return MultiplicativeScore{g.Param("w", dt, s, h)}
}

// Of returns the scores e of s[b c] or s[b u c] against h[b t d].
func (m MultiplicativeScore) Of(s, h *graph.Node) *graph.Node {
	return against(ops.MatMul(s, m.W).As("sᵀW"), h).As("e")
}

// AdditiveScore is e_t = vᵀ·tanh(W₁·h_t + W₂·s) (Bahdanau et al., 2015).
type AdditiveScore struct {
	W1 *graph.Node // w1[d a], of h
	W2 *graph.Node // w2[c a], of s
	V  *graph.Node // v[a]
}

// NewAdditiveScore adds the parameters score/w1[d a], score/w2[c a] and score/v[a] for states s[b
// c] and h[b t d].
func NewAdditiveScore(g *graph.Graph, dt graph.DType, s, h, a graph.Axis) AdditiveScore {
	defer g.Scope("score")()
	return AdditiveScore{
		W1: g.Param("w1", dt, h, a), W2: g.Param("w2", dt, s, a),
		V: g.Param("v", dt, a).Init(initial.Normal(0, 1)),
	}
}

// Of returns the scores e of s[b c] or s[b u c] against h[b t d].
func (m AdditiveScore) Of(s, h *graph.Node) *graph.Node {
	keys := ops.MatMul(h, m.W1)
	if atOnce(s, h) {
		keys = ops.Expand(primed(keys, s), -3, "")
	}
	u := ops.Add(keys, ops.Expand(ops.MatMul(s, m.W2), -2, "")).As("u")
	return ops.Sum(ops.Mul(ops.Tanh(u), m.V), -1).As("e")
}

// AttendStates returns the attention of a decoder's state s[b c] to the states h[b t d] of an
// encoder:
//
//	α = softmax(e),  a = Σ_t α_t h_t
//
// over the places where the mask[b t] is true (nil: all), with e by the score. It returns a[b d]
// and α[b t]; the notes go on with [a; s]. For states s[b u c] at many places it returns a[b u d]
// and α[b u t].
func AttendStates(score Score, s, h, mask *graph.Node) (a, α *graph.Node) {
	defer graph.Of(s, h).Scope("attend")()
	if score == nil {
		score = DotScore{}
	}
	e := score.Of(s, h)
	if atOnce(s, h) {
		if mask != nil && e.IsValid() {
			mask = ops.Expand(ops.Rename(mask, -1, build.Last(e).Name), -2, "")
		}
		a, α = Pool(e, h, mask)
		return a.As("a"), α
	}
	α = nn.MaskedSoftmax(e, mask).As("α")
	return ops.Squeeze(ops.MatMul(ops.Expand(α, -2, ""), h), -2).As("a"), α
}

// AttendBidirectional returns attention between the states of a bidirectional RNN: the backward
// states are queries, the forward states keys and values,
//
//	a_ij = ⟨←h_i, →h_j⟩,  c_i = Σ_j softmax_j(a_ij) →h_j
//
// for floats of shape [b t d] (the notes on attention in bidirectional RNNs). It returns the
// contexts c[b t d] and the weights α[b t t′].
func AttendBidirectional(forward, backward *graph.Node) (c, α *graph.Node) {
	defer graph.Of(forward, backward).Scope("attend")()
	c, α = Pool(Scores(backward, forward), forward, nil)
	return c.As("c"), α
}
