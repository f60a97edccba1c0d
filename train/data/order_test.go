package data

import (
	"slices"
	"testing"
)

// TestOrder: the order of an epoch is a permutation of all rows, and another one in each epoch and
// for each seed.
func TestOrder(t *testing.T) {
	// Stored runs must replay: these values may never change.
	if got, want := Order(1, 0, 8), []int{2, 4, 3, 1, 7, 6, 5, 0}; !slices.Equal(got, want) {
		t.Errorf("Order(1, 0, 8) = %v, want %v", got, want)
	}
	sorted := make([]int, 100)
	for i := range sorted {
		sorted[i] = i
	}
	seen := map[[100]int]bool{}
	for seed := range uint64(5) {
		for epoch := range 5 {
			order := Order(seed, epoch, 100)
			if !slices.Equal(order, Order(seed, epoch, 100)) {
				t.Errorf("seed %d, epoch %d: two orders", seed, epoch)
			}
			seen[[100]int(order)] = true
			slices.Sort(order)
			if !slices.Equal(order, sorted) {
				t.Errorf("seed %d, epoch %d: not a permutation", seed, epoch)
			}
		}
	}
	if len(seen) != 25 {
		t.Errorf("25 epochs have %d orders", len(seen))
	}
	if len(Order(1, 1, 0)) != 0 || len(Order(1, 1, -1)) != 0 {
		t.Error("an order of no rows is not empty")
	}
}

// Each row must come first equally often: the mean of the squared deviations over
// the expected count, χ² over its degrees of freedom, is near 1.
func TestOrderUniform(t *testing.T) {
	const n, epochs = 10, 5000
	count := make([]float64, n)
	for epoch := range epochs {
		count[Order(3, epoch, n)[0]]++
	}
	chi := 0.0
	for _, c := range count {
		chi += (c - epochs/n) * (c - epochs/n) / (epochs / n)
	}
	if chi > 27.9 { // 0.1 % of fair orders exceed this at 9 degrees of freedom
		t.Errorf("χ² = %.1f for counts %v", chi, count)
	}
}
