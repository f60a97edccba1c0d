package inspect

import (
	"fmt"
	"math"
	"strconv"
	"strings"

	"github.com/tapestry-ml/tapestry/internal/sparkline"
	"github.com/tapestry-ml/tapestry/tape"
)

// Statistics summarises an array. Min, Mean, Std, Max and AbsMax are over the finite elements,
// NaN if there are none. Of booleans, true counts as 1.
type Statistics struct {
	Count, Finite, NaN, PosInf, NegInf int
	Zeros                              int     // −0 counts too
	Min, Mean, Max                     float64 // of the finite elements
	Std                                float64 // of the population: divided by the number of elements
	AbsMax                             float64 // the largest |x|
	// Bins is a histogram: it counts the finite elements in equal parts of the range from Min to
	// Max. Each part includes its lower end, the last one both ends. It is empty if no element is
	// finite, and has a single bin if all finite elements are equal.
	Bins []int
}

// StatisticsOf summarises an array, with a histogram of the given number of bins. Sums are scaled
// so that no finite array overflows them.
func StatisticsOf(a tape.Array, bins int) Statistics {
	nan := math.NaN()
	s := Statistics{Count: length(a), Min: nan, Mean: nan, Max: nan, Std: nan, AbsMax: nan}
	for i := range s.Count {
		switch v := a.At(i); {
		case v != v:
			s.NaN++
		case math.IsInf(v, 1):
			s.PosInf++
		case math.IsInf(v, -1):
			s.NegInf++
		default:
			if v == 0 {
				s.Zeros++
			}
			if s.Finite++; s.Finite == 1 {
				s.Min, s.Max, s.AbsMax = v, v, math.Abs(v)
			}
			s.Min, s.Max, s.AbsMax = min(s.Min, v), max(s.Max, v), max(s.AbsMax, math.Abs(v))
		}
	}
	if s.Finite == 0 {
		return s
	}
	s.moments(a)
	s.histogram(a, bins)
	return s
}

// length returns the number of elements; an array without a type has none.
func length(a tape.Array) int {
	return len(a.F32) + len(a.F64) + len(a.I32) + len(a.I64) + len(a.Bool) + len(a.Half) + len(a.I8) + len(a.U8)
}

// moments computes mean and standard deviation in units of the largest element.
func (s *Statistics) moments(a tape.Array) {
	if s.AbsMax == 0 {
		s.Mean, s.Std = 0, 0
		return
	}
	sum, n := 0.0, float64(s.Finite)
	for i := range s.Count {
		if v := a.At(i); finite(v) {
			sum += v / s.AbsMax
		}
	}
	mean, squares := sum/n, 0.0
	for i := range s.Count {
		if v := a.At(i); finite(v) {
			d := v/s.AbsMax - mean
			squares += d * d
		}
	}
	s.Mean, s.Std = mean*s.AbsMax, math.Sqrt(squares/n)*s.AbsMax
	if s.Min == s.Max {
		s.Mean, s.Std = s.Min, 0
	}
}

func (s *Statistics) histogram(a tape.Array, bins int) {
	if bins < 1 {
		return
	}
	if s.Min == s.Max {
		s.Bins = []int{s.Finite}
		return
	}
	s.Bins = make([]int, bins)
	unit := 1.0
	if !finite(s.Max - s.Min) {
		unit = 0.5
	}
	width := s.Max*unit - s.Min*unit
	for i := range s.Count {
		if v := a.At(i); finite(v) {
			k := int((v*unit - s.Min*unit) / width * float64(bins))
			s.Bins[min(k, bins-1)]++
		}
	}
}

// Spark draws the histogram, a character for each bin: a blank for an empty bin, otherwise ▁ to █
// by its share of the fullest.
func (s Statistics) Spark() string { return sparkline.Histogram(s.Bins) }

// String returns one line, for a single number that number:
//
//	min -1  mean 0.25  max 2  std 0.5  |x| ≤ 2  3 of 12 are 0  1 NaN
func (s Statistics) String() string {
	var parts []string
	switch {
	case s.Finite == 0:
	case s.Min == s.Max && s.Finite == 1:
		parts = append(parts, short(s.Min))
	case s.Min == s.Max:
		parts = append(parts, fmt.Sprintf("all %s", short(s.Min)))
	default:
		parts = append(parts, "min "+short(s.Min), "mean "+short(s.Mean), "max "+short(s.Max), "std "+short(s.Std), "|x| ≤ "+short(s.AbsMax))
		if s.Zeros > 0 {
			parts = append(parts, fmt.Sprintf("%d of %d are 0", s.Zeros, s.Count))
		}
	}
	for _, c := range []struct {
		n    int
		what string
	}{{s.NaN, "NaN"}, {s.PosInf, "+Inf"}, {s.NegInf, "-Inf"}} {
		if c.n > 0 {
			parts = append(parts, fmt.Sprintf("%d %s", c.n, c.what))
		}
	}
	return strings.Join(parts, "  ")
}

// short returns a number with four significant digits.
func short(v float64) string {
	if v == math.Trunc(v) && math.Abs(v) < 1e6 {
		return strconv.FormatFloat(v, 'f', -1, 64)
	}
	return strconv.FormatFloat(v, 'g', 4, 64)
}
