package chart

import (
	"math"
	"slices"
	"strconv"
)

// wideRange is the ratio of values from which on an evenly spread axis shows only the largest.
const wideRange = 1e3

// fitting returns whether an axis of the values is to be logarithmic, which it is where all are
// positive and the largest is at least wideRange times the smallest; and where some are not
// positive, but the largest magnitude is as far above the median one, the bound within which it is
// to be linear, and logarithmic beyond. The bound is 0 for all other axes. Values that cannot be
// drawn do not count.
func fitting(values []float64) (log bool, linear float64) {
	var sizes []float64
	positive := true
	for _, v := range values {
		if !drawable(v, false) {
			continue
		}
		positive = positive && v > 0
		if a := math.Abs(v); drawable(a, true) {
			sizes = append(sizes, a)
		}
	}
	if len(sizes) == 0 {
		return false, 0
	}
	slices.Sort(sizes)
	least, median, most := sizes[0], sizes[(len(sizes)-1)/2], sizes[len(sizes)-1]
	switch {
	case positive:
		return most/wideRange >= least, 0
	case most/wideRange >= median:
		return false, math.Pow10(int(math.Floor(math.Log10(median))))
	}
	return false, 0
}

// signed maps a value to its place on an axis that is linear within ±linear, where it goes from −1
// to 1, and logarithmic beyond.
func signed(v, linear float64) float64 {
	if math.Abs(v) <= linear {
		return v / linear
	}
	return math.Copysign(1+math.Log10(math.Abs(v))-math.Log10(linear), v)
}

// signedAxis returns an axis that is linear within ±linear and logarithmic beyond, with bounds at
// powers of ten around s or at 0.
func signedAxis(s span, linear float64, most int) axis {
	first := int(math.Round(math.Log10(linear)))
	beyond := func(v float64) int { // decades, of a positive value; −1 for none
		if v <= 0 {
			return -1
		}
		return max(0, int(math.Ceil(math.Log10(v)-math.Log10(linear)-slack)))
	}
	up, down := beyond(s.hi), beyond(-s.lo)
	stride := 1
	for _, stride = range []int{1, 2, 3, 4, 5, 10, 20, 30, 50, 100, 200} {
		n := 1
		for _, decades := range []int{up, down} {
			if decades >= 0 {
				n += 1 + decades/stride
			}
		}
		if n <= max(most, 5) {
			break
		}
	}
	a := axis{linear: linear}
	add := func(m float64, e int) {
		t := tick{value: scaled(m, e), label: "10" + superscript.Replace(strconv.Itoa(e))}
		if m < 0 {
			t.label = "-" + t.label
		}
		if e >= -3 && e <= 4 {
			t.label = Format(t.value)
		}
		a.ticks = append(a.ticks, t)
	}
	if down >= 0 {
		for k := down / stride * stride; k >= 0; k -= stride {
			add(-1, first+k)
		}
		a.lo = scaled(-1, first+down)
	}
	a.ticks = append(a.ticks, tick{0, "0"})
	if up >= 0 {
		for k := 0; k <= up; k += stride {
			add(1, first+k)
		}
		a.hi = scaled(1, first+up)
	}
	return a
}
