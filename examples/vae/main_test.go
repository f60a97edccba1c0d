package main

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/ops"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestBound: with weights of zero a code says nothing, so that KL is 0 and every pixel costs log 2; with
// biases for μ and log σ², KL is that of two normal distributions.
func TestBound(t *testing.T) {
	g := graph.New("bound")
	a := newAutoencoder(g, 2)
	b := a.bound(binary(g, 1))
	store, feed := tape.NewStore(g), tape.Feed{g.Lookup("x"): tape.Of(g.Lookup("x"), make([]float64, 64)...)}
	for _, p := range g.Params() {
		if err := store.Set(p.Path(), tape.Tensor(graph.NewValue(p.Type()))); err != nil {
			t.Fatal(err)
		}
	}
	mean := ops.Mean(b.logp)
	for _, c := range []struct{ μ, logVariance, kl float64 }{{0, 0, 0}, {2, 0, 4}, {1, math.Log(4), 1 + 4 - 1 - math.Log(4)}} {
		for path, v := range map[string]float64{"mean/b": c.μ, "spread/b": c.logVariance} {
			if err := store.Set(path, tape.Of(g.Lookup(path), v, v)); err != nil {
				t.Fatal(err)
			}
		}
		values, err := store.Eval(t.Context(), feed, b.kl, mean)
		if err != nil {
			t.Fatal(err)
		}
		if kl, logp := values[b.kl].Data[0], values[mean].Data[0]; !(math.Abs(kl-c.kl) < 1e-5) || !(math.Abs(logp+64*math.Ln2) < 1e-4) {
			t.Errorf("μ = %v, log σ² = %v: KL %v, want %v; log p(x|z) %v", c.μ, c.logVariance, kl, c.kl, logp)
		}
	}
}

// TestAlone: two of two other images have ink in the first pixel and none in the rest: by Laplace's rule
// in three of four.
func TestAlone(t *testing.T) {
	images := make([]float32, 128)
	images[0], images[64] = 8, 16
	if got, want := alone(images[:64], images), 64*math.Log(0.75); math.Abs(got-want) > 1e-12 {
		t.Errorf("%v, want %v", got, want)
	}
}
