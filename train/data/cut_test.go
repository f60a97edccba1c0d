package data_test

import (
	"context"
	"fmt"
	"slices"
	"testing"

	"github.com/tapestry-ml/tapestry/train/data"
	"gorgonia.org/tensor"
)

// TestCutIsShuffled: a cut gives the rows that Shuffled gives with CarryOver, or InOrder all at
// once.
func TestCutIsShuffled(t *testing.T) {
	const n = 11
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	set, err := data.NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(n), tensor.WithBacking(numbers))})
	if err != nil {
		t.Fatal(err)
	}
	for size := 1; size <= n; size++ {
		cut := data.Cut{Rows: n, Size: size}
		source := data.Shuffled(set, size, 7, data.CarryOver())
		if size == n {
			source = data.InOrder(set, n)
		}
		if source.Batches() != cut.Epoch() {
			t.Errorf("batches of %d: %d in an epoch, the source has %d", size, cut.Epoch(), source.Batches())
		}
		next := cut.Orders(7)
		for step := range 3 * cut.Epoch() {
			b, err := source.Next(context.Background())
			if err != nil {
				t.Fatal(err)
			}
			want := fmt.Sprint(b.Values["x"].Float64s())
			if got := next(step); fmt.Sprint(got) != want {
				t.Errorf("step %d of batches of %d: rows %v, the source gives %s", step, size, got, want)
			}
			if got := cut.At(7, step); fmt.Sprint(got) != want {
				t.Errorf("step %d of batches of %d, asked for alone: rows %v, the source gives %s", step, size, got, want)
			}
		}
	}
}

// TestCarryOver: each epoch's worth of rows has every row once, wherever the source is sent.
func TestCarryOver(t *testing.T) {
	const n, size = 11, 4
	numbers := make([]float64, n)
	for i := range numbers {
		numbers[i] = float64(i)
	}
	set, err := data.NewSet(map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(n), tensor.WithBacking(numbers))})
	if err != nil {
		t.Fatal(err)
	}
	source := data.Shuffled(set, size, 7, data.CarryOver())
	var all []float64
	at := []data.Position{}
	for range n { // as many batches as have all rows size times
		at = append(at, source.Position())
		b, err := source.Next(context.Background())
		if err != nil {
			t.Fatal(err)
		}
		all = append(all, b.Values["x"].Float64s()...)
	}
	for from := 0; from < len(all); from += n {
		once := slices.Sorted(slices.Values(all[from : from+n]))
		if !slices.Equal(once, numbers) {
			t.Errorf("rows %d to %d: %v", from, from+n, once)
		}
	}
	for _, k := range []int{9, 2, 5} {
		if err := source.Seek(at[k]); err != nil {
			t.Fatal(err)
		}
		b, err := source.Next(context.Background())
		if err != nil || !slices.Equal(b.Values["x"].Float64s(), all[k*size:(k+1)*size]) {
			t.Errorf("at %v: %v, %v, want %v", at[k], b.Values["x"], err, all[k*size:(k+1)*size])
		}
	}
	if got := data.Describe(source); got != "shuffled(11 rows, batches of 4, 3 carried over, seed 7)" {
		t.Errorf("described as %q", got)
	}
}

// TestCutInOrder: every row is in as many batches as any other.
func TestCutInOrder(t *testing.T) {
	for size := 1; size <= 12; size++ {
		c, times := data.Cut{Rows: 12, Size: size}, make([]int, 12)
		for i := range c.Whole() {
			for _, row := range c.InOrder(i) {
				times[row]++
			}
		}
		if slices.Min(times) != slices.Max(times) || times[0] == 0 {
			t.Errorf("batches of %d: rows come %v times", size, times)
		}
	}
	if n := (data.Cut{Rows: 100_003, Size: 100}).Whole(); n != 1000 {
		t.Errorf("%d batches, want whole ones alone", n)
	}
}

// TestGenerated: batches are functions of their number, wherever the source is sent.
func TestGenerated(t *testing.T) {
	ctx := context.Background()
	s := data.Generated("squares", 1, func(t int) (map[string]*tensor.Dense, error) {
		return map[string]*tensor.Dense{"x": tensor.New(tensor.WithShape(1), tensor.WithBacking([]float64{float64(t * t)}))}, nil
	})
	read := func() float64 {
		b, err := s.Next(ctx)
		if err != nil {
			t.Fatal(err)
		}
		return b.Values["x"].Float64s()[0]
	}
	if a, b := read(), read(); a != 0 || b != 1 || s.Position() != (data.Position{Batch: 2}) {
		t.Errorf("%v, %v, then %v", a, b, s.Position())
	}
	if err := s.Seek(data.Position{Batch: 5}); err != nil || read() != 25 {
		t.Errorf("after Seek: %v", err)
	}
	if err := s.Seek(data.Position{Epoch: 1}); err == nil || s.Position() != (data.Position{Batch: 6}) {
		t.Errorf("Seek to another epoch: %v, then %v", err, s.Position())
	}
	if data.Describe(s) != "squares" {
		t.Errorf("described as %q", data.Describe(s))
	}
}
