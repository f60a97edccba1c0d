package data

import (
	"context"
	"fmt"
	"math"
	"math/rand/v2"
	"slices"
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

func TestRandomFlip(t *testing.T) {
	rng := newDraws().at(1, 1)
	b := pictures[int32](1, 2, 3, 2)
	if err := RandomFlip("x", 1)(rng, b); err != nil {
		t.Fatal(err)
	}
	if want := []int32{5, 6, 3, 4, 1, 2, 11, 12, 9, 10, 7, 8}; !slices.Equal(b.Values["x"].Int32s(), want) {
		t.Errorf("%v, want %v", b.Values["x"].Int32s(), want)
	}
	b = pictures[int32](1000, 1, 2, 1)
	if err := RandomFlip("x", 0.25)(rng, b); err != nil {
		t.Fatal(err)
	}
	flipped := 0
	for k := range 1000 {
		if b.Values["x"].Int32s()[2*k] == 2 {
			flipped++
		}
	}
	if flipped < 200 || flipped > 300 { // 250 ± 14
		t.Errorf("%d of 1000 flipped, want about 250", flipped)
	}
}

// Each shift is that which a copy into a frame of zeros gives, and all come up.
func TestRandomShift(t *testing.T) {
	const n, h, w, c, most = 2000, 3, 4, 2, 2
	for _, test := range []struct{ h, w, most int }{{3, 4, 2}, {2, 1, 3}, {3, 4, 0}} {
		h, w, most := test.h, test.w, test.most
		b := pictures[float64](n, h, w, c)
		if err := RandomShift("x", most)(newDraws().at(1, 1), b); err != nil {
			t.Fatal(err)
		}
		seen := map[[2]int]int{}
		for k := range n {
			got := b.Values["x"].Float64s()[k*h*w*c : (k+1)*h*w*c]
			found := false
			for down := -most; down <= most; down++ {
				for right := -most; right <= most; right++ {
					want := make([]float64, h*w*c)
					for i := range want {
						y, x := i/c/w-down, i/c%w-right
						if y >= 0 && y < h && x >= 0 && x < w {
							want[i] = float64((y*w+x)*c + i%c + 1)
						}
					}
					if slices.Equal(got, want) {
						found = true
						seen[[2]int{down, right}]++
					}
				}
			}
			if !found {
				t.Fatalf("image %d is no shifted one: %v", k, got)
			}
		}
		if all := (2*most + 1) * (2*most + 1); len(seen) != all {
			t.Errorf("%d different shifts, want %d: %v", len(seen), all, seen)
		}
	}
}

func TestRandomCutout(t *testing.T) {
	const n, h, w = 3000, 5, 4
	b := pictures[float32](n, h, w, 1)
	if err := RandomCutout("x", 3, 0.5)(newDraws().at(1, 1), b); err != nil {
		t.Fatal(err)
	}
	whole, sizes := 0, map[int]int{}
	for k := range n {
		zeros := 0
		for i, v := range b.Values["x"].Float32s()[k*h*w : (k+1)*h*w] {
			if v == 0 {
				zeros++
			} else if v != float32(i+1) {
				t.Fatalf("element %d of image %d is %v", i, k, v)
			}
		}
		if zeros == 0 {
			whole++
		}
		sizes[zeros]++
	}
	if whole < 1350 || whole > 1650 { // 1500 ± 27
		t.Errorf("%d of %d images are whole", whole, n)
	}
	if len(sizes) != 4 || sizes[9] == 0 || sizes[6] == 0 || sizes[4] == 0 { // in the middle, at an edge, in a corner
		t.Errorf("squares of %v pixels", sizes)
	}
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
		{RandomFlip("x", 2), images, "RandomFlip: a probability of 2: want 0 to 1"},
		{RandomFlip("x", math.NaN()), images, "RandomFlip: a probability of NaN: want 0 to 1"},
		{RandomFlip("z", 1), images, `RandomFlip: no column "z"`},
		{RandomFlip("x", 1), flat, `RandomFlip: column "x"[2 4] holds no images: want [n h w] or [n h w c]`},
		{RandomShift("x", -1), images, "RandomShift: -1 pixels: want 0 or more"},
		{RandomShift("x", math.MaxInt), images, fmt.Sprintf("RandomShift: %d pixels: want at most 1048576", math.MaxInt)},
		{RandomCutout("x", -1, 1), images, "RandomCutout: a square of -1 pixels: want 0 or more"},
		{RandomCutout("x", 1, -1), images, "RandomCutout: a probability of -1: want 0 to 1"},
		{Noise("x", -1), flat, "Noise: a deviation of -1: want 0 or more"},
		{Noise("x", math.Inf(1)), flat, "Noise: a deviation of +Inf: want 0 or more"},
		{Noise("z", 1), flat, `Noise: no column "z"`},
		{Noise("x", 1), images, `Noise: column "x" has elements of type int32: want float32 or float64`},
		{ReplaceNaN("z", 1), flat, `ReplaceNaN: no column "z"`},
		{ReplaceNaN("x", 1), images, `ReplaceNaN: column "x" has elements of type int32: want float32 or float64`},
	} {
		complains(t, c.change(newDraws().at(1, 1), c.b), c.want)
	}
	huge := pictures[int32](1, 2, 2, 1) // more than an image holds is no mistake
	if err := RandomCutout("x", math.MaxInt, 1)(rand.New(rand.NewPCG(1, 1)), huge); err != nil || slices.Max(huge.Values["x"].Int32s()) != 0 {
		t.Errorf("%v: %v", huge.Values["x"], err)
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
