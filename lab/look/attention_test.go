package look_test

import (
	"math"
	"slices"
	"strings"
	"testing"

	"github.com/tapestry-ml/tapestry/lab/look"
)

const classifier = `
input x[i=8, d=3]
param w[d, k=4] ~ normal(0, 1)
p[i, k] = softmax(dot(x, w, d), k)
loss = mean(sum(-log(p), k), i)
`

const pooled = `
input x[i=8, t=5, d=3]
param q[d] ~ normal(0, 1)
weight[i, t] = softmax(dot(x, q, d), t)
y[i, d] = sum(weight*x, t)
loss = mean(y^2)
`

var sparse = strings.Replace(pooled, "softmax", "sparsemax", 1)

// TestAttention: a softmax or a sparsemax is attention where it weighs something, under whatever name; its weights are those

// of the first example, one set for each head.
func TestAttention(t *testing.T) {
	const free = "seq2seq-attention{feedback=argmax}" // a loop gives the weights
	for _, c := range []struct {
		model string
		heads int
	}{
		{"attention-self", 1}, {"attention-table", 1}, {"transformer-decoder", 4}, {"graph-gat", 2}, {"attention-kernel", 1}, {"position-rotary", 1}, {pooled, 1}, {sparse, 1}, {"seq2seq-attention", 1}, {free, 1},
		{"loss-cross-entropy", 0}, {"kmeans-softmax", 0}, {"regression-relu", 0}, {classifier, 0}, {"rnn-lstm", 0},
	} {
		r := fresh(t, c.model, nil)
		all, err := r.Attention(t.Context())
		if err != nil {
			t.Fatal(err)
		}
		if len(all) != c.heads {
			t.Errorf("%s has %d heads, want %d", c.model, len(all), c.heads)
		}
		for _, a := range all {
			for q, w := range a.Weights {
				sum := 0.0
				for _, v := range w {
					sum += v
				}
				if math.Abs(sum-1) > 1e-9 {
					t.Errorf("%s, %s: the weights of query %d have the sum %v", c.model, a.Name, q, sum)
				}
			}
			if e := a.Entropy(); !(e >= 0 && e <= 1+1e-12) {
				t.Errorf("%s: entropy %v", c.model, e)
			}
		}
	}
}

// TestAttentionTokens: what a place reads is named by its token, of the queries and of the keys.
func TestAttentionTokens(t *testing.T) {
	r := fresh(t, "transformer-seq2seq", nil)
	all, err := r.Attention(t.Context())
	if err != nil {
		t.Fatal(err)
	}
	cross := all[slices.IndexFunc(all, func(a look.Attention) bool { return strings.Contains(a.Name, "cross-attention") })]
	queries, keys := cross.TokenInputs()
	if queries == nil || keys == nil || look.ReadFrom(queries, "source") == look.ReadFrom(keys, "source") {
		t.Errorf("queries are read from %v, keys from %v", queries, keys)
	}
	if len(cross.Queries) != len(cross.Weights) || len(cross.Keys) != len(cross.Weights[0]) {
		t.Errorf("%d and %d tokens for %d queries and %d keys", len(cross.Queries), len(cross.Keys), len(cross.Weights), len(cross.Weights[0]))
	}
}
