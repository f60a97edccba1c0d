package train

import (
	"fmt"
	"math"
	"strconv"
)

// Schedule gives a quantity, such as a learning rate or a temperature, in step t of n, where t is
// from 0 to n−1.
type Schedule struct {
	text string
	at   func(t, n int) float64
}

// At returns the value in step t of n. Only [Geometric], and schedules made of it other than by
// [Within], depend on n. The zero value has no values: At returns NaN.
func (s Schedule) At(t, n int) float64 {
	if s.at == nil {
		return math.NaN()
	}
	return s.at(t, n)
}

// String returns the text that [ParseSchedule] reads: 1, 0.1..10, cosine(0.1,200).
func (s Schedule) String() string { return s.text }

// IsZero reports whether the schedule is the zero value, which has no values.
func (s Schedule) IsZero() bool { return s.at == nil }

// called returns a schedule of t alone, printed as a call.
func called(at func(t float64) float64, name string, args ...float64) Schedule {
	text := name + "("
	for i, v := range args {
		if i > 0 {
			text += ","
		}
		text += digits(v)
	}
	return Schedule{text + ")", func(t, _ int) float64 { return at(float64(t)) }}
}

func digits(v float64) string { return strconv.FormatFloat(v, 'g', -1, 64) }

// Constant returns the schedule that is v in every step.
func Constant(v float64) Schedule {
	return Schedule{digits(v), func(int, int) float64 { return v }}
}

// Geometric goes from one positive value to another by equal factors, as a temperature is annealed:
// it is from in the first of the n steps, and to in the last.
func Geometric(from, to float64) Schedule {
	return Schedule{digits(from) + ".." + digits(to), func(t, n int) float64 {
		p := 1.0
		if n > 1 {
			p = float64(t) / float64(n-1)
		}
		return math.Exp((1-p)*math.Log(from) + p*math.Log(to))
	}}
}

// StepDecay multiplies v by a factor after every so many steps, at least 1: v·factor^⌊t/every⌋.
func StepDecay(v, factor float64, every int) Schedule {
	e := float64(max(1, every))
	return called(func(t float64) float64 { return v * math.Pow(factor, math.Floor(t/e)) }, "step", v, factor, e)
}

// Exponential multiplies v by a factor after every step: v·factorᵗ.
func Exponential(v, factor float64) Schedule {
	return called(func(t float64) float64 { return v * math.Pow(factor, t) }, "exp", v, factor)
}

// Cosine falls from v in step 0 along half a cosine wave to least (0 unless given) in step t =
// steps, and stays there (Loshchilov & Hutter, 2017, without restarts):
//
//	least + (v − least)·(1 + cos(π·t/steps))/2
func Cosine(v float64, steps int, least ...float64) Schedule {
	end, low := float64(max(1, steps)), 0.0
	args := []float64{v, end}
	if len(least) > 0 {
		low = least[0]
		args = append(args, low)
	}
	return called(func(t float64) float64 { return low + (v-low)*(1+math.Cos(math.Pi*min(1, t/end)))/2 }, "cosine", args...)
}

// InverseTime falls like 1/t, as v/(1 + t/half), where half is positive: v is halved at t = half.
// The sum of such rates diverges and that of their squares does not, which is the condition of
// Robbins & Monro (1951).
func InverseTime(v, half float64) Schedule {
	return called(func(t float64) float64 { return v / (1 + t/half) }, "1/t", v, half)
}

// Warmup rises linearly, for at least 1 step, to the value with which another schedule starts,
// which then follows:
//
//	s(0)·(t+1)/steps for t < steps,  s(t − steps) afterwards
func Warmup(steps int, s Schedule) Schedule {
	k := max(1, steps)
	if s.IsZero() {
		s = Constant(0)
	}
	return Schedule{fmt.Sprintf("warmup(%d,%s)", k, s), func(t, n int) float64 {
		if t < k {
			return s.at(0, n-k) * float64(t+1) / float64(k)
		}
		return s.at(t-k, n-k)
	}}
}

// Hold keeps the value with which another schedule starts for some steps, after which that schedule
// follows:
//
//	s(0) for t < steps,  s(t − steps) afterwards
func Hold(steps int, s Schedule) Schedule {
	k := max(0, steps)
	if s.IsZero() {
		s = Constant(0)
	}
	return Schedule{fmt.Sprintf("hold(%d,%s)", k, s), func(t, n int) float64 { return s.at(max(0, t-k), max(1, n-k)) }}
}

// Within runs through another schedule in the given number of steps, at least 1, whatever the
// number n of all steps, and then stays at its last value: Within(100, Geometric(0.1, 10)) is
// annealed in 100 steps and constant after them.
func Within(steps int, s Schedule) Schedule {
	k := max(1, steps)
	if s.IsZero() {
		s = Constant(0)
	}
	return Schedule{fmt.Sprintf("within(%d,%s)", k, s), func(t, _ int) float64 { return s.at(min(t, k-1), k) }}
}
