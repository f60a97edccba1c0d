package train

import (
	"fmt"
	"math"
	"strconv"
	"strings"
)

// Schedule gives a quantity (a temperature, a learning rate) for step t of n, t
// from 0 to n−1.
type Schedule struct {
	text string
	at   func(progress float64) float64 // progress from 0 to 1
}

// At is the value in step t of n.
func (s Schedule) At(t, n int) float64 {
	if n < 2 {
		return s.at(1)
	}
	return s.at(float64(t) / float64(n-1))
}

// String is the form that [ParseSchedule] reads: 1, or 0.1..10.
func (s Schedule) String() string { return s.text }

// Constant is v in every step.
func Constant(v float64) Schedule {
	return Schedule{strconv.FormatFloat(v, 'g', -1, 64), func(float64) float64 { return v }}
}

// Geometric goes from one positive value to another by equal factors, as a
// temperature is annealed.
func Geometric(from, to float64) Schedule {
	text := strconv.FormatFloat(from, 'g', -1, 64) + ".." + strconv.FormatFloat(to, 'g', -1, 64)
	return Schedule{text, func(p float64) float64 { return math.Exp((1-p)*math.Log(from) + p*math.Log(to)) }}
}

// ParseSchedule reads "1" (constant) and "0.1..10" (geometric, both positive).
func ParseSchedule(s string) (Schedule, error) {
	number := func(t string) (float64, error) {
		v, err := strconv.ParseFloat(strings.TrimSpace(t), 64)
		if err != nil || math.IsNaN(v) || math.IsInf(v, 0) {
			return 0, fmt.Errorf("schedule %q: want a number, or from..to", s)
		}
		return v, nil
	}
	from, to, ranged := strings.Cut(s, "..")
	a, err := number(from)
	if err != nil || !ranged {
		return Constant(a), err
	}
	b, err := number(to)
	if err == nil && (a <= 0 || b <= 0) {
		err = fmt.Errorf("schedule %q: both ends must be positive", s)
	}
	return Geometric(a, b), err
}

// IsZero reports whether the schedule is the zero value, which has no values.
func (s Schedule) IsZero() bool { return s.at == nil }
