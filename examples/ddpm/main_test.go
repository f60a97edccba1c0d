package main

import (
	"math"
	"testing"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// TestSchedule: nearly nothing is left of a digit at the end.
func TestSchedule(t *testing.T) {
	β, ᾱ := schedule(graph.New("schedule"))
	values, err := tape.Eval(t.Context(), nil, β, ᾱ)
	if err != nil {
		t.Fatal(err)
	}
	left := values[ᾱ].Data
	if left[0] != 0.999 || math.Abs(left[1]-0.999*(1-0.001-0.199/99)) > 1e-15 || !(left[times-1] < 1e-4) || values[β].Data[times-1] != 0.2 {
		t.Errorf("β %v, ᾱ %v", values[β], left)
	}
}

// TestSample: the loop goes from the last time to the first, with draws of its own at each. A denoiser whose
// weights are 0 but for a last bias c takes β/√(1−ᾱ)·c off in every step, and divides by √(1−β).
func TestSample(t *testing.T) {
	g := graph.New("sample")
	path := sample(g, graph.Ax("n", 500))
	β, ᾱ := schedule(g)
	store := tape.NewStore(g)
	for _, p := range g.Params() {
		if err := store.Set(p.Path(), tape.Tensor(graph.NewValue(p.Type()))); err != nil {
			t.Fatal(err)
		}
	}
	const c = 0.25
	bias := make([]float64, 64)
	for i := range bias {
		bias[i] = c
	}
	if err := store.Set("out/b", tape.Of(g.Lookup("out/b"), bias...)); err != nil {
		t.Fatal(err)
	}
	values, err := store.Eval(t.Context(), nil, path, β, ᾱ)
	if err != nil {
		t.Fatal(err)
	}
	// After one step the mean is known, and half of the images are brighter. Ink is (x + 1)·8, clipped.
	last := times - 1
	noisier, left := values[β].Data[last], values[ᾱ].Data[last]
	want := -noisier / math.Sqrt(1-left) * c / math.Sqrt(1-noisier)
	brighter, n := 0., 500*64
	for _, v := range values[path].Data[last*n:] {
		if v > 8*(want+1) {
			brighter++
		}
	}
	if share := brighter / float64(n); math.Abs(share-0.5) > 0.01 {
		t.Errorf("%v are brighter than the mean after one step", share)
	}
}
