package geometry

import (
	"fmt"
	"math"
	"strings"

	"github.com/tapestry-ml/tapestry/graph"
)

// ResponseKind says how a quantity responds to a transformation of inputs and parameters.
type ResponseKind int

// The responses.
const (
	Changes     ResponseKind = iota // in another way than those below
	Invariant                       // it stays
	Equivariant                     // it moves as they do
	Homogeneous                     // it is multiplied by s^p
	NotFinite                       // it is NaN or infinite before or after
)

// Response is how a quantity responded in all trials of a transformation.
type Response struct {
	Kind ResponseKind
	// Power is the exponent p of a Homogeneous quantity.
	Power float64
	// Deviation is the largest difference in any trial from what the kind predicts, relative to the
	// quantity's largest element. Where the quantity Changes it is that of the kind that comes
	// nearest.
	Deviation float64
}

// String returns "invariant", "equivariant", "∝ s^2", "no" or "not finite".
func (r Response) String() string {
	switch r.Kind {
	case Invariant:
		return "invariant"
	case Equivariant:
		return "equivariant"
	case Homogeneous:
		return "∝ s^" + powerText(r.Power)
	case NotFinite:
		return "not finite"
	}
	return "no"
}

// text returns the response with its deviation.
func (r Response) text() string {
	return strings.TrimSuffix(fmt.Sprintf("%v %.0e", r, r.Deviation), "e+00")
}

// powerText formats an exponent, and rounds it if it is all but a multiple of 1/4.
func powerText(p float64) string {
	if q := math.Round(4*p) / 4; math.Abs(p-q) < 1e-4 {
		p = q
	}
	return fmt.Sprintf("%.4g", p)
}

// tally counts responses by kind: "invariant: 12, equivariant: 3".
func tally(responses []Response) string {
	var kinds []string
	count := map[string]int{}
	for _, r := range responses {
		if count[r.String()] == 0 {
			kinds = append(kinds, r.String())
		}
		count[r.String()]++
	}
	var parts []string
	for _, k := range kinds {
		if len(kinds) == 1 {
			return "all " + k
		}
		parts = append(parts, fmt.Sprintf("%s: %d", k, count[k]))
	}
	return strings.Join(parts, ", ")
}

// responseOf compares a quantity before and after each move with what each kind of response
// predicts. Differences are relative to its largest element, or to floor if that is larger.
func responseOf(here []float64, there [][]float64, moves []move, shape graph.Shape, gradient bool, floor, tolerance float64) Response {
	for _, v := range append([][]float64{here}, there...) {
		if !allWithin(v, math.MaxFloat64) {
			return Response{Kind: NotFinite, Deviation: math.NaN()}
		}
	}
	best := Response{Kind: Changes, Deviation: math.Inf(1)}
	try := func(kind ResponseKind, power float64, predicted func(m move) []float64) bool {
		worst := 0.0
		for i, m := range moves {
			worst = max(worst, deviation(there[i], predicted(m), floor))
		}
		if worst < best.Deviation {
			best.Deviation = worst
		}
		if worst <= tolerance {
			best = Response{kind, power, worst}
			return true
		}
		return false
	}
	if try(Invariant, 0, func(move) []float64 { return here }) {
		return best
	}
	if moves[0].motion == Scaling {
		p := fittedPower(here, there, moves)
		try(Homogeneous, p, func(m move) []float64 { return m.apply(here, shape, p) })
		return best
	}
	// A derivative does not move with a translation, and a quantity without the axes cannot.
	if moves[0].reaches(shape) && !(gradient && moves[0].motion == Translation) {
		try(Equivariant, 0, func(m move) []float64 { return m.apply(here, shape, 1) })
	}
	return best
}

// deviation returns the largest difference relative to the largest element.
func deviation(got, want []float64, floor float64) float64 {
	size, apart := floor, 0.0
	for i := range got {
		size = max(size, math.Abs(got[i]), math.Abs(want[i]))
		apart = max(apart, math.Abs(got[i]-want[i]))
	}
	if apart == 0 {
		return 0
	}
	return apart / size
}

// fittedPower returns the p of ‖q(s)‖ = s^p·‖q(1)‖ by least squares of the logarithms.
func fittedPower(here []float64, there [][]float64, moves []move) float64 {
	up, down := 0.0, 0.0
	for i, m := range moves {
		l := math.Log(m.factor)
		ratio := math.Log(math.Sqrt(dot(there[i], there[i])) / math.Sqrt(dot(here, here)))
		up, down = up+l*ratio, down+l*l
	}
	if p := up / down; !math.IsNaN(p) && !math.IsInf(p, 0) {
		return p
	}
	return 0
}
