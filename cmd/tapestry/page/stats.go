package page

import (
	"math"
	"strconv"

	"github.com/tapestry-ml/tapestry/graph"
	"github.com/tapestry-ml/tapestry/tape"
)

// statsView holds statistics of an array's elements.
type statsView struct {
	N      int       `json:"n"`
	Finite int       `json:"finite"`
	NaN    int       `json:"nan"`
	Inf    int       `json:"inf"`
	Zeros  int       `json:"zeros"`
	Min    number    `json:"min"` // of the finite ones, as the others; NaN if there is none
	Mean   number    `json:"mean"`
	Std    number    `json:"std"` // of the population
	Max    number    `json:"max"`
	Hist   []binView `json:"hist"` // of the finite ones; the last bin has its upper end
}

type binView struct {
	Lo number `json:"lo"`
	Hi number `json:"hi"`
	N  int    `json:"n"`
}

const histogramBins = 24

// newStats computes the statistics of an array. It makes several passes over the elements, scaled
// to magnitudes of at most 1 by a power of two, so that a large mean does not spoil the spread and
// large numbers do not overflow.
func newStats(a tape.Array) *statsView {
	s := &statsView{N: a.Type.Shape.Len(), Hist: []binView{}}
	lo, hi := math.Inf(1), math.Inf(-1)
	for i := range s.N {
		x := a.At(i)
		switch {
		case math.IsNaN(x):
			s.NaN++
			continue
		case math.IsInf(x, 0):
			s.Inf++
			continue
		case x == 0:
			s.Zeros++
		}
		s.Finite++
		lo, hi = min(lo, x), max(hi, x)
	}
	if s.Finite == 0 {
		s.Min, s.Mean, s.Std, s.Max = number(math.NaN()), number(math.NaN()), number(math.NaN()), number(math.NaN())
		return s
	}
	_, e := math.Frexp(max(math.Abs(lo), math.Abs(hi)))
	least, most := math.Ldexp(lo, -e), math.Ldexp(hi, -e)
	each := func(f func(y float64)) {
		for i := range s.N {
			if x := a.At(i); !math.IsNaN(x) && !math.IsInf(x, 0) {
				f(math.Ldexp(x, -e))
			}
		}
	}
	sum, squares := 0.0, 0.0
	each(func(y float64) { sum += y - least })
	mean := least + sum/float64(s.Finite)
	each(func(y float64) { squares += (y - mean) * (y - mean) })
	s.Min, s.Max, s.Mean, s.Std = number(lo), number(hi), number(math.Ldexp(mean, e)), number(math.Ldexp(math.Sqrt(squares/float64(s.Finite)), e))
	bins := histogramBins
	if lo == hi {
		bins = 1
	}
	count := make([]int, bins)
	each(func(y float64) {
		at := 0
		if bins > 1 {
			at = min(int((y-least)/(most-least)*float64(bins)), bins-1)
		}
		count[at]++
	})
	edge := func(i int) number {
		switch i {
		case 0:
			return number(lo)
		case bins:
			return number(hi)
		}
		return number(math.Ldexp(least+(most-least)*float64(i)/float64(bins), e))
	}
	for i, n := range count {
		s.Hist = append(s.Hist, binView{edge(i), edge(i + 1), n})
	}
	return s
}

// largest returns the largest magnitude, NaN if an element is NaN, or 0 if there are no elements.
func largest(a tape.Array) float64 {
	n := a.Type.Shape.Len()
	switch a.Type.DType {
	case graph.F32:
		return largestOf(a.F32[:n])
	case graph.F64:
		return largestOf(a.F64[:n])
	}
	most := 0.0
	for i := range n {
		most = max(most, math.Abs(a.At(i))) // NaN if one of them is
	}
	return most
}

func largestOf[T float32 | float64](values []T) float64 {
	most := 0.0
	for _, v := range values {
		x := math.Abs(float64(v))
		if !(x <= most) {
			if x != x {
				return x
			}
			most = x
		}
	}
	return most
}

// cellText formats an element for a table with six digits, enough to tell neighbours apart.
func cellText(v float64) string {
	switch {
	case math.IsNaN(v):
		return "NaN"
	case math.IsInf(v, 1):
		return "+Inf"
	case math.IsInf(v, -1):
		return "-Inf"
	}
	return strconv.FormatFloat(v, 'g', 6, 64)
}
