package data

import (
	"context"
	"math"
	"testing"

	"gorgonia.org/tensor"
)

// pictures is n images of h by w pixels of c channels, of which each element is its place
// from 1.
func pictures[T float32 | float64 | int32](n, h, w, c int) Batch {
	x := make([]T, n*h*w*c)
	for i := range x {
		x[i] = T(i%(h*w*c) + 1)
	}
	shape := []int{n, h, w, c}
	if c == 1 {
		shape = shape[:3]
	}
	return Batch{Rows: n, Values: map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(shape...), tensor.WithBacking(x))}}
}

func TestNoise(t *testing.T) {
	b := pictures[float32](1, 100, 100, 1)
	if err := Noise("x", 2)(newDraws().at(1, 1), b); err != nil {
		t.Fatal(err)
	}
	squares := 0.0
	for i, v := range b.Values["x"].Float32s() {
		d := float64(v) - float64(i+1)
		squares += d * d
	}
	if std := math.Sqrt(squares / 1e4); math.Abs(std-2) > 0.06 { // 2 ± 0.014
		t.Errorf("deviation %g, want 2", std)
	}
}

func TestChangeErrors(t *testing.T) {
	images := pictures[int32](1, 2, 2, 1)
	flat := Batch{Rows: 2, Values: map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(2, 4), tensor.Of(tensor.Float32))}}
	for _, c := range []struct {
		change Change
		b      Batch
		want   string
	}{
		{Noise("x", -1), flat, "Noise: a deviation of -1: want 0 or more"},
		{Noise("x", math.Inf(1)), flat, "Noise: a deviation of +Inf: want 0 or more"},
		{Noise("z", 1), flat, `Noise: no column "z"`},
		{Noise("x", 1), images, `Noise: column "x" has elements of type int32: want float32 or float64`},
		{ReplaceNaN("z", 1), flat, `ReplaceNaN: no column "z"`},
		{ReplaceNaN("x", 1), images, `ReplaceNaN: column "x" has elements of type int32: want float32 or float64`},
	} {
		complains(t, c.change(newDraws().at(1, 1), c.b), c.want)
	}
}

// What is drawn depends on the seed and the position, not on the changes of other batches.
func TestMapSeeds(t *testing.T) {
	set := numbered(t, 40)
	first := func(seed uint64, at Position) string {
		s := Map(InOrder(set, 8), seed, Noise("x", 1))
		if err := s.Seek(at); err != nil {
			t.Fatal(err)
		}
		b, err := s.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		return bits(b)
	}
	seen := map[string]bool{}
	for seed := range uint64(4) {
		for epoch := range 4 {
			for batch := range 4 {
				seen[first(seed, Position{epoch, batch})] = true
			}
		}
	}
	if len(seen) != 64 {
		t.Errorf("%d different batches, want 64", len(seen))
	}
}
