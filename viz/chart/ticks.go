package chart

import (
	"math"
	"strconv"
	"strings"
)

// tick is a marked value of an axis.
type tick struct {
	value float64
	label string
}

// slack tolerates the rounding of a division where a tick meets a bound.
const slack = 1e-9

// linearTicks returns at most most multiples of 1, 2 or 5 times a power of ten, the first at or
// below lo, the last at or above hi. There are at least three if most is five or more.
func linearTicks(lo, hi float64, most int) []tick {
	exponent := int(math.Floor(math.Log10((hi-lo)/float64(most)))) - 1
	for ; ; exponent++ {
		for _, m := range []float64{1, 2, 5} {
			step := scaled(m, exponent)
			first, last := math.Floor(lo/step+slack), math.Ceil(hi/step-slack)
			if last-first >= float64(most) {
				continue
			}
			values := make([]float64, 0, most)
			for i := first; i <= last; i++ {
				values = append(values, scaled(i*m, exponent))
			}
			return labelled(values, exponent)
		}
	}
}

// scaled returns m·10^exponent. Dividing by the exact power keeps 3·10⁻¹ equal to 0.3.
func scaled(m float64, exponent int) float64 {
	if exponent < 0 {
		return m / math.Pow10(-exponent)
	}
	return m * math.Pow10(exponent)
}

// labelled writes all values to the digit of 10^exponent, and in scientific notation if the
// largest would be too long otherwise.
func labelled(values []float64, exponent int) []tick {
	largest := max(math.Abs(values[0]), math.Abs(values[len(values)-1]))
	ticks := make([]tick, len(values))
	for i, v := range values {
		label := "0"
		switch {
		case v == 0:
		case largest >= 1e7 || largest < 1e-3:
			label = scientific(v, max(0, int(math.Floor(math.Log10(math.Abs(v))+slack))-exponent))
		default:
			label = groupDigits(strconv.FormatFloat(v, 'f', max(0, -exponent), 64))
		}
		ticks[i] = tick{v, label}
	}
	return ticks
}

// logTicks returns at least three round numbers within [from, to], at most most if that is five
// or more, and these bounds: the neighbours of lo and hi in the series 1, 2, 5, 10, 20 and so on.
// (Bounds at powers of ten would leave half of an axis empty.) The ticks are powers of ten if at
// least three are within the bounds; otherwise numbers of that series; otherwise, if lo and hi
// are close, the multiples that linearTicks returns.
func logTicks(lo, hi float64, most int) (ticks []tick, from, to float64) {
	var series []tick
	var powers []int
	for e := int(math.Floor(math.Log10(lo))) - 1; e <= int(math.Ceil(math.Log10(hi)))+1; e++ {
		for _, m := range []float64{1, 2, 5} {
			v := scaled(m, e)
			if v <= lo*(1+slack) {
				series, powers = nil, nil
			}
			if len(series) > 0 && series[len(series)-1].value >= hi*(1-slack) {
				break
			}
			series = append(series, tick{v, Format(v)})
			if m == 1 {
				powers = append(powers, e)
			}
		}
	}
	switch {
	case len(powers) >= 3:
		ticks = powerTicks(powers, max(most, 5))
	case len(series) >= 3:
		stride := 1 + (len(series)-1)/max(most, 5)
		for i := 0; i < len(series); i += stride {
			ticks = append(ticks, series[i])
		}
	default:
		ticks = linearTicks(lo, hi, most)
		return ticks, ticks[0].value, ticks[len(ticks)-1].value
	}
	return ticks, series[0].value, series[len(series)-1].value
}

// powerTicks thins at least three consecutive powers of ten to at most most, which is five or
// more: to those whose exponents are multiples of a stride. Each stride is at most twice the one
// before, so that three remain.
func powerTicks(powers []int, most int) []tick {
	plain := powers[0] >= -3 && powers[len(powers)-1] <= 4
	var ticks []tick
	for _, stride := range []int{1, 2, 3, 4, 5, 10, 20, 30, 50, 100, 200} {
		ticks = nil
		for _, e := range powers {
			if e%stride != 0 {
				continue
			}
			t := tick{scaled(1, e), "10" + superscript.Replace(strconv.Itoa(e))}
			if plain {
				t.label = Format(t.value)
			}
			ticks = append(ticks, t)
		}
		if len(ticks) <= most {
			break
		}
	}
	return ticks
}

var superscript = strings.NewReplacer("-", "⁻", "0", "⁰", "1", "¹", "2", "²", "3", "³", "4", "⁴",
	"5", "⁵", "6", "⁶", "7", "⁷", "8", "⁸", "9", "⁹")
